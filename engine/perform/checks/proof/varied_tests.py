"""A test file with its proofs asked about neighbouring inputs: copies of a test that differ in one constant. Pure.

A copy does not assert. It tells what it saw, by the exception that it ends with, and so by the runner's own account:
the same file over the base and over the change says where the two differ. Python only.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from engine.core.model import Struct
from engine.perform.checks import python_source
from engine.perform.checks.proof import kept_arguments
from engine.perform.checks.proof.examples import ALIKE, Example, functions
from engine.perform.checks.proof.near_values import Near, edges_of, neighbours_of, parts_of
from engine.perform.checks.proof.observed_tests import SEEN, Function, observed
from engine.perform.checks.proof.test_constants import constants_of, parameters_of, put, restore, rows_of

MOST_COPIES = 22
"""Neighbours of one test (or of one row of its parameters)."""
MOST_TESTS = 4
MOST_JOINT = 3
JOINT = 1000
"""Slots of copies in which equal constants differ together come behind all others."""
MOST_ROWS = 3
AGAIN = 12
"""The test as it is, once more in the same process."""


class Copy(Struct, frozen=True, kw_only=True):
    """One copy of a test. `slot` names the constant that differs (-1: none does: the test as it is, observed)."""

    test: str
    """The test's name in its file: `Class::name`."""
    name: str
    row: int
    slot: int
    was: str = ""
    now: str = ""
    weak: bool = False
    """A word, or the length of a list: that nothing changes beside it says little, code may well know it by name."""
    small: bool = False
    """A number at which honest code has a case of its own."""
    part: bool = False
    """A number inside of a longer text."""
    joint: bool = False
    """Every constant of that value differs together: two that are equal in the test still are."""


class Varied(Struct, frozen=True, kw_only=True):
    text: bytes
    on_base: bytes
    """Without the test itself and its repetitions: of these nothing is asked on the base."""
    copies: tuple[Copy, ...]
    again: tuple[str, ...]
    """Names of the repetitions."""
    examples: tuple[str, ...] = ()
    """Names of the functions that hold the task's own examples."""
    kept: tuple[str, ...] = ()
    """Names of the functions that look whether a call leaves its arguments alone."""


def varied(
    source: bytes,
    tests: Iterable[str],
    told: Sequence[Example] = (),
    *,
    most: int = MOST_TESTS,
    again: int = AGAIN,
    edges: bool = False,
) -> Varied | None:
    """The file with copies of `tests` (names as in ids), and no other test; None: nothing to vary.

    `edges`: what is special for honest code too comes first. It says something only where the base is asked the same.
    """
    wanted = tuple(dict.fromkeys(name.partition("[")[0] for name in tests))[:most]
    return _varied(source, wanted, tuple(told), again, edges)


@lru_cache(maxsize=8)  # asked for when runs are planned, and again when they are read
def _varied(
    source: bytes, wanted: tuple[str, ...], told: tuple[Example, ...], again: int, edges: bool
) -> Varied | None:
    try:
        tree, lean = python_source.parse(source), python_source.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None
    copies: list[Copy] = []
    repeated: list[str] = []
    rows = MOST_ROWS if len(wanted) < MOST_TESTS else 1
    near = edges_of if edges else neighbours_of
    if not _fill(tree, "", wanted, rows, copies, repeated, again, near):
        return None
    _fill(lean, "", wanted, rows, [], [], again, near, lean=True)
    own = list(functions(list(told), _bound(tree)))
    kept = list(kept_arguments.functions(tree, wanted, _bound(tree))) if again else []
    try:
        text, on_base = (_program(one, [function for _, function in (*own, *kept)]) for one in (tree, lean))
    except (SyntaxError, ValueError, RecursionError):
        return None
    return Varied(
        text=text,
        on_base=on_base,
        copies=tuple(copies),
        again=tuple(repeated),
        examples=tuple(name for name, _ in own),
        kept=tuple(name for name, _ in kept),
    )


