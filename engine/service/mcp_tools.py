"""The sprint for any agent that speaks MCP: status, gates, plan and evidence to read; a gate answered only by the user.

Imported only where the SDK (an optional extra) is there. What an agent passes in is data; what it reads is cleaned and
bounded as on a screen.
"""

# Without postponed annotations: the SDK reads them, and some name what is only known inside `server`.

from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from mcp.server import MCPServer
from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

from engine import VERSION
from engine.core.clean import clean
from engine.core.commands import Answer
from engine.core.state import GateState
from engine.core.vocabulary import Choice
from engine.link.protocol import GetEvidence, GetFile
from engine.link.user_errors import UserError, as_user_error
from engine.service.local import Desk
from engine.service.queries import Answers
from engine.service.status_facts import status_of

Found = TypeVar("Found")

LONGEST = 40_000
INSTRUCTIONS = (
    "devteam runs coding agents through a quality loop and proves their work. These tools show how the sprint of this "
    "repository stands. They change nothing, but answer_gate, which puts the answer to the user for confirmation first."
)


class Confirm(BaseModel):
    """What the user is asked before an answer counts."""

    confirm: Literal["yes", "no"] = Field(description="yes: give this answer in my name")


def server(desk: Desk) -> MCPServer:
    made = MCPServer("devteam", instructions=INSTRUCTIONS, version=VERSION, log_level="CRITICAL")
    looks = ToolAnnotations(read_only_hint=True, open_world_hint=False)

    @made.tool(annotations=looks)
    def status(sprint: str = "") -> dict[str, Any]:
        """Where the sprint stands: tasks, health, spending, open gates, questions. Empty: the latest sprint."""
        return _told(lambda: status_of(desk, sprint))

    @made.tool(annotations=looks)
    def sprints() -> list[dict[str, Any]]:
        """All sprints of this repository."""
        return _told(lambda: [msgspec.to_builtins(line) for line in desk.sprints()])

    @made.tool(annotations=looks)
    def gates(sprint: str = "") -> list[dict[str, Any]]:
        """The open gates in full: what is asked, what was measured, and which answers there are."""
        return _told(lambda: [_gate(gate) for gate in desk.state(sprint).open_gates()])

    @made.tool(annotations=looks)
    def plan(sprint: str = "") -> str:
        """The plan as it is now, with each task's scope, criteria and state."""

        def read() -> str:
            folder = desk.sprint(sprint)
            state = desk.state(sprint)
            return _bounded(Answers(desk, folder, lambda: state).answer(GetFile(name="plan.md")).text)

        return _told(read)

    @made.tool(annotations=looks)
    def evidence(task: str, sprint: str = "") -> list[dict[str, Any]]:
        """What was run on which tree for a task, with which result; newest first."""

        def read() -> list[dict[str, Any]]:
            folder = desk.sprint(sprint)
            state = desk.state(sprint)
            if task not in state.tasks:
                raise UserError(f"there is no task {task}", f"tasks: {', '.join(state.tasks)}")
            found = Answers(desk, folder, lambda: state).answer(GetEvidence(task=task)).evidence
            return [msgspec.to_builtins(record) for record in found]

        return _told(read)

    def confirmed(gate: str, choice: str, text: str = "") -> Elicit[Confirm]:
        """The question that the client puts to the user before the tool is run at all."""
        found = _told(lambda: _open(desk, gate, choice))
        asked = f"{found.id}: {clean(found.title)}\n\n{_bounded(found.body)[:2000]}\n\nAnswer it with `{choice}`"
        return Elicit(asked + (f": {clean(text)[:1000]}?" if text else "?"), Confirm)

    @made.tool(annotations=ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False))
    def answer_gate(
        gate: str, choice: str, said: Annotated[ElicitationResult[Confirm], Resolve(confirmed)], text: str = ""
    ) -> str:
        """Answer an open gate. The user is shown the gate and the answer and must confirm it; nothing happens else.

        A client that cannot ask its user cannot use this: the user may type `devteam answer GATE CHOICE` then.
        """
        if not isinstance(said, AcceptedElicitation) or said.data.confirm != "yes":
            return f"not answered: the user did not confirm it. They may type: devteam answer {gate} {choice}"
        found = _told(lambda: _open(desk, gate, choice))
        ack = desk.tell(Answer(gate=found.id, choice=Choice(choice), text=text, by="you, over MCP"))
        return ack.detail if ack.ok else f"not answered: {ack.detail}"

    return made


def _open(desk: Desk, gate: str, choice: str) -> GateState:
    """The gate that is meant, if that answer is one of its own."""
    there = {one.id: one for one in desk.state().open_gates()}
    if gate not in there:
        raise UserError(f"no open gate is called {gate}", f"open: {', '.join(there) or 'none'}")
    if choice not in there[gate].choices:
        raise UserError(f"{choice} is no answer to {gate}", f"one of {', '.join(there[gate].choices)}")
    return there[gate]


def _gate(gate: GateState) -> dict[str, Any]:
    return {
        "gate": gate.id,
        "task": gate.task,
        "kind": gate.kind.value,
        "title": clean(gate.title),
        "body": _bounded(gate.body),
        "choices": [choice.value for choice in gate.choices],
        "answer": f"devteam answer {gate.id} {'|'.join(gate.choices)}",
    }


def _bounded(text: str) -> str:
    told = clean(text)
    return told if len(told) <= LONGEST else f"{told[:LONGEST]}\n[… {len(told) - LONGEST} characters more]"


def _told(read: Callable[[], Found]) -> Found:
    """An error of ours becomes words for the agent, as it does for a user; a bug stays one."""
    try:
        return read()
    except Exception as error:  # boundary: a tool that fails is the agent's news
        told = as_user_error(error)
        if told is None:
            raise
        raise ToolError(f"{told}{f' → {told.hint}' if told.hint else ''}") from error
