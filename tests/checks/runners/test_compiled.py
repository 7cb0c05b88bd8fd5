"""Cargo with the real tool, Maven and Gradle by their reports."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from engine.perform.checks.run.compiled_runners import CargoRunner, JavaRunner, read_libtest
from engine.perform.checks.run.runner import RunRequest
from engine.perform.process.spawning import Finished
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


JUNIT = """<?xml version="1.0"?><testsuite name="a" tests="2" failures="1">
<testcase classname="com.shop.CartTest" name="adds"/>
<testcase classname="com.shop.CartTest" name="red"><failure type="X" message="no"/></testcase></testsuite>"""


def test_java_by_its_reports(tmp_path: Path) -> None:
    room = fill(tmp_path / "room", {"src/test/java/com/shop/CartTest.java": "class CartTest {}"})
    reports = tmp_path / "reports"
    fill(reports, {"surefire/TEST-a.xml": JUNIT})
    command = ("mvn", "test", "-DreportsDirectory={reports}/surefire")
    runner = JavaRunner()
    spec = spec_of(runner, command, parser="junit", report="surefire")
    path = "src/test/java/com/shop/CartTest.java"
    request = RunRequest(spec=spec, room=room, checkout=room, reports=reports, key=b"k", files=(path,))
    prepared = runner.prepare(request)
    assert prepared.argv[-2:] == ("-Dtest=CartTest", "-DfailIfNoTests=false")
    report = runner.read(request, prepared, Finished(reason="exited", exit_code=1), b"", 0.0)
    assert outcomes(report) == {f"{path}::adds": "passed", f"{path}::red": "failed"}
