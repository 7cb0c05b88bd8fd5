"""Changed code that answers other values of the same type: a proof that is content with them asks for nothing.

Three rooms: other values of the same size, others of another size, and an error where a value would be another one. A
proof that passes in the first two and not in the third called what was changed, heard a value, and did not look at it.
Where the task speaks of an order, lists are handed out backwards; where tests allow a tolerance, numbers a little off.
"""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum

from engine.core.grants import Rule
from engine.core.model import Proof
from engine.perform.checks import python_source
from engine.perform.checks.proof import other_values_text
from engine.perform.checks.proof.faults import Fault, unproven
from engine.perform.checks.proof.gutted_text import bodies
from engine.perform.checks.proof.imports import language_of
from engine.perform.checks.proof.mutate import Mutant
from engine.perform.checks.proof.owned import Owner
from engine.perform.checks.proof.seen_cases import by_id
from engine.perform.checks.proof.trial import Ahead, Trial
from engine.perform.checks.run.measure import BAD, PASSED, Case
from engine.perform.checks.run.runners import runner_of
from engine.perform.checks.run.spec import CheckSpec


class Sort(StrEnum):
    """What stands in the place of a value."""

    ALIKE = "alike"
    LONGER = "longer"
    ERROR = "error"
    AT_ONCE = "at once"
    """An error before anything is done."""
    FIRST = "first"
    """Its first answer, whatever it is asked after that."""
    ELSE = "else"
    """An error at the second answer that is not the first one: a test that has three asks for some of them."""
    BACKWARDS = "backwards"
    """Lists in their other order, all else as it is."""
    OFF = "off"
    """Numbers that are off by one and two per cent, all else as it is."""


ANYTHING = (Sort.ALIKE, Sort.LONGER, Sort.ERROR)
SAME_AGAIN = (Sort.FIRST, Sort.ELSE)
IN_ANY_ORDER = (Sort.BACKWARDS, Sort.ERROR)
ABOUT = (Sort.OFF, Sort.ERROR)
MUST_FAIL = (Sort.ERROR, Sort.ELSE)
_ORDER = re.compile(
    r"\b(?:in (?:the )?(?:\w+ )?order|ordered|sort(?:ed|s|ing)?|(?:most|least|\w+est)(?: \w+){0,2} first|ascending"
    r"|descending|alphabetical\w*|ranked)\b",
    re.IGNORECASE,
)
_TOLERANCE = re.compile(
    r"\bapprox\b|AlmostEqual|isclose|toBeCloseTo|\bplaces=|\bdelta=|\btolerance\b|\bepsilon\b|\b1e-\d|\babs\(|Math\.abs\("
)
_ABOUT = re.compile(
    r"\b(?:random\w*|jitter|about|approximate\w*|roughly|within|between|at least|at most|up to|estimate\w*)\b", re.I
)
MOST_FILES = 2
_HELPER = """
def _zz_other(value, deep=0):
    kind = type(value)
    if isinstance(value, tuple) and hasattr(kind, "_make") and @SORT@ in ("alike", "longer"):
        return kind._make(_zz_other(item, deep + 1) for item in value)
    if kind not in (bool, int, float, str, bytes, list, tuple, dict, set, frozenset) or deep > 6:
        return _zz_with_other(value, deep) if @SORT@ in ("alike", "longer") and deep < 2 else value
    if @SORT@ == "error":
        raise NotImplementedError("taken out")
    if @SORT@ == "backwards":
        return value[::-1] if kind in (list, tuple) else value
    if @SORT@ == "off":
        if kind in (int, float):
            return value + (value * 0.02 if kind is float else value // 50) + 1
        if kind in (list, tuple):
            return kind(_zz_other(item, deep + 1) for item in value)
        return {key: _zz_other(item, deep + 1) for key, item in value.items()} if kind is dict else value
    more = @SORT@ == "longer"
    if kind is bool:
        return not value
    if kind in (int, float):
        return value * 7 + (13 if value >= 0 else -13)
    if kind is str:
        return ("~" if set(value) != {"~"} else "^") * (len(value) + more or 1)
    if kind is bytes:
        return b"~" * (len(value) + more or 1)
    if kind is dict:
        found = {key: _zz_other(item, deep + 1) for key, item in value.items()}
        return {**found, "~": None} if more or not found else found
    items = [_zz_other(item, deep + 1) for item in value]
    return kind([*items, "~"] if more or not items else items)


def _zz_with_other(value, deep):
    import copy

    try:
        made, plain = copy.copy(value), (bool, int, float, str, bytes)
        for name, item in list(vars(value).items()):
            if type(item) in plain:
                object.__setattr__(made, name, _zz_other(item, deep + 1))
    except Exception:
        return value
    return made


def _zz_otherwise(call):
    import functools

    known = {}

    @functools.wraps(call)
    def answer(*args, **kwargs):
        if @SORT@ == "at once":
            raise NotImplementedError("taken out")
        value = call(*args, **kwargs)
        if @SORT@ not in ("first", "else"):
            return _zz_other(value)
        first = known.setdefault("first", value)
        if type(value) not in (bool, int, float, str, bytes, list, tuple, dict, type(None)) or first == value:
            return value
        known[repr(value)] = value
        if @SORT@ == "else" and len(known) > 2:
            raise NotImplementedError("taken out")
        return first

    return answer
"""


