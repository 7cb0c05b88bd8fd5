"""Cargo with the real tool."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from engine.perform.checks.run.compiled_runners import CargoRunner, crates, read_libtest
from tests.checks.runners.drive import drive, fill, outcomes, spec_of

CARGO = CargoRunner()
RUST = {
    "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": "pub fn add(a: i32, b: i32) -> i32 { a + b }\n\n#[cfg(test)]\nmod tests {\n"
    "    use super::*;\n    #[test]\n    fn inside() { assert_eq!(add(1, 2), 3); }\n}\n",
    "tests/outer.rs": "#[test]\nfn adds() { assert_eq!(shop::add(1, 2), 3); }\n\n#[test]\nfn red() {\n"
    "    assert_eq!(shop::add(1, 1), 5);\n}\n\n#[test]\n#[ignore]\nfn later() {}\n",
}


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
def test_cargo(tmp_path: Path) -> None:
    room = fill(tmp_path / "room", RUST)
    command = ("sh", "-c", "cargo test --offline --no-fail-fast --color=never 2>&1")
    spec = replace(spec_of(CARGO, command, parser="libtest"), env={"CARGO_TARGET_DIR": "{cache}/cargo"})
    spec = replace(spec, env={**spec.env, "RUSTUP_HOME": str(Path.home() / ".rustup")})
    _, report = drive(CARGO, spec, room)
    assert outcomes(report) == {
        "src/lib.rs::tests::inside": "passed",
        "tests/outer.rs::adds": "passed",
        "tests/outer.rs::red": "failed",
        "tests/outer.rs::later": "skipped",
    }
    red = next(case for case in report.cases if case.outcome == "failed")
    assert (red.place, red.path) == ("6:", "tests/outer.rs")
    _, alone = drive(CARGO, spec, room, files=("tests/outer.rs",))
    assert set(outcomes(alone)) == {id for id in outcomes(report) if id.startswith("tests/")}
    (room / "src/lib.rs").write_text("pub fn add(a: i32) -> i32 { a }\n")
    _, broken = drive(CARGO, spec, room, files=("tests/outer.rs",))
    assert outcomes(broken) == {"tests/outer.rs": "error"} and broken.cases[0].error == "CollectError"


def test_libtest_lines_that_disagree_with_their_totals() -> None:
    text = b"     Running tests/a.rs (target/debug/deps/a-0123456789abcdef)\ntest x ... ok\n"
    assert read_libtest(text + b"test result: ok. 2 passed; 0 failed; 0 ignored\n").problems


WORKSPACE = """
     Running unittests src/lib.rs (target/debug/deps/cart_kit-c3ac867765dab7e9)
test tests::least ... ok
test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured
     Running tests/whole.rs (target/debug/deps/whole-b7d700a6d2da6178)
test sums ... ok
test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured
     Running unittests src/lib.rs (target/debug/deps/shop-ee146ab8bde276e8)
test tests::runs ... ok
test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured
     Running tests/whole.rs (target/debug/deps/whole-0123456789abcdef)
test sums ... FAILED
test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured
   Doc-tests cart_kit
test cart/src/lib.rs - total (line %d) ... ok
test cart/src/lib.rs - (line 1) ... ok
test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured
"""


def test_the_crates_of_a_workspace_are_told_apart_and_examples_named_without_their_line(tmp_path: Path) -> None:
    """Both crates have the same files: the names of what was compiled, and their order, tell which is which."""
    manifest = '[workspace]\n[package]\nedition = "2021"\nname = "%s"\n[dependencies]\nname = "1"\n'
    room = fill(
        tmp_path / "room", {f"{at}/{name}": "" for at in ("cart", "shop") for name in ("src/lib.rs", "tests/whole.rs")}
    )
    fill(
        room,
        {"Cargo.toml": "[workspace]\n", "cart/Cargo.toml": manifest % "cart-kit", "shop/Cargo.toml": manifest % "shop"},
    )
    read = [read_libtest((WORKSPACE % line).encode(), crates(room), room) for line in (5, 12)]
    assert outcomes(read[0]) == outcomes(read[1]) == {
        "cart/src/lib.rs::tests::least": "passed",
        "cart/tests/whole.rs::sums": "passed",
        "shop/src/lib.rs::tests::runs": "passed",
        "shop/tests/whole.rs::sums": "failed",
        "cart/src/lib.rs::example total": "passed",
        "cart/src/lib.rs::example": "passed",
    }  # fmt: skip
    assert [case.path for case in read[0].cases][-1] == "cart/src/lib.rs" and not read[0].problems


DEAD = """\
     Running unittests src/lib.rs (target/debug/deps/itoa-3ab1f94134e67fe4)

running 1 test
test inner ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running tests/test.rs (target/debug/deps/test-82d32154ac7295ed)

running 9 tests
test test_i16_0 ... ok
thread panicked while processing panic. aborting.
error: test failed, to rerun pass `--test test`

Caused by:
  process didn't exit successfully: `/x/test-82d32154ac7295ed` (signal: 6, SIGABRT: process abort signal)
   Doc-tests itoa

running 1 test
test src/lib.rs - Buffer (line 12) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""


@pytest.mark.parametrize("text", [DEAD, DEAD.partition("   Doc-tests")[0]], ids=["in the middle", "at the end"])
def test_a_test_program_that_dies_is_a_file_without_results(text: str) -> None:
    report = read_libtest(text.encode())
    assert not report.problems
    (dead,) = [case for case in report.cases if case.error == "CollectError"]
    assert dead.path == "tests/test.rs" and "SIGABRT" in dead.text
    assert next(case.id for case in report.cases if case.outcome == "passed") == "src/lib.rs::inner"
    assert not any("test_i16_0" in case.id for case in report.cases), "what it said before it died counts for nothing"
