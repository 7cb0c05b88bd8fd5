"""New files that hold tests by their words, and that no check ran: the runner takes other names or folders. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import PurePosixPath

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
