"""The sprint as the description of a pull request: what was asked, what is proven, what is not."""

from __future__ import annotations

from engine.core import sprint_review
from engine.core.clean import clean_line
from engine.core.model import Verdict
from engine.core.state import State, Status


def description(state: State) -> str:
    """Markdown; the first lines say what a reviewer must look at."""
    done, total = state.progress()
    title = clean_line(state.plan.title) if state.plan is not None else state.sprint
    lines = [f"# {title}", ""]
    open_ends = [task for task in state.tasks.values() if task.status is not Status.COMPLETE]
    done_tasks = [task for task in state.tasks.values() if task.status is Status.COMPLETE]
    weak = [task for task in done_tasks if task.spec.proof.startswith("none")]
    unsettled = state.sprint_review if state.sprint_review.head and not state.sprint_review.approved else None
    if open_ends or weak or unsettled:
        lines.append("**Look at this first**")
        lines.append("")
        lines += [f"- not done: {task.id} {_line(task.spec.title)} ({_line(task.reason)})" for task in open_ends]
        lines += [f"- nothing to show (`proof: none`): {task.id} {_line(task.spec.title)}" for task in weak]
        lines += [f"- the final review: {_line(sprint_review.standing(state))}"] if unsettled else []
        lines.append("")
    if state.plan is not None and state.plan.summary:
        lines += [clean_line(state.plan.summary, 600), ""]
    lines += [f"{done} of {total} tasks, each committed after its checks passed in a clean room.", "", "## Tasks", ""]
    for task in state.tasks.values():
        box = "x" if task.status is Status.COMPLETE else " "
        commit = f" ({task.commit[:10]})" if task.commit else ""
        lines.append(f"- [{box}] {task.id} {_line(task.spec.title)}{commit}")
        met = {one.text: one for one in task.review.criteria} if task.review is not None else {}
        for text in task.spec.accept:
            one = met.get(text)
            shown = f" — {_line(one.reference)}" if one is not None and one.reference else ""
            lines.append(f"  - [{'x' if one is not None and one.met else ' '}] {_line(text)}{shown}")
        if task.overridden:
            lines.append("  - the reviewer was overridden by hand")
    final = state.final.value if state.final is not None else Verdict.NOT_RUN.value
    lines += ["", f"Checks on the whole branch: {final}. Cost: ${state.spent_usd:.2f} in {state.calls} agent calls."]
    if words := sprint_review.standing(state):
        lines.append(f"Final review of the whole branch: {_line(words)}.")
    return "\n".join(lines) + "\n"


def _line(words: str) -> str:
    return clean_line(words).replace("`", "'")
