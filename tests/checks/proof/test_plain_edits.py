"""Edits of test programs that only a command runs: what adds, and what may take something away."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.perform.checks.proof.chains import only_grew
from engine.perform.checks.proof.edit_questions import edit_questions
from engine.perform.checks.proof.owned import Changed, Ground, Owner
from engine.perform.checks.proof.owners import owners
from engine.perform.checks.proof.permissions import transform
from engine.perform.checks.proof.plain_edits import adds_only, without_additions
from engine.perform.checks.proof.steering import steering
from engine.perform.checks.run.spec import CheckSpec

C = """#include <assert.h>
#include "calc.h"

static void test_add(void)
{
    assert(add(1, 2) == 3);
}

int main(void)
{
    test_add();
    return 0;
}
"""
SHELL = """#!/bin/sh
fail=0
check() {
    [ "$1" = "$2" ] || fail=1
}
check "$(./bin/greet bob)" "hello bob"
check "$(./bin/greet)" "hello you"
exit $fail
"""


def at(text: str, mark: str, new: str) -> bytes:
    """`new` before the line that begins with `mark`."""
    place = text.index(f"\n{mark}") + 1
    return f"{text[:place]}{new}{text[place:]}".encode()


@pytest.mark.parametrize(
    ("text", "mark", "new"),
    [
        pytest.param(C, "int main", "static void test_sub(void)\n{\n    assert(sub(2, 1));\n}\n\n", id="a function"),
        pytest.param(C, "    return 0", "    test_sub();\n", id="a call"),
        pytest.param(C, "#include \"calc", "#include <string.h>\n", id="a header"),
        pytest.param(
            C,
            "int main",
            "static int near(int a, int b)\n{\n    if (a == b)\n        return 1;\n    return 0;\n}\n\n",
            id="a helper of its own",
        ),
        pytest.param(C, "    return 0", "    /* zero */\n    assert(add(0, 0) == 0);\n", id="with a comment"),
        pytest.param(SHELL, "exit", 'check "$(./bin/greet -l bob)" "HELLO BOB"\n', id="one more case"),
        pytest.param(SHELL, "exit", './bin/greet set x\ncheck "$(./bin/greet unset)" "export A"\n', id="their words"),
        pytest.param(
            SHELL,
            "exit",
            'code=0\n./bin/greet -z || code=$?\nif [ "$code" != 3 ]; then\n    echo no\n    exit 1\nfi\n',
            id="an exit code is looked at",
        ),
        pytest.param(SHELL, "exit", "./bin/greet -q || exit 1\n", id="a red end"),
        pytest.param(SHELL, "exit", "export GREET_MAX=2\n./bin/greet -q\n", id="a variable for the program"),
        pytest.param(SHELL, "exit", 'for n in a b; do\n    check "$(./bin/greet $n)" "hello $n"\ndone\n', id="a loop"),
    ],
)  # fmt: skip
def test_what_adds(text: str, mark: str, new: str) -> None:
    path = "test_calc.c" if text is C else "tests/run.sh"
    assert adds_only(path, text.encode(), at(text, mark, new))


@pytest.mark.parametrize(
    ("text", "mark", "new"),
    [
        pytest.param(C, "    test_add", "    return 0;\n", id="leaves early"),
        pytest.param(C, "    test_add", "    if (getenv(\"CI\"))\n", id="a condition over what follows"),
        pytest.param(C, "    test_add", "    if (0) {\n    }\n    else\n", id="an else over what follows"),
        pytest.param(C, "    test_add", "    {\n", id="half a block"),
        pytest.param(C, "    test_add", "    /*\n", id="half a comment"),
        pytest.param(C, "static", "#define assert(x) ((void)0)\n", id="another assert"),
        pytest.param(C, "static", "#undef assert\n", id="no assert"),
        pytest.param(C, "static", "static int add(int a, int b)\n{\n    return 3;\n}\n", id="stands in for it"),
        pytest.param(C, "int main", "static void over(void)\n{\n    exit(0);\n}\n", id="ends the program"),
        pytest.param(C, "int main", "__attribute__((constructor)) static void x(void)\n{\n}\n", id="runs before main"),
        pytest.param(SHELL, "check \"$(./bin/greet bob", "exit 0\n", id="exit"),
        pytest.param(SHELL, "check \"$(./bin/greet bob", "check() {\n    :\n}\n", id="another check"),
        pytest.param(SHELL, "check \"$(./bin/greet bob", "if false; then\n", id="half an if"),
        pytest.param(SHELL, "check \"$(./bin/greet bob", "true ||\n", id="an or over what follows"),
        pytest.param(SHELL, "check \"$(./bin/greet bob", "trap 'exit 0' EXIT\n", id="trap"),
        pytest.param(SHELL, "check \"$(./bin/greet bob", "cat >/dev/null <<END\n", id="a here document"),
        pytest.param(SHELL, "exit", "./bin/greet || true\n", id="hides a failure"),
        pytest.param(SHELL, "exit", "./bin/greet || exit 0\n", id="a green end"),
        pytest.param(SHELL, "exit", "./bin/greet || :\n", id="hides it by a sign"),
        pytest.param(SHELL, "exit", "if true; then set +e; fi\n", id="a setting behind a word"),
        pytest.param(SHELL, "exit", "command exit 0\n", id="an end behind a word"),
        pytest.param(SHELL, "exit", "exit 0\n", id="a green end alone"),
        pytest.param(SHELL, "exit", "export PATH=/x\n", id="another path"),
        pytest.param(SHELL, "exit", "export BASH_ENV=/x\n", id="what a shell runs first"),
    ],
)  # fmt: skip
def test_what_may_take_away(text: str, mark: str, new: str) -> None:
    path = "test_calc.c" if text is C else "tests/run.sh"
    assert not adds_only(path, text.encode(), at(text, mark, new))


@given(st.data())
def test_a_line_that_changes_or_goes_is_never_an_addition(data: st.DataObject) -> None:
    lines = C.splitlines()
    kept = [number for number, line in enumerate(lines) if line.strip()]
    number = data.draw(st.sampled_from(kept))
    new = data.draw(st.sampled_from(["", lines[number].replace("3", "4").replace("add", "dda") + " "]))
    after = "\n".join([*lines[:number], *([new] if new.strip() else []), *lines[number + 1 :]]) + "\n"
    assert adds_only("test_calc.c", C.encode(), after.encode()) is (after.split() == C.split() and "dda" not in after)


PROGRAM = b"#!/bin/sh\nset -e\n[ -n \"$1\" ] || exit 1\necho hello $1\n"  # fmt: skip
MAKEFILE = b"test:\n\tsh tests/run.sh\n"


def ground(**more: object) -> Ground:
    files = {"bin/greet": PROGRAM, "tests/run.sh": SHELL.encode(), "Makefile": MAKEFILE, "tools/compare": PROGRAM}
    files["tests/run.sh"] += b"tools/compare a b\n"
    known = frozenset(files)
    values = {"files": known, "reads": known, "sources": files, "commands": "make test", "test_globs": ("tests/**",)}
    return Ground(**{**values, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "words", "owner"),
    [
        pytest.param("bin/greet", "", Owner.SUBJECT, id="a program of the product"),
        pytest.param("tools/compare", "", Owner.CONFIG, id="what judges for the tests"),
        pytest.param("tools/compare", "let compare ignore blanks", Owner.SUBJECT, id="the task speaks of it"),
        pytest.param("tests/run.sh", "", Owner.SUPPORT, id="the tests themselves"),
    ],
)
def test_whose_a_script_is(path: str, words: str, owner: Owner) -> None:
    there = ground(words=words)
    change = Changed(path=path, before=there.sources[path], after=there.sources[path] + b"# more\n")
    assert [one.owner for one in owners([change], there)] == [owner]


def test_a_test_program_that_is_edited_otherwise_asks() -> None:
    before = SHELL.encode()
    for after, rules in (
        (at(SHELL, "exit", 'check "$(./bin/greet a)" "hello a"\n'), []),
        (b"exit 0\n", ["test-changed"]),
    ):
        there = ground()
        owned = owners([Changed(path="tests/run.sh", before=before, after=after)], there)
        transformed = transform({"tests/run.sh": before}, {"tests/run.sh": after}, owned, ())
        assert [question.rule for question in edit_questions(owned, (), transformed)] == rules


MAKE = "CC = cc\n\n.PHONY: test\n\ntest: build\n\tsh tests/a.sh\n\nbuild:\n\t$(CC) -o x x.c\n"
PACKAGE = '{"name": "x", "scripts": {"test": "node test/a.js && node test/b.js", "lint": "eslint ."}}'


@pytest.mark.parametrize(
    ("path", "before", "after", "grew"),
    [
        pytest.param("Makefile", MAKE, MAKE.replace("a.sh\n", "a.sh\n\tsh tests/b.sh\n"), True, id="one more test"),
        pytest.param("Makefile", MAKE, MAKE.replace("test: build", "test: build m") + "m:\n\tls\n", True, id="needs"),
        pytest.param("Makefile", MAKE, MAKE.replace("a.sh\n", "a.sh || true\n"), False, id="hides"),
        pytest.param("Makefile", MAKE, MAKE.replace("a.sh\n", "a.sh\n\t-sh tests/b.sh\n"), False, id="ignores"),
        pytest.param("Makefile", MAKE, MAKE.replace("\tsh", "\tsh tests/b.sh\n\tsh"), False, id="before it"),
        pytest.param("Makefile", MAKE, MAKE.replace("CC = cc", "CC = true") + "x:\n\ttrue\n", False, id="variable"),
        pytest.param("Makefile", MAKE, "all:\n\ttrue\n" + MAKE.replace("a.sh\n", "a.sh\n\tls\n"), False, id="default"),
        pytest.param("Makefile", MAKE, MAKE.replace(".PHONY: test\n", ""), False, id="no longer phony"),
        pytest.param("package.json", PACKAGE, PACKAGE.replace("b.js", "b.js && node test/c.js"), True, id="chain"),
        pytest.param("package.json", PACKAGE, PACKAGE.replace("b.js", "b.js || node test/c.js"), False, id="or"),
        pytest.param("package.json", PACKAGE, PACKAGE.replace("node test/a.js && ", ""), False, id="fewer"),
        pytest.param("package.json", PACKAGE, PACKAGE.replace("b.js", "b.js && exit 0"), False, id="exit"),
        pytest.param(
            "package.json",
            PACKAGE,
            PACKAGE.replace('b.js"', 'b.js && node c.js", "pretest": "true"'),
            False,
            id="a hook before it",
        ),
    ],
)  # fmt: skip
def test_a_chain_of_commands_that_only_grew(path: str, before: str, after: str, grew: bool) -> None:
    assert only_grew(path, before.encode(), after.encode()) is grew


@pytest.mark.parametrize(
    ("after", "command", "reasons"),
    [
        pytest.param(MAKE + "\nfmt:\n\tclang-format -i x.c\n", "make test", [], id="a new target"),
        pytest.param(
            MAKE.replace(".PHONY: test", ".PHONY: test fmt") + "\nfmt:\n\tls\n", "make test", [], id="and phony"
        ),
        pytest.param(MAKE.replace(".PHONY: test\n", ""), "make test", ["directives"], id="phony no more"),
        pytest.param(MAKE.replace("sh tests/a.sh", "true"), "make", ["target test"], id="what make alone makes"),
        pytest.param("first:\n\ttrue\n" + MAKE, "make", ["target first"], id="another default"),
    ],
)
def test_what_of_a_makefile_steers(after: str, command: str, reasons: list[str]) -> None:
    spec = CheckSpec(name="make", kind="tests", command=tuple(command.split()))
    assert steering("Makefile", MAKE.encode(), after.encode(), [spec]) == reasons


CASE = 'code=0\nsaid=$(./ini x 2>&1) || code=$?\ncase "$said" in\n*nope*) ;;\n*) echo "exit: $said"; exit 1 ;;\nesac\n'


@pytest.mark.parametrize(
    ("inserted", "only"),
    [
        pytest.param('echo "exit code $code"\n', True, id="a word in a text"),
        pytest.param(CASE, True, id="a case"),
        pytest.param('echo "$(exit 0)"\nexit 0\n', False, id="an end"),
        pytest.param("case x in\n*) exit 0 ;;\nesac\n", False, id="an end in a case"),
    ],
)
def test_texts_and_patterns_of_a_script_end_nothing(inserted: str, only: bool) -> None:
    before = 'set -e\ncheck a\necho "ok"\n'
    after = before.replace('echo "ok"\n', inserted + 'echo "ok"\n')
    assert adds_only("tests/cli.sh", before.encode(), after.encode()) is only


@pytest.mark.parametrize(
    ("after", "left"),
    [
        ('set -e\nis "$(x 2>&1)" "usage: a|b"\nis "$(b)" 1\n', 'set -e\nis "$(x 2>&1)" "usage: a|b"\n'),
        ('set -e\nis "$(x 2>&1)" "usage: a"\nexit 0\n', None),
        ('is "$(x 2>&1)" "usage: a"\n', None),
    ],
)
def test_what_is_left_without_additions(after: str, left: str | None) -> None:
    before = 'set -e\nis "$(x 2>&1)" "usage: a"\n'
    found = without_additions("tests/t.sh", before.encode(), after.encode())
    assert found == (left.encode() if left is not None else None)