def otherwise(before: bytes, after: bytes, sort: Sort) -> bytes | None:
    """`after` with its new and altered functions answering other values; None where there are none."""
    try:
        old, new = python_source.parse(before), python_source.parse(after)
    except (SyntaxError, ValueError, RecursionError):
        return None
    if not _wrap(old.body, new.body, sort):
        return None
    helper = python_source.parse(_HELPER.replace("@SORT@", repr(sort.value))).body
    at = 0
    while at < len(new.body) and _stays_first(new.body[at]):
        at += 1
    new.body[at:at] = helper
    return ast.unparse(ast.fix_missing_locations(new)).encode()


def answering_otherwise(path: str, source: bytes, words: Collection[str] | None) -> list[Mutant]:
    """For each function that the words name (None: for each): the file with that one alone answering another value."""
    language = language_of(path)
    if language in other_values_text.LANGUAGES:
        text = source.decode("utf-8", "surrogateescape")
        named = [one for one in bodies(text, language, "") if words is None or one.name in words]
        befores = [(one.name, text[: one.start] + text[one.end :], text.count("\n", 0, one.start) + 1) for one in named]
        made = [
            (name, line, other_values_text.otherwise(before.encode(), source, language, Sort.ALIKE.value))
            for name, before, line in befores
        ]
    elif path.endswith(".py"):
        made = [(name, line, otherwise(before, source, Sort.ALIKE)) for name, line, before in _without(source, words)]
    else:
        return []
    return [
        Mutant(path=path, line=line, what=f"{name} answers another value", source=other.decode())
        for name, line, other in made
        if other is not None
    ]


def _without(source: bytes, words: Collection[str] | None) -> Iterator[tuple[str, int, bytes]]:
    """For each of these functions, the file in which that one does nothing."""
    try:
        tree = python_source.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and (words is None or node.name in words):
            body, node.body = node.body, [ast.Pass()]
            yield node.name, node.lineno, ast.unparse(ast.fix_missing_locations(tree)).encode()
            node.body = body


def _stays_first(node: ast.stmt) -> bool:
    told = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return told or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


