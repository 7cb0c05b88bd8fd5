"""The integrity rules over a change: what its files say, and what became of the tests the base had. Pure."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence

from engine.core.model import Struct
from engine.perform.checks.attribute import attribute
from engine.perform.checks.globs import matches
from engine.perform.checks.integrity_python import module_text, read_tests, weak_spots
from engine.perform.checks.integrity_text import source_hits, text_hits
from engine.perform.checks.measure import Case, Measurement
from engine.perform.checks.spec import CheckSpec
from engine.perform.checks.steering import ENVIRONMENT, steering
from engine.perform.checks.suspicious import Hit, suspicious_python
from engine.perform.checks.waivers import Objection, waived_by

RUNNER_MODULES = frozenset(
    {"pytest", "_pytest", "pluggy", "coverage", "hypothesis", "iniconfig", "pytest_cov", "pytest_asyncio", "xdist"}
)


class Change(Struct, frozen=True, kw_only=True):
    """One changed file with both its contents."""

    path: str
    before: bytes | None
    after: bytes | None
    test: bool

    @property
    def python(self) -> bool:
        return self.path.endswith((".py", ".pyi"))

    @property
    def holds_tests(self) -> bool:
        name = self.path.rpartition("/")[2]
        return self.test and (not self.python or name.startswith("test") or name.endswith("_test.py"))


class Steered(Struct, frozen=True, kw_only=True):
    """Paths the clean room takes from the base, and why."""

    protected: tuple[str, ...] = ()
    objections: tuple[Objection, ...] = ()


def steered(
    changes: Iterable[Change], specs: Sequence[CheckSpec], extra: Sequence[str], allow: Sequence[str]
) -> Steered:
    protected: list[str] = []
    objections: list[Objection] = []
    for change in changes:
        if matches(change.path, ENVIRONMENT):
            what = Objection(
                rule="environment-files",
                text=f"{change.path} belongs to an environment, not to a change",
                path=change.path,
            )
        else:
            reasons = steering(change.path, change.before, change.after, specs, extra)
            if not reasons:
                continue
            text = f"{change.path} steers the checks: {', '.join(reasons[:4])}; the checks were run with the base's"
            what = Objection(rule="config-changed", text=text, path=change.path)
        objections.append(what)
        if not waived_by(allow, what):
            protected.append(change.path)
    return Steered(protected=tuple(protected), objections=tuple(objections))


def source_objections(changes: Sequence[Change], base_files: frozenset[str]) -> list[Objection]:
    """What the files of the change say."""
    found: list[Objection] = []
    for change in changes:
        found += [
            Objection(rule=rule, text=f"{change.path}:{line} {text}", path=change.path, line=line)
            for rule, line, text in _hits(change)
        ]
        if change.python and change.test and change.before is not None and change.after is not None:
            found += _fewer_assertions(change)
        if change.before is None and change.python:
            found += _shadows(change, base_files)
    return found


def _hits(change: Change) -> list[Hit]:
    if change.after is None:
        return text_hits(change.path, change.before, None) if change.test and not change.python else []
    if change.python:
        hits = suspicious_python(change.after, change.before or b"", test=change.test)
        return [*hits, *weak_spots(change.after, change.before or b"")] if change.test else hits
    return (
        text_hits(change.path, change.before, change.after)
        if change.test
        else source_hits(change.path, change.before, change.after)
    )


def _fewer_assertions(change: Change) -> list[Objection]:
    old, new = read_tests(change.before or b""), read_tests(change.after or b"")
    return [
        Objection(
            rule="fewer-assertions",
            text=f"{change.path}::{name} has {new[name].assertions} assertions, it had {test.assertions}",
            path=change.path,
            line=new[name].line,
            subject=f"{change.path}::{name}",
        )
        for name, test in old.items()
        if name in new and new[name].assertions < test.assertions
    ]


def _shadows(change: Change, base_files: frozenset[str]) -> list[Objection]:
    """A new top-level module with the name of one that the checks or the source rely on."""
    parent, _, file = change.path.rpartition("/")
    name = file.removesuffix(".py")
    if name == "__init__":
        parent, _, name = parent.rpartition("/")
    package = f"{parent}/__init__.py" in base_files
    if package or not (parent in ("", "src", "lib") or change.test):
        return []
    here = [
        path
        for path in base_files
        if path in (f"{name}.py", f"src/{name}.py", f"{name}/__init__.py", f"src/{name}/__init__.py")
    ]
    if name in RUNNER_MODULES or name in sys.stdlib_module_names or here:
        whose = here[0] if here else "a module of that name"
        return [
            Objection(
                rule="shadowed-module", text=f"{change.path} would be loaded instead of {whose}", path=change.path
            )
        ]
    return []


def edited_tests(changes: Iterable[Change], ids: Iterable[str]) -> tuple[list[str], bool]:
    """Ids of the base whose own text changed, and whether something changed that any test may rest on."""
    known = list(ids)
    edited: list[str] = []
    anything = False
    for change in changes:
        if not change.test:
            continue
        if not change.holds_tests or not change.python:
            # a new data file cannot touch old tests, a new helper module can stand in front of another
            anything = anything or change.before is not None or change.python
            continue
        if change.before is None:
            continue
        old, new = read_tests(change.before), read_tests(change.after or b"")
        whole = change.after is None or module_text(change.before) != module_text(change.after)
        names = [name for name, test in old.items() if whole or name not in new or new[name].text != test.text]
        edited += [id for id in known for name in names if _is(id, f"{change.path}::{name}")]
        if whole:
            edited += [id for id in known if id.startswith(f"{change.path}::")]
    return list(dict.fromkeys(edited)), anything


def _is(id: str, function: str) -> bool:
    return id == function or id.startswith(f"{function}[")


def moved_tests(changes: Sequence[Change], gone: Iterable[str], new: Iterable[str]) -> dict[str, str]:
    """Old id to new id for tests whose text is the same and stands elsewhere now, in one place only."""
    texts_old = {
        f"{c.path}::{name}": t.text
        for c in changes
        if c.test and c.python and c.before
        for name, t in read_tests(c.before).items()
    }
    texts_new = {
        f"{c.path}::{name}": t.text
        for c in changes
        if c.test and c.python and c.after
        for name, t in read_tests(c.after).items()
    }
    fresh = list(new)
    found: dict[str, str] = {}
    for id in gone:
        function, bracket, params = id.partition("[")
        text = texts_old.get(function)
        places = [
            name for name, other in texts_new.items() if text is not None and other == text and name not in texts_old
        ]
        here = [name + bracket + params for name in places if name + bracket + params in fresh]
        if len(here) == 1 and here[0] not in found.values():
            found[id] = here[0]
    return found


def inventory_objections(
    before: Measurement,
    after: Measurement,
    renames: Mapping[str, str],
    still_good: frozenset[str],
    flaky: frozenset[str],
) -> list[Objection]:
    """What became of the tests of the base. `still_good`: ids whose version in the base passes on the change."""
    fates = attribute(before.report.cases, after.report.cases, flaky, renames)
    deselected = frozenset(after.report.deselected) - frozenset(before.report.deselected)
    objections = [_gone(id, before.report.cases, after.report.cases, deselected, still_good) for id in fates.gone]
    objections += [
        Objection(rule="test-skipped", text=f"{id} is skipped now", path=id.partition("::")[0], subject=id)
        for id in fates.skipped_now
    ]
    known = before.report.tampered
    objections += [
        Objection(rule="runner-tampered", text=f"the test runner was changed while it ran: {what}")
        for what in after.report.tampered
        if what not in known
    ]
    return objections


def _gone(
    id: str, before: Sequence[Case], after: Sequence[Case], deselected: frozenset[str], still_good: frozenset[str]
) -> Objection:
    path = id.partition("::")[0]
    if id in deselected:
        return Objection(rule="test-deselected", text=f"{id} is deselected now", path=path, subject=id)
    function, bracket, _ = id.partition("[")
    if bracket:
        had = sum(1 for case in before if case.id.startswith(f"{function}["))
        has = sum(1 for case in after if case.id.startswith(f"{function}["))
        if has >= had and id in still_good:
            return Objection(rule="test-renamed", text=f"{id} has other parameters now", path=path, subject=id)
        if has:
            return Objection(
                rule="fewer-params", text=f"{function} ran with {had} parameters, now with {has}", path=path, subject=id
            )
    worth = "" if id in still_good else "; as the base has it, it would not pass"
    return Objection(rule="test-gone", text=f"{id} is gone{worth}", path=path, subject=id)
