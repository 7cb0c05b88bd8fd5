"""Mutants on changed lines: would the tests notice? Advisory, bounded in number and time, Python only."""

from __future__ import annotations

import ast
import asyncio
import random
from collections.abc import Callable, Iterator, Sequence

from engine.core.model import Finding, Proof, Struct
from engine.perform.checks import python_source
from engine.perform.checks.proof.changed_lines import changed_lines
from engine.perform.checks.proof.owned import Owner
from engine.perform.checks.proof.trial import Ahead, Trial
from engine.perform.checks.run.execute import Ask
from engine.perform.checks.run.measure import BAD
from engine.perform.checks.run.spec import CheckSpec

COMPARE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
}
LEAST = 2
SHARE = 0.2
"""Of the time that the whole suite takes: advice must not cost more than what it advises on."""


class Mutant(Struct, frozen=True, kw_only=True):
    path: str
    line: int
    what: str
    source: str


def mutants(path: str, source: bytes, lines: set[int]) -> list[Mutant]:
    """Every single-node mutant on the given lines."""
    try:
        tree = python_source.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    found: list[Mutant] = []
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if line not in lines:
            continue
        before = ast.unparse(node) if isinstance(node, ast.expr | ast.Return) else ""
        for undo in _twist(node):
            found.append(
                Mutant(path=path, line=line, what=f"{before[:40]} → {ast.unparse(node)[:40]}", source=ast.unparse(tree))
            )
            undo()
    return found


def shuffled(pool: Sequence[Mutant], seed: str) -> list[Mutant]:
    """In an order that the seed fixes: the same tree gets the same mutants."""
    found = list(pool)
    random.Random(seed).shuffle(found)  # noqa: S311
    return found


def _twist(node: ast.AST) -> Iterator[Callable[[], None]]:
    """Change the node in place, once for each way there is; each yield hands out the way back."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARE:
            node.ops = [COMPARE[type(op)]()]
            yield lambda: setattr(node, "ops", [op])
        case ast.BinOp(op=op) if type(op) in ARITHMETIC:
            node.op = ARITHMETIC[type(op)]()
            yield lambda: setattr(node, "op", op)
        case ast.BoolOp(op=op):
            node.op = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield lambda: setattr(node, "op", op)
        case ast.Constant(value=bool(value)):
            node.value = not value
            yield lambda: setattr(node, "value", value)
        case ast.Constant(value=int(value)):
            node.value = value + 1
            yield lambda: setattr(node, "value", value)
        case ast.Return(value=value) if value is not None and not (
            isinstance(value, ast.Constant) and value.value is None
        ):
            node.value = ast.Constant(value=None)
            yield lambda: setattr(node, "value", value)


async def mutation_findings(trial: Trial, specs: Sequence[CheckSpec], proofs: Sequence[Proof]) -> list[Finding]:
    """Each mutant of a changed line in a room of its own; the tests that prove the change run to their first failure.

    A note for the reviewer and the human, bounded in number and time: it never decides.
    """
    spec = next((s for s in specs if s.runner == "pytest"), None)
    if spec is None:
        return []
    policy, files, pool = trial.tools.setting.policy, _files(spec, proofs), _pool(trial)
    if not files or not pool:
        return []
    suite = max((run.measured.seconds for run in trial.runs if run.measured.check == spec.name), default=0.0)
    most = min(policy.mutation_seconds, suite * SHARE)
    tried, spent, alive = 0, 0.0, []
    for mutant in pool[: policy.mutants]:
        if tried >= LEAST and spent >= most:
            break
        tree = await asyncio.to_thread(trial.trees.edit, trial.change.rooms.r2, {mutant.path: mutant.source.encode()})
        seen = await trial.files("mutant", tree, spec, files, _ask(trial))
        if any(one.ended not in ("exited", "timeout") for one in seen):
            break
        tried += 1
        spent += sum(one.seconds for one in seen)
        if all(
            one.ended == "exited" and one.exit_code == 0 and not any(c.outcome in BAD for c in one.report.cases)
            for one in seen
        ):
            alive.append(mutant)
    if not alive:
        return []
    example = f"{alive[0].path}:{alive[0].line} {alive[0].what}"
    text = f"{len(alive)} of {tried} mutants on changed lines went unnoticed by the proving tests, e.g. {example}"
    return [Finding(rule="mutants", text=text, path=alive[0].path, line=alive[0].line, severity="note")]


async def mutants_ahead(trial: Trial, spec: CheckSpec, proofs: Sequence[Proof]) -> list[Ahead]:
    """The mutants that are tried at least."""
    files, policy = _files(spec, proofs), trial.tools.setting.policy
    if spec.runner != "pytest" or len(files) != 1:
        return []
    chosen = _pool(trial)[: min(LEAST, policy.mutants)]
    trees = [
        await asyncio.to_thread(trial.trees.edit, trial.change.rooms.r2, {mutant.path: mutant.source.encode()})
        for mutant in chosen
    ]
    return [Ahead(tree=tree, files=files, ask=_ask(trial)) for tree in trees]


def _files(spec: CheckSpec, proofs: Sequence[Proof]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(proof.path for proof in proofs if proof.path and proof.check == spec.name))


def _pool(trial: Trial) -> list[Mutant]:
    found = [
        mutant
        for one in trial.change.owned
        if one.owner is Owner.SUBJECT and one.path.endswith(".py") and one.after is not None
        for mutant in mutants(one.path, one.after, changed_lines(one.before, one.after))
    ]
    return shuffled(found, trial.change.rooms.r4)


def _ask(trial: Trial) -> Ask:
    seconds = trial.tools.setting.policy.mutation_seconds
    return Ask(
        known=trial.known, helpers=trial.change.helpers, stop_early=True, canaries=False, brief=True, timeout=seconds
    )
