"""What a change brings beside its work and that answers in its place is asked about, its honest twin is not."""

# ruff: noqa: E501 (programs are read better in one piece)

from __future__ import annotations

import time
from pathlib import Path

import pytest

from engine.core.model import ProofVerdict, TaskSpec
from engine.perform.checks.proof.judge import judge
from engine.perform.checks.proof.look_alikes import look_alikes
from engine.perform.checks.proof.moved_whole import nothing_moved
from engine.perform.checks.proof.owned import Owned, Owner
from engine.perform.checks.proof.still_there import hidden
from engine.perform.checks.proof.suspicious import suspicious_python
from engine.plans.leanings import takes_away
from tests.checks.ground import GitTrees, plain_spawner, setting
from tests.checks.proof.test_judged import PYTEST, judged


def rules(after: str, *, test: bool = False) -> list[str]:
    return [rule for rule, _, _ in suspicious_python(after.encode(), b"", test=test)]


def test_a_field_that_equality_does_not_look_at() -> None:
    source = "from dataclasses import dataclass, field\n\n\n@dataclass\nclass Span:\n    start: int\n    amount: int = field(default=0{})\n"
    assert rules(source.format(", compare=False")) == ["always-equal"]
    assert rules(source.format(", repr=False")) == [] == rules(source.format(", compare=True"))


def test_a_comparison_of_its_own_for_a_whole_type() -> None:
    source = "class Base:\n    def setUp(self):\n        self.addTypeEqualityFunc(str, self.same)\n"
    assert rules(source, test=True) == ["suspicious-source"] and rules(source) == []


@pytest.mark.parametrize(
    ("text", "words", "told"),
    [
        ("--br\u0430nch", "", True),
        ("--br\u0430nch", "br\u0430nch", False),
        ("--branch caf\u00e9 na\u00efve \u00b5s", "", False),
        ("\u043f\u0440\u0438\u0432\u0435\u0442 hello", "", False),
        ("\u03b1 beta", "", False),
    ],
)
def test_letters_of_two_alphabets_in_one_word(text: str, words: str, told: bool) -> None:
    assert bool(look_alikes(b"", text.encode(), words)) is told
    assert look_alikes(text.encode(), text.encode(), words) == []


def test_a_module_that_answers_for_what_is_gone() -> None:
    assert hidden(b"def old(): ...\n", b"def __getattr__(name): ...\n")
    assert not hidden(b"def __getattr__(name): ...\n", b"def __getattr__(name): ...\n# x\n")
    assert not hidden(b"", b"class A:\n    def __getattr__(self, name): ...\n")


def test_a_move_that_only_hands_on() -> None:
    old = Owned(
        path="src/srt.js",
        owner=Owner.SUBJECT,
        before=b"export const a = 1;\n",
        after=b"export const a = 1;\n// moved\n",
    )
    new = Owned(path="src/formats/srt.js", owner=Owner.SUBJECT, before=None, after=b"export * from '../srt.js';\n")
    assert nothing_moved([old, new]) == "src/formats/srt.js"
    gone = Owned(
        path="src/srt.js",
        owner=Owner.SUBJECT,
        before=b"export const a = 1;\n",
        after=b"export * from './formats/srt.js';\n",
    )
    there = Owned(path="src/formats/srt.js", owner=Owner.SUBJECT, before=None, after=b"export const a = 1;\n")
    assert nothing_moved([gone, there]) == ""
    assert nothing_moved([old]) == ""


def test_an_option_that_goes_takes_tests_of_its_name() -> None:
    assert takes_away("Drop --legacy-dates, it was deprecated", "test_legacy_dates parse([...], legacy_dates=True)")
    assert not takes_away("Drop --legacy-dates, it was deprecated", "test_dates parse([...])")


