"""A feature done by half: an option, an error or a quoted thing that the task names and nothing shows."""

from __future__ import annotations

from engine.core.model import TaskSpec
from engine.perform.checks.proof.not_done import left_out, not_done, put_off

BASE = b"parser.add_argument('--json')\nraise ValueError\n"


def left(title: str, after: str, test: str = "", *accept: str, about: str = "") -> list[str]:
    task = TaskSpec(id="1", title=title, accept=accept, description=about)
    return not_done(task, [BASE], [test.encode()], [(BASE, BASE + after.encode())])


def test_what_is_asked_for_and_nowhere() -> None:
    assert left("Add --csv and --tsv", "add('--csv')") == ["--tsv"]
    assert left("Export", "def as_csv(): ...", "", "`as_csv(rows)` quotes", "`Book.as_tsv` too") == ["Book.as_tsv"]
    assert left("Spans", "days", about='it understands "days" and "weeks"') == ["weeks"]
    assert left("Modes", "strict", about="a mode should be 'strict' or 'lenient', the user's choice") == ["lenient"]
    assert left("Refuse it", "return 0", about="negative ones should raise ValueError") == ["ValueError"]


def test_what_is_there_or_says_nothing() -> None:
    assert left("Add --dry-run beside --json", "def main(dry_run): ...") == []
    assert left("Return `None` or `[]`", "x") == []
    assert left("Refuse it", "raise ValueError(x)", about="negative ones raise ValueError") == []
    assert left("See `docs/use.md` and `make test`", "x = 1", "test make") == []
    assert left("It dies with 'no such order' and shows \"42 rows\"", "x") == []
    assert left("Fix the report", "x", about="it dies with a KeyError instead of a ValueError") == []


def half(title: str, after: str, base: bytes = BASE) -> list[str]:
    return left_out(TaskSpec(id="1", title=title), [base], [b"def test_it(): pass"], [(base, base + after.encode())])


def test_half_of_a_list() -> None:
    assert half("dl and cl", "UNITS = {'dl': 100}") == ["cl"]
    assert half("Know dl, cl and hl", "UNITS = {'dl': 100, 'hl': 1}") == ["cl"]
    assert half("dl and cl", "UNITS = {'dl': 100, 'cl': 10}") == []
    assert half("dl and cl", "UNITS = {'dl': 100}", b"UNITS = {'cl': 10}\n") == []
    assert half("Read and write faster", "def read(): ...") == [], "words of a sentence are no texts of the source"


def test_names_and_signs_of_a_list_are_found_where_they_stand() -> None:
    assert half("is_run and count_runs take both", "x = 'is_run'", b"def is_run(): ...\ndef count_runs(): ...\n") == []
    assert half("read ½, ¼ and friends", "SIGNS = {'½': 0.5, '¼': 0.25}") == []
    assert half("reads ½ ⅛, alone and after a number", "SIGNS = {'⅛': 0.125}") == []
    assert half("stage, notation and maybe bob", "'stage' 'notation' bob") == []


def later(after: str) -> str:
    task = TaskSpec(id="1", title="retry: `when` decides", description="when(error) is asked after each failure")
    return put_off(task, BASE, BASE + after.encode())


def test_what_is_put_off() -> None:
    assert later("x = 1  # TODO: ask when(error)\n") == "# TODO: ask when(error)"
    assert later("// FIXME retry later\n") == "// FIXME retry later"
    assert later("raise SystemExit('when is not implemented yet')\n")
    assert later("# TODO: another colour\n") == "" == later("todo_when = 1\n") == later("# when it fails\n")
    assert put_off(TaskSpec(id="1", title="retry"), b"# TODO: retry\n", b"# TODO: retry\nx = 1\n") == ""


def test_a_word_inside_of_a_quoted_text_wants_nothing() -> None:
    about = '"Barolo: only 8 left, 30 wanted" instead of "Barolo: wanted 30, there are 8".'
    assert left("Change the message", "x", about=about) == []


def test_nothing_is_no_name_of_a_thing() -> None:
    assert half("Behind it may be nothing, kn or kmh", "KN = 'kn', 'kmh'\n") == []
    assert half("Behind it may be miles, kn or kmh", "KN = 'kn', 'kmh'\n") == ["miles"]
