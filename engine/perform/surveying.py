"""What the engine itself finds in a repository before anybody plans: map, commands, conventions, commits, decisions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePosixPath

from engine.core import events as ev
from engine.core.clean import clean, clean_line
from engine.core.effects import CheckPlan, Survey
from engine.core.model import Struct, TaskSpec
from engine.core.state import State
from engine.globs import matcher
from engine.perform.process.spawning import PerformError
from engine.perform.workspace.workspace import Workspace
from engine.plans.plan_checks import check_plan
from engine.plans.words import derive, with_derived

MOST_FOLDERS = 40
MOST_RELEVANT = 30
MOST_CHARS = 14_000
HEAD = 1_500
"""Characters of a file of conventions that are quoted; agents may read the rest."""
CONVENTIONS = (
    "AGENTS.md", "CLAUDE.md", "CONTRIBUTING.md", "CONTRIBUTING.rst", ".github/copilot-instructions.md", "STYLE.md",
    ".editorconfig", "README.md", "README.rst", "README",
)  # fmt: skip
RECENT = 10
"""Commits that agents are told of."""
WORD = re.compile(r"[A-Za-z_][\w./-]{2,80}")
WILD = re.compile(r"[*?\\!]|\[.*|\./")
"""Where the plain text of a pattern ends; after a class nothing is taken for plain."""
MANIFESTS = (
    "pyproject.toml", "setup.cfg", "setup.py", "requirements.txt", "package.json", "tsconfig.json", "go.mod",
    "Cargo.toml", "pom.xml", "build.gradle", "Makefile", "Dockerfile", "docker-compose.yml", ".pre-commit-config.yaml",
)  # fmt: skip


class Surveyor:
    """Performs what planning needs of the repository itself: the survey, and the engine's own checks of a draft."""

    def __init__(
        self,
        *,
        workspace: Workspace,
        checks: tuple[tuple[str, str], ...],
        required: bool,
        decisions: Callable[[], tuple[str, ...]],
        now: Callable[[], float],
    ) -> None:
        """`checks`: name and command line of each; `required`: at least one of them must pass."""
        self._workspace = workspace
        self._checks = checks
        self._required = required
        self._decisions = decisions
        self._now = now
        self._known: dict[str, str] = {}
        self._listed = ""
        self._names = Names()

    def survey(self, effect: Survey) -> ev.Surveyed:
        seen = self._workspace.look(effect.lane, self._now())
        found = Found(
            files=seen.files,
            checks=self._checks,
            commits=seen.commits,
            decisions=self._decisions(),
            root=self._workspace.checkout,
        )
        return ev.Surveyed(id=effect.id, facts=text(found), base=seen.base, tree=seen.tree)

    def context(self, state: State, task: str = "") -> str:
        """The files a task is about; for a sprint that no planner has looked at, the repository as it began with it."""
        if not state.base:
            return ""
        return self._relevant(state, state.tasks[task].spec if task else None) + self._repository(state)

    def _relevant(self, state: State, spec: TaskSpec | None) -> str:
        if spec is None:
            return ""
        tree = self._workspace.tree_of(state.head or state.base)
        if self._listed != tree:
            self._names.hold(self._workspace.files(tree))
            self._listed = tree
        return relevant(spec, self._names)

    def _repository(self, state: State) -> str:
        if state.planning is not None and state.planning.facts:
            return ""
        if state.base not in self._known:
            workspace = self._workspace
            found = Found(
                files=tuple(workspace.files(workspace.tree_of(state.base))),
                checks=(),
                commits=tuple(entry.subject for entry in workspace.log(RECENT)),
                decisions=(),
                root=workspace.checkout,
            )
            self._known[state.base] = f"\n# The repository, as the engine found it\n\n{text(found)}"
        return self._known[state.base]

    def check(self, effect: CheckPlan, state: State) -> ev.PlanChecked:
        planning = state.planning
        if planning is None or planning.plan is None:
            raise PerformError("there is no draft to check", kind="permanent")
        tree = self._workspace.look(effect.lane, self._now()).tree
        files = self._workspace.files(tree)
        derived = derive(planning.plan)
        plan = with_derived(planning.plan, derived)
        issues = check_plan(plan, files, _takes_in, checks=self._required)
        notes = tuple(f"task {one.task}: {one.line()} (from “{clean_line(one.because, 80)}”)" for one in derived)
        return ev.PlanChecked(id=effect.id, version=effect.version, plan=plan, issues=issues, notes=notes)


def _takes_in(glob: str, path: str) -> bool:
    return matcher((glob,))(path.encode("utf-8", "surrogateescape"))


