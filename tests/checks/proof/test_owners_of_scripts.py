"""Programs without an ending, cases beside cases, and a source that names what it is compared with."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.perform.checks.proof.owned import Changed, Ground, Owner
from engine.perform.checks.proof.owners import keeps_examples, owners

GROUND = Ground(
    files=frozenset({"bin/sum", "cases/a.in", "cases/a.out", "check.sh", "Makefile"}),
    reads=frozenset({"bin/sum", "cases/a.in", "cases/a.out", "check.sh", "Makefile"}),
    sources={
        "check.sh": b'for i in cases/*.in; do [ "$(sh bin/sum $i)" = x ] || exit 1; done\n',
        "Makefile": b"test:\n\tsh check.sh\n",
    },
    commands="make test",
    test_globs=("tests/**",),
)  # fmt: skip


@pytest.mark.parametrize(
    ("path", "before", "after", "owner"),
    [
        ("bin/sum", b"#!/bin/sh\necho 1\n", b"#!/bin/sh\necho 2\n", Owner.SUBJECT),
        ("bin/max", None, b"#!/bin/sh\necho 2\n", Owner.SUBJECT),
        ("cases/b.in", None, b"1\n", Owner.NEW_SUPPORT),
        ("cases/a.max", None, b"1\n", Owner.NEW_SUPPORT),
        ("cases/local.mk", None, b"x:\n", Owner.STEERING),
        ("cases/a.out", b"1\n", b"2\n", Owner.DATA),
        ("test", None, b"#!/bin/sh\nexit 0\n", Owner.STEERING),
    ],
)
def test_owners(path: str, before: bytes | None, after: bytes | None, owner: Owner) -> None:
    (found,) = owners([Changed(path=path, before=before, after=after)], GROUND)
    assert found.owner is owner, found.why


@pytest.mark.parametrize(
    ("path", "text", "owner"),
    [
        ("test.js", b"const test = require('tape');\n", Owner.TEST),
        ("suite/everything.js", b"const test = require('tape');\n", Owner.TEST),
        ("src/sum.ts", b"export const sum = 1;\nif (import.meta.vitest) {}\n", Owner.SUBJECT),
        ("lib.py", b'"""\n>>> 1\n1\n"""\n', Owner.SUBJECT),
    ],
)
def test_a_file_whose_tests_ran_is_a_test_unless_it_is_source_too(path: str, text: bytes, owner: Owner) -> None:
    ground = Ground(
        files=frozenset({path}), reads=frozenset({path}), tests=frozenset({path}), sources={path: text}, commands=path
    )
    (found,) = owners([Changed(path=path, before=text, after=text + b"\n")], ground)
    assert found.owner is owner, found.why


@pytest.mark.parametrize("path", ["test.js", "test-more.mjs", "lib/sum_test.ts", "sum-spec.js", "tests/added.rs"])
def test_a_new_file_named_as_runners_name_them_is_a_test(path: str) -> None:
    (found,) = owners([Changed(path=path, before=None, after=b"x\n")], Ground(files=frozenset(), reads=frozenset()))
    assert found.owner is Owner.NEW_TEST, found.why


@pytest.mark.parametrize(
    ("program", "owner"),
    [(b"print(1)\n", Owner.DATA), (b"open('testdata/a.out')\n", Owner.SUBJECT)],
    ids=["only a test speaks of it", "the program reads it"],
)
def test_data_that_the_task_names_is_what_the_program_is_compared_with(program: bytes, owner: Owner) -> None:
    files = {"rain.py": program, "test_rain.py": b"HERE / 'testdata' / f'{name}.out'\n", "testdata/a.out": b"1\n"}
    ground = Ground(
        files=frozenset(files),
        reads=frozenset(files),
        tests=frozenset({"test_rain.py"}),
        sources={path: text for path, text in files.items() if path.endswith(".py")},
        words="The golden file testdata/a.out changes",
    )
    (found,) = owners([Changed(path="testdata/a.out", before=b"1\n", after=b"2\n")], ground)
    assert found.owner is owner, found.why


def test_the_code_behind_a_documentation_string_is_no_part_of_its_example() -> None:
    old = b'def f():\n    """\n    >>> f()\n    1\n    """\n    return PAIRS\n'
    assert keeps_examples(old, old.replace(b"PAIRS", b"_PAIRS"))
    assert not keeps_examples(old, old.replace(b"    1\n", b"    2\n"))
    assert not keeps_examples(old, old.replace(b">>> f()", b">>> f(2)"))


@pytest.mark.parametrize(("beside", "owner"), [("tool/main_test.go", Owner.SUBJECT), ("lib/a_test.go", Owner.CONFIG)])
def test_a_program_in_go_belongs_to_the_tests_of_its_package(beside: str, owner: Owner) -> None:
    main = b"package main\n\nfunc main() { os.Exit(1) }\n"
    sources = {"tool/main.go": main, beside: b"package main\n"}
    ground = replace(GROUND, reads=frozenset({"tool/main.go"}), sources=sources, commands="go test ./...")
    (found,) = owners([Changed(path="tool/main.go", before=main, after=main + b"// x\n")], ground)
    assert found.owner is owner, found.why


STRICT = b"class TestStrict(TestCase):\n    def test_raises(self):\n        pass\n"


@pytest.mark.parametrize(
    ("path", "text", "owner"),
    [
        ("pkg/tests/teststrict.py", STRICT, Owner.NEW_TEST),
        ("pkg/tests/strictness.py", STRICT, Owner.NEW_SUPPORT),
        ("pkg/tests/testdata.py", b"ROWS = [1]\n", Owner.NEW_SUPPORT),
        ("checks/check_more.py", STRICT, Owner.NEW_TEST),
        ("checks/helpers.py", STRICT, Owner.SUBJECT),
        ("pkg/tools_more.py", STRICT, Owner.SUBJECT),
    ],
)
def test_a_new_file_called_like_those_that_the_runner_collected_is_a_test(path: str, text: bytes, owner: Owner) -> None:
    files = {
        "pkg/tests/testtime.py": STRICT,
        "checks/check_all.py": STRICT,
        "pkg/tools_old.py": b'"""\n>>> 1\n1\n"""\n',  # collected for its documentation string
    }
    ground = Ground(
        files=frozenset(files),
        reads=frozenset(files),
        tests=frozenset(files),
        sources=files,
        test_globs=("**/tests/**",),
    )
    (found,) = owners([Changed(path=path, before=None, after=text)], ground)
    assert found.owner is owner, found.why


@pytest.mark.parametrize(
    ("path", "owner"),
    [
        ("bin/hours", Owner.SUBJECT),
        ("bin/tscheck", Owner.SUBJECT),
        ("bin/run-tests", Owner.CONFIG),
        ("bin/ci.sh", Owner.CONFIG),
        ("run/hours", Owner.SUBJECT),
    ],
)
def test_a_program_that_cases_start_by_its_name_is_the_product(path: str, owner: Owner) -> None:
    """Nothing but a file of data names it, and the Makefile installs it: it ends with exit codes, as programs do."""
    text = b"#!/bin/sh\n[ $# -gt 0 ] || exit 2\n"
    folder, _, name = path.rpartition("/")
    make = f"test:\n\tsh tests/all\n\ninstall:\n\tinstall {folder}/{name} /usr\n".encode()
    files = frozenset({path, "Makefile", "tests/all", "tests/a.cmd"})
    ground = Ground(
        files=files, reads=files, sources={path: text, "Makefile": make}, commands="make test", test_globs=("tests/**",)
    )
    (found,) = owners([Changed(path=path, before=text, after=text + b"echo\n")], ground)
    assert found.owner is owner, found.why


@pytest.mark.parametrize(
    ("path", "owner"),
    [("tools/zone", Owner.SUBJECT), ("tools/lint", Owner.CONFIG), ("tests/run.sh", Owner.SUPPORT)],
)
def test_where_the_check_starts_scripts_of_its_own_folder_what_lies_outside_is_judged(path: str, owner: Owner) -> None:
    """By what the recipe says, wherever the programs lie: `make lint` is a check, too, and starts `tools/lint`."""
    text = b"#!/bin/sh\n[ $# -gt 0 ] || exit 2\n"
    make = b"all: lint out/zone\n\nout/zone: tools/zone\n\ttools/zone > $@\n\n"
    make += b"lint:\n\ttools/lint\n\ntest:\n\t@sh tests/run.sh\n"
    files = frozenset({"tools/zone", "tools/lint", "Makefile", "tests/run.sh"})
    ground = Ground(
        files=files,
        reads=files,
        sources=dict.fromkeys(("tools/zone", "tools/lint", "tests/run.sh"), text) | {"Makefile": make},
        commands="make test\nmake lint",
        test_globs=("tests/**",),
    )
    (found,) = owners([Changed(path=path, before=text, after=text + b"echo\n")], ground)
    assert found.owner is owner, found.why
