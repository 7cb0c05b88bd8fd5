"""What the task takes away is gone; what it wants a document to say is there."""

from __future__ import annotations

import pytest

from engine.core.model import ProofVerdict, TaskSpec
from engine.perform.checks.proof.plain_changes import missing_words
from engine.perform.checks.proof.still_there import not_renamed, still_there, taken_away
from tests.checks.proof.test_judged import judged


def task(title: str = "Do it", *accept: str) -> TaskSpec:
    return TaskSpec(id="1.1", title=title, accept=accept)


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ("Remove the legacy parameter of decode and the --legacy option", [("decode", "legacy")]),
        ("Drop the `strict` argument from `Config.load`", [("load", "strict")]),
        ("remove the parameter `n` of `f(a, n)`", [("f", "n")]),
        ("decode has no parameter `legacy`", [("decode", "legacy")]),
        ("load no longer takes `strict`", [("load", "strict")]),
        ("Remove the cache", []),
        ("parse has no side effects", []),
        ("the list takes no more than `limit` items", []),
    ],
)
def test_what_is_to_be_gone(told: str, found: list[tuple[str, str]]) -> None:
    assert taken_away(task(told)) == taken_away(task("Do it", told)) == found


def test_it_is_looked_for_in_every_function_of_that_name() -> None:
    wanted = task("Drop legacy", "decode has no parameter `legacy`")
    kept = {"a.py": b"class A:\n    def decode(self, text, *, legacy=False):\n        return text\n", "b.js": b"legacy"}
    assert [*still_there(wanted, kept)] == ["a.py:2 decode still has the parameter legacy, which the task takes away"]
    assert not [*still_there(wanted, {"a.py": b"def decode(text):\n    return text\n\n\ndef other(legacy): ...\n"})]
    assert not [*still_there(wanted, {"a.py": b"def decode(text, legacy:\n"})]


BASE = {
    "code.py": "def decode(text, legacy=False):\n    return text[::-1] if legacy else text\n",
    "cli.py": "OPTIONS = ['--legacy']\n",
    "tests/test_c.py": "from code_ import decode\n\n\ndef test_d():\n    assert decode('ab') == 'ab'\n",
}
BASE = {path.replace("code.py", "code_.py"): text for path, text in BASE.items()}
NEW = "from cli import OPTIONS\n\n\ndef test_gone():\n    assert '--legacy' not in OPTIONS\n"


@pytest.mark.parametrize(
    ("whole", "verdict"), [(False, ProofVerdict.QUESTION), (True, ProofVerdict.PROVEN)], ids=["half", "whole"]
)
async def test_half_of_what_was_to_go(tmp_path, whole: bool, verdict: ProofVerdict) -> None:
    change = {"cli.py": "OPTIONS = []\n", "tests/test_cli.py": NEW}
    if whole:
        change["code_.py"] = "def decode(text):\n    return text\n"
        change["tests/test_cli.py"] += (
            "\n\ndef test_parameter():\n    import inspect\n\n    from code_ import decode\n\n"
            "    assert 'legacy' not in inspect.signature(decode).parameters\n"
        )
    done = await judged(
        tmp_path, BASE, change, title="Remove the legacy parameter of decode", accept=("there is no option --legacy",)
    )
    assert done.proof is verdict, done.reason


def test_what_a_document_is_to_say() -> None:
    wanted = task("Document it", 'the README has a section "Command-line usage"', 'it no longer says "recieve"')
    old = b"Usage\n-----\nrecieve\n"
    assert missing_words(wanted, [(old, b"General usage\n---\n")]) == ["Command-line usage"]
    assert missing_words(wanted, [(old, b"## Command-line\n   usage\n")]) == []
    assert missing_words(wanted, []) == []


@pytest.mark.parametrize(
    ("told", "after", "asked"),
    [
        (task("Rename fetch to load"), b"def fetch(): ...\n", True),
        (task("Rename fetch to load"), b"def load(): ...\n", False),
        (task("Rename fetch to load"), b"def load(): ...\n\n\nfetch = load\n", False),
        (task("Rename fetch to load", "the old name is gone"), b"def load(): ...\n\n\nfetch = load\n", True),
        (task("Rename `a.fetch()` into `a.load()`", "no aliases"), b"def load(): ...\n", False),
        (task("Describe how fetch came to load"), b"def fetch(): ...\n", False),
    ],
)
def test_an_old_name_goes_when_it_is_renamed(told: TaskSpec, after: bytes, asked: bool) -> None:
    assert bool([*not_renamed(told, {"a.py": b"def fetch(): ...\n"}, {"a.py": after})]) is asked


@pytest.mark.parametrize(
    ("title", "after", "said"),
    [
        ("Rename the Cache class to Recent", b"export class Cache {}\nexport { Cache as Recent };\n", True),
        ("Rename the Cache class to Recent", b"export class Recent {}\n", False),
        ("Rename the class Cache to Recent", b"export class Cache {}\n", True),
        ("Rename Cache to Recent", b"export class Recent {}\nexport { Recent as Cache };\n", False),
    ],
)
def test_another_name_for_the_same_class_is_no_rename(title: str, after: bytes, said: bool) -> None:
    found = [*not_renamed(task(title), {"a.js": b"export class Cache {}\n"}, {"a.js": after})]
    assert bool(found) is said
