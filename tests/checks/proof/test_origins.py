"""Code that moved from one file to another is not new, wherever rules look for what a change brings in."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import ProofVerdict
from engine.perform.checks.proof.origins import origins
from engine.perform.checks.proof.owned import Owned, Owner
from tests.checks.proof.test_judged import judged

CLOCK = "def place(text):\n    try:\n        return int(text)\n    except Exception:\n        return None\n"
SHOP = CLOCK + "\n\ndef total(prices):\n    return sum(prices)\n"
OUT = "from place import place\n\n\ndef total(prices):\n    return sum(prices)\n"
TESTS = (
    "from shop import place, total\n\n\ndef test_both():\n    assert total([1, 2]) == 3\n    assert place('7') == 7\n"
)


def owned(path: str, before: str | None, after: str | None, owner: Owner = Owner.SUBJECT) -> Owned:
    texts = [None if text is None else text.encode() for text in (before, after)]
    return Owned(path=path, owner=owner, before=texts[0], after=texts[1])


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        pytest.param([owned("shop.py", SHOP, OUT), owned("place.py", None, CLOCK)], {"place.py"}, id="moved out"),
        pytest.param([owned("shop.py", SHOP, SHOP + "#\n"), owned("place.py", None, CLOCK)], set(), id="copied"),
        pytest.param([owned("shop.py", SHOP, None), owned("store.py", None, SHOP)], {"store.py"}, id="renamed"),
        pytest.param([owned("shop.py", SHOP, OUT), owned("place.js", None, CLOCK)], set(), id="another language"),
        pytest.param([owned("shop.py", SHOP, OUT, Owner.TEST), owned("place.py", None, CLOCK)], set(), id="of a test"),
    ],
)
def test_where_it_comes_from(changed: list[Owned], found: set[str]) -> None:
    assert set(origins(changed)) == found
    assert all(b"except Exception" in was for was in origins(changed).values())


async def test_an_error_swallowed_as_before_asks_nobody(tmp_path: Path) -> None:
    base = {"shop.py": SHOP, "tests/test_shop.py": TESTS}
    moved = await judged(
        tmp_path, base, {"shop.py": OUT, "place.py": CLOCK}, title="Move place() into place.py", proof="none (move)"
    )
    assert moved.proof is ProofVerdict.HARMLESS, moved.reason
    new = CLOCK + "\n\n" + CLOCK.replace("place", "shelf").replace("int", "float")
    brought = await judged(
        tmp_path, base, {"shop.py": OUT, "place.py": new}, title="Move place() into place.py", proof="none (move)"
    )
    assert brought.proof is ProofVerdict.QUESTION, brought.reason
