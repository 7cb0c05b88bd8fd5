"""Trust on first use: which check commands the user has confirmed. Kept in the state directory, not in the repo."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from engine.core.model import Struct
from engine.perform.checks.spec import CheckSpec, HeldOut


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
    state.mkdir(parents=True, exist_ok=True, mode=0o700)
    data = msgspec.json.encode(_Trusted(hashes={**_read(state).hashes, hash: now}))
    handle, temporary = tempfile.mkstemp(dir=state, prefix=".trust-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).replace(_path(state))
    finally:
        Path(temporary).unlink(missing_ok=True)
