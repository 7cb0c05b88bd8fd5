"""The one name of a measurement that is kept: everything that shapes the room it was made in.

Whoever keeps an outcome on disk names it by this and by nothing else: a part left out here is a stale verdict later.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from engine.perform.checks.run.spec import CheckSpec, Setting
from engine.perform.process.home_caches import stamps

JUDGE = (Path(__file__).parent, Path(__file__).parents[1] / "parse")
"""What runs a check and reads its report: what one version of it saw is not held against what another sees."""


@functools.cache
def judge_stamp(folders: tuple[Path, ...] = JUDGE) -> str:
    """The programs and readers of the judge itself, as they were when this process first asked."""
    digest = hashlib.sha256()
    for path in sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".txt")):
        digest.update(f"{path.name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def room_key(setting: Setting, mode: str, tree: str, spec: CheckSpec, *more: str) -> str:
    """Names judge, tree, check, what the room gets besides (copied, carried, set up), environment, sandbox, tool."""
    told = [
        judge_stamp(),
        tree,
        replace(spec, why=""),
        sorted(setting.env.items()),
        mode if setting.confine else "none",
        setting.shape,
        tool_stamp(spec, setting),
        stamps(Path(setting.env["HOME"])) if setting.confine and "HOME" in setting.env else [],
        more,
    ]
    return hashlib.sha256(msgspec.json.encode(told, order="deterministic")).hexdigest()


def tool_stamp(spec: CheckSpec, setting: Setting) -> list[list[str | int]]:
    """The program of the command and of its version command as they are on disk: an upgrade is another tool."""
    named = dict.fromkeys(command[0] for command in (spec.command, spec.version) if command)
    return [stamp for name in named if (stamp := _stamp(name, setting.checkout / spec.folder, setting.env))]


def _stamp(program: str, folder: Path, env: Mapping[str, str]) -> list[str | int]:
    path = str(folder / program) if "/" in program else shutil.which(program, path=env.get("PATH", os.defpath)) or ""
    try:
        real = os.path.realpath(path)
        found = os.stat(real)  # noqa: PTH116
    except (OSError, ValueError):
        return []
    return [real, found.st_size, found.st_mtime_ns]
