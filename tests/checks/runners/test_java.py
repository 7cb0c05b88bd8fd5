"""Maven and Gradle by their reports and the compiler's words; Maven itself where it and what it needs are here."""

# ruff: noqa: E501 (programs quoted on one line are easier to compare)

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine.perform.checks.presets.registry import detect
from engine.perform.checks.run.java_runner import JavaRunner
from engine.perform.checks.run.runner import RunRequest
from engine.perform.process.spawning import Finished
from tests.checks.runners.drive import drive, fill, outcomes, spec_of
from tests.foreign.shapes import (
    ADDED_JAVA_TEST,
    CART_JAVA,
    CART_JAVA_TEST,
    GRADLE_BUILD,
    MAVEN_JUNIT,
    MAVEN_PLUGINS,
    MAVEN_PROPERTIES,
    POM,
    junit4,
)

RUNNER = JavaRunner()
JUNIT = """<?xml version="1.0"?><testsuite name="a" tests="2" failures="1">
<testcase classname="com.shop.CartTest" name="adds"/>
<testcase classname="com.shop.CartTest" name="red"><failure type="X" message="no"/></testcase></testsuite>"""


def test_java_by_its_reports(tmp_path: Path) -> None:
    room = fill(tmp_path / "room", {"src/test/java/com/shop/CartTest.java": "class CartTest {}"})
    reports = tmp_path / "reports"
    fill(reports, {"surefire/TEST-a.xml": JUNIT})
    command = ("mvn", "test", "-DreportsDirectory={reports}/surefire")
    spec = spec_of(RUNNER, command, parser="junit", report="surefire")
    path = "src/test/java/com/shop/CartTest.java"
    request = RunRequest(spec=spec, room=room, checkout=room, reports=reports, key=b"k", files=(path,))
    prepared = RUNNER.prepare(request)
    assert prepared.argv[2:4] == (f"-DreportsDirectory={reports}/surefire", "-Dtest=CartTest")
    report = RUNNER.read(request, prepared, Finished(reason="exited", exit_code=1), b"", 0.0)
    assert outcomes(report) == {f"{path}::adds": "passed", f"{path}::red": "failed"}


@pytest.mark.parametrize(
    "said",
    [
        pytest.param("[ERROR] {room}/src/test/java/com/shop/NewTest.java:[9,25] cannot find symbol", id="maven"),
        pytest.param("{room}/src/test/java/com/shop/NewTest.java:9: error: cannot find symbol", id="gradle"),
        pytest.param(
            "e: file://{room}/src/test/java/com/shop/NewTest.java:9:12 unresolved reference: one", id="kotlin"
        ),
    ],
)
def test_a_class_that_does_not_compile_is_a_file_without_results(said: str, tmp_path: Path) -> None:
    room, path = fill(tmp_path / "room", {}), "src/test/java/com/shop/NewTest.java"
    spec = spec_of(RUNNER, ("sh", "-c", "mvn test; exit 1"), parser="junit", report="junit")
    for files in (None, (path,)):
        request = RunRequest(spec=spec, room=room, checkout=room, reports=tmp_path, key=b"k", files=files)
        words = said.format(room=room).encode()
        report = RUNNER.read(request, RUNNER.prepare(request), Finished(reason="exited", exit_code=1), words, 0.0)
        assert [(case.id, case.error) for case in report.cases] == [(path, "CollectError")] and not report.problems


def test_maven_asks_nobody_and_takes_what_any_mirror_brought(tmp_path: Path) -> None:
    """Its settings are not shown: with another mirror than the one it came from, an artifact counts as never fetched."""
    (spec,) = detect(fill(tmp_path, {"pom.xml": "<project/>"}), lambda _name: "/usr/bin/mvn")
    words = spec.command[2].split(";")[1].split()
    assert {"--offline", "-Daether.enhancedLocalRepository.trackingFilename=none"} < set(words) and words[-1] == "test"


def test_words_of_a_program_about_a_source_are_no_compiler(tmp_path: Path) -> None:
    room = fill(tmp_path / "room", {})
    spec = spec_of(RUNNER, ("sh", "-c", "mvn test; exit 1"), parser="junit", report="junit")
    request = RunRequest(spec=spec, room=room, checkout=room, reports=tmp_path, key=b"k")
    words = b"\tat shop.CartTest.red(CartTest.java:12)\nCart.java is fine"
    report = RUNNER.read(request, RUNNER.prepare(request), Finished(reason="exited", exit_code=1), words, 0.0)
    assert not report.cases and report.problems


