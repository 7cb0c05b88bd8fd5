"""The share of covered code that a project's own command demands is a check of its own; its tests run without it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.core.model import CheckKind
from engine.perform.checks.presets.registry import survey

THRESHOLD = {"coverageThreshold": {"global": {"lines": 100}}}
VITE = "export default { test: { coverage: { provider: 'v8', %s } } };\n"


def checks(folder: Path, files: dict[str, str]) -> dict[str, tuple[CheckKind, str]]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    found = survey(folder, lambda program: f"/usr/bin/{program}")
    return {one.check.name: (one.check.kind, " ".join(one.check.command)) for one in found.candidates}


@pytest.mark.parametrize(
    ("script", "more", "settings", "name"),
    [
        pytest.param("jest --coverage", {"jest": THRESHOLD}, {}, "jest coverage", id="jest in package.json"),
        pytest.param("jest", {"jest": {**THRESHOLD, "collectCoverage": True}}, {}, "jest coverage", id="jest always"),
        pytest.param("jest --coverage", {}, {"jest.config.js": "module.exports = { coverageThreshold: {} };"},
                     "jest coverage", id="jest by its settings"),
        pytest.param("jest", {"jest": THRESHOLD}, {}, "", id="jest measures nothing"),
        pytest.param("jest --coverage", {}, {}, "", id="jest demands nothing"),
        pytest.param("vitest run --coverage", {}, {"vitest.config.ts": VITE % "thresholds: { lines: 100 }"},
                     "vitest coverage", id="vitest"),
        pytest.param("vitest run", {}, {"vite.config.ts": VITE % "enabled: true, thresholds: { lines: 100 }"},
                     "vitest coverage", id="vitest always"),
        pytest.param("vitest run", {}, {"vite.config.ts": VITE % "thresholds: { lines: 100 }"}, "", id="vitest not"),
    ],
)  # fmt: skip
def test_of_npm(tmp_path: Path, script: str, more: dict[str, Any], settings: dict[str, str], name: str) -> None:
    manifest = {"scripts": {"test": script}, "devDependencies": {}, **more}
    found = checks(tmp_path, {"package.json": json.dumps(manifest), "node_modules/.bin/jest": "", **settings})
    tests = script.split()[0]
    assert list(found) == [tests, *([name] if name else [])]
    assert found[tests][0] is CheckKind.TESTS and " --coverage " not in f"{found[tests][1]} "
    assert tests != "jest" or "--coverage=false" in found[tests][1], "settings may measure always"
    if name:
        assert found[name] == (CheckKind.LINT, f'sh -c PATH="$PWD/node_modules/.bin:$PATH"; {script}')


COV = '[tool.pytest.ini_options]\naddopts = "--cov=shop {more}"\n'


@pytest.mark.parametrize(
    ("settings", "demanded"),
    [
        ({"pyproject.toml": COV.format(more="--cov-fail-under=100")}, True),
        ({"pyproject.toml": COV.format(more="") + "[tool.coverage.report]\nfail_under = 90\n"}, True),
        ({"pyproject.toml": COV.format(more=""), ".coveragerc": "[report]\nfail_under = 90\n"}, True),
        ({"pyproject.toml": COV.format(more="")}, False),
        ({"pyproject.toml": "[tool.coverage.report]\nfail_under = 90\n"}, False),
    ],
)
@pytest.mark.parametrize("installed", [True, False])
def test_of_pytest(tmp_path: Path, settings: dict[str, str], demanded: bool, installed: bool) -> None:
    plugin = {".venv/lib/python3.11/site-packages/pytest_cov/__init__.py": ""} if installed else {}
    files = {**settings, **plugin, "tests/test_a.py": "def test(): pass\n", ".venv/bin/python": ""}
    found = checks(tmp_path, {**files, ".venv/lib/python3.11/site-packages/pytest.py": ""})
    assert ("pytest coverage" in found) is (demanded and installed), found
    assert installed is False or "--cov" not in json.dumps(settings) or "--no-cov" in found["pytest"][1]
    if demanded and installed:
        assert found["pytest coverage"] == (CheckKind.LINT, ".venv/bin/python -m pytest -q")
