"""A change read before anything runs: who owns its files, what the plan allows, which trees the rooms hold."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import islice

from engine.core.grant_grammar import grants_of
from engine.core.grants import Grant
from engine.core.model import Struct, TaskSpec
from engine.globs import matcher, matches
from engine.perform.checks.proof.docstrings import with_base_examples
from engine.perform.checks.proof.imports import language_of, mentions, python_name
from engine.perform.checks.proof.integrity_conftest import conftest_hooks
from engine.perform.checks.proof.named import task_text
from engine.perform.checks.proof.origins import origins
from engine.perform.checks.proof.owned import ORACLE, Changed, Ground, Owned, Owner
from engine.perform.checks.proof.owners import keeps_examples, owners
from engine.perform.checks.proof.permissions import Transformed, transform
from engine.perform.checks.proof.steering import chain_grown
from engine.perform.checks.run.baseline import Baseline
from engine.perform.checks.run.spec import CheckSpec, Setting
from engine.perform.checks.run.trees import Trees

MOST_SOURCES = 4_000
LISTS = 8
"""Lists of all names of a repository that are remembered with what follows from them."""
RECIPES = (
    "makefile",
    "gnumakefile",
    "package.json",
    "tox.ini",
    "noxfile.py",
    "justfile",
    "pyproject.toml",
    "setup.cfg",
)


class Rooms(Struct, frozen=True, kw_only=True):
    """The trees of the runs."""

    base: str
    r1: str
    """The base's oracle under the grants, the candidate's subject, no additions."""
    r2: str
    """R1 with the candidate's tests, edited and new, and what lies beside them."""
    r3: str
    """The same tests over the base's subject."""
    r4: str
    """The candidate, whole."""


class Change(Struct, frozen=True, kw_only=True):
    """Everything the runs and the verdict need to know of a change."""

    owned: tuple[Owned, ...]
    rooms: Rooms
    ground: Ground
    grants: tuple[Grant, ...]
    transformed: Transformed
    helpers: tuple[str, ...]
    tests: tuple[str, ...]
    """Test files for R2 and R3: new, edited, or reading data that was edited."""
    oracle_reads: frozenset[str]
    """Files of the tests that R1 has to read as R0 did."""
    left_out: tuple[str, ...]
    """Paths of the change that only R4 has."""

    came_from: Mapping[str, bytes] = {}
    """What source files had that took code from others, with what those had."""

    def had(self, one: Owned) -> bytes | None:
        """A file before the change, with the code that was moved into it."""
        return self.came_from.get(one.path, one.before)

    def paths(self, *wanted: Owner) -> tuple[str, ...]:
        return tuple(one.path for one in self.owned if one.owner in wanted)

    @property
    def oracle_edited(self) -> tuple[str, ...]:
        return tuple(one.path for one in self.owned if one.owner in ORACLE)

    @property
    def edited_tests(self) -> frozenset[str]:
        return frozenset(self.paths(Owner.TEST, Owner.NEW_TEST))


def helper_modules(files: Sequence[str], test_globs: Sequence[str]) -> tuple[str, ...]:
    """Modules beside the tests, by every name they may be imported under."""
    return _helpers_among(tuple(files), tuple(test_globs))


@lru_cache(maxsize=LISTS)
def _helpers_among(files: tuple[str, ...], test_globs: tuple[str, ...]) -> tuple[str, ...]:
    names = _helper_names(test_globs)
    return tuple(dict.fromkeys(name for path in files if path.endswith(".py") for name in names(path)))


@lru_cache(maxsize=LISTS)
def _helper_names(test_globs: tuple[str, ...]) -> Callable[[str], tuple[str, ...]]:
    beside = matcher(test_globs)

    @lru_cache(maxsize=1 << 17)  # asked for every file of a repository, in each iteration
    def names(path: str) -> tuple[str, ...]:
        if path.rpartition("/")[2].startswith(("test_", "__init__", "conftest")):
            return ()
        if not beside(path.encode("utf-8", "surrogateescape")):
            return ()
        dotted = python_name(path)
        return dotted, dotted.rpartition(".")[2]

    return names


