"""Environments that a project's tool keeps outside of it are found by the tool's own rule of naming, and no others."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import pytest

from engine.perform.checks.presets.registry import survey

PYPROJECT = '[project]\nname = "Shop.Kit"\n[tool.hatch.envs.default]\n'


def short(folder: Path) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(str(folder.resolve()).encode()).digest()).decode()[:8]


def places(root: Path, other: Path) -> dict[str, tuple[str, str]]:
    """Tool to (where its environment of the project is, where that of another project would be)."""
    return {
        "poetry": tuple(f".cache/pypoetry/virtualenvs/shop.kit-{short(at)}-py3.11" for at in (root, other)),
        "pipenv": (".local/share/virtualenvs/repo-a1", ".local/share/virtualenvs/repo-b2"),
        "pdm": (".local/share/pdm/venvs/repo-x", ".local/share/pdm/venvs/other-x"),
        "hatch": tuple(
            f".local/share/hatch/env/virtual/shop-kit/{short(at)}/hatch-test.py3.11" for at in (root, other)
        ),
        "pyenv": (".pyenv/versions/shop", ".pyenv/versions/another"),
        "conda": ("miniforge3/envs/shop", "miniforge3/envs/another"),
    }  # type: ignore[return-value]


def files(tool: str, mine: Path) -> dict[str, str]:
    match tool:
        case "pipenv":
            return {"Pipfile": ""}
        case "pdm":
            return {".pdm-python": f"{mine}/bin/python\n"}
        case "pyenv":
            return {".python-version": "shop\n"}
        case "conda":
            return {"environment.yml": "name: shop\ndependencies: [python]\n"}
        case _:
            return {"pyproject.toml": PYPROJECT}


def made(environment: Path, project: Path) -> Path:
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "python").touch()
    (environment / "pyvenv.cfg").touch()
    (environment / ".project").write_text(str(project))
    return environment


@pytest.mark.parametrize("tool", ["poetry", "pipenv", "pdm", "hatch", "pyenv", "conda"])
def test_the_environment_of_the_tool_is_taken_and_that_of_another_project_is_not(tmp_path: Path, tool: str) -> None:
    root, home, other = tmp_path / "repo", tmp_path / "home", tmp_path / "other"
    (root / "tests").mkdir(parents=True)
    (root / "tests" / "test_a.py").write_text("def test_a(): ...\n")
    mine, theirs = (home / place for place in places(root, other)[tool])
    for name, text in files(tool, mine).items():
        (root / name).write_text(text)

    def python() -> str:
        found = survey(root, lambda name: f"/usr/bin/{name}", home).candidates
        return next(one.check.command[0] for one in found if one.check.runner == "pytest")

    made(theirs, other)
    assert python() == "python"
    made(mine, root)
    assert python() == str(mine / "bin" / "python")
    made(root / ".venv", root)
    assert python() == ".venv/bin/python", "one in the project comes first"
