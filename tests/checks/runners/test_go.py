"""Go by the engine's options: ids by file, canaries by overlay, one file alone, a package that does not build."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from engine.perform.checks.presets.registry import detect
from engine.perform.checks.run.go_runner import GoRunner, packages
from engine.perform.checks.run.measure import Report
from tests.checks.runners.drive import drive, fill, outcomes, spec_of

pytestmark = pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed")
RUNNER = GoRunner()
BASE = Report(source="go")


def spec():  # type: ignore[no-untyped-def]
    from msgspec.structs import replace

    env = {"GOCACHE": "{cache}", "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "GOPROXY": "off"}
    return replace(spec_of(RUNNER, ("go", "test", "-json", "-count=1", "./...")), env=env)


FILES = {
    "go.mod": "module example.com/shop\n\ngo 1.19\n",
    "cart.go": "package shop\n\n// Add adds.\nfunc Add(a, b int) int { return a + b }\n",
    "cart_test.go": 'package shop\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n'
    '\tif Add(1, 2) != 3 {\n\t\tt.Fatal("no")\n\t}\n'
    '\tt.Run("sub", func(t *testing.T) {})\n}\n\nfunc TestSkip(t *testing.T) { t.Skip() }\n',
    "example_test.go": 'package shop_test\n\nimport (\n\t"fmt"\n\n\t"example.com/shop"\n)\n\nfunc ExampleAdd() {\n'
    "\tfmt.Println(shop.Add(1, 1))\n\t// Output: 2\n}\n",
    "inner/in.go": "package inner\n",
    "inner/in_test.go": 'package inner\n\nimport "testing"\n\nfunc TestIn(t *testing.T) { t.Error("red") }\n',
}  # fmt: skip


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fill(tmp_path_factory.mktemp("go") / "room", FILES)


def test_ids_outcomes_and_canaries(room: Path) -> None:
    code, report = drive(RUNNER, spec(), room, known=BASE)
    assert outcomes(report) == {
        "cart_test.go::TestAdd": "passed",
        "cart_test.go::TestAdd/sub": "passed",
        "cart_test.go::TestSkip": "skipped",
        "example_test.go::ExampleAdd": "passed",
        "inner/in_test.go::TestIn": "failed",
    }
    assert report.canaries is not None and report.canaries.planted == report.canaries.failed == 12
    red = next(case for case in report.cases if case.outcome == "failed")
    assert (red.place, red.path) == ("5:", "inner/in_test.go") and "red" in red.text
    assert code == 1


def test_one_file_alone_is_green_though_its_canaries_fail(room: Path) -> None:
    code, report = drive(RUNNER, spec(), room, files=("example_test.go",), known=BASE)
    assert (code, outcomes(report)) == (0, {"example_test.go::ExampleAdd": "passed"})
    assert report.canaries is not None and report.canaries.planted == report.canaries.failed == 6


def test_the_base_and_the_whole_change_run_without_canaries(room: Path) -> None:
    code, report = drive(RUNNER, spec(), room)
    assert code == 1 and report.canaries is None and len(report.cases) == 5


def test_a_process_that_ends_itself_leaves_its_canaries(room: Path, tmp_path: Path) -> None:
    ends = 'package shop\n\nimport "os"\n\nfunc init() { os.Exit(0) }\n\nfunc Add(a, b int) int { return 0 }\n'
    made = fill(tmp_path / "room", {**FILES, "cart.go": ends})
    _, report = drive(RUNNER, spec(), made, known=BASE)
    birds = report.canaries
    assert birds is not None and birds.planted != birds.failed


def test_a_package_that_does_not_build_is_not_collected(room: Path, tmp_path: Path) -> None:
    made = fill(tmp_path / "room", {**FILES, "cart.go": "package shop\n\nfunc Add(a int) int { return a }\n"})
    code, report = drive(RUNNER, spec(), made, known=BASE)
    broken = {case.id for case in report.cases if case.error == "CollectError"}
    assert broken == {"cart_test.go", "example_test.go"} and code != 0
    assert report.canaries is not None and report.canaries.planted == report.canaries.failed == 6


def test_packages_of_another_module_are_left_out(tmp_path: Path) -> None:
    made = fill(tmp_path / "room", {**FILES, "other/go.mod": "module x\n", "other/x_test.go": "package x\n"})
    assert [folder.path for folder in packages(made)] == ["", "inner"]


def test_a_folder_of_git_above_the_room_is_no_repository_of_the_program(tmp_path: Path) -> None:
    """A home that is kept in git, or an empty `.git` in /tmp: `go build` ended with "error obtaining VCS status"."""
    (tmp_path / ".git").mkdir()
    room = tmp_path / "room"
    room.mkdir()
    (room / "go.mod").write_text("module x\n\ngo 1.19\n")
    (room / "main.go").write_text("package main\n\nfunc main() {}\n")
    build = next(one for one in detect(room, shutil.which) if one.name == "go build")
    (tmp_path / "out").mkdir()
    command = [word.replace("{reports}", str(tmp_path / "out")) for word in build.command]
    env = {
        **os.environ,
        **{name: value.replace("{cache}", str(tmp_path / "cache")) for name, value in build.env.items()},
    }
    done = subprocess.run(command, cwd=room, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
