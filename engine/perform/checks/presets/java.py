"""Maven and Gradle: both write JUnit XML below the build folder of each module, one file a class."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from engine.core.model import CheckKind
from engine.perform.checks.presets.package import Candidate, Found, LeftOut, Package
from engine.perform.checks.run.spec import CheckSpec

# No network in a clean room: --offline names the artifact that is not in the user's repository, at once. What came
# through a mirror of their settings, which may hold passwords and are not shown, is theirs all the same.
MIRRORED = "-Daether.enhancedLocalRepository.trackingFilename=none"
MAVEN = f"{{program}} --offline -B -q --fail-at-end {MIRRORED} test; {{collect}}"
GRADLE = "{home}{program} --offline --no-daemon --console=plain --continue cleanTest test; {collect}"
# Gradle writes to its home, and takes scripts from there into every build: each run has one of its own. What the user's
# holds of packages and of Gradle itself is read there; the wrapper locks beside what it unpacked, so that is linked.
HOME = (
    'own="{reports}/gradle"; account="$(getent passwd "$(id -u)" 2>/dev/null | cut -d: -f6)"; '
    'for its in "${GRADLE_USER_HOME:-$HOME/.gradle}" "$account/.gradle"; do '
    '[ -d "$its/caches/modules-2" ] && export GRADLE_RO_DEP_CACHE="$its/caches"; '
    'for one in "$its"/wrapper/dists/*/*/*; do case "$one" in *.lck) continue;; esac; [ -e "$one" ] || continue; '
    'there="$own${one#"$its"}"; mkdir -p "${there%/*}"; ln -sf "$one" "$there"; done; done; '
    'export GRADLE_USER_HOME="$own"; '
)
COLLECT = (
    "code=$?; mkdir -p {reports}/junit; find . -path '*/WHERE/*.xml' | tar -cf - -T - | "
    "tar -xf - -C {reports}/junit; exit $code"
)
"""Out of every module: no option of either tool moves the reports of a build of several."""
FORGET = "find . -path '*/WHERE/*.xml' -delete; "
"""What an earlier build of the user's left is no result."""

GRADLE_FILES = ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts")


def detect_java(package: Package) -> Iterator[Found]:
    if package.has("pom.xml"):
        yield _found(package, ("mvnw", "mvn", "Maven"), MAVEN, "target/surefire-reports")
    elif package.has(*GRADLE_FILES):  # with several projects the top may have settings alone
        yield _found(package, ("gradlew", "gradle", "Gradle"), GRADLE, "build/test-results")


def _found(package: Package, names: tuple[str, str, str], line: str, where: str) -> Found:
    """By the project's own wrapper; where that has nothing to start here, by the machine's tool."""
    wrapper, tool, title = names
    install = f"install {title} from your system's packages"
    programs = [f"./{wrapper}"] if package.has(wrapper) else []
    programs += [tool] if package.program(tool) else []
    if not programs:
        return LeftOut(name=f"{tool} test", reason="its build tool is not installed here", fix=install, tests=True)
    collect = COLLECT.replace("WHERE", where)
    blank = CheckSpec(
        name=f"{tool} test",
        kind=CheckKind.TESTS,
        command=(),
        group="java",
        timeout=900,
        parser="junit",
        runner="java",
        report="junit",
        install=install,
        why=next(name for name in ("pom.xml", *GRADLE_FILES) if package.has(name)),
    )
    line = FORGET.replace("WHERE", where) + line.replace("{home}", HOME).replace("{collect}", collect)
    lines = [line.replace("{program}", program) for program in programs]
    first, *others = [replace(blank, command=("sh", "-c", text)) for text in lines]
    return Candidate(check=first, instead=tuple(others))
