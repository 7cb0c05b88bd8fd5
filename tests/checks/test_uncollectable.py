"""What a project declares, and which of its test files cannot be loaded for want of it."""
# ruff: noqa: E501 (what tools say is quoted as it is)

from __future__ import annotations

from pathlib import Path

import pytest

from engine.perform.checks.presets.dependencies import declared
from engine.perform.checks.presets.package import Package
from engine.perform.checks.run.measure import Case, Report
from engine.perform.checks.run.uncollectable import not_installed, unfetched

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
        ("ModuleNotFoundError: No module named 'space'", "space.one"),
        ("ModuleNotFoundError: No module named 'cloud'", "cloud-storage"),
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
    found = not_installed(report, frozenset({"alpha", "pyyaml", "@scope/kappa", "space.one", "cloud-storage"}))
    assert found == ({"test_a.py": name} if name else {})


@pytest.mark.parametrize(
    ("text", "what", "fetch"),
    [
        ("error: no matching package named `heck` found", "heck", "cargo fetch"),
        ("error: failed to get `serde` as a dependency", "serde", "cargo fetch"),
        ("cart.go:3:8: missing go.sum entry for module providing package github.com/x/y; to add:", "github.com/x/y", "go mod download"),
        ("go: github.com/x/y@v1.2.3: Get https://z: dial tcp: lookup z: no such host", "github.com/x/y", "go mod download"),
        ("Could not transfer artifact org.x:y:pom:1 from central", "org.x:y:pom:1", "mvn test"),
        ("Cannot access central (u) in offline mode and the artifact org.x:y:jar:1 has not been downloaded from it before.", "org.x:y:jar:1", "mvn test"),
        ("error[E0425]: cannot find function `added` in crate `cart`", "", ""),
        ("undefined: cart.Added", "", ""),
        ("ImportError: cannot import name 'added'", "", ""),
    ],
)  # fmt: skip
def test_a_dependency_that_was_never_fetched_is_told_from_code_that_does_not_build(
    text: str, what: str, fetch: str
) -> None:
    broken = Report(source="x", cases=(Case(id="Cargo.toml", outcome="error", error="CollectError", text=text),))
    found = unfetched(broken)
    assert ((found.what, found.fetch) if found else ("", "")) == (what, fetch)
    assert unfetched(Report(source="x"), text) == found
    ran = Report(source="x", cases=(*broken.cases, Case(id="a", outcome="passed")))
    assert unfetched(ran, text) is None, "something was built"


ASYNC = "Failed: async def functions are not natively supported."
MOCKER = "fixture 'mocker' not found"


@pytest.mark.parametrize(
    ("said", "wanted", "gone"),
    [
        pytest.param([ASYNC, ASYNC], {"pytest-asyncio"}, {"test_a.py": "pytest-asyncio"}, id="asyncio"),
        pytest.param([ASYNC, ASYNC], {"anyio"}, {"test_a.py": "anyio"}, id="anyio"),
        pytest.param([ASYNC, ASYNC], {"requests"}, {}, id="nobody declares one"),
        pytest.param([MOCKER], {"pytest-mock"}, {"test_a.py": "pytest-mock"}, id="a fixture"),
        pytest.param(["fixture 'cart' not found"], {"pytest-mock"}, {}, id="a fixture of their own"),
        pytest.param([ASYNC, ""], {"pytest-asyncio"}, {}, id="others of the file run"),
        pytest.param([ASYNC, "assert 1 == 2"], {"pytest-asyncio"}, {}, id="others of the file are red"),
    ],
)
def test_a_plug_in_that_all_tests_of_a_file_need_is_the_environments(
    said: list[str], wanted: set[str], gone: dict[str, str]
) -> None:
    """aiofiles without pytest-asyncio: 205 tests were "red already", and an agent was paid for what nothing could show."""
    cases = [
        Case(id=f"test_a.py::{n}", outcome="failed" if text else "passed", text=text, path="test_a.py")
        for n, text in enumerate(said)
    ]
    skipped = Case(id="test_a.py::s", outcome="skipped", path="test_a.py")
    assert not_installed(Report(source="x", cases=(*cases, skipped)), wanted) == gone
