"""Real releases as changes: `python -m tests.foreign.releases pip:parse==1.20.1..1.20.2 npm:qs@6.13.0..6.13.1 …`.

What a release changed in sources, tests and documents, given to a sprint in the words of its own release notes, is an
honest change that nobody here wrote. It goes from `devteam init` on the older release to `devteam land`. `--look` only
says which of them can be tried here: both releases green by the older one's own command, notes in the archive (or a
title of your own, `WORD#TITLE`). What was not accepted is followed by the rules that held it up.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.foreign import fetch
from tests.foreign.changes import Change
from tests.foreign.prepared import prepared
from tests.foreign.projects import Foreign
from tests.foreign.serving import Served, devteam, given_to_the_agent
from tests.foreign.unknown import Unsuited, _green, _own, made, say_each

PACKAGING = re.compile(
    r"(?:^|/)(?:PKG-INFO|setup\.(?:py|cfg)|pyproject\.toml|tox\.ini|MANIFEST\.in|noxfile\.py|Makefile|package(?:-lock)?\.json"
    r"|_version\.py|version\.py|[^/]*requirements[^/]*\.txt|[^/]*\.lock|conf\.py|\.[^/]+)$"
    r"|(?:^|/)(?:[^/]+\.egg-info|\.[^/]+|requirements|dist)/"
)
"""What a release changes for itself: not part of any task."""
NOTES = re.compile(r"(?:^|/)(?:changes?|changelog|history|news|release[-_]?notes|README)[^/]*$", re.IGNORECASE)
IGNORED = ".venv/\n__pycache__/\n*.egg-info/\nnode_modules/\n*.so\nbuild/\n"
CRITERIA = 6


def difference(old: Path, new: Path) -> Iterator[dict[str, object]]:
    """The edits that make the newer release of the older one, texts only."""
    names = {path.relative_to(top).as_posix() for top in (old, new) for path in top.rglob("*") if path.is_file()}
    for name in sorted(names):
        if PACKAGING.search(name) or "node_modules/" in name or (old / name).is_symlink() or (new / name).is_symlink():
            continue
        before, after = (_text(top / name) for top in (old, new))
        if after is None and before is not None and not (new / name).exists():
            yield {"path": name, "delete": True}
        elif after is not None and after != before:
            yield {"path": name, "content": after}


def _text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode() if path.is_file() else None
    except UnicodeDecodeError:
        return None


def noted(old: Path, new: Path) -> list[str]:
    """What the newer release's notes say that the older one's do not, a sentence an entry."""
    for path in sorted(new.rglob("*"), key=lambda one: (one.name.startswith("README"), len(one.parts))):
        name = path.relative_to(new).as_posix()
        after = _text(path) if NOTES.search(name) and "/node_modules/" not in f"/{name}" else None
        if after is None or after == (before := _text(old / name) or ""):
            continue
        known = set(before.splitlines())
        entries: list[str] = []
        for line in after.splitlines():
            if line in known or not line.strip() or re.fullmatch(r"[-=~^\s]+", line):
                continue
            bullet = re.match(r"\s*[-*+•]\s+(.*)", line)
            if bullet:
                entries.append(bullet[1])
            elif entries and line.startswith((" ", "\t")):
                entries[-1] += " " + line.strip()
        if entries:
            return [re.sub(r":\w+:`([^`]+)`|``([^`]+)``", r"`\1\2`", one) for one in entries]
    return []


def released(word: str, *, look: bool = False) -> str:
    """What became of one release: a line, and why where it was not accepted. `look`: only whether it can be tried."""
    kind, _, what = word.partition(":")
    what, _, title = what.partition("#")
    older, _, version = what.partition("..")
    mark = "==" if kind == "pip" else "@"
    package, _, _ = older.rpartition(mark)
    name = re.sub(r"[^\w.]+", "-", older)
    project = Foreign(
        name=f"release-{name}", what=what, make=made(kind, older), broken=("", "", ""), added=("", ""), test=("", ""),
        guard="", own=(), ignore=IGNORED,
    )  # fmt: skip
    folder = prepared(project)
    with tempfile.TemporaryDirectory() as place:
        newer = fetch.unpacked(kind, f"{package}{mark}{version}", Path(place) / "newer")
        edits = tuple(difference(folder, newer)) if kind == "npm" else tuple(_without_environment(folder, newer))
        entries = [title] if title else noted(folder, newer)
        if not edits or not entries:
            raise Unsuited(f"{len(edits)} files changed, {len(entries)} notes")
        own = _own(folder, kind)
        for edit in edits:
            _put(folder, edit)
        if not _green(folder, own):
            raise Unsuited("the newer release is not green here")
        if look:
            changed = ", ".join(sorted(str(edit["path"]) for edit in edits)[:6])
            return f"{word}: suited, {len(edits)} files ({changed}), {len(entries)} notes: {entries[0][:160]}"
        served = Served(replace(project, own=own), prepared(project), Path(place))
        return f"{word}: {_tried(served, edits, entries)}"


def _without_environment(folder: Path, newer: Path) -> Iterator[dict[str, object]]:
    for edit in difference(folder, newer):
        if not str(edit["path"]).startswith(".venv/"):
            yield edit


def _put(folder: Path, edit: dict[str, object]) -> None:
    path = folder / str(edit["path"])
    if edit.get("delete"):
        path.unlink()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(edit["content"]))


def _tried(served: Served, edits: tuple[dict[str, object], ...], entries: list[str]) -> str:
    folder, home = served.folder, served.home
    home.mkdir()
    told = devteam(folder, home, "init")
    if told.returncode:
        return f"init refused: {told.stderr[-600:]}"
    given_to_the_agent(folder, Change("release", True, _words(entries[0]), edits))
    config = folder / ".devteam" / "config.toml"  # the machine's judgement alone is what is measured
    quiet = "max_iterations = 1\nreview = false\nfinal_review = false\n"
    config.write_text(config.read_text().replace("max_iterations = 1\n", quiet, 1))
    criteria = "".join(f"  accept: {_words(entry)}\n" for entry in entries[:CRITERIA])
    plan = folder.parent / "plan.md"
    plan.write_text(plan.read_text().replace("  accept: done\n", criteria))
    planned = devteam(folder, home, "plan", "--from", str(plan))
    if planned.returncode:
        return f"plan refused: {planned.stderr[-600:]}"
    run = devteam(folder, home, "run", "--unattended", "--json", "--trust", "all")
    events = [json.loads(line)["event"] for line in run.stdout.splitlines()]
    judged = [event for event in events if event["type"] == "checks_finished" and event.get("task")]
    size = f"{len(edits)} files, {len(entries)} notes"
    if run.returncode == 0:
        landed = devteam(folder, home, "land")
        own = subprocess.run(served.project.own, cwd=folder, capture_output=True, timeout=900, check=False)
        state = "green" if own.returncode == 0 else "RED"
        return f"accepted ({size}), {'landed' if landed.returncode == 0 else landed.stderr[-300:]}, own tests {state}"
    end = str(events[-1].get("reason", "")) if events else run.stderr
    paid = sum(event["type"] == "agent_finished" for event in events)
    held = [f"    {line}" for event in judged[-1:] for line in _held_up_by(event)] or [f"    {end[:800]}"]
    asked = [f"      title: {_words(entry)}" for entry in entries[:CRITERIA]]
    how = judged[-1].get("proof") if judged else "environment" if end.startswith("environment:") else "no verdict"
    return "\n".join((f"{how} ({size}, {paid} calls)", *held, *asked))


def _held_up_by(event: dict[str, Any]) -> Iterator[str]:
    """The reason of the verdict, every question and finding by its rule, every check that did not pass."""
    yield f"reason: {event.get('proof_reason')}"
    for question in event.get("questions", ()):
        yield f"question {question['rule']}: {question['text'][:400]} [{question.get('path', '')}]"
    for finding in event.get("findings", ()):
        yield f"finding {finding['rule']} ({finding.get('severity', 'error')}): {finding['text'][:400]}"
    for result in event.get("results", ()):
        if result["verdict"] != "PASS":
            yield f"check {result['name']}: {result['verdict']} {result.get('reason', '')[:400]}"


def _words(entry: str) -> str:
    return " ".join(entry.split())[:300]


if __name__ == "__main__":
    look = "--look" in sys.argv
    say_each([word for word in sys.argv[1:] if word != "--look"], lambda word: released(word, look=look))
