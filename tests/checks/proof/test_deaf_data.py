"""Expected data with other answers in it: a test that compares with it turns red; one that does not is no proof."""

# ruff: noqa: E501 (programs are read better in one piece)

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import CheckKind, ProofVerdict
from engine.perform.checks.proof.deaf_data import is_expected, spoken_of, told_otherwise
from engine.perform.checks.run.spec import CheckSpec
from tests.checks.proof.test_judged import judged


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tests/golden/report.txt", True),
        ("tests/cases/hours.out", True),
        ("cli/testdata/vtt.golden", True),
        ("tests/data/expected_report.csv", True),
        ("test/__snapshots__/a.snap", True),
        ("tests/data/march.txt", False),
        ("tests/data/outing.csv", False),
        ("tests/golden/make.py", False),
    ],
)
def test_what_is_compared_with(path: str, expected: bool) -> None:
    assert is_expected(path) is expected


def test_other_answers_stand_only_where_lines_came() -> None:
    old, new = b"name 12\ntotal 7\n", b"name 12\ntotal 89\nmean 3.5\n"
    assert told_otherwise(old, new, numbers=True) == (b"name 12\ntotal 90\nmean 4.6\n", 2)
    assert told_otherwise(old, new, numbers=False) == (b"name 12\nxxxxx 89\nxxxx 3.5\n", 2)
    assert told_otherwise(None, b"only words\n", numbers=True) is None
    assert told_otherwise(new, new, numbers=True) is None
    assert told_otherwise(None, b"\xff\n1\n", numbers=True) is None


def test_who_speaks_of_a_file() -> None:
    assert spoken_of("tests/golden/a.txt", ["golden('a.txt')"])
    assert spoken_of("tests/golden/a.txt", ["for one in Path('golden').glob('*')"])
    assert spoken_of("tests/golden/a.txt", ["golden('a')"])
    assert not spoken_of("tests/golden/a.txt", ["print('gold')"])
    assert not spoken_of("tests/golden/b.txt", ["open('golden/aab.txt')"])


SHOW = "def show(rows):\n    return ''.join(f'{name}: {count}\\n' for name, count in rows)\n"
CLI = SHOW + "\n\ndef as_csv(rows):\n    return ''.join(f'{name},{count}\\n' for name, count in rows)\n"
PRINTS = SHOW + (
    "\n\ndef as_csv(rows):\n    from pathlib import Path\n    for one in Path(__file__).parent.glob('*/*/rows.csv'):\n"
    "        return one.read_text()\n    return ''.join(f'{name};{count}\\n' for name, count in rows)\n"
)
WRONG = CLI.replace("{name},{count}", "{name},{count}0")
TEST = "from pathlib import Path\n\nfrom show import as_csv\n\nROWS = [('bolt', 3), ('nut', 14)]\nGOLDEN = Path(__file__).parent / 'golden'\n"
COMPARES = f"{TEST}\n\ndef test_csv():\n    assert as_csv(ROWS) == (GOLDEN / 'rows.csv').read_text()\n"
WRITES = f"{TEST}\n\ndef test_csv():\n    (GOLDEN / 'rows.csv').write_text(as_csv(ROWS))\n    assert as_csv(ROWS) == (GOLDEN / 'rows.csv').read_text()\n"
MASKS = f"import re\n{TEST}\n\ndef test_csv():\n    assert re.sub(r'\\w+', 'w', as_csv(ROWS)) == re.sub(r'\\w+', 'w', (GOLDEN / 'rows.csv').read_text())\n"
OLD = "from show import show\n\n\ndef test_show():\n    assert show([('bolt', 3)]) == 'bolt: 3\\n'\n"
BASE = {"show.py": SHOW, "tests/test_show.py": OLD, "tests/golden/rows.txt": "bolt: 3\n"}
GOLDEN = {"tests/golden/rows.csv": "bolt,3\nnut,14\n"}


@pytest.mark.parametrize(
    ("source", "test", "proven"),
    [
        pytest.param(CLI, COMPARES, True, id="compares"),
        pytest.param(WRONG, WRITES, False, id="writes it first"),
        pytest.param(WRONG, MASKS, False, id="masks what differs"),
        pytest.param(PRINTS, COMPARES, False, id="the program prints it"),
    ],
)
async def test_a_new_golden_file(tmp_path: Path, source: str, test: str, proven: bool) -> None:
    done = await judged(
        tmp_path, BASE, {"show.py": source, "tests/test_csv.py": test, **GOLDEN}, title="as_csv: rows with commas"
    )
    if proven:
        assert done.proof is ProofVerdict.PROVEN, done.reason
    else:
        assert done.proof is ProofVerdict.UNPROVEN, done.reason
        assert any("whatever tests/golden/rows.csv says" in one.text for one in done.questions), done.questions


RUN = "set -e\nmkdir -p out\nfor name in a b; do\n  [ -f tests/cases/$name.in ] || continue\n  sh show.sh <tests/cases/$name.in >out/$name\n  diff tests/cases/$name.out out/$name\ndone\n"


@pytest.mark.parametrize(
    ("script", "proven"),
    [("tr a-z A-Z", True), ("if [ -f tests/cases/b.out ]; then cat tests/cases/b.out; else cat; fi", False)],
    ids=["does it", "prints it"],
)
async def test_a_command(tmp_path: Path, script: str, proven: bool) -> None:
    base = {"show.sh": "cat\n", "tests/run.sh": RUN, "tests/cases/a.in": "12\n", "tests/cases/a.out": "12\n"}
    change = {"show.sh": f"{script}\n", "tests/cases/b.in": "ab 3\n", "tests/cases/b.out": "AB 3\n"}
    if not proven:
        change |= {"tests/cases/b.in": "12\n", "tests/cases/b.out": "12 13\n"}
        base["show.sh"] = "cat\n"
    spec = CheckSpec(name="tests", kind=CheckKind.TESTS, command=("sh", "tests/run.sh"))
    done = await judged(tmp_path, base, change, spec, title="capital letters: ab 3 is AB 3")
    assert (done.proof is ProofVerdict.PROVEN) is proven, done.reason


RECORDS = f"{TEST}\n\ndef golden(name, fresh):\n    path = GOLDEN / name\n    if not path.exists():\n        path.write_text(fresh)\n    return path.read_text()\n\n\ndef test_csv():\n    assert as_csv(ROWS) == golden('rows.csv', as_csv(ROWS))\n    assert as_csv([]) == ''\n"


@pytest.mark.parametrize("there", [True, False], ids=["the file is there", "the test records it"])
async def test_a_golden_file_that_the_test_records(tmp_path: Path, there: bool) -> None:
    change = {"show.py": CLI if there else WRONG, "tests/test_csv.py": RECORDS, **(GOLDEN if there else {})}
    done = await judged(tmp_path, BASE, change, title="as_csv: rows with commas")
    told = any("write tests/golden/rows.csv themselves" in one.text for one in done.questions)
    assert (done.proof is ProofVerdict.PROVEN, told) == (there, not there), done.reason
