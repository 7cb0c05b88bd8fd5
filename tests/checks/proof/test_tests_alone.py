"""Tests are all that a change brings: faults are put into what they name, and they have to notice some."""

# ruff: noqa: E501 (programs are read better in one piece)

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import ProofVerdict
from tests.checks.proof.test_judged import judged

RATES = """def fee(grams, far, signed):
    if grams <= 0:
        raise ValueError("grams must be more than 0")
    if grams > 2000:
        total = 900 + (grams - 2000) // 100 * 35
    elif grams > 250:
        total = 450
    else:
        total = 180
    if far:
        total = total * 3 + 120
    if signed:
        total += 310
    return total


def label(grams, far):
    return f"{fee(grams, far, False)} p" if grams < 5000 else "by freight"
"""
OLD = "from rates import fee, label\n\n\ndef test_light():\n    assert fee(100, False, False) == 180\n\n\ndef test_label():\n    assert label(100, False) == '180 p'\n    assert label(100, True) == '660 p'\n"
BASE = {"rates.py": RATES, "tests/test_rates.py": OLD}
ASKS = "\n\ndef test_signed():\n    assert fee(100, False, True) == 490\n\n\ndef test_middle():\n    assert fee(251, False, False) == 450\n"
SELF = "\n\ndef test_signed():\n    assert fee(100, False, True) == fee(100, False, True)\n    assert fee(251, True, True) != 'x' and fee(100, False, False) == 180\n"
MOCKED = "\n\ndef test_signed(monkeypatch):\n    import rates\n    monkeypatch.setattr(rates, 'fee', lambda grams, far, signed: 490)\n    assert rates.fee(100, False, True) == 490 and fee(1, False, False) and label(100, False) == '490 p'\n"


@pytest.mark.parametrize(
    ("more", "verdict"),
    [
        pytest.param(ASKS, ProofVerdict.HARMLESS, id="asks"),
        pytest.param(SELF, ProofVerdict.UNPROVEN, id="compares with itself"),
        pytest.param(MOCKED, ProofVerdict.UNPROVEN, id="has put in what it asks"),
    ],
)
async def test_new_tests_notice_what_no_old_test_did(tmp_path: Path, more: str, verdict: ProofVerdict) -> None:
    done = await judged(tmp_path, BASE, {"tests/test_rates.py": OLD + more}, title="More tests for fee()")
    assert done.proof is verdict, done.reason
    if verdict is ProofVerdict.UNPROVEN:
        assert "ask for next to nothing" in done.reason or "asks for nothing" in done.reason, done.reason
