"""Tests in other languages, by their text: cruder than a syntax tree, so only counts are compared."""

from __future__ import annotations

import re

from engine.perform.checks.proof.suspicious import Hit

JAVASCRIPT = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs")
SKIPS: dict[tuple[str, ...], re.Pattern[str]] = {
    JAVASCRIPT: re.compile(
        r"\b(?:it|test|describe|suite)\.(?:skip|todo|failing)\s*\(|\bx(?:it|test|describe)\s*\(|\bskip:\s*true|\bt\.(?:skip|todo)\s*\("
    ),
    (".go",): re.compile(r"\bt\.Skip(?:f|Now)?\("),
    (".rs",): re.compile(r"#\[ignore"),
    (".java", ".kt"): re.compile(r"@(?:Disabled|Ignore)\b|\bassumeTrue\(|\bassumeThat\("),
}
FOCUS: dict[tuple[str, ...], re.Pattern[str]] = {
    JAVASCRIPT: re.compile(r"\b(?:it|test|describe|suite)\.only\s*\(|\bf(?:it|describe)\s*\(|\bonly:\s*true")
}
ASSERTIONS: dict[tuple[str, ...], re.Pattern[str]] = {
    JAVASCRIPT: re.compile(
        r"\bexpect\s*\(|\bassert(?:\.\w+)*\s*\(|\bt\.(?:is|true|false|deepEqual|equal|same|ok|throws)\s*\(|\.should\b"
    ),
    (".go",): re.compile(r"\bt\.(?:Error|Fatal|Fail)\w*\(|\b(?:assert|require)\.\w+\("),
    (".rs",): re.compile(r"\bassert\w*!|\bpanic!|#\[should_panic"),
    (".java", ".kt"): re.compile(r"\bassert\w*\s*\(|\bverify\s*\("),
}
TESTS: dict[tuple[str, ...], re.Pattern[str]] = {
    JAVASCRIPT: re.compile(r"\b(?:it|test)\s*(?:\.each[^(]*\([^)]*\))?\s*\("),
    (".go",): re.compile(r"^func Test\w+", re.MULTILINE),
    (".rs",): re.compile(r"#\[(?:\w+::)?test\]"),
    (".java", ".kt"): re.compile(r"@(?:Test|ParameterizedTest)\b"),
}
EARLY_EXIT = re.compile(
    r"\bprocess\.(?:exit|abort|reallyExit)\s*\(|\bprocess\.exitCode\s*=|\bos\.Exit\(0\)|\bSystem\.exit\(0\)|std::process::exit\(0\)"
)


def _count(table: dict[tuple[str, ...], re.Pattern[str]], path: str, text: str) -> int:
    return sum(len(pattern.findall(text)) for suffixes, pattern in table.items() if path.endswith(suffixes))


def text_hits(path: str, before: bytes | None, after: bytes | None) -> list[Hit]:
    """What a change to a test file takes away, by count."""
    old, new = ((data or b"").decode("utf-8", "replace") for data in (before, after))
    hits: list[Hit] = []
    if _count(SKIPS, path, new) > _count(SKIPS, path, old):
        hits.append(("test-skipped", _line(SKIPS, path, new), "tests are marked to be skipped"))
    if _count(FOCUS, path, new) > _count(FOCUS, path, old):
        hits.append(("focused-test", _line(FOCUS, path, new), "a focused test keeps the others from running"))
    lost = _count(ASSERTIONS, path, old) - _count(ASSERTIONS, path, new)
    if before is not None and lost > 0:
        hits.append(("fewer-assertions", 0, f"{lost} fewer assertions"))
    gone = _count(TESTS, path, old) - _count(TESTS, path, new)
    if before is not None and gone > 0:
        hits.append(("test-gone", 0, f"{gone} fewer tests"))
    if len(EARLY_EXIT.findall(new)) > len(EARLY_EXIT.findall(old)):
        hits.append(("suspicious-source", 0, "ends the process from within a test"))
    if path.endswith("_test.go") and (name := _set_at_start(new)) and name != _set_at_start(old):
        line = new.count("\n", 0, new.index("func init()")) + 1
        hits.append(("mocked-subject", line, f"puts another {name} into the program before any test begins"))
    return hits


_INIT = re.compile(r"^func init\(\) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)


def _set_at_start(text: str) -> str:
    """A name that the tests of a package set as it is loaded, and that is none of their own."""
    for body in _INIT.findall(text):
        for name in re.findall(r"^\s*([A-Za-z_]\w*)(?:\.\w+|\[[^\]]*\])*\s*=(?!=)", body, re.MULTILINE):
            if not re.search(rf"^(?:var\s+|\t){name}\b(?!\s*[.\[(])", _INIT.sub("", text), re.MULTILINE):
                return str(name)
    return ""


def _line(table: dict[tuple[str, ...], re.Pattern[str]], path: str, text: str) -> int:
    for suffixes, pattern in table.items():
        if path.endswith(suffixes) and (match := pattern.search(text)):
            return text.count("\n", 0, match.start()) + 1
    return 0
