"""A case that somebody forgets is mypy's to find: every closed set gets one member more in a copy, and mypy objects."""

from __future__ import annotations

import ast
import functools
import re
import shutil
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

import pytest

from engine.core import events as ev
from engine.core import gate_choices, status_words
from engine.core.vocabulary import Choice, GateKind
from tests.core.story import ONE, Story, begin
from tests.core.world import changes_wanted

ROOT = Path(__file__).parents[2]
CORE = "engine/core"
LITERALS = {
    "Severity": f"{CORE}/vocabulary.py",
    "Purpose": f"{CORE}/vocabulary.py",
    "ChangeKind": f"{CORE}/vocabulary.py",
    "LinkState": f"{CORE}/vocabulary.py",
    "Ending": "engine/perform/process/spawning.py",
}


@pytest.mark.torture
def test_mypy_finds_every_forgotten_case(tmp_path: Path) -> None:
    for folder in ("engine", "tui", "themes"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    enums = matched()
    for name, path in [(one, file) for one in enums for file in own_enums()[one]]:
        _patch(
            tmp_path / path,
            rf'^(class {name}\(StrEnum\):\n(?:    """.*?"""\n)?)',
            rf'\1\n    NEW_{name.upper()} = "new"\n',
        )
    for name, path in LITERALS.items():
        _patch(tmp_path / path, rf"^({name} = Literal\[)", rf'\1"new {name}", ')
    command = [sys.executable, "-m", "mypy", "--strict", "--python-version", "3.11", "engine", "tui"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    objections = [line for line in found.splitlines() if "assert_never" in line]
    forgotten = {name: sum(f"NEW_{name.upper()}" in line for line in objections) for name in enums}
    forgotten |= {name: sum(f"new {name}" in line for line in objections) for name in LITERALS}
    assert [name for name, count in forgotten.items() if not count] == [], found
    assert forgotten["Choice"] >= 3, "each kind of gate says what each answer means"


@functools.cache
def own_enums() -> dict[str, list[str]]:
    """Our StrEnums, and the file of each; two may bear one name."""
    found: dict[str, list[str]] = {}
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "StrEnum" for base in node.bases):
                found.setdefault(node.name, []).append(path)
    return found


@functools.cache
def matched() -> set[str]:
    """Those of them that a `match` tells apart somewhere."""
    nodes = (node for tree in trees().values() for node in ast.walk(tree) if isinstance(node, ast.MatchValue))
    named = {ast.unparse(node.value).partition(".")[0] for node in nodes}
    return named & own_enums().keys()


@functools.cache
def trees() -> dict[str, ast.Module]:
    paths = [path for folder in ("engine", "tui", "themes") for path in (ROOT / folder).rglob("*.py")]
    return {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text("utf-8")) for path in paths}


def left_open(tree: ast.AST, enums: Collection[str]) -> list[int]:
    """Lines of matches over a set of ours that do not end in `assert_never`: whatever is added to the set falls through
    them, or into a wildcard, and mypy does not see it."""

    def over_ours(pattern: ast.pattern) -> bool:
        match pattern:
            case ast.MatchValue(value=ast.Attribute(value=ast.Name(id=name))):
                return name in enums
            case ast.MatchOr(patterns=patterns):
                return any(over_ours(one) for one in patterns)
            case ast.MatchAs(pattern=ast.pattern() as inner):
                return over_ours(inner)
        return False

    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Match) and any(over_ours(case.pattern) for case in node.cases):
            wild = [case for case in node.cases if isinstance(case.pattern, ast.MatchAs) and not case.pattern.pattern]
            found += [case.pattern.lineno for case in wild if "assert_never" not in ast.unparse(case)]
            found += [] if wild else [node.lineno]
    return found


def test_every_match_over_our_own_sets_ends_in_assert_never() -> None:
    """`case _` there hides the member that somebody adds from mypy; no end at all lets it through without a word."""
    enums = own_enums()
    assert {"Role", "Choice", "Outcome", "Health", "Verdict"} <= matched()
    assert [f"{name}:{line}" for name, tree in trees().items() for line in left_open(tree, enums)] == []


@pytest.mark.parametrize(
    ("last", "count"),
    [
        ("case _: pass", 1),
        ("case other: pass", 1),
        ("case _ if x: pass", 1),
        ("case Role.REVIEWER: pass", 1),
        ("case _: assert_never(a)", 0),
    ],
)
def test_an_open_end_is_found(last: str, count: int) -> None:
    source = f"match a:\n    case Role.PLANNER | Role.ANSWERER: pass\n    {last}\n"
    assert len(left_open(ast.parse(source), {"Role"})) == count


def _patch(path: Path, pattern: str, new: str) -> None:
    text, count = re.subn(pattern, new, path.read_text("utf-8"), count=1, flags=re.DOTALL | re.MULTILINE)
    assert count == 1, (path, pattern)
    path.write_text(text, "utf-8")


def test_one_record_a_choice_and_no_key_twice() -> None:
    """At each kind of gate a letter and a word mean one thing, and what a gate offers can be typed."""
    words = [record.choice.value for record in gate_choices.RECORDS]
    assert len(set(words)) == len(words)
    for kind in GateKind:
        offered = [record for record in gate_choices.RECORDS if kind in record.gates]
        assert len({record.key for record in offered}) == len(offered) > 1
        assert gate_choices.offered(kind) == tuple(record.choice for record in offered)
        for record in offered:
            assert (
                gate_choices.read(record.key) is gate_choices.read(f" {record.choice.value.upper()} ") is record.choice
            )


@pytest.mark.parametrize("word", ["maybe", "", "yes!", "withdrawn", "unknown", "blocked"])
def test_what_no_record_names_is_no_answer(word: str) -> None:
    assert gate_choices.read(word) is Choice.UNKNOWN


def test_every_member_has_its_words() -> None:
    """The tables hold a word and a sign of the dashboard's for each member."""
    from tui.kit.glyphs import ASCII, UNICODE

    shown = [status_words.of_status(one) for one in status_words.Status]
    shown += [status_words.of_outcome(one) for one in status_words.Outcome]
    shown += [status_words.of_health(one) for one in status_words.Health]
    for words in shown:
        assert words.word and getattr(UNICODE, words.sign) and getattr(ASCII, words.sign)
    assert all(status_words.of_health(one).said for one in status_words.Health)


def test_the_docs_show_the_registry() -> None:
    """`python -c "from engine.core.gate_choices import table; print(table())"` is what docs/gates.md holds."""
    assert gate_choices.table() in (ROOT / "docs" / "gates.md").read_text("utf-8")


def test_an_answer_of_a_newer_version_decides_nothing() -> None:
    """A fix gate that was answered with a word the fold does not know is put again: it is no yes."""
    world = begin(Story(review=[changes_wanted(ONE)]), attended=True)
    (gate,) = world.state.open_gates()
    assert gate.kind is GateKind.FIX
    line = ev.encode(ev.GateAnswered(gate=gate.id, choice=Choice.YES)).replace(b'"yes"', b'"perhaps"')
    told = ev.decode(line)
    assert isinstance(told, ev.GateAnswered)
    world.append(told)
    world.run()
    (again,) = world.state.open_gates()
    assert (again.kind, again.id != gate.id) == (GateKind.FIX, True)
    assert world.calls() == ["haiku"], "nobody was called on the strength of it"
