"""JavaScript and TypeScript: node --test, vitest, jest, npm test; tsc; eslint."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

from engine.core.model import CheckKind
from engine.perform.checks import reading
from engine.perform.checks.spec import CheckSpec

SHELL = set("|&;<>$`")
ESLINT = (
    "eslint.config.js",
    "eslint.config.mjs",
    "eslint.config.cjs",
    "eslint.config.ts",
    ".eslintrc",
    ".eslintrc.js",
    ".eslintrc.cjs",
    ".eslintrc.json",
    ".eslintrc.yml",
    ".eslintrc.yaml",
)


def detect_javascript(folder: Path, which: Callable[[str], str | None]) -> list[CheckSpec]:
    package = reading.as_json(reading.text(folder / "package.json"))
    if not package:
        return []
    scripts = reading.table(package, "scripts")
    needs = {**reading.table(package, "dependencies"), **reading.table(package, "devDependencies")}

    def tool(name: str) -> str:
        here = folder / "node_modules" / ".bin" / name
        return str(here) if here.exists() else name

    specs: list[CheckSpec] = []
    script = str(scripts.get("test") or "")
    if script and "no test specified" not in script:
        specs.append(_tests(script, tool, which))
    if "typescript" in needs and (folder / "tsconfig.json").is_file():
        specs.append(
            CheckSpec(
                name="tsc",
                kind=CheckKind.TYPES,
                command=(tool("tsc"), "--noEmit", "--pretty", "false"),
                parser="tsc",
                finding_exits=(1, 2),
                install="npm install",
            )
        )
    if "eslint" in needs or "eslintConfig" in package or any((folder / name).is_file() for name in ESLINT):
        specs.append(
            CheckSpec(
                name="eslint",
                kind=CheckKind.LINT,
                command=(tool("eslint"), ".", "--format=json", "--output-file={reports}/eslint.json"),
                parser="eslint",
                report="eslint.json",
                install="npm install",
            )
        )
    if scripts.get("build"):
        specs.append(
            CheckSpec(
                name="npm build",
                kind=CheckKind.BUILD,
                command=("npm", "run", "build"),
                timeout=300,
                group="build",
                required=False,
            )
        )
    return specs


def _tests(script: str, tool: Callable[[str], str], which: Callable[[str], str | None]) -> CheckSpec:
    """A script that is one known runner is started directly, so that it can be asked for a report."""
    try:
        words = [] if SHELL & set(script) else shlex.split(script)
    except ValueError:
        words = []
    plain = CheckSpec(
        name="npm test",
        kind=CheckKind.TESTS,
        command=("npm", "test"),
        group="tests",
        timeout=300,
        install="npm install",
    )
    match words:
        case ["node", *rest] if "--test" in rest:
            report = ("--test-reporter=junit", "--test-reporter-destination={reports}/junit.xml")
            node = which("node") or "node"
            command = (node, *report, *rest)
            return CheckSpec(
                name="node --test",
                kind=CheckKind.TESTS,
                command=command,
                parser="junit",
                version=(node, "--version"),
                report="junit.xml",
                group="tests",
            )
        case ["vitest", *rest]:
            rest = [word for word in rest if word not in ("run", "watch", "dev")]
            command = (
                tool("vitest"),
                "run",
                *rest,
                "--reporter=default",
                "--reporter=junit",
                "--outputFile.junit={reports}/junit.xml",
            )
            return CheckSpec(
                name="vitest",
                kind=CheckKind.TESTS,
                command=command,
                parser="junit",
                report="junit.xml",
                group="tests",
                install="npm install",
            )
        case ["jest", *rest]:
            command = (
                tool("jest"),
                *(w for w in rest if not w.startswith("--watch")),
                "--ci",
                "--json",
                "--outputFile={reports}/jest.json",
            )
            return CheckSpec(
                name="jest",
                kind=CheckKind.TESTS,
                command=command,
                parser="jest",
                report="jest.json",
                group="tests",
                install="npm install",
            )
        case ["tap" | "tape" as program, *rest]:
            return CheckSpec(
                name=program,
                kind=CheckKind.TESTS,
                command=(tool(program), *rest),
                parser="tap",
                group="tests",
                install="npm install",
            )
    return plain
