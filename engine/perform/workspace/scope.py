"""Scope: what an attempt changed, held against what its task may change; the rest is put back and kept aside.

Whole paths are put back, from the tree the attempt started with (and from the base where even that tree was out of
bounds), never from HEAD. What was taken out lies as a patch, and as files where no patch can hold them, in aside/.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from engine.core.clean import clean_line
from engine.core.model import FileChange, Finding, Struct, Verdict
from engine.globs import Matcher, matcher
from engine.perform.workspace import dotgit, lanes, leaks, putback, scope_rules, trees
from engine.perform.workspace.facts import Odd, ScopeReport
from engine.perform.workspace.ignore import Rules
from engine.perform.workspace.names import raw, shown
from engine.perform.workspace.scan import TOP
from engine.perform.workspace.scope_rules import finding
from engine.perform.workspace.secrets import key_line, named_like_a_secret, new_shape, token_lines
from engine.perform.workspace.store import Store
from engine.perform.workspace.trees import ABSENT, GITLINK, SYMLINK, Change

OURS = (".devteam/**",)
"""Views that we write: an agent's own ticks there are put back, and no fault of its work."""
ALWAYS_PROTECTED = (*OURS, ".git", "**/.git/**", ".gitmodules")
_OURS = matcher(OURS)
_LOOKED_AT = 1_000_000


class Limits(Struct, frozen=True, kw_only=True):
    max_file: int = 5_000_000
    """Bytes of one new file."""
    max_total: int = 50_000_000
    """Bytes of all that one attempt adds or changes."""
    max_files: int = 2_000
    """Files one attempt may add."""


@dataclass(frozen=True)
class Bounds:
    """What a task may touch."""

    globs: tuple[str, ...]
    protected: tuple[str, ...] = ()
    waived: tuple[str, ...] = ()
    """Protected paths this task may touch all the same, because its plan says so."""
    limits: Limits = field(default_factory=Limits)

    def inside(self) -> Matcher:
        return matcher(self.globs) if self.globs else lambda _: True

    def guarded(self) -> Matcher:
        listed, let = matcher((*self.protected, *ALWAYS_PROTECTED)), matcher(self.waived)
        return lambda path: listed(path) and not let(path)

    def literal(self, path: bytes) -> bool:
        """The plan names this very path."""
        return shown(path) in self.globs


def judge(
    bounds: Bounds, changes: Iterable[Change], contents: Mapping[bytes, bytes], before: Mapping[bytes, bytes]
) -> list[Finding]:
    """Findings over a tree diff. Pure. `contents` and `before`: first bytes of changed files, by object."""
    inside, guarded = bounds.inside(), bounds.guarded()
    findings: list[Finding] = []
    total = 0
    for change in changes:
        path, text = change.path, _first(bounds, change, contents, inside, guarded)
        new = contents.get(change.new, b"")
        total += len(new)
        if text is not None:
            findings.append(finding(text[0], path, text[1], severity="note" if text[0] == "ours" else "error"))
        elif shape := new_shape(new, before.get(change.old, b"")):  # a human says what it is
            findings.append(finding("secret", path, shape, severity="human"))
    return findings


def _first(
    bounds: Bounds, change: Change, contents: Mapping[bytes, bytes], inside: Matcher, guarded: Matcher
) -> tuple[str, str] | None:
    """The first rule a change breaks."""
    path = change.path
    if guarded(path):
        return ("ours", "is written by devteam") if _OURS(path) else ("protected", "is protected")
    if not inside(path):
        return "out-of-scope", "is outside the task's scope"
    if GITLINK in (change.old_mode, change.new_mode):
        return "nested-repository", "changes a submodule"
    if change.kind == "type":
        return "type-change", "became another type of file"
    if change.new_mode == SYMLINK and _leads_out(path, contents.get(change.new, b"")):
        return "symlink", "is a link that leads out of the repository"
    if change.new_mode != ABSENT and named_like_a_secret(path) and not bounds.literal(path):
        return "secret", "looks like a secret by its name"
    return None


def _leads_out(path: bytes, target: bytes) -> bool:
    if target.startswith(b"/") or not target:
        return True
    depth = path.count(b"/")
    for part in target.split(b"/"):
        if part == b"..":
            depth -= 1
        elif part not in (b"", b"."):
            depth += 1
        if depth < 0:
            return True
        if part == b".git":
            return True
    return False


# ── performing it ──────────────────────────────────────────────────────────────────────────────────────────────────