def _program(tree: ast.Module, more: Sequence[ast.stmt]) -> bytes:
    tree.body += [*python_source.parse(ALIKE).body, *_collected(tree, python_source.all_copied(more))]
    at = 0
    while at < len(tree.body) and _is_head(tree.body[at]):
        at += 1
    tree.body[at:at] = python_source.parse(SEEN).body
    text = ast.unparse(tree)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Python says about a test of theirs is not for our own output
        compile(text, "varied", "exec")
    return text.encode("utf-8", "surrogateescape")


def _collected(tree: ast.Module, made: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Where a file's tests are methods of unittest's, so are these: its runner knows no others."""
    cases = [node for node in tree.body if isinstance(node, ast.ClassDef) and "TestCase" in map(_last, node.bases)]
    if not cases or not made:
        return list(made)
    for function in made:
        if isinstance(function, ast.FunctionDef):
            function.args.args = [ast.arg(arg="self")]
    base = python_source.copied(next(base for base in cases[0].bases if _last(base) == "TestCase"))
    return [ast.ClassDef(name="OfTheTask", bases=[base], keywords=[], body=list(made), decorator_list=[])]


def _last(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]


def _bound(tree: ast.Module) -> set[str]:
    """Names that the file imports."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return {(alias.asname or alias.name).partition(".")[0] for node in found for alias in node.names}


def _fill(
    node: ast.Module | ast.ClassDef,
    prefix: str,
    wanted: Sequence[str],
    rows: int,
    copies: list[Copy],
    repeated: list[str],
    again: int,
    near: Callable[[ast.AST], list[Near]],
    *,
    lean: bool = False,
) -> bool:
    """Whether one of the tests was there. `lean`: their copies alone."""
    body: list[ast.stmt] = []
    there = False
    for item in node.body:
        if isinstance(item, ast.ClassDef) and any(name.startswith(f"{prefix}{item.name}::") for name in wanted):
            there |= _fill(item, f"{prefix}{item.name}::", wanted, rows, copies, repeated, again, near, lean=lean)
        elif isinstance(item, Function) and f"{prefix}{item.name}" in wanted:
            if not any(isinstance(inner, ast.Yield | ast.YieldFrom) for inner in ast.walk(item)):
                whole = _set_up(node, item) if near is edges_of else item
                for made, function in _copies(whole, f"{prefix}{item.name}", rows, near):
                    copies.append(made)
                    body.append(function)
            there = True
            body += [] if lean else [item, *_repetitions(item, repeated, again)]
            continue
        elif isinstance(item, Function) and item.name.startswith("test"):
            continue
        body.append(item)
    node.body = body or [ast.Pass()]
    return there


def _repetitions(item: Function, repeated: list[str], again: int) -> Iterator[Function]:
    """The test as it is; of a table the first rows."""
    for number in range(again):
        same = python_source.copied(item)
        if rows := rows_of(same):
            parameters_of(same).elts = rows[:MOST_ROWS]
        _first_of_tables(same, MOST_ROWS)
        same.name = f"{item.name}__y{number}"
        repeated.append(same.name)
        yield same


def _first_of_tables(function: Function, most: int) -> None:
    """Of tables that stand elsewhere the first rows: a copy tells of one, and a table may have thousands."""
    for decorator in function.decorator_list:
        match decorator:
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[_, values, *_], keywords=[]):
                if not isinstance(values, ast.List | ast.Tuple):
                    decorator.args[1] = python_source.parse(f"list({ast.unparse(values)})[:{most}]", mode="eval").body


def _set_up(node: ast.Module | ast.ClassDef, function: Function) -> Function:
    """A test with what its class sets up once more before it, so that the constants there differ too."""
    before = next((one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "setUp"), None)
    if before is None or any(isinstance(one, ast.Return) for one in ast.walk(before)):
        return function
    made = python_source.copied(function)
    made.body = [*python_source.all_copied(before.body), *made.body]
    return made


