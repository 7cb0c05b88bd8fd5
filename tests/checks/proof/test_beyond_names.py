"""A rename that does more than rename is asked about; one that only renames is not, whatever its form."""

from __future__ import annotations

import pytest

from engine.core.grant_grammar import grants_of
from engine.core.model import TaskSpec
from engine.perform.checks.proof.beyond_names import beyond_names
from engine.perform.checks.proof.owned import Owned, Owner
from engine.perform.checks.proof.permissions import transform

BOOK = (
    "class Book:\n    def undo(self):\n        if not self.entries:\n            raise ValueError('nothing to undo')\n"
    "        return self.entries.pop()\n"
)
BACK = "rename Book.undo to Book.back"
SHELL = 'band() {\n    echo "$1"\n}\nband 1\n'


def said(path: str, before: str, after: str, allow: str, proof: str = "none (move)") -> str:
    one = Owned(path=path, owner=Owner.SUBJECT, before=before.encode(), after=after.encode())
    grants = grants_of([allow])
    there = transform({}, {path: after.encode()}, [one], grants)
    task = TaskSpec(id="1.1", title="Rename it", proof=proof)
    return beyond_names(task, [one], grants, there, [path, "shop/rates.json"])


@pytest.mark.parametrize(
    ("path", "before", "after", "allow", "more"),
    [
        pytest.param("a.py", BOOK, BOOK.replace("undo", "back"), BACK, False, id="a method"),
        pytest.param(
            "a.py", BOOK, BOOK.replace("undo", "back").replace("pop()", "pop(0)"), BACK, True,
            id="and another answer",
        ),
        pytest.param(
            "a.py", BOOK, BOOK.replace("undo", "back").replace("ValueError", "KeyError"), BACK,
            True, id="and another error",
        ),
        pytest.param(
            "a.py", BOOK, '"""Books."""\n\n' + BOOK.replace("undo", "back"), BACK, False,
            id="and a docstring",
        ),
        pytest.param("a.sh", SHELL, SHELL.replace("band", "size"), "rename band to size", False, id="in a script"),
        pytest.param(
            "a.sh", SHELL, SHELL.replace("band", "size").replace("$1", "$2"), "rename band to size", True,
            id="in a script, and more",
        ),
        pytest.param(
            "a.py", "P = 'rates.json'\n",
            "P = 'data/rates.json'\n", "move shop/rates.json to shop/data/rates.json", False,
            id="data that lies elsewhere",
        ),
    ],
)  # fmt: skip
def test_what_is_more_than_names(path: str, before: str, after: str, allow: str, more: bool) -> None:
    assert bool(said(path, before, after, allow)) is more


def test_a_plan_that_asks_for_more_is_not_held_to_names() -> None:
    after = BOOK.replace("undo", "back").replace("pop()", "pop(0)")
    assert said("a.py", BOOK, after, BACK, proof="") == ""
    assert said("a.py", BOOK, after, BACK, proof="none (move, refactoring)") == ""


@pytest.mark.parametrize("told", ["nothing to undo", "nothing to back"])
def test_a_text_may_follow_the_name_or_stay(told: str) -> None:
    after = BOOK.replace("undo", "back").replace("nothing to back", told)
    assert said("a.py", BOOK, after, BACK) == ""
    assert said("a.py", BOOK, after.replace(told, "nothing"), BACK) != ""
