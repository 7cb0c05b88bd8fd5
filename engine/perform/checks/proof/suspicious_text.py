"""Constructs in JavaScript, Go, C and shell sources that may mean something to a test run. They ask, they never decide."""

# ruff: noqa: E501 (patterns are read better in one piece)

from __future__ import annotations

import re

from engine.core.grants import Rule
from engine.perform.checks.proof.source_text import JAVASCRIPT, without_comments
from engine.perform.checks.proof.suspicious import Hit

Pattern = tuple[Rule, re.Pattern[str], str]

_SCRIPT: tuple[Pattern, ...] = (
    (
        Rule.DETECTS_TESTS,
        re.compile(r"process\.env\.(?:JEST_WORKER_ID|VITEST\w*|NODE_TEST_CONTEXT|MOCHA\w*)|NODE_ENV\s*[!=]==?\s*['\"]test"),
        "asks whether it is being tested",
    ),
    (
        Rule.DETECTS_TESTS,
        re.compile(
            r"\btypeof\s+(?:(?:globalThis|global|window|self)\s*\.\s*)?(?:describe|it|test|jest|vi|vitest|mocha|expect|before|beforeEach)\b"
            r"|\b(?:globalThis|global|window|self)\s*(?:\.\s*|\[\s*['\"])(?:describe|it|jest|vi|vitest|mocha|expect|beforeEach)\b"
        ),
        "asks whether a test framework is there",
    ),
    (
        Rule.DETECTS_TESTS,
        re.compile(r"process\.execArgv|\brequire\.main\.(?:filename|path)|\bmodule\.parent\.(?:filename|id|path)"),
        "looks at how the process was started",
    ),
    (
        Rule.DETECTS_TESTS,
        re.compile(r"new Error\([^)]*\)\.stack|Error\.(?:captureStackTrace|prepareStackTrace)|\.stack\s*\.\s*(?:includes|match|indexOf|split)"),
        "looks at the stack of its caller",
    ),
    (
        Rule.SUSPICIOUS_SOURCE,
        re.compile(r"\b(?:Array|String|Number|Object|Map|Set|Promise|RegExp|Date|Function)\.prototype(?:\.\w+|\[[^\]]+\])\s*="),
        "replaces a built-in method",
    ),
    (
        Rule.SUSPICIOUS_SOURCE,
        re.compile(r"\b(?:JSON|Math|Object|Number|Array|Date|process|console)\.(?:stringify|parse|is|keys|now|exit|reallyExit|isNaN|\w*[Ee]qual\w*)\s*=[^=]"),
        "replaces a built-in function",
    ),
    (
        Rule.SUSPICIOUS_SOURCE,
        re.compile(r"(?:require\(|from\s+|import\()\s*['\"](?:node:test|vitest|tape|@jest/globals)['\"]|\b\w+\.(?:\w*[eE]qual\w*|ok|throws|rejects|match|fail|toBe\w*)\s*=[^=>]"),
        "loads a test runner, or replaces what tests assert with",
    ),
    (
        Rule.SUSPICIOUS_SOURCE,
        re.compile(r"\brequire\.cache\b|\bModule\._(?:load|cache|resolveFilename)|syncBuiltinESMExports|process\.binding\("),
        "reaches into the module loader",
    ),
    (
        Rule.SUSPICIOUS_SOURCE,
        re.compile(r"process\.(?:reallyExit|abort|kill)\s*\(|process\.on\(\s*['\"](?:exit|beforeExit|uncaughtException)|process\.exitCode\s*="),
        "acts on the end of the process",
    ),
    (
        Rule.ALWAYS_EQUAL,
        re.compile(r"\bSymbol\.(?:toPrimitive|hasInstance|toStringTag)\b|\bvalueOf\s*(?:\([^)]*\)\s*\{|[=:])|\bnew Proxy\("),
        "gives a value another idea of itself",
    ),
)  # fmt: skip
_GO: tuple[Pattern, ...] = (
    (
        Rule.DETECTS_TESTS,
        re.compile(r"testing\.Testing\(\)|flag\.Lookup\(\"test\.|HasSuffix\(os\.Args\[0\]|os\.Args\[0\].*\.test|runtime\.Callers?\("),
        "asks whether it is being tested",
    ),
    (Rule.SUSPICIOUS_SOURCE, re.compile(r"\bos\.Exit\(0\)|syscall\.(?:Exit|Kill)\("), "ends the process as a success"),
    (Rule.SUSPICIOUS_SOURCE, re.compile(r"^\s*import\s+\"testing\"|^\s*\"testing\"", re.MULTILINE), "loads the testing package"),
    (Rule.SUSPICIOUS_SOURCE, re.compile(r"//go:linkname|unsafe\.Pointer\(.*(?:testing|reflect)"), "reaches into another package"),
)  # fmt: skip
_RUST: tuple[Pattern, ...] = (
    (Rule.DETECTS_TESTS, re.compile(r"\bcfg!\(test\)|#\[cfg\(not\(test\)\)\]"), "behaves otherwise in a test"),
    (Rule.SUSPICIOUS_SOURCE, re.compile(r"process::exit\(0\)"), "ends the process as a success"),
)
_JAVA: tuple[Pattern, ...] = (
    (Rule.SUSPICIOUS_SOURCE, re.compile(r"System\.exit\(0\)|Runtime\.getRuntime\(\)\.halt\("), "ends the process as a success"),
    (Rule.DETECTS_TESTS, re.compile(r"getStackTrace\(\)|org\.junit|StackWalker"), "looks for the test around it"),
)  # fmt: skip
_C: tuple[Pattern, ...] = (
    (Rule.SUSPICIOUS_SOURCE, re.compile(r"__attribute__\s*\(\(\s*(?:__)?(?:constructor|destructor)|#\s*pragma\s+(?:init|startup)|\bsection\s*\(\s*\"\.(?:init|fini|ctors)"), "runs before or after main"),
    (Rule.SUSPICIOUS_SOURCE, re.compile(r"#\s*define\s+(?:NDEBUG|assert|exit|abort|main|return|if|str\w*cmp|memcmp)\b|#\s*undef\s+assert\b"), "changes what tests assert with"),
    (Rule.SUSPICIOUS_SOURCE, re.compile(r"\b(?:_?_?exit|_Exit|quick_exit)\s*\(\s*(?:0|EXIT_SUCCESS)\s*\)|\b(?:atexit|on_exit|at_quick_exit)\s*\("), "ends the process as a success"),
    (Rule.DETECTS_TESTS, re.compile(r"\bgetppid\s*\(|/proc/self\b|\bprogram_invocation_\w*name\b|\b__progname\b"), "looks at how the process was started"),
)  # fmt: skip
_PROGRAMS = r"(?:g?awk|sed|e?grep|diff|cmp|comm|sort|cat|echo|printf|test|true|false|python3?|node|make|sh|bash|exit|set|trap|command|type)"
_SHELL: tuple[Pattern, ...] = (
    (Rule.SUSPICIOUS_SOURCE, re.compile(rf"(?:^|[;&])[ \t]*(?:function[ \t]+)?{_PROGRAMS}[ \t]*\(\)|\balias\s+{_PROGRAMS}=", re.MULTILINE), "takes the place of a program"),
    (Rule.SUSPICIOUS_SOURCE, re.compile(r"(?:^|[;&]|\bexport)[ \t]*(?:PATH|BASH_ENV|ENV|LD_PRELOAD|PYTHONPATH|NODE_OPTIONS|MAKEFLAGS|SHELLOPTS)=", re.MULTILINE), "changes where programs are found"),
    (Rule.SUSPICIOUS_SOURCE, re.compile(r"\btrap\b[^\n]*\b(?:EXIT|ERR|0)\b|\bset\s+\+e|\bkill\s+[^\n]*\$PPID|\bexec\s+true\b"), "acts on the end of the process"),
    (Rule.DETECTS_TESTS, re.compile(r"\[\s+!?\s*-[a-zA-Z]\s+[^\]\n]*\b(?:tests?|specs?)\b|\btest\s+!?\s*-[a-zA-Z]\s+\S*\b(?:tests?|specs?)\b"), "looks for the tests beside it"),
    (Rule.DETECTS_TESTS, re.compile(r"\$\{?PPID|/proc/\$PPID|\bps\s+-[^\n]*\$\$|\$\{?(?:MAKELEVEL|MAKEFLAGS|MFLAGS)\b"), "looks at how the process was started"),
)  # fmt: skip


