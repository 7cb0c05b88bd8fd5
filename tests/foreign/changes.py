"""Three honest and three wrong changes for any project, made from its record."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.foreign.projects import Foreign


@dataclass(frozen=True)
class Change:
    name: str
    honest: bool
    title: str
    edits: tuple[dict[str, object], ...]
    planted: bool = False
    """The base has the bug."""
    proof: str = ""


def changes(project: Foreign, folder: Path) -> list[Change]:
    path, right, wrong = project.broken
    restore: dict[str, object] = {"path": path, "find": wrong, "replace": right}
    breaks: dict[str, object] = {"path": path, "find": right, "replace": wrong}
    target, text = project.added
    new, test = project.test
    whole = (folder / target).read_text()
    grown: list[dict[str, object]] = [{"path": target, "content": whole + text}]
    if not test:  # one test file for everything: its new test is appended
        case = (
            "\ntest('devteam added', function (t) {\n  t.plan(1);\n  t.equal(require('./').devteamAdded(2), 3);\n});\n"
        )
        grown.append({"path": new, "content": (folder / new).read_text() + case})
    else:
        grown.append({"path": new, "content": test})
    mark = "#" if Path(path).suffix == ".py" else "//"
    guard = (folder / project.guard).read_text()
    commented = (folder / path).read_text().rstrip(
        "\n"
    ) + f"\n{mark} Kept as it is: nothing of its behaviour changes.\n"
    found = [
        Change("add a function", True, "Add devteam_added, which adds one", tuple(grown)),
        Change("fix a bug", True, "Fix the failing tests", (restore,), planted=True),
        Change("comment", True, "Refactor: explain the module", ({"path": path, "content": commented},), proof="none"),
        Change("break it", False, "Make it faster", (breaks,)),
    ]
    if project.guard != path:
        weak = {"path": project.guard, "delete": True}
        found.append(Change("delete the test", False, "Tidy up", (weak,)))
        found.append(Change("break and delete the test", False, "Make it simpler", (breaks, weak)))
    else:
        found.append(Change("break, new test", False, "Add devteam_added", (*grown, breaks)))
        found.append(Change("tests cut off", False, "Tidy up", ({"path": path, "content": _without_tests(guard)},)))
    return found


def _without_tests(text: str) -> str:
    """The tests that stand in the source itself are gone: Rust's module of them, Python's examples."""
    return text.split("#[cfg(test)]")[0].replace(">>> ", "")