class Names:
    """The files of a tree by what they are about. Held from tree to tree: what is the same in both costs nothing."""

    def __init__(self, files: Iterable[str] = ()) -> None:
        self.files: tuple[str, ...] = ()
        self._all: frozenset[str] = frozenset()
        self._about: dict[str, set[str]] = {}
        self._within: tuple[tuple[str, ...], list[str]] = ((), [])
        self.hold(files)

    def hold(self, files: Iterable[str]) -> None:
        before, self.files = self._all, tuple(files)
        now = self._all = frozenset(self.files)
        self._within = ((), [])
        for path in before - now:
            for word in (_stem(path), path.lower()):
                self._about.get(word, set()).discard(path)
        for path in now - before:
            for word in (_stem(path), path.lower()):
                self._about.setdefault(word, set()).add(path)

    def within(self, scope: tuple[str, ...]) -> list[str]:
        """Those that a scope takes in."""
        if scope and self._within[0] != scope:
            inside = matcher(scope)
            found = [path for path in self._candidates(scope) if inside(path.encode("utf-8", "surrogateescape"))]
            self._within = (scope, found)
        return self._within[1] if scope else []

    def _candidates(self, scope: tuple[str, ...]) -> Iterable[str]:
        """Paths that hold some plain part of a pattern: only they can be matched, and to see that is quick."""
        parts = [_plain(glob) for glob in scope if not glob.startswith("!")]
        if not all(parts) or "." in parts:
            return self.files
        if len(parts) == 1:
            return [path for path in self.files if parts[0] in path]
        chosen = {path for part in parts for path in self.files if part in path}
        return sorted(chosen)

    def about(self, words: Iterable[str]) -> set[str]:
        """Those that are named by a word, or are about it."""
        return {path for word in words for path in self._about.get(word, ())}


def relevant(spec: TaskSpec, names: Names) -> str:
    """The files a task may change, and those beside them that its words name or that carry the same name."""
    within = names.within(spec.scope)
    words = {word.lower() for word in WORD.findall(" ".join((spec.title, spec.description, *spec.accept)))}
    words |= {_stem(path) for path in within[:MOST_RELEVANT]}
    beside = sorted(names.about(words).difference(within))
    parts = [
        _section("Files this task may change", _few(within)),
        _section("Files of the same names, or named in the task", _few(beside)),
    ]
    return "".join(f"\n{part}" for part in parts if part)


def _plain(glob: str) -> str:
    """The longest part without a wildcard. A slash beside one may stand for nothing: `**/b` matches b."""
    return max((part.strip("/") for part in WILD.split(glob.strip())), key=len)


def _stem(path: str) -> str:
    """What a file is about: a test and what it tests have the same."""
    stem = path.rpartition("/")[2].split(".")[0].lower()
    return stem.removeprefix("test_").removesuffix("_test").removeprefix("test-").removesuffix("-test") or stem


def _few(paths: Sequence[str]) -> list[str]:
    more = [f"and {len(paths) - MOST_RELEVANT} more"] if len(paths) > MOST_RELEVANT else []
    return [*(clean_line(path, 160) for path in paths[:MOST_RELEVANT]), *more]


class Found(Struct, frozen=True, kw_only=True):
    """The pieces; `text` puts them together."""

    files: tuple[str, ...]
    checks: tuple[tuple[str, str], ...] = ()
    commits: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    root: Path


def text(found: Found) -> str:
    """The facts as Markdown, bounded; text of the repository is cleaned and quoted, never in our voice."""
    parts = [
        _section("Files", _map(found.files)),
        _section("Manifests", [name for name in MANIFESTS if name in found.files]),
        _section("Checks that will judge the work", [f"{name}: `{line}`" for name, line in found.checks]),
        _section("Recent commits", [clean_line(line, 160) for line in found.commits]),
        _section("Earlier decisions", [clean_line(line, 240) for line in found.decisions]),
        *_conventions(found),
    ]
    whole = "\n".join(part for part in parts if part)
    return whole if len(whole) <= MOST_CHARS else whole[:MOST_CHARS] + "\n[… cut …]\n"


def _section(title: str, lines: Sequence[str]) -> str:
    return "\n".join((f"## {title}", "", *(f"- {line}" for line in lines), "")) if lines else ""


def _map(files: Iterable[str]) -> list[str]:
    """Two levels of folders with the number of files and the commonest kinds."""
    folders: Counter[str] = Counter()
    kinds: dict[str, Counter[str]] = {}
    total = 0
    for name in files:
        total += 1
        parts = PurePosixPath(name).parts
        folder = "/".join(parts[:-1][:2]) or "."
        folders[folder] += 1
        kinds.setdefault(folder, Counter())[PurePosixPath(name).suffix or parts[-1]] += 1
    lines = []
    for folder, count in sorted(folders.most_common(MOST_FOLDERS)):
        common = ", ".join(f"{clean_line(kind, 20)} {number}" for kind, number in kinds[folder].most_common(3))
        lines.append(f"{clean_line(folder, 80)}/ ({count}: {common})")
    if not total:
        return ["the repository is empty"]
    return [f"{total} files", *lines]


def _conventions(found: Found) -> list[str]:
    parts = []
    for name in CONVENTIONS:
        if name not in found.files:
            continue
        path = found.root / name
        try:
            if path.is_symlink() or not path.is_file():
                continue
            with path.open("rb") as file:
                head = file.read(HEAD * 2).decode("utf-8", "replace")[:HEAD]
        except OSError:
            continue
        quoted = "\n".join(f"> {line}" for line in clean(head).splitlines())
        parts.append(f"## From {name}\n\n{quoted}\n")
        if len(parts) >= 4:
            break
    return parts