def check(store: Store, lane: int, before: str, base: str, bounds: Bounds, rules: Rules, effect: str) -> ScopeReport:
    """Scan the lane, judge, put back, keep aside."""
    clone = os.fsencode(dotgit.folder_of(store, lane))
    seen = lanes.look(store, lane, rules, bounds.limits.max_file, bounds.limits.max_files)
    before_tree, base_tree = trees.tree_of(store.git, before), trees.tree_of(store.git, base)
    folder = putback.folder_for(store, effect)
    earlier = putback.kept(folder, before_tree, base_tree)
    if earlier is not None and earlier.tree == seen.tree and not seen.odd:
        return earlier
    attempt = trees.diff(store.git, before_tree, seen.tree)
    whole = attempt if before_tree == base_tree else trees.diff(store.git, base_tree, seen.tree)
    contents, old = _contents(store, lane, attempt, whole)
    findings = judge(bounds, attempt, contents, old)
    known = {finding.path for finding in findings}
    if whole is not attempt:  # what an earlier attempt left out of bounds
        findings += [item for item in judge(bounds, whole, contents, old) if item.path not in known]
    secret = _secrets(store, base_tree, whole, contents)
    findings += secret
    findings += scope_rules.structure(attempt) + scope_rules.sizes(clone, attempt, bounds.limits.max_total)
    findings += scope_rules.modes(clone, seen.touched)
    findings += [_of_odd(odd) for odd in seen.odd]
    bad = {raw(item.path) for item in findings if _undone(item)}
    certain = all(len(content) < _LOOKED_AT for content in contents.values())
    certain = certain and not any(item.rule == "secret" and item.severity != "error" for item in findings)
    if not bad:
        _is_clean(store, base_tree, seen.tree, certain)
        return _report(findings, seen.tree, attempt, whole)
    inside, guarded = bounds.inside(), bounds.guarded()
    taken = whole
    tree = putback.plan(store, before_tree, base_tree, seen, bad, lambda path: guarded(path) or not inside(path))
    attempt = trees.diff(store.git, before_tree, tree)
    whole = attempt if before_tree == base_tree else trees.diff(store.git, base_tree, tree)
    undone = [shown(change.path) for change in trees.diff(store.git, seen.tree, tree, lines=False)]
    reverted = tuple(dict.fromkeys([*undone, *(odd.path for odd in seen.odd)]))
    report = _report(findings, tree, attempt, whole, reverted, str(folder))
    leaked = {raw(item.path) for item in secret if item.severity == "error"}
    putback.keep(store, folder, seen, before_tree, base_tree, report, leaked)
    putback.apply(store, lane, seen, tree, folder, rules)
    if leaked:
        _forget(store, (change.new for change in taken if change.path in leaked))
    _is_clean(store, base_tree, tree, certain)
    return report


def _undone(item: Finding) -> bool:
    return item.rule == "ours" or (item.severity == "error" and item.rule != "mode")


def _of_odd(odd: Odd) -> Finding:
    text = odd.text if odd.path == TOP else f"{odd.path} {odd.text}"
    return Finding(rule=odd.rule, text=clean_line(text), path=odd.path)


def _secrets(store: Store, base: str, whole: list[Change], contents: Mapping[bytes, bytes]) -> list[Finding]:
    """Values of the user's that the base has not: file and line, never the value."""
    if not any(store.detect(content) for content in contents.values()):
        return []
    return [
        finding("secret", leak.path, f"line {leak.line} holds a secret of yours, not shown here")
        if leak.certain
        else finding("secret", leak.path, f"line {leak.line} has a word that is also a secret of yours", "human")
        for leak in leaks.leaks(store, base, whole)
    ]


def _is_clean(store: Store, base: str, tree: str, certain: bool) -> None:
    """Whoever commits this very tree or puts it aside need not look again: all of it was seen, nothing was asked."""
    if certain:
        store.clean_trees.add((base, tree))


def _forget(store: Store, objects: Iterable[bytes]) -> None:
    """A content that was put back because of a secret in it does not stay in the store either."""
    for oid in objects:
        name = oid.decode()
        (store.git_objects / name[:2] / name[2:]).unlink(missing_ok=True)


def _report(
    findings: list[Finding],
    tree: str,
    attempt: list[Change],
    whole: list[Change],
    reverted: tuple[str, ...] = (),
    aside: str = "",
) -> ScopeReport:
    errors = [item for item in findings if item.severity == "error"]
    return ScopeReport(
        verdict=Verdict.FAIL if errors else Verdict.PASS,
        tree=tree,
        changes=_facts(whole),
        attempt_changes=_facts(attempt),
        reverted=reverted,
        kept_aside=aside,
        findings=tuple(findings),
        reason=_reason(errors, reverted, len(attempt)),
    )


def _reason(errors: list[Finding], reverted: tuple[str, ...], changed: int) -> str:
    if not errors:
        back = f"; put back, because devteam writes it: {', '.join(reverted[:3])}" if reverted else ""
        return f"{changed} {'path' if changed == 1 else 'paths'} changed, all in scope{back}"
    more = f" and {len(errors) - 3} more" if len(errors) > 3 else ""
    return "put back: " + "; ".join(item.text for item in errors[:3]) + more


def _facts(changes: list[Change]) -> tuple[FileChange, ...]:
    return tuple(change.as_fact() for change in changes)


def _contents(store: Store, lane: int, *diffs: list[Change]) -> tuple[dict[bytes, bytes], dict[bytes, bytes]]:
    """First bytes of what changed: new content from the lane's files, old content from the trees."""
    clone = os.fsencode(dotgit.folder_of(store, lane))
    new: dict[bytes, bytes] = {}
    suspicious: list[bytes] = []
    for change in {change.path: change for changes in diffs for change in changes}.values():
        if change.new_mode in (ABSENT, GITLINK):
            continue
        content = _read(clone + b"/" + change.path)
        new[change.new] = content
        if change.old_mode not in (ABSENT, GITLINK) and (key_line(content) or any(token_lines(content))):
            suspicious.append(change.old)
    return new, trees.blobs(store.git, suspicious)


def _read(path: bytes) -> bytes:
    try:
        if stat.S_ISLNK(os.lstat(path).st_mode):
            return os.readlink(path)  # noqa: PTH115
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        return file.read(_LOOKED_AT)