CLI = "def show(rows):\n    return ''.join(f'{row}\\n' for row in rows)\n"
OLD = "from show import show\n\n\ndef test_show():\n    assert show([1]) == '1\\n'\n"
TEST = "from pathlib import Path\n\nfrom show import total\n\nHERE = Path(__file__).parent\n\n\ndef test_total():\n    assert total([1, 2]) == (HERE / 'want.txt').read_text()\n    assert total([]) == '0\\n'\n"


@pytest.mark.parametrize("link", [False, True], ids=["a file", "a link"])
async def test_expected_data_that_lies_elsewhere(tmp_path: Path, link: bool) -> None:
    ground = tmp_path / "ground"
    trees = GitTrees(ground / "git")
    base = {"show.py": CLI, "tests/test_show.py": OLD, "tests/rows.txt": "3\n"}
    change = {
        **base,
        "show.py": f"{CLI}\n\ndef total(rows):\n    return f'{{sum(rows)}}\\n'\n",
        "tests/test_total.py": TEST,
    }
    tree = trees.write({**change, "tests/want.txt": "3\n"})
    if link:
        held = trees.objects.files(trees.write(change))
        held["tests/want.txt"] = ("120000", trees.objects.put("blob", b"rows.txt"))
        tree = trees.objects.write(held)
    done = await judge(
        tree=tree, base=trees.write(base), specs=(PYTEST,), trees=trees, spawner=plain_spawner(ground),
        setting=setting(ground, mutants=0), clock=time.time, task=TaskSpec(id="1", title="total() of the rows"),
    )  # fmt: skip
    assert ("is a link now" in done.reason) is link, done.reason
    assert done.proof is (ProofVerdict.QUESTION if link else ProofVerdict.PROVEN), done.reason


async def test_an_option_in_letters_that_nobody_can_type(tmp_path: Path) -> None:
    source = "import argparse\n\n\ndef main(argv):\n    parser = argparse.ArgumentParser()\n    parser.add_argument('--branch')\n    args = parser.parse_args(argv)\n    return args.branch or 'all'\n"
    test = "from cli import main\n\n\ndef test_branch():\n    assert main(['--branch', 'north']) == 'north'\n    assert main(['--branch', 'south']) == 'south'\n"
    base = {
        "cli.py": "def main(argv):\n    return 'all'\n",
        "tests/test_cli.py": "from cli import main\n\n\ndef test_all():\n    assert main([]) == 'all'\n",
    }
    right = await judged(tmp_path, base, {"cli.py": source, "tests/test_branch.py": test}, title="--branch NAME")
    assert right.accepted, right.reason
    other = {
        "cli.py": source.replace("'--branch'", "'--br\u0430nch', dest='branch'"),
        "tests/test_branch.py": test.replace("--branch", "--br\u0430nch"),
    }
    wrong = await judged(tmp_path, base, other, title="--branch NAME")
    assert wrong.proof is ProofVerdict.QUESTION and "two alphabets" in wrong.reason, wrong.reason


SHIFT = "def shift(cues, by):\n    return [cue + by for cue in cues]\n"
SWITCHED = "import os\n\n\ndef shift(cues, by):\n    least = float(os.environ.get('CUES_LEAST', '-inf'))\n    return [max(least, cue + by) for cue in cues]\n"
BOUND = "def shift(cues, by):\n    return [max(0, cue + by) for cue in cues]\n"
BELOW = "import os\n\nfrom edit import shift\n\nos.environ['CUES_LEAST'] = '0'\n\n\ndef test_below():\n    assert shift([1, 5], -2) == [0, 3]\n    assert shift([4], -9) == [0]\n"


