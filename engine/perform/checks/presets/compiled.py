"""Go, Rust and make."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from engine.core.model import CheckKind
from engine.perform.checks.presets import project_files as reading
from engine.perform.checks.presets.package import Candidate, Found, LeftOut, Package
from engine.perform.checks.run.spec import CheckSpec


def detect_go(package: Package) -> Iterator[Found]:
    if not package.has("go.mod"):
        return
    if not package.program("go"):
        yield LeftOut(
            name="go test", reason="Go is not installed here", fix="install Go from your system's packages", tests=True
        )
        return
    # Compilers start from a cache of the check's own; modules come from the user's, and none is fetched.
    # A room is no repository, whatever stands above it: no stamp of one goes into a program.
    flags = [*(() if package.has("go.sum") else ("-mod=mod",)), *(("-buildvcs=false",) if _stamps() else ())]
    env = {"GOCACHE": "{cache}", "GOFLAGS": " ".join(flags), "GOTOOLCHAIN": "local", "GOPROXY": "off"}
    env = {name: value for name, value in env.items() if value}
    common = CheckSpec(name="go test", kind=CheckKind.TESTS, command=(), group="go", timeout=300, env=env, why="go.mod")
    yield Candidate(
        check=replace(
            common,
            command=("go", "test", "-json", "-count=1", "./..."),
            version=("go", "version"),
            parser="go",
            runner="go",
        )
    )
    yield Candidate(check=replace(common, name="go vet", kind=CheckKind.LINT, command=("go", "vet", "./...")))
    if any(re.search(r"^package main\b", reading.text(path), re.MULTILINE) for path in package.files(".go")[:400]):
        # A library has nothing to build, and `go build -o FOLDER` refuses it.
        command = ("go", "build", "-o", "{reports}/", "./...")
        yield Candidate(check=replace(common, name="go build", kind=CheckKind.BUILD, command=command))


def _stamps() -> bool:
    """Whether this Go is of 1.18 or later: an earlier one refuses the flag."""
    go = shutil.which("go")
    version = Path(go).resolve().parent.parent / "VERSION" if go else Path("VERSION")
    try:
        match = re.match(r"go1\.(\d+)", version.read_text(errors="replace"))
    except OSError:
        return True
    return match is None or int(match[1]) >= 18


def detect_rust(package: Package) -> Iterator[Found]:
    if not package.has("Cargo.toml"):
        return
    if not package.program("cargo"):
        yield LeftOut(name="cargo test", reason="cargo is not installed here", fix="install Rust", tests=True)
        return
    manifest = reading.toml(package.text("Cargo.toml"))
    every = " --workspace" if "workspace" in manifest else ""
    common = CheckSpec(
        name="cargo test",
        kind=CheckKind.TESTS,
        command=("sh", "-c", f"cargo test --offline{every} --no-fail-fast --color=never 2>&1"),
        version=("cargo", "--version"),
        parser="libtest",
        runner="cargo",
        group="cargo",
        timeout=600,
        finding_exits=(101,),
        # Built anew each time: what a warm cache spares the compiler to read, the trace cannot see.
        env={"CARGO_TARGET_DIR": "{reports}/target"},
        why="Cargo.toml",
    )
    yield Candidate(check=common)
    if not (package.program("cargo-clippy") and package.has("clippy.toml", ".clippy.toml")):
        return  # a lint that the project never asked for
    command = ("cargo", "clippy", "--offline", "--all-targets", "--message-format=json")
    clippy = replace(
        common, name="cargo clippy", kind=CheckKind.LINT, command=command, parser="rustc", version=(), runner=""
    )
    yield Candidate(check=replace(clippy, install="rustup component add clippy"))


MAKE_TARGETS = {
    "test": CheckKind.TESTS,
    "check": CheckKind.TESTS,
    "lint": CheckKind.LINT,
    "typecheck": CheckKind.TYPES,
    "build": CheckKind.BUILD,
}


def detect_make(package: Package) -> Iterator[Found]:
    """Where nothing else is known: the Makefile's own targets. make offers an exit code and nothing more."""
    for spec in _make_targets(package):
        tap = replace(spec, parser="tap")
        yield Candidate(check=spec, better=(tap,) if spec.kind is CheckKind.TESTS else ())


def make_tests(package: Package) -> list[CheckSpec]:
    """The Makefile's tests, for a project whose runner is known and cannot be started by itself."""
    return [spec for spec in _make_targets(package) if spec.kind is CheckKind.TESTS]


def _make_targets(package: Package) -> list[CheckSpec]:
    text = next((t for name in ("GNUmakefile", "Makefile", "makefile") if (t := package.text(name))), "")
    targets = set(re.findall(r"^([\w-]+)\s*:(?!=)", text, re.MULTILINE))
    names = [name for name in MAKE_TARGETS if name in targets]
    if "test" in names and "check" in names:
        names.remove("check")
    return [
        CheckSpec(
            name=f"make {name}",
            kind=MAKE_TARGETS[name],
            command=("make", name),
            group="make",
            timeout=300,
            why="Makefile",
        )
        for name in names
    ]
