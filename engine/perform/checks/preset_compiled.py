"""Go, Rust, Java and make."""

from __future__ import annotations

import re
from pathlib import Path

from engine.core.model import CheckKind
from engine.perform.checks import reading
from engine.perform.checks.spec import CheckSpec


def detect_go(folder: Path) -> list[CheckSpec]:
    if not (folder / "go.mod").is_file():
        return []
    install = "install Go from your system's packages"
    return [
        CheckSpec(
            name="go test",
            kind=CheckKind.TESTS,
            command=("go", "test", "-json", "-count=1", "./..."),
            version=("go", "version"),
            parser="go",
            group="go",
            timeout=300,
            install=install,
        ),
        CheckSpec(
            name="go vet", kind=CheckKind.LINT, command=("go", "vet", "./..."), group="go", timeout=300, install=install
        ),
        CheckSpec(
            name="go build",
            kind=CheckKind.BUILD,
            command=("go", "build", "-o", "{reports}/", "./..."),
            group="go",
            timeout=300,
            install=install,
        ),
    ]


def detect_rust(folder: Path) -> list[CheckSpec]:
    if not (folder / "Cargo.toml").is_file():
        return []
    install, target = "install Rust from your system's packages", {"CARGO_TARGET_DIR": "{cache}"}
    return [
        CheckSpec(
            name="cargo test",
            kind=CheckKind.TESTS,
            command=("sh", "-c", "cargo test --no-fail-fast --color=never 2>&1"),
            version=("cargo", "--version"),
            parser="libtest",
            group="cargo",
            timeout=600,
            finding_exits=(101,),
            install=install,
            env=target,
        ),
        CheckSpec(
            name="cargo clippy",
            kind=CheckKind.LINT,
            command=("cargo", "clippy", "--all-targets", "--message-format=json"),
            parser="rustc",
            group="cargo",
            timeout=600,
            finding_exits=(101,),
            install="rustup component add clippy",
            env=target,
        ),
    ]


def detect_java(folder: Path) -> list[CheckSpec]:
    """Maven and Gradle write JUnit XML below their build folder, one file a class."""
    if (folder / "pom.xml").is_file():
        program = "./mvnw" if (folder / "mvnw").is_file() else "mvn"
        return [
            CheckSpec(
                name="mvn test",
                kind=CheckKind.TESTS,
                group="java",
                timeout=900,
                parser="junit",
                report="surefire",
                command=(
                    program,
                    "-B",
                    "-q",
                    "test",
                    "-DreportsDirectory={reports}/surefire",
                    "-Dsurefire.reportsDirectory={reports}/surefire",
                ),
                install="install Maven from your system's packages",
            )
        ]
    if (folder / "build.gradle").is_file() or (folder / "build.gradle.kts").is_file():
        program = "./gradlew" if (folder / "gradlew").is_file() else "gradle"
        copy = "cp -r build/test-results/test {reports}/junit 2>/dev/null"
        line = f"{program} --console=plain cleanTest test; code=$?; {copy}; exit $code"
        return [
            CheckSpec(
                name="gradle test",
                kind=CheckKind.TESTS,
                group="java",
                timeout=900,
                parser="junit",
                report="junit",
                command=("sh", "-c", line),
                install="install Gradle from your system's packages",
            )
        ]
    return []


MAKE_TARGETS = {
    "test": CheckKind.TESTS,
    "check": CheckKind.TESTS,
    "lint": CheckKind.LINT,
    "typecheck": CheckKind.TYPES,
    "build": CheckKind.BUILD,
}


def detect_make(folder: Path) -> list[CheckSpec]:
    """Where nothing else is known: the Makefile's own targets. make offers an exit code and nothing more."""
    text = next((t for name in ("GNUmakefile", "Makefile", "makefile") if (t := reading.text(folder / name))), "")
    targets = set(re.findall(r"^([\w-]+)\s*:(?!=)", text, re.MULTILINE))
    names = [name for name in MAKE_TARGETS if name in targets]
    if "test" in names and "check" in names:
        names.remove("check")
    return [
        CheckSpec(name=f"make {name}", kind=MAKE_TARGETS[name], command=("make", name), group="make", timeout=300)
        for name in names
    ]
