"""What a project declares, and which of its test files cannot be loaded for want of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.perform.checks.presets.dependencies import declared
from engine.perform.checks.presets.package import Package
from engine.perform.checks.run.measure import Case, Report
from engine.perform.checks.run.uncollectable import not_installed

DECLARATIONS = {
    "pyproject.toml": (
        "[project]\nname = 'own'\ndependencies = ['Alpha>=1', 'own']\n[project.optional-dependencies]\n"
        "test = ['beta[x]; python_version > \"3\"']\n[dependency-groups]\ndev = ['gamma']\n"
        "[tool.poetry.dependencies]\npython = '^3'\ndelta = '^1'\n[tool.other]\nlist = ['not-this']\n"
    ),
    "setup.cfg": "[options]\ninstall_requires =\n    epsilon\n[options.extras_require]\ntest =\n    zeta_under\n",
    "tox.ini": "[testenv]\ndeps =\n    py38: eta\n    theta\ncommands = nothing\n",
    "requirements/dev.txt": "# a comment\niota==1\n-r other.txt\n",
    "package.json": '{"name": "own", "devDependencies": {"@scope/kappa": "1"}}',
}


def test_every_place_of_a_declaration_is_read(tmp_path: Path) -> None:
    for name, text in DECLARATIONS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "own.py").write_text("")
    found = declared(Package(tmp_path, "", lambda _name: None))
    wanted = {"alpha", "beta", "gamma", "delta", "epsilon", "zeta-under", "eta", "theta", "iota", "@scope/kappa"}
    assert wanted <= found
    assert not found & {"own", "not-this", "nothing", "python", "a", "r"}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ModuleNotFoundError: No module named 'alpha'", "alpha"),
        ("ModuleNotFoundError: No module named 'alpha.part'", "alpha"),
        ("ModuleNotFoundError: No module named 'yaml'", "pyyaml"),
        ("Error: Cannot find module '@scope/kappa/sub'", "@scope/kappa"),
        ("Error: Cannot find module './beside'", ""),
        ("ModuleNotFoundError: No module named 'to_be_written'", ""),
        ("SyntaxError: invalid syntax", ""),
    ],
)
def test_only_what_is_declared_is_the_environments_fault(text: str, name: str) -> None:
    report = Report(
        source="x",
        cases=(
            Case(id="test_a.py", outcome="error", error="CollectError", text=text, path="test_a.py"),
            Case(id="test_b.py::b", outcome="failed", text=text, path="test_b.py"),
        ),
    )
    found = not_installed(report, frozenset({"alpha", "pyyaml", "@scope/kappa"}))
    assert found == ({"test_a.py": name} if name else {})