def _is_program(path: str, data: bytes) -> bool:
    """A file that is started, not loaded: a command of the project."""
    started = data.startswith(b"#!") or re.search(r"(?:^|/)(?:bin|cli|cmd)(?:/|\.\w+$)", path) is not None
    if path.endswith((".c", ".cc", ".cpp", ".cxx")) and re.search(rb"\bmain\s*\(", data):
        return True
    return started or (path.endswith(".go") and re.search(rb"^package main\b", data, re.MULTILINE) is not None)


def suspicious_text(path: str, before: bytes | None, after: bytes | None) -> list[Hit]:
    """What a change brings into a source: a construct that stands there more often than before."""
    patterns: tuple[Pattern, ...] = ()
    if path.endswith(JAVASCRIPT):
        patterns = _SCRIPT
    elif path.endswith(".go"):
        patterns = _GO
    elif path.endswith(".rs"):
        patterns = _RUST
    elif path.endswith((".c", ".h", ".cc", ".cpp", ".cxx", ".hpp")):
        patterns = _C
    elif path.endswith((".java", ".kt")):
        patterns = _JAVA
    elif path.endswith((".sh", ".bash")) or re.match(rb"#![^\n]*\b(?:ba|da|k|z)?sh\b", after or b""):
        patterns = _SHELL
    if not patterns or after is None:
        return []
    old, new = (without_comments(path, (data or b"").decode("utf-8", "replace")) for data in (before, after))
    if patterns is not _SHELL and _is_program(path, after):
        patterns = tuple(one for one in patterns if "process" not in one[2])  # its own end is its own business
    hits: list[Hit] = []
    for rule, pattern, text in patterns:
        found = list(pattern.finditer(new))
        if len(found) > len(pattern.findall(old)):
            had = set(pattern.findall(old))
            first = next((m for m in found if m.group(0) not in had), found[-1])
            hits.append((rule, new.count("\n", 0, first.start()) + 1, text))
    return hits