def read_change(
    trees: Trees,
    base: str,
    tree: str,
    specs: Sequence[CheckSpec],
    setting: Setting,
    reference: Baseline,
    task: TaskSpec | None,
) -> Change:
    changes = _changes(trees, base, tree)
    files = trees.files(base)
    ground = _ground(trees, base, files, specs, setting, reference, task)
    owned = owners(changes, ground)
    grants = grants_of(task.allow if task else ())
    candidate_files = trees.files(tree)
    oracle = {one.path: one.before for one in owned if one.owner in ORACLE and one.before is not None}
    texts = trees.contents(tree, _programs_among(tuple(candidate_files)))
    transformed = transform(oracle, dict(texts), owned, grants, ground.words)
    left_out = _left_out(owned, transformed)
    rooms = _rooms(trees, base, tree, owned, transformed, left_out, _documented(reference))
    oracle_reads = frozenset(
        path
        for path in ground.reads
        if (
            path in ground.tests
            or posixpath.basename(path) == "conftest.py"
            or matches(path, setting.policy.test_globs)
        )
        and path not in transformed.files
        and not transformed.is_dropped(path)
        and language_of(path)
    )
    return Change(
        owned=owned,
        rooms=rooms,
        ground=ground,
        grants=grants,
        transformed=transformed,
        helpers=helper_modules(files, setting.policy.test_globs),
        tests=(
            *_test_files(owned, ground, trees.contents(tree, sorted(ground.tests & frozenset(candidate_files)))),
            *(path for path, _, _ in new_examples(owned, _documented(reference))),
        ),
        oracle_reads=oracle_reads,
        left_out=left_out,
        came_from=origins(owned),
    )


def _changes(trees: Trees, base: str, tree: str) -> list[Changed]:
    facts = trees.diff_files(base, tree)
    before = trees.contents(base, [fact.path for fact in facts if fact.change != "added"])
    after = trees.contents(tree, [fact.path for fact in facts if fact.change != "deleted"])
    # a link is no file: its place is known, its content is not looked at
    return [
        Changed(
            path=fact.path,
            before=None if fact.change == "added" else before.get(fact.path, b""),
            after=None if fact.change == "deleted" else after.get(fact.path, b""),
        )
        for fact in facts
    ]


@lru_cache(maxsize=1 << 17)  # asked for every file of a repository, in each iteration
def _may_run(path: str) -> bool:
    """A source, or a recipe that starts some."""
    return bool(language_of(path)) or posixpath.basename(path).lower() in RECIPES or path.endswith(".mk")