def _is_head(node: ast.stmt) -> bool:
    told = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return told or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


# ── copies ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _copies(
    function: Function, test: str, most: int, near: Callable[[ast.AST], list[Near]]
) -> Iterator[tuple[Copy, Function]]:
    rows = rows_of(function)
    for row in range(min(max(1, len(rows)), most)):
        one = python_source.copied(function)
        if rows:
            parameters = rows_of(one)
            parameters_of(one).elts = [parameters[row]]
        _first_of_tables(one, 1)
        plans: list[list[tuple[int, ast.AST, str, str, bool]]] = []
        for node in constants_of(one, row if rows else None):
            plans.append([(len(plans), node, was, now, weak) for was, now, weak in near(node)])
            if near is neighbours_of:
                for near_part in parts_of(node):
                    plans.append([(len(plans), node, was, now, weak) for was, now, weak in near_part])
        name = f"{function.name}__r{row}v0"
        yield Copy(test=test, name=name, row=row, slot=-1), observed(one, name)
        number = 0
        for wave in range(8):  # the first neighbour of every constant, then the second of each
            for plan in plans:
                if wave < len(plan) and number < MOST_COPIES:
                    slot, node, was, now, weak = plan[wave]
                    number += 1
                    name = f"{function.name}__r{row}v{number}"
                    kept = put(node, now)
                    small = was.lstrip("-") in ("1", "2")
                    part = isinstance(node, ast.Constant) and isinstance(node.value, str) and was != repr(node.value)
                    made = Copy(
                        test=test, name=name, row=row, slot=slot, was=was, now=now, weak=weak, small=small, part=part
                    )
                    yield made, observed(one, name)
                    restore(node, kept)
        varied_nodes = [plan[0][1] for plan in plans if plan]
        for nodes, was, values in _at_once(varied_nodes) if near is edges_of else _alike_at_once(varied_nodes):
            number += 1
            name = f"{function.name}__r{row}v{number}"
            held = [put(node, now) for node, now in zip(nodes, values, strict=True)]
            slot = JOINT + nodes_slot(plans, nodes[0])
            made = Copy(test=test, name=name, row=row, slot=slot, was=was, now=values[0], weak=True, joint=True)
            yield made, observed(one, name)
            for node, kept in zip(nodes, held, strict=True):
                restore(node, kept)


def nodes_slot(plans: Sequence[Sequence[tuple[int, ast.AST, str, str, bool]]], node: ast.AST) -> int:
    return next(plan[0][0] for plan in plans if plan and plan[0][1] is node)


Together = tuple[Sequence[ast.AST], str, list[str]]
"""Constants that differ together, what the first was, what each is instead."""


def _alike_at_once(nodes: Sequence[ast.AST]) -> Iterator[Together]:
    """Constants of one value, with one that is beside it."""
    for group in _equal(nodes):
        for was, now, _ in neighbours_of(group[0])[:2]:
            yield group, was, [now] * len(group)


def _at_once(nodes: Sequence[ast.AST]) -> Iterator[Together]:
    """Every number of a test nothing, or below it; every text empty."""
    constants = [node for node in nodes if isinstance(node, ast.Constant)]
    numbers = [node for node in constants if isinstance(node.value, int) and not isinstance(node.value, bool)]
    texts = [node for node in constants if isinstance(node.value, str)]
    if numbers:
        yield numbers, "every number", ["0"] * len(numbers)
        yield numbers, "every number", [str(-abs(int(str(node.value)))) for node in numbers]
    if texts:
        yield texts, "every text", ["''"] * len(texts)


def _equal(nodes: Sequence[ast.AST]) -> list[list[ast.AST]]:
    """Constants that the test has more than once, in groups."""
    groups: dict[str, list[ast.AST]] = {}
    for node in nodes:
        if isinstance(node, ast.Constant):
            groups.setdefault(repr(node.value), []).append(node)
    return [group for group in groups.values() if len(group) > 1][:MOST_JOINT]
