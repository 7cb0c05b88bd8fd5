"""Types that a change makes looser ask; types that it makes tighter, adds or moves do not."""

from __future__ import annotations

import pytest

from engine.perform.checks.proof.loosened import loosened

BEFORE = "class A:\n    size: int\n\n    def f(self, a: int, b: list[str]) -> str: ...\n\n\ndef g(x): ...\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [("a: int", "a: Any"), ("a: int", "a"), ("-> str", ""), ("list[str]", "list[Any]"), ("size: int", "size: object")],
)
def test_less_than_it_said_is_asked_about(old: str, new: str) -> None:
    assert len(loosened("a.py", BEFORE.encode(), BEFORE.replace(old, new).encode())) == 1


@pytest.mark.parametrize(
    ("old", "new"), [("a: int", "a: float"), ("def g(x)", "def g(x: Any)"), ("class A", "class B")]
)
def test_other_types_are_not(old: str, new: str) -> None:
    assert loosened("a.py", BEFORE.encode(), BEFORE.replace(old, new).encode()) == []


def test_typescript_by_its_text() -> None:
    assert loosened("a.ts", b"let a: number = 1;\n", b"let a: any = 1;\n")
    assert not loosened("a.ts", b"let a: any = 1;\n", b"// as any\nlet a: number = 1;\n")