@lru_cache(maxsize=LISTS)
def _sources_among(files: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(islice(filter(_may_run, files), MOST_SOURCES))


@lru_cache(maxsize=LISTS)
def _programs_among(files: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(islice((path for path in files if _may_run(path) and language_of(path)), MOST_SOURCES))


def _ground(
    trees: Trees,
    base: str,
    files: Sequence[str],
    specs: Sequence[CheckSpec],
    setting: Setting,
    reference: Baseline,
    task: TaskSpec | None,
) -> Ground:
    measured = list(reference.measurements.values())
    loaded = {
        name.partition(".")[0] for one in measured for name, place in one.report.modules.items() if place == "env"
    }
    inis = {ini for one in measured if (ini := one.report.settings.get("ini"))}
    manifests = {ini for ini in inis if posixpath.basename(ini) in ("pyproject.toml", "setup.cfg")}
    return Ground(
        files=frozenset(files),
        reads=frozenset(path for one in measured for path in one.reads if _tests(one.check, specs)),
        all_reads=frozenset(path for one in measured for path in one.reads),
        tests=frozenset(case.path for one in measured for case in one.report.cases if case.path),
        scope=task.scope if task else (),
        words=task_text(task),
        commands="\n".join(" ".join(spec.command) for spec in specs),
        sources=trees.contents(base, _sources_among(tuple(files))),
        loaded=frozenset(loaded),
        test_globs=setting.policy.test_globs,
        settings=(*sorted(inis - manifests), *setting.policy.protected),
    )


def _tests(check: str, specs: Sequence[CheckSpec]) -> bool:
    """Linters read every file; what they read says nothing about who judges whom."""
    return any(spec.name == check and spec.kind in ("tests", "own", "build") for spec in specs)


def _documented(reference: Baseline) -> frozenset[str]:
    """Files whose documentation strings were run as tests."""
    return frozenset(
        case.path for one in reference.measurements.values() for case in one.report.cases if case.path.endswith(".py")
    )


def _left_out(owned: Sequence[Owned], transformed: Transformed) -> tuple[str, ...]:
    """What only R4 sees: settings and scripts no grant covers, new files at places where commands look, hooks."""
    found = []
    for one in owned:
        if one.path in transformed.files:
            continue
        hooks = posixpath.basename(one.path) == "conftest.py" and conftest_hooks(one.before, one.after)
        if one.owner in (Owner.CONFIG, Owner.STEERING) or hooks:
            found.append(one.path)
    return tuple(found)


def _rooms(
    trees: Trees,
    base: str,
    tree: str,
    owned: Sequence[Owned],
    transformed: Transformed,
    left_out: Sequence[str],
    documented: frozenset[str],
) -> Rooms:
    subject = [one.path for one in owned if one.owner is Owner.SUBJECT]
    r1 = trees.overlay(base, subject, tree) if subject else base
    examples = {
        one.path: merged
        for one in owned
        if one.owner is Owner.SUBJECT and one.path in documented and one.before is not None and one.after is not None
        if (merged := with_base_examples(one.before, one.after)) != one.after
    }
    files = {**transformed.files, **examples}
    r1 = trees.edit(r1, files) if files else r1
    beside = [
        one.path
        for one in owned
        if one.owner in (Owner.TEST, Owner.SUPPORT, Owner.DATA, Owner.NEW_TEST, Owner.NEW_SUPPORT)
        and one.path not in left_out
    ]
    # a longer chain of test commands is an addition: R1 has the old one, the new tests are started by the new one
    beside += [one.path for one in owned if chain_grown(one.path, one.before, one.after)]
    r2 = trees.overlay(r1, [*beside, *examples], tree) if beside or examples else r1
    settings = {path: data for path, data in transformed.files.items() if path not in beside}
    r3 = trees.overlay(base, beside, tree) if beside else base
    # examples that the change adds are tests of its own: over the base's code
    added = {path: with_base_examples(after, before) for path, before, after in new_examples(owned, documented)}
    r3 = trees.edit(r3, {**settings, **added}) if settings or added else r3
    return Rooms(base=base, r1=r1, r2=r2, r3=r3, r4=tree)


def new_examples(owned: Sequence[Owned], documented: frozenset[str]) -> list[tuple[str, bytes, bytes]]:
    """Subject files whose documentation strings were run as tests and have other examples now."""
    return [
        (one.path, one.before, one.after)
        for one in owned
        if one.owner is Owner.SUBJECT and one.path in documented and one.before is not None and one.after is not None
        if b">>>" in one.after and not keeps_examples(one.after, one.before)
    ]


def snapshot_of(path: str) -> str:
    """The test file whose snapshots a file holds (jest, vitest); empty: it is none."""
    folder, name = posixpath.split(path)
    above, last = posixpath.split(folder)
    return (
        posixpath.join(above, name.removesuffix(".snap")) if last == "__snapshots__" and name.endswith(".snap") else ""
    )


def _speak_of(path: str, tests: Mapping[str, bytes]) -> tuple[str, ...]:
    """The tests that name a file; where its name is put together or found by a pattern, those that name its folder."""
    while path and path != ".":
        if found := mentions(path, tests):
            return found
        path = posixpath.dirname(path)
    return ()


def _test_files(owned: Sequence[Owned], ground: Ground, now: Mapping[str, bytes]) -> tuple[str, ...]:
    found = dict.fromkeys(
        one.path for one in owned if one.owner in (Owner.TEST, Owner.NEW_TEST) and one.after is not None
    )
    for one in owned:
        if one.owner is Owner.DATA:
            found |= dict.fromkeys(_speak_of(one.path, now))
            found |= dict.fromkeys(path for path in (snapshot_of(one.path),) if path in now)
        elif one.owner is Owner.SUPPORT and one.after is not None and posixpath.basename(one.path) != "conftest.py":
            found |= dict.fromkeys(path for path in mentions(posixpath.splitext(one.path)[0], now))
    return tuple(found)
