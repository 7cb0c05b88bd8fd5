"""C and C++ built by CMake: built in a folder of the check's own, tested by ctest, which reports JUnit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from engine.core.model import CheckKind
from engine.perform.checks.presets import project_files as reading
from engine.perform.checks.presets.package import Candidate, Found, LeftOut, Package
from engine.perform.checks.run.spec import CheckSpec

LISTS = "CMakeLists.txt"
MOST_LISTS = 60
BUILD = "{reports}/build"
LINE = (
    f"cmake -S . -B {BUILD} >&2 && cmake --build {BUILD} --parallel 2 >&2 && "
    f"ctest --test-dir {BUILD} --output-junit {{reports}}/junit.xml --no-tests=error --timeout 120"
)


def detect_cmake(package: Package) -> Iterator[Found]:
    """Folders whose CMakeLists.txt starts a project and registers tests."""
    if not re.search(r"^\s*project\s*\(", package.text(LISTS), re.MULTILINE | re.IGNORECASE):
        return
    below = (path for path in package.files(".txt") if path.name == LISTS)
    if not any(re.search(r"\b(add_test|enable_testing|gtest_discover_tests|CTest)\b", text) for text in
               map(reading.text, islice(below, MOST_LISTS))):  # fmt: skip
        return
    for tool in ("cmake", "ctest"):
        if not package.program(tool):
            fix = "install CMake from your system's packages"
            yield LeftOut(name="ctest", reason=f"{tool} is not installed here", fix=fix, tests=True)
            return
    yield Candidate(
        check=CheckSpec(
            name="ctest",
            kind=CheckKind.TESTS,
            command=("sh", "-c", LINE),
            version=("cmake", "--version"),
            parser="junit",
            report="junit.xml",
            group="cmake",
            timeout=900,
            finding_exits=(1, 8),
            install="install CMake from your system's packages",
            why=LISTS,
        )
    )
