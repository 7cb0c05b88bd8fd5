"""Mutants on changed lines: would the tests notice? Advisory, bounded in number and time, Python only."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from engine.core.model import Struct
from engine.perform.checks.changed_lines import changed_lines
from engine.perform.checks.measure import BAD
from engine.perform.checks.run import Selection, run_check
from engine.perform.checks.second_looks import Looks
from engine.perform.checks.spec import CheckSpec
from engine.perform.checks.waivers import Objection

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


class Mutant(Struct, frozen=True, kw_only=True):
    path: str
    line: int
    what: str
    source: str


def mutants(path: str, source: bytes, lines: set[int]) -> list[Mutant]:
    """Every single-node mutant on the given lines."""
    try:
        tree = ast.parse(source)
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


async def mutation_objections(looks: Looks, specs: Sequence[CheckSpec], folder: Path) -> list[Objection]:
    """Each mutant is put into the room, the tests run to their first failure, the file is put back."""
    spec = next((s for s in specs if s.runner == "pytest" and not s.strict), None)
    policy, tools = looks.tools.setting.policy, looks.tools
    pool = [
        mutant
        for change in looks.changes
        if change.python and not change.test and change.after is not None
        for mutant in mutants(change.path, change.after, changed_lines(change.before, change.after))
    ]
    if spec is None or not pool:
        return []
    random.Random(looks.tree).shuffle(pool)  # noqa: S311  (the same tree gets the same mutants)
    deadline = tools.clock() + policy.mutation_seconds
    tried, alive = 0, []
    for mutant in pool[: policy.mutants]:
        if tools.clock() >= deadline:
            break
        file = folder / mutant.path
        original = file.read_bytes()
        file.write_text(mutant.source)
        try:
            seen = await run_check(tools, spec, folder, Selection(stop_early=True))
        finally:
            file.write_bytes(original)
        if seen.ended not in ("exited", "timeout"):
            break
        tried += 1
        if seen.ended == "exited" and seen.exit_code == 0 and not any(c.outcome in BAD for c in seen.report.cases):
            alive.append(mutant)
    if not alive:
        return []
    example = f"{alive[0].path}:{alive[0].line} {alive[0].what}"
    text = f"{len(alive)} of {tried} mutants on changed lines went unnoticed by the tests, e.g. {example}"
    return [Objection(rule="mutants", text=text, path=alive[0].path, line=alive[0].line)]
