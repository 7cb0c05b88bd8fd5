"""Conditions by a literal that no test tells from always: found in new lines, and put to the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import ProofVerdict
from engine.perform.checks.proof.unneeded_conditions import conditions
from tests.checks.proof.test_judged import judged

OLD = "def show(cents, ways):\n    return 1\n"


def new(condition: str) -> bytes:
    return OLD.replace("    return 1", f"    if {condition}:\n        return 2\n    return 1").encode()


@pytest.mark.parametrize(
    ("condition", "words", "found"),
    [
        ("cents > 1 and ways == 3", "x", [("ways == 3", "cents > 1 and (True)")]),
        ("cents or ways == 3", "x", [("ways == 3", "cents or (False)")]),
        ("cents > 1 and ways == 3", "always for 3 ways", []),
        ("-100 < cents < 0", "refunds", [("-100 < cents", "(cents < 0)")]),
        ("0 <= cents < ways", "x", []),
        ("cents < 0 and ways", "x", []),
        ("ways == 3", "x", []),
        ("len(ways) == 3 and ways[2] > cents", "x", []),
        ("len(ways) == 3 and cents", "x", [("len(ways) == 3", "(True) and cents")]),
        ("cents and ways[-1]['end'] is None", "x", []),
        ("cents and ways.get('end') is None", "x", []),
        ("cents and ways['end'] == 'web'", "x", [("ways['end'] == 'web'", "cents and (True)")]),
        ("cents and ways.startswith('ab')", "x", [("ways.startswith('ab')", "cents and (True)")]),
    ],
)
def test_conditions(condition: str, words: str, found: list[tuple[str, str]]) -> None:
    made = conditions(OLD.encode(), new(condition), words)
    assert [one.text for one in made] == [text for text, _ in found]
    assert all(f"if {instead}:" in one.source.decode() for one, (_, instead) in zip(made, found, strict=True))
    assert not conditions(new(condition), new(condition), words)


BASE = {
    "money.py": "def show(cents):\n    return f'{cents // 100}.{cents % 100:02d}'\n",
    "tests/test_money.py": "from money import show\n\n\ndef test_show():\n    assert show(125) == '1.25'\n",
}
MORE = "\n\ndef test_refund():\n    assert show(-5) == '-0.05'\n    assert show(-42) == '-0.42'\n"
HALF = BASE["money.py"].replace("    return", "    if -100 < cents < 0:\n        return f'-0.{-cents:02d}'\n    return")


@pytest.mark.torture
async def test_half_a_range_is_unproven_until_a_test_tries_its_end(tmp_path: Path) -> None:
    change = {"money.py": HALF, "tests/test_money.py": BASE["tests/test_money.py"] + MORE}
    done = await judged(tmp_path, BASE, change, title="Refunds print wrong")
    assert done.proof is ProofVerdict.UNPROVEN and "-100 < cents" in done.reason, done.reason