def _wrap(old: list[ast.stmt], new: list[ast.stmt], sort: Sort) -> int:
    had = {node.name: node for node in old if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    count = 0
    for node in new:
        match node, had.get(getattr(node, "name", "")):
            case ast.ClassDef(), known:
                count += _wrap(known.body if isinstance(known, ast.ClassDef) else [], node.body, sort)
            case ast.FunctionDef(name=name), known if not name.startswith("__"):
                same = known is not None and _returns(known) == _returns(node)  # what else it does is not its answer
                if not same and (_answers(node) or sort is Sort.AT_ONCE):
                    # nearest to the function: what a property or a class method makes of it comes after
                    node.decorator_list.append(ast.Name(id="_zz_otherwise", ctx=ast.Load()))
                    count += 1
    return count


def _returns(node: ast.AST) -> list[str]:
    """What it answers, with everything that is put into a name: where one of these differs, so may the answer."""
    found = [one for one in ast.walk(node) if isinstance(one, ast.Return | ast.Assign | ast.AnnAssign | ast.For)]
    tests = [one.test for one in ast.walk(node) if isinstance(one, ast.If | ast.While | ast.IfExp)]
    return [ast.dump(one) for one in (*found, *tests)]


def _answers(node: ast.FunctionDef) -> bool:
    inside = [one for statement in node.body for one in ast.walk(statement)]
    if any(isinstance(one, ast.Yield | ast.YieldFrom) for one in inside):
        return False
    return any(isinstance(one, ast.Return) and one.value is not None for one in inside)


def _tree(trial: Trial, sort: Sort) -> str | None:
    files: dict[str, bytes | None] = {}
    for one in trial.change.owned:
        if one.owner is not Owner.SUBJECT or one.after is None:
            continue
        language = language_of(one.path)
        if one.path.endswith(".py"):
            made = otherwise(one.before or b"", one.after, sort)
        elif language in other_values_text.LANGUAGES:
            made = other_values_text.otherwise(one.before or b"", one.after, language, sort.value)
        else:
            continue
        if made is not None:
            files[one.path] = made
    return trial.trees.edit(trial.change.rooms.r2, _with_tests(trial, files)) if files else None


def _with_tests(trial: Trial, files: dict[str, bytes | None]) -> dict[str, bytes | None]:
    """Beside altered programs of Go its tests, each of which fails alone where it panics: else the first ends all."""
    if not any(path.endswith(".go") for path in files):
        return files
    room = trial.change.rooms.r2
    tests = [path for path in trial.trees.files(room) if path.endswith("_test.go")]
    texts = trial.trees.contents(room, tests)
    return files | {path: other_values_text.failing_alone(text) for path, text in texts.items()}


async def other_values_ahead(trial: Trial, spec: CheckSpec, proofs: Sequence[Proof]) -> list[Ahead]:
    """The one run that nearly every proof fails in."""
    files = tuple(dict.fromkeys(proof.path for proof in proofs if proof.check == spec.name and proof.path))
    tree = await asyncio.to_thread(_tree, trial, Sort.ALIKE) if len(files) == 1 else None
    return [Ahead(tree=tree, files=files, ask=trial.on_base())] if tree is not None else []


async def content_with_anything(
    trial: Trial, specs: Sequence[CheckSpec], proofs: Sequence[Proof], words: str = "", fresh: str = ""
) -> list[Fault]:
    """Where every proof is content with other values, or with the first answer to everything: nothing was shown.

    `words`: the task's own; `fresh`: the new lines of the tests.
    """
    able = {spec.name: spec for spec in specs if runner_of(spec).picks_files}
    left = [proof for proof in proofs if proof.path and proof.check in able]
    if not left or len(left) < len(proofs) or len({proof.path for proof in left}) > MOST_FILES:
        return []
    name = left[0].name
    if await _all_content(trial, able, left, ANYTHING):
        text = f"{name} passes whatever value of the same type the changed code answers: it asks for none"
    elif await _all_content(trial, able, left, (Sort.AT_ONCE,)):
        text = f"{name} passes where the changed code does nothing but fail: it asks for nothing"
    elif await _all_content(trial, able, left, SAME_AGAIN):
        text = f"{name} passes where the changed code answers everything as it answered first: it asks for no value"
    elif _ORDER.search(words) and await _all_content(trial, able, left, IN_ANY_ORDER):
        text = f"the task speaks of an order, and {name} passes with every list backwards"
    elif _TOLERANCE.search(fresh) and not _ABOUT.search(words) and await _all_content(trial, able, left, ABOUT):
        text = f"{name} passes with every number off by one and two per cent: its tolerance is too wide"
    else:
        return []
    return [unproven(Rule.NOT_SHOWN, text, test=name)]


async def asking_for_nothing(
    trial: Trial, spec: CheckSpec, files: Sequence[str], names: Collection[str], refusals: Collection[str] = ()
) -> list[str]:
    """Of these tests: those that pass where nothing of the program works; else those that call it and pass whatever
    values of the same types it answers. `refusals`: tests among them that provoke an error and look at nothing else."""
    seen = await _seen(trial, spec, files, Sort.AT_ONCE)
    broken = {case.path for case in seen.values() if case.outcome in BAD}  # else nothing was taken out of their reach
    idle = {name for name, case in seen.items() if name in names and case.outcome == PASSED and case.path in broken}
    left = set(names) - set(refusals) - idle
    for sort in ANYTHING:
        wanted = BAD if sort in MUST_FAIL else frozenset({PASSED})
        seen = await _seen(trial, spec, files, sort) if left else {}
        left = {name for name in left if name in seen and seen[name].outcome in wanted}
    return sorted(idle | left)


async def _seen(trial: Trial, spec: CheckSpec, files: Sequence[str], sort: Sort) -> dict[str, Case]:
    """The tests of the files, where all of the program answers otherwise."""
    tree = await asyncio.to_thread(_whole_tree, trial, sort)
    runs = await trial.files("other values", tree, spec, tuple(files), trial.on_base()) if tree is not None else ()
    return {case.id: case for run in runs for case in by_id(run).values()}


def _whole_tree(trial: Trial, sort: Sort) -> str | None:
    """All of the program answers otherwise, and not the change alone."""
    change = trial.change
    files: dict[str, bytes | None] = {}
    for path, text in change.ground.sources.items():
        language = language_of(path)
        if change.ground.is_test(path) or path in change.tests:
            continue
        if path.endswith(".py"):
            made = otherwise(b"", text, sort)
        elif language in other_values_text.LANGUAGES:
            made = other_values_text.otherwise(b"", text, language, sort.value)
        else:
            continue
        if made is not None:
            files[path] = made
    return trial.trees.edit(change.rooms.r2, _with_tests(trial, files)) if files else None


async def _all_content(
    trial: Trial, able: Mapping[str, CheckSpec], proofs: Sequence[Proof], sorts: Sequence[Sort]
) -> bool:
    """Green with each sort, red with the one that says that the code was asked."""
    for sort in sorts:
        tree = await asyncio.to_thread(_tree, trial, sort)
        if tree is None:
            return False
        wanted = tuple(BAD) if sort in MUST_FAIL else (PASSED,)
        for name in dict.fromkeys(proof.check for proof in proofs):
            mine = [proof for proof in proofs if proof.check == name]
            files = tuple(dict.fromkeys(proof.path for proof in mine))
            runs = await trial.files("other values", tree, able[name], files, trial.on_base())
            seen = {case.id: case.outcome for run in runs for case in by_id(run).values()}
            gone = "error" if sort is Sort.ELSE else ""  # a file that asks while it is loaded
            if sort is Sort.FIRST and PASSED in seen.values() and not BAD & set(seen.values()):
                gone = PASSED  # its name has the answer in it
            missed = [proof for proof in mine if seen.get(proof.name, gone) not in wanted]
            if missed and (sort is not Sort.ELSE or len(missed) == len(mine)):
                return False
    return True
