"""The suite of check presets: they read files, run nothing, and never fail on what a repository holds."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from engine import files
from engine.perform.checks.presets.package import Candidate, LeftOut, Package
from engine.perform.checks.presets.registry import Preset

GARBAGE = (b"", b"\0\xff", b"{", b"[" * 5000, b"a = 1\n" * 2000, "\u202e[x]".encode())


def preset_problems(preset: Preset, sample: Mapping[str, str]) -> list[str]:
    """`sample`: the files of a small repository in which the preset finds at least one check."""
    return list(_problems(preset, sample))


def _problems(preset: Preset, sample: Mapping[str, str]) -> Iterator[str]:
    if not preset.name or preset.name != preset.name.strip().lower():
        yield f"its name is {preset.name!r}: use one lower-case word"
    with tempfile.TemporaryDirectory(prefix="devteam-conformance-") as place:
        root = Path(os.path.realpath(place))
        for name, text in sample.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            files.write(root / name, text, durable=False)
        before = _listing(root)
        found = list(preset.detect(Package(root, "", lambda name: f"/usr/bin/{name}")))
        yield from _found(found)
        if list(preset.detect(Package(root, "", lambda name: f"/usr/bin/{name}"))) != found:
            yield "the same files do not give the same checks"
        for _nothing_installed in preset.detect(Package(root, "", lambda _name: None)):
            pass
        if _listing(root) != before:
            yield "it writes into the repository"
        yield from _garbage(preset, root)
    with tempfile.TemporaryDirectory(prefix="devteam-conformance-") as place:
        empty = Package(Path(os.path.realpath(place)), "", lambda name: f"/usr/bin/{name}")
        if any(isinstance(one, Candidate) for one in preset.detect(empty)):
            yield "it finds a check in an empty repository: every repository would get it"


def _found(found: list[Candidate | LeftOut]) -> Iterator[str]:
    candidates = [one for one in found if isinstance(one, Candidate)]
    if not candidates:
        yield "it finds no check in its own sample"
    names = [one.check.name for one in candidates]
    if len(set(names)) != len(names):
        yield f"two of its checks share a name: {names}"
    for way in (way for one in candidates for way in one.ways()):
        if not way.name or not way.command or not all(way.command):
            yield f"check {way.name!r} has no command"
        if way.timeout <= 0:
            yield f"check {way.name} has no time limit"
    for left in (one for one in found if isinstance(one, LeftOut)):
        if not left.reason:
            yield f"{left.name} is left out without a reason"


def _garbage(preset: Preset, root: Path) -> Iterator[str]:
    for manifest in preset.manifests:
        for data in GARBAGE:
            files.write(root / manifest, data, durable=False)
            try:
                list(preset.detect(Package(root, "", lambda name: f"/usr/bin/{name}")))
            except Exception as error:  # noqa: BLE001  the suite's finding
                yield f"{manifest} with {data[:10]!r} makes it fail with {type(error).__name__}"


def _listing(root: Path) -> list[tuple[str, int]]:
    return sorted((str(path), path.stat().st_size) for path in root.rglob("*"))
