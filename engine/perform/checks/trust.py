"""Trust on first use: which check commands the user has confirmed. Kept in the state directory, not in the repo."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from engine import files
from engine.core.model import Struct
from engine.perform.checks.run.spec import CheckSpec, HeldOut


class _Trusted(Struct, frozen=True, kw_only=True):
    hashes: dict[str, float] = {}


def fingerprint(specs: Sequence[CheckSpec | HeldOut]) -> str:
    """Changes with anything that decides what is run: command, runner, environment, network."""
    parts = sorted(
        msgspec.json.encode(
            [
                spec.name,
                spec.command,
                spec.runner,
                sorted(spec.env.items()),
                str(spec.folder) if isinstance(spec, HeldOut) else "",
                spec.network if isinstance(spec, CheckSpec) else False,
                *((spec.folder,) if isinstance(spec, CheckSpec) and spec.folder else ()),
            ]
        )
        for spec in specs
    )
    return hashlib.sha256(b"\n".join(parts)).hexdigest()[:16]


def _path(state: Path) -> Path:
    return state / "trusted-checks.json"


def _read(state: Path) -> _Trusted:
    """An unreadable store trusts nothing."""
    try:
        return msgspec.json.decode(_path(state).read_bytes(), type=_Trusted)
    except (OSError, msgspec.DecodeError):
        return _Trusted()


def is_trusted(state: Path, hash: str) -> bool:
    return hash in _read(state).hashes


def trust(state: Path, hash: str, now: float) -> None:
    """Remember `hash` (whole, as `fingerprint` gives it)."""
    files.private_folder(state)
    data = msgspec.json.encode(_Trusted(hashes={**_read(state).hashes, hash: now}))
    files.write(_path(state), data)
