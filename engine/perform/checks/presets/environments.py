"""Virtual environments that a project's own tool keeps outside of it: poetry, pipenv, pdm, hatch, pyenv, conda.

Nothing is asked of the tools, which may not even be installed: each names its folders by a rule, and the rule is read.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from engine.perform.checks.presets import project_files as reading

CONDA = ("miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba")


def outside(folder: Path, home: Path) -> Iterator[Path]:
    """Environments of the project at `folder`, the likeliest first; each has a bin/python."""
    for found in (_pdm, _poetry, _pipenv, _pyenv, _hatch, _conda):
        for environment in found(folder, home):
            if (environment / "bin" / "python").exists():
                yield environment


def _pdm(folder: Path, home: Path) -> Iterator[Path]:
    if (python := reading.text(folder / ".pdm-python").strip()) and Path(python).is_absolute():
        yield Path(python).parent.parent


def _poetry(folder: Path, home: Path) -> Iterator[Path]:
    """NAME-HASH-py3.11, where the hash is of the project's folder."""
    project = reading.toml(reading.text(folder / "pyproject.toml"))
    name = reading.table(project, "tool", "poetry").get("name") or reading.table(project, "project").get("name")
    if isinstance(name, str):
        place = hashlib.sha256(os.fsencode(folder.resolve())).digest()
        short = base64.urlsafe_b64encode(place).decode()[:8]
        plain = re.sub(r'[ $`!*@"\\\r\n\t]', "_", name.lower())[:42]
        yield from sorted((home / ".cache/pypoetry/virtualenvs").glob(f"{_literal(plain)}-{short}-py*"), reverse=True)


def _pipenv(folder: Path, home: Path) -> Iterator[Path]:
    """Each says in a file which project it belongs to."""
    if (folder / "Pipfile").is_file():
        for note in sorted((home / ".local/share/virtualenvs").glob("*/.project")):
            if reading.text(note).strip() == str(folder.resolve()):
                yield note.parent


def _pyenv(folder: Path, home: Path) -> Iterator[Path]:
    """.python-version may name an environment instead of a version."""
    for name in reading.text(folder / ".python-version").split()[:1]:
        place = home / ".pyenv" / "versions" / name
        if re.fullmatch(r"[\w.-]+", name) and (place / "pyvenv.cfg").is_file():
            yield place


def _hatch(folder: Path, home: Path) -> Iterator[Path]:
    project = reading.toml(reading.text(folder / "pyproject.toml"))
    name = reading.table(project, "project").get("name")
    if isinstance(name, str) and reading.table(project, "tool", "hatch"):
        place = hashlib.sha256(os.fsencode(folder.resolve())).digest()
        short = base64.urlsafe_b64encode(place).decode()[:8]
        top = home / ".local/share/hatch/env/virtual" / re.sub(r"[-_.]+", "-", name).lower() / short
        wanted = ("hatch-test*", "test*", "*")
        yield from (found for pattern in wanted for found in sorted(top.glob(pattern), reverse=True))


def _conda(folder: Path, home: Path) -> Iterator[Path]:
    for file in ("environment.yml", "environment.yaml"):
        named = re.search(r"^name:\s*['\"]?([\w.-]+)", reading.text(folder / file), re.MULTILINE)
        if named is not None:
            yield from (home / base / "envs" / named[1] for base in CONDA)


def _literal(text: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", text)
