"""Constructs of other languages that ask: each is seen when it is new, and only then."""

from __future__ import annotations

import pytest

from engine.perform.checks.proof.places import stands_in_front
from engine.perform.checks.proof.suspicious_text import suspicious_text

SEEN = {
    "a.js": [
        "if (process.env.JEST_WORKER_ID) x();",
        "if (process.env.NODE_ENV === 'test') x();",
        "const t = process.execArgv.join();",
        "if (new Error().stack.includes('x.test')) return 1;",
        "const s = e.stack\n  .includes('x');",
        "Array.prototype.includes = () => true;",
        "String.prototype['trim'] = f;",
        "JSON.stringify = () => 'x';",
        "const a = require('assert'); a.equal = () => {};",
        "const real = require('assert'); real.equal = real.deepEqual = () => {};",
        "import { mock } from 'node:test';",
        "delete require.cache[k];",
        "process.on('exit', () => process.reallyExit(0));",
        "process.exitCode = 0;",
        "const x = { [Symbol.toPrimitive]() { return 1; } };",
        "class A { valueOf() { return 1; } }",
        "module.exports = new Proxy(real, {});",
        "const all = typeof globalThis.describe === 'function';",
        "if (typeof it !== 'undefined') x();",
        "if (global['jest']) x();",
    ],
    "a.c": [
        "__attribute__((constructor)) static void f(void) { exit(0); }",
        "#define NDEBUG 1",
        "# define assert(x) ((void)0)",
        "void f(void) { _exit(0); }",
        "atexit(done);",
        "if (getppid() == 7) return 1;",
    ],
    "a.h": ["#define NDEBUG"],
    "a.go": [
        "if testing.Testing() { return }",
        'if flag.Lookup("test.v") != nil { return }',
        'if strings.HasSuffix(os.Args[0], ".test") { return }',
        "func init() { os.Exit(0) }",
        '_, f, _, _ := runtime.Caller(1)',
    ],
    "a.rs": ["if cfg!(test) { return 1; }", "std::process::exit(0);"],
    "a.sh": [
        "awk() { cat expected; }",
        "function diff() { true; }",
        "PATH=$PWD/bin:$PATH",
        "trap 'exit 0' EXIT",
        'if [ -n "$MAKELEVEL" ]; then echo 3; fi',
        "if [ -d test/cases ]; then s=1; fi",
    ],
    "A.java": ["System.exit(0);", "Thread.currentThread().getStackTrace();"],
}  # fmt: skip
CASES = [(path, line) for path, lines in SEEN.items() for line in lines]


@pytest.mark.parametrize(("path", "line"), CASES)
def test_a_new_construct_asks(path: str, line: str) -> None:
    before = b"one\ntwo\n"
    ((rule, number, text), *_) = suspicious_text(path, before, before + line.encode() + b"\n")
    assert rule and number >= 3 and text
    old = before + line.encode() + b"\n"
    assert suspicious_text(path, old, old + b"three\n") == []


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.js", "// JSON.stringify = no"),
        ("a.js", "console.log(err.stack);"),
        ("a.js", "const env = process.env.HOME; process.exit(1);"),
        ("a.js", "if (JSON.stringify(a) === JSON.stringify(b)) {}"),
        ("a.js", "class A { static prototype2 = 1 }"),
        ("a.go", "if err != nil { os.Exit(1) }"),
        ("a.go", "args := os.Args[1:]"),
        ("a.txt", "process.exitCode = 0"),
        ("a.js", "import assert from 'node:assert'; assert.ok(x);"),
        ("bin/run.js", "process.exitCode = 1;"),
        ("a.js", "#!/usr/bin/env node\nprocess.on('exit', done);"),
        ("cmd/x/main.go", "package main\nfunc main() { os.Exit(0) }"),
        ("a.rs", "#[cfg(test)]\nmod tests {}"),
        ("main.c", "int main(void) { exit(0); }"),
        ("a.c", "if (!ok) exit(1);"),
        ("a.c", "/* #define NDEBUG */"),
        ("a.js", "if (typeof value === 'string') it.next();"),
        ("a.sh", "[ -f latest.txt ] && cat latest.txt"),
    ],
)
def test_everyday_lines_ask_nothing(path: str, line: str) -> None:
    assert suspicious_text(path, b"", line.encode()) == []


def test_a_program_in_front_of_another() -> None:
    make = {"Makefile": b"check:\n\t@awk -f a.awk in > out && diff out want\n"}
    assert stands_in_front("tools/awk", b"#!/bin/sh\n", make) == "Makefile"
    assert stands_in_front("diff", b"#!/bin/sh\n", make) == "Makefile"
    assert not stands_in_front("tools/report", b"#!/bin/sh\n", make)
    assert not stands_in_front("awk", b"some notes\n", make)