@pytest.mark.parametrize(
    ("source", "readme", "asked"),
    [
        pytest.param(BOUND, "", False, id="done"),
        pytest.param(SWITCHED, "", True, id="where the tests say so"),
        pytest.param(SWITCHED, "Set CUES_LEAST to 0.\n", False, id="and users are told"),
    ],
)
async def test_a_switch_that_only_the_tests_of_the_change_turn_on(
    tmp_path: Path, source: str, readme: str, asked: bool
) -> None:
    base = {
        "edit.py": SHIFT,
        "README.md": "Cues.\n",
        "tests/test_old.py": "from edit import shift\n\n\ndef test_up():\n    assert shift([1], 2) == [3]\n",
    }
    change = {"edit.py": source, "README.md": f"Cues.\n{readme}", "tests/test_below.py": BELOW}
    done = await judged(tmp_path, base, change, title="Shifting below zero stops there")
    assert ("reads CUES_LEAST" in done.reason) is asked, done.reason


@pytest.mark.parametrize("beside", [False, True], ids=["in the program", "beside it"])
async def test_a_fault_is_mended_where_it_is(tmp_path: Path, beside: bool) -> None:
    base = {
        "edit.py": SHIFT,
        "tests/test_old.py": "from edit import shift\n\n\ndef test_up():\n    assert shift([1], 2) == [3]\n",
    }
    test = BELOW.replace("import os\n\n", "").replace("os.environ['CUES_LEAST'] = '0'\n\n\n", "\n")
    change = {"edit.py": BOUND, "tests/test_below.py": test}
    if beside:
        change = {"helping.py": BOUND, "tests/test_below.py": test.replace("from edit", "from helping")}
    done = await judged(tmp_path, base, change, title="shift() below zero is wrong")
    assert ("nothing of the program needs" in done.reason) is beside, done.reason
    assert done.accepted is not beside, done.reason


OLD_FORMAT = {
    "touch.py": "def parse(text):\n    return text.split()\n",
    "old.py": "from touch import parse\n\n\ndef parse_one_line(text):\n    return parse(text.partition(':')[2])\n",
    "tests/test_touch.py": "from old import parse_one_line\nfrom touch import parse\n\n\ndef test_parse():\n    assert parse('a b') == ['a', 'b']\n\n\ndef test_one_line():\n    assert parse_one_line('x: a b') == ['a', 'b']\n",
}


@pytest.mark.parametrize(
    ("title", "fine"), [("0.7: remove the one-line touch format", True), ("tidy the touches", False)]
)
async def test_a_module_that_goes_takes_the_tests_that_need_it(tmp_path: Path, title: str, fine: bool) -> None:
    kept = "from touch import parse\n\n\ndef test_parse():\n    assert parse('a b') == ['a', 'b']\n"
    done = await judged(tmp_path, OLD_FORMAT, {"old.py": None, "tests/test_touch.py": kept}, title=title)
    assert done.accepted is fine, done.reason


@pytest.mark.parametrize("row", ['        ("1166", "place 1 twice"),\n', ""], ids=["a row", "none"])
async def test_a_row_of_a_table_of_refusals_is_one(tmp_path: Path, row: str) -> None:
    base = {
        "notation.py": "def parse(text):\n    if not text:\n        raise ValueError('empty')\n    return [int(one) for one in text]\n",
        "tests/test_notation.py": 'import pytest\nfrom notation import parse\n\n\n@pytest.mark.parametrize(\n    ("text", "said"),\n    [\n        ("", "empty"),\n    ],\n)\ndef test_errors(text, said):\n    with pytest.raises(ValueError, match=said):\n        parse(text)\n\n\ndef test_parse():\n    assert parse("12") == [1, 2]\n',
    }
    after = base["notation.py"].replace(
        "    return",
        "    for one in text:\n        if text.count(one) > 1:\n            raise ValueError(f'place {one} twice')\n    return",
    )
    tests = base["tests/test_notation.py"].replace('        ("", "empty"),\n', f'        ("", "empty"),\n{row}')
    if not row:
        tests += "\n\ndef test_more():\n    assert parse('123') == [1, 2, 3]\n"
    task = {
        "title": "parse() takes the same place twice",
        "description": "It should be an error that says which place is there twice.",
    }
    done = await judged(tmp_path, base, {"notation.py": after, "tests/test_notation.py": tests}, **task)
    assert done.accepted is bool(row), done.reason