@pytest.mark.foreign
@pytest.mark.skipif(shutil.which("mvn") is None, reason="Maven is not installed")
def test_maven_with_two_modules(tmp_path: Path) -> None:
    modules = "  <packaging>pom</packaging>\n  <modules><module>one</module><module>two</module></modules>\n"
    needs = "  <dependencies>\n    <dependency><groupId>shop</groupId><artifactId>one</artifactId><version>1.0</version></dependency>\n"
    two = MAVEN_JUNIT.replace("  <dependencies>\n", needs)
    base = {
        "pom.xml": POM.format(name="top", rest=modules),
        "one/pom.xml": POM.format(name="one", rest=MAVEN_PROPERTIES + MAVEN_JUNIT + MAVEN_PLUGINS),
        "two/pom.xml": POM.format(name="two", rest=MAVEN_PROPERTIES + two + MAVEN_PLUGINS),
        "one/src/main/java/shop/Cart.java": CART_JAVA,
        "one/src/test/java/shop/CartTest.java": CART_JAVA_TEST,
        "two/src/test/java/shop/whole/WholeTest.java": CART_JAVA_TEST.replace("package shop;", "package shop.whole;\n\nimport shop.Cart;").replace("CartTest", "WholeTest").replace("6,", "7,"),
    }  # fmt: skip
    room = fill(tmp_path / "room", base)
    (spec,) = detect(room)
    _, report = drive(RUNNER, spec, room)
    assert outcomes(report) == {
        "one/src/test/java/shop/CartTest.java::sums": "passed",
        "one/src/test/java/shop/CartTest.java::nothing": "passed",
        "two/src/test/java/shop/whole/WholeTest.java::sums": "failed",
        "two/src/test/java/shop/whole/WholeTest.java::nothing": "passed",
    }
    fill(room, {"one/src/test/java/shop/AddedTest.java": ADDED_JAVA_TEST})
    new = "one/src/test/java/shop/AddedTest.java"
    _, report = drive(RUNNER, spec, room, files=(new,))
    assert outcomes(report) == {new: "error"} and "cannot find symbol" in report.cases[0].text


@pytest.mark.foreign
@pytest.mark.skipif(
    shutil.which("gradle") is None or not Path("/usr/share/java/junit4.jar").exists(), reason="no Gradle"
)
def test_gradle_with_two_projects(tmp_path: Path) -> None:
    """The top has settings alone, as `gradle init` makes it; what an earlier build left is no result."""
    whole = CART_JAVA_TEST.replace("package shop;", "package shop.whole;\n\nimport shop.Cart;").replace("6,", "7,")
    base = {
        "settings.gradle": "include 'one', 'two'\n",
        "one/build.gradle": GRADLE_BUILD,
        "two/build.gradle": GRADLE_BUILD.replace("dependencies {", "dependencies {\n    compile project(':one')"),
        "one/src/main/java/shop/Cart.java": CART_JAVA,
        "one/src/test/java/shop/CartTest.java": junit4(CART_JAVA_TEST),
        "two/src/test/java/shop/whole/WholeTest.java": junit4(whole.replace("CartTest", "WholeTest")),
        "one/build/test-results/test/TEST-shop.GoneTest.xml": JUNIT,
    }
    room = fill(tmp_path / "room", base)
    (spec,) = detect(room)
    _, report = drive(RUNNER, spec, room)
    assert outcomes(report) == {
        "one/src/test/java/shop/CartTest.java::sums": "passed",
        "one/src/test/java/shop/CartTest.java::nothing": "passed",
        "two/src/test/java/shop/whole/WholeTest.java::sums": "failed",
        "two/src/test/java/shop/whole/WholeTest.java::nothing": "passed",
    }
    only = ("one/src/test/java/shop/CartTest.java",)
    code, report = drive(RUNNER, spec, room, files=only)
    assert code == 0 and set(outcomes(report)) == {f"{only[0]}::sums", f"{only[0]}::nothing"}
    new = "one/src/test/java/shop/AddedTest.java"
    fill(room, {new: junit4(ADDED_JAVA_TEST)})
    _, report = drive(RUNNER, spec, room, files=(new,))
    assert outcomes(report) == {new: "error"} and "cannot find symbol" in report.cases[0].text


def test_gradle_says_what_went_wrong_before_its_time(tmp_path: Path) -> None:
    room = fill(tmp_path / "room", {"build.gradle": ""})
    (spec,) = detect(room, lambda _name: "/usr/bin/gradle")
    request = RunRequest(spec=spec, room=room, checkout=room, reports=tmp_path, key=b"k")
    words = (
        b"\nFAILURE: Build failed with an exception.\n\n* What went wrong:\nCould not resolve all files for"
        b" configuration ':testCompileClasspath'.\n> No cached version of junit:junit:4.13.2 available for offline mode.\n"
        b"\n* Try:\nRun with --stacktrace\n\nBUILD FAILED in 9s\n"
    )
    report = RUNNER.read(request, RUNNER.prepare(request), Finished(reason="exited", exit_code=1), words, 0.0)
    assert report.problems[0] == (
        "Could not resolve all files for configuration ':testCompileClasspath'. "
        "No cached version of junit:junit:4.13.2 available for offline mode."
    )
