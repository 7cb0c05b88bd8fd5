"""Tests that a change writes and that no check runs: by their file, or one by one. Pure.

The runner takes other names or folders; a class is called otherwise than it wants, a second test of the same name hides
the first, a file is for another system.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath

from engine.perform.checks import python_source
from engine.perform.checks.proof.integrity_python import Function

_TESTS = {
    "py": re.compile(r"^\s*(?:async )?def test|unittest\.TestCase", re.MULTILINE),
    "js": re.compile(r"^\s*(?:await )?(?:test|it|describe|suite)(?:\.\w+)?\(|\btap\.\w+\(", re.MULTILINE),
    "go": re.compile(r"^func Test", re.MULTILINE),
    "rs": re.compile(r"#\[(?:\w+::)?test\]"),
    "java": re.compile(r"@Test\b"),
}
_KIND = {**dict.fromkeys(("js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx"), "js"), "kt": "java"}


def not_run(added: Mapping[str, str], ran: Collection[str]) -> str:
    """The sentence about it; empty where every such file was run, or the runs name no files.

    `added`: texts of new files by path. `ran`: the files that the tests of the change's whole tree stand in.
    """
    if not ran:
        return ""
    left = [path for path, text in added.items() if path not in ran and _holds_tests(path, text)]
    if not left:
        return ""
    like = min(ran, key=lambda path: (PurePosixPath(path).suffix != PurePosixPath(left[0]).suffix, path))
    return f"no check ran {', '.join(left[:3])}: tests are taken from files like {like}"


def _holds_tests(path: str, text: str) -> bool:
    end = PurePosixPath(path).suffix[1:]
    pattern = _TESTS.get(_KIND.get(end, end))
    return pattern is not None and pattern.search(text) is not None


_CALLED = re.compile(r"test(?:_|[A-Z])")
_GO_TEST = re.compile(r"(?m)^func (Test\w*)\(")


def never_taken(path: str, before: bytes | None, after: bytes | None, ids: Collection[str]) -> str:
    """The first test that came with the change and that no case is called by; else one that hides another.

    `ids`: of all cases that the runs of the change have.
    """
    if not ids or after is None:
        return ""
    had, has = Counter(_tests_in(path, before)), Counter(_tests_in(path, after))
    known = {re.split(r"::|[./]", id.partition("[")[0].partition(" ")[0])[-1] for id in ids}
    known |= {id.rpartition("::")[2].partition("/")[0] for id in ids if path.endswith(".go")}
    for name in has - had:
        if name.rpartition(".")[2] not in known:
            return f"{name} in {path} is written and no run of the checks has it"
        if path.endswith(".py") and has[name] > max(1, had[name]):
            return f"{name} stands in {path} {has[name]} times: the last one alone is run"
    return ""


def _tests_in(path: str, data: bytes | None) -> list[str]:
    text = (data or b"").decode("utf-8", "replace")
    if path.endswith("_test.go"):
        return [name for name in _GO_TEST.findall(text) if name != "TestMain"]
    if not path.endswith(".py"):
        return []
    try:
        return list(_of_python(python_source.parse(text).body, ""))
    except (SyntaxError, ValueError, RecursionError):
        return []


def _of_python(nodes: list[ast.stmt], within: str) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            yield from _of_python(node.body, f"{within}{node.name}.")
        elif isinstance(node, Function) and _CALLED.match(node.name) and not _is_fixture(node):
            yield within + node.name


def _is_fixture(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("fixture" in ast.unparse(one) or "overload" in ast.unparse(one) for one in node.decorator_list)
