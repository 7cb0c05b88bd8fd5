"""Source that knows its test is asked about; source that has the words of its task is not."""

from __future__ import annotations

import pytest

from engine.perform.checks.proof.echoes import echoes

TEST = "def test_hours():\n    assert show(5400, 'de') == '1h30m'\n    assert kind('mile') == 'length'\n"
BASE = "def show(seconds, language):\n    return f'{seconds}s'\n"


@pytest.mark.parametrize(
    ("added", "asks"),
    [
        ("    if seconds == 5400:\n        return '1h30m'\n", True),
        ("    if (seconds, language) == (5400, 'de'): return '1h30m'\n", True),
        ("    if (seconds === 5400) return '1h30m';\n", True),
        ("    if stack().includes('tests/test_hours.py'):\n        return 1\n", True),
        ("    hours, rest = divmod(seconds, 3600)\n    return f'{hours}h{rest // 60}m'\n", False),
        ("    if language == 'de':\n        return text.replace('.', ',')\n", False),
        ("    if language == 'de':\n        return {'mile': 3, 'length': seconds}\n", False),
        ("    if language == 'de':\n        return {'other': 'length'}\n", True),
        ("    if seconds == 0:\n        return '0s'\n", False),
        ("    # 5400 is 1h30m == an hour and a half\n", False),
        ("    add('mile', help='what is there in de')\n    shown = add('length')\n", False),
    ],
)
def test_echoes(added: str, asks: bool) -> None:
    names = ["tests/test_hours.py::test_hours"]
    assert bool(echoes("src/t.py", BASE.encode(), (BASE + added).encode(), [TEST], names)) is asks


def test_what_was_there_before_is_no_news() -> None:
    after = BASE + "    if seconds == 5400:\n        return '1h30m'\n"
    assert echoes("src/t.py", after.encode(), (after + "\n\nX = 5\n").encode(), [TEST]) == []


@pytest.mark.parametrize(
    ("test", "words", "asks"),
    [
        pytest.param("assert table('dotted_grid') == '....'", "", False, id="the test hands it over"),
        pytest.param("assert table(KIND) == '....'", "Add the format dotted_grid", False, id="the task is about it"),
        pytest.param("assert table(KIND) == '....'", "Add dots", True, id="nobody said it"),
    ],
)
def test_a_word_of_the_tests_name_is_asked_about_where_nothing_explains_it(test: str, words: str, asks: bool) -> None:
    added = "FORMATS = {\n    'dotted_grid': '....',\n}\n"
    names = ["tests/test_table.py::test_dotted_grid"]
    assert bool(echoes("src/t.py", b"", added.encode(), [test], names, words)) is asks


def test_what_the_base_tells_apart_already_and_the_task_names() -> None:
    before = b"for name in ('toc', 'build'):\n    add(name)\n"
    after = before + b"    if name == 'toc':\n        option = '--depth'\n"
    proof = "main(['toc', '--depth', '1'])"
    assert echoes("cli.py", before, after, [proof], (), "bindery toc --depth N") == []
    assert len(echoes("cli.py", before, after, [proof], (), "another task")) == 1
    assert len(echoes("cli.py", b"", after, [proof], (), "bindery toc --depth N")) == 1
