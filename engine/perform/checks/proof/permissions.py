"""Permissions as transformations of the oracle: what R1 is run with, what may be gone, what has to be asked.

`transform` turns the grants of a plan into files for R1's room. What no grant covers becomes a Question, and each names
the one entry of `allow:` that would grant it. Pure.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import assert_never

from engine.core.grants import Grant, GrantKind, Rule
from engine.core.model import Question, Struct
from engine.globs import permits
from engine.perform.checks import python_source
from engine.perform.checks.proof.asked_inputs import asks_otherwise
from engine.perform.checks.proof.deletions import gone, no_tests_left, without
from engine.perform.checks.proof.file_grants import expanded, file_grant, named
from engine.perform.checks.proof.found_names import FoundNames, as_grants, find_names
from engine.perform.checks.proof.golden import grown, stated, stated_test, stated_words, texts_grow
from engine.perform.checks.proof.moved_along import goes_along
from engine.perform.checks.proof.owners import ADDITIONS, Owned, Owner
from engine.perform.checks.proof.plain_edits import is_plain, same_but_for_texts, without_additions
from engine.perform.checks.proof.python_names import Rename
from engine.perform.checks.proof.rename_text import equal_but_for, replayed, rewrite_text
from engine.perform.checks.proof.renames import renames_of, rewrite_python
from engine.perform.checks.proof.source_text import tokens
from engine.perform.checks.proof.steering import SECTIONS, steering
from engine.perform.checks.proof.test_edits import MOST_EXCERPT, PYTHON, TestEdit, edits_of, excerpt, units_of
from engine.perform.checks.proof.test_ids import covers_id
from engine.perform.checks.proof.test_shape import EditKind
from engine.perform.checks.proof.unrolled_tests import unrolled
from engine.plans.leanings import asks_for_names, takes_away

TESTS = frozenset({Owner.TEST, Owner.SUPPORT})
TAKEN_AWAY = frozenset({EditKind.DELETED, EditKind.SKIPPED, EditKind.WEAKER})


OF_TESTS: dict[GrantKind, tuple[Rule, ...]] = {
    GrantKind.DELETE_TESTS: (Rule.TEST_GONE, Rule.FEWER_PARAMS),
    GrantKind.SKIP_TESTS: (Rule.TEST_SKIPPED, Rule.TEST_DESELECTED),
    GrantKind.EDIT_TESTS: (Rule.TEST_CHANGED, Rule.FEWER_ASSERTIONS, Rule.FEWER_PARAMS),
}


class Excuse(Struct, frozen=True, kw_only=True):
    """Why a test of the base may be red in R1."""

    entry: str
    red_on_base: bool
    """Its new version has to fail on the base: it shows the new behaviour, or nothing."""
    same_question: bool = True
    """It asks with the inputs it had. With others nobody says what becomes of the old ones: as it was, it must hold."""


class Transformed(Struct, frozen=True, kw_only=True):
    """The oracle under the grants."""

    files: Mapping[str, bytes | None] = {}
    """Contents that replace the base's in R1's room; None: not there."""
    dropped: tuple[str, ...] = ()
    """Ids (or their beginning) that R1 need not have: what they test was deleted, or the plan lets them go."""
    used: tuple[Grant, ...] = ()
    excuses: Mapping[str, Excuse] = {}
    """By id (or its beginning): may be red in R1 while its new version is green in R2."""
    edits: tuple[TestEdit, ...] = ()
    """What the change did to the tests, after the renames."""
    found: FoundNames = FoundNames()
    """Renames that the change shows and the plan does not name."""
    wanted: bool = True
    """Whether the words ask for them; else they are not applied, and each is asked by its entry."""

    def is_dropped(self, id: str) -> bool:
        return any(covers_id(one, id) for one in self.dropped)

    def waives(self, id: str) -> bool:
        """Whether a test may be red in R1 as it was."""
        excuse = self.excuse(id)
        return excuse is not None and excuse.same_question

    def excuse(self, id: str) -> Excuse | None:
        return next((excuse for one, excuse in self.excuses.items() if covers_id(one, id)), None)


def transform(
    oracle: Mapping[str, bytes],
    candidate: Mapping[str, bytes],
    changed: Sequence[Owned],
    grants: Sequence[Grant],
    words: str = "",
) -> Transformed:
    """`oracle`: the base's files of tests, data, settings; `candidate`: every file of the change; `words`: its task."""
    files: dict[str, bytes | None] = {}
    dropped: dict[str, str] = {}
    used: set[str] = set()
    known = {*candidate, *oracle}
    renames = renames_of(grants, changed, known)
    things = gone(grants, changed, known)
    found = _without_deleted(find_names(changed, known, renames), {thing.name for thing in things})
    wanted = asks_for_names(found.pairs, words)
    replayed_by: tuple[Grant, ...] = tuple(grants)
    if wanted:
        renames = (*renames, *found.renames)
        replayed_by = (*grants, *found.grants, *as_grants(found.renames))
    for one in changed:
        if (place := goes_along(one, changed, grants)) is not None:
            move, there = place
            files |= {one.path: None, there: _under_renames(one, renames, replayed_by, known)}
            dropped[one.path] = move.entry
            used.add(move.entry)
        elif one.owner in TESTS and one.before is not None:
            content = _under_renames(one, renames, replayed_by, known)
            kept = without(one.path, content, things, known)
            used |= {entry for _, entry in kept.dropped}
            dropped |= dict(kept.dropped)
            if one.after is None and kept.dropped and not one.python and no_tests_left(one.path, kept.content):
                files[one.path] = None  # what is left of it brings what its tests needed
                dropped[one.path] = kept.dropped[0][1]
                continue
            if content != one.before:
                used |= {rename.entry for rename in renames}
            if kept.content != one.before:
                files[one.path] = kept.content
        elif one.owner in (Owner.DATA, Owner.CONFIG, Owner.STEERING):
            grant = file_grant(grants, one.path, one.before, one.after)
            if (
                grant is None
                and one.before
                and one.after
                and equal_but_for(one.path, one.before, one.after, replayed_by)
            ):
                grant = next(g for g in replayed_by if g.kind in (GrantKind.RENAME, GrantKind.MOVE))
            if grant is not None:
                files[one.path] = one.after
                used.add(grant.entry)
            elif one.owner is Owner.DATA and stated(one.before, one.after, words):
                files[one.path] = one.after
    edits = _edits(changed, renames, files)
    excuses: dict[str, Excuse] = {}
    for edit in edits:
        for grant in grants:
            excuse = _excuse(grant, edit, edits)
            if excuse is not None:
                excuses[edit.id if edit.test else edit.path] = excuse
                used.add(grant.entry)
                break
        else:
            if edit.test and _stated_edit(edit, changed, words):
                same = not asks_otherwise(tokens(edit.path, edit.before), tokens(edit.path, edit.after))
                excuses[edit.id] = Excuse(entry="change behaviour", red_on_base=True, same_question=same)
        if edit.kind is EditKind.DELETED and edit.test and edit.now and takes_away(words, f"{edit.id} {edit.before}"):
            excuses.setdefault(edit.id, Excuse(entry="change behaviour", red_on_base=True))
        if edit.kind is EditKind.DELETED and (grant := _lets_go(grants, edit)) is not None:
            dropped[edit.id] = grant.entry
            used.add(grant.entry)
    return Transformed(
        files=files,
        dropped=tuple(dropped),
        used=tuple(grant for grant in grants if grant.entry in used),
        excuses=excuses,
        edits=edits,
        found=found,
        wanted=wanted,
    )


def _stated_edit(edit: TestEdit, changed: Sequence[Owned], words: str) -> bool:
    """A test that was edited to say what the task itself states, value by value, and asserts no less."""
    if edit.kind not in (EditKind.SAME_SHAPE, EditKind.CHANGED) or not edit.now:
        return False
    one = next((one for one in changed if one.path == edit.path), None)
    if one is None or one.before is None or one.after is None:
        return False
    if edit.id == edit.path and is_plain(edit.path):
        left = without_additions(edit.path, one.before, one.after)
        if left is not None and left != one.before and same_but_for_texts(edit.path, one.before, left):
            was, now = (tokens(edit.path, data.decode("utf-8", "replace")) for data in (one.before, left))
            return texts_grow(was, now, words)
    if not edit.path.endswith(PYTHON):
        whole = max(len(edit.before), len(edit.after)) < MOST_EXCERPT
        return whole and stated_words(tokens(edit.path, edit.before), tokens(edit.path, edit.after), words)
    name = edit.id.partition("::")[2]
    old, new = ((units_of(data) or {}).get(name) for data in (one.before, one.after))
    return old is not None and new is not None and stated_in_python(old.nodes[0], new.nodes[0], words)


def stated_in_python(old: ast.AST, new: ast.AST, words: str) -> bool:
    """A test that became a table states what one of its rows does."""
    rows = unrolled(new) if isinstance(new, ast.FunctionDef) else []
    if not isinstance(old, ast.FunctionDef) or not rows:
        return stated_test([old], [new], words) or _grows(old, new, words)
    made = [
        ast.FunctionDef(name=old.name, args=old.args, body=body, decorator_list=old.decorator_list, lineno=old.lineno)
        for body in rows
    ]
    return any(stated_test([old], [one], words) or _grows(old, one, words) for one in made)


def _grows(old: ast.AST, new: ast.AST, words: str) -> bool:
    was, now = (tokens("test.py", ast.unparse(node)) for node in (old, new))
    return texts_grow(was, now, words)


def _without_deleted(found: FoundNames, names: Collection[str]) -> FoundNames:
    """What the plan lets go is deleted, whatever else is new."""
    return FoundNames(
        renames=tuple(one for one in found.renames if one.old not in names),
        grants=tuple(one for one in found.grants if one.target not in names),
    )


def _under_renames(
    one: Owned,
    renames: tuple[Rename, ...],
    grants: Sequence[Grant],
    files: Collection[str],
) -> bytes:
    before = one.before or b""
    if not any(grant.kind in (GrantKind.RENAME, GrantKind.MOVE) for grant in grants):
        return before
    if one.path.endswith(PYTHON):
        return rewrite_python(one.path, before, one.after, renames, files)
    if one.after is not None and equal_but_for(one.path, before, one.after, grants):
        return replayed(one.path, before, one.after)
    return rewrite_text(one.path, before, grants)


def _edits(
    changed: Sequence[Owned], renames: tuple[Rename, ...], files: Mapping[str, bytes | None]
) -> tuple[TestEdit, ...]:
    """`files`: tests as the plan has them already; of a script, whose tests no runner names, that is what counts."""
    tests = [one for one in changed if one.owner in TESTS or one.owner in (Owner.NEW_TEST, Owner.NEW_SUPPORT)]
    base = {one.path: one.before for one in tests if one.before is not None}
    base |= {path: text for path, text in files.items() if path in base and text is not None and is_plain(path)}
    after = {one.path: one.after for one in tests if one.after is not None}
    return edits_of(base, after, [one.path for one in tests], renames)


def _excuse(grant: Grant, edit: TestEdit, edits: Iterable[TestEdit]) -> Excuse | None:
    if grant.kind is GrantKind.EDIT_TESTS and edit.kind is not EditKind.DELETED and _meant(grant.target, edit):
        return Excuse(entry=grant.entry, red_on_base=False)
    if grant.kind is GrantKind.SKIP_TESTS and edit.kind is EditKind.SKIPPED and _meant(grant.target, edit):
        return Excuse(entry=grant.entry, red_on_base=False)
    if grant.kind is GrantKind.CHANGE_BEHAVIOUR and edit.kind in (EditKind.SAME_SHAPE, EditKind.STRONGER):
        word = grant.target.rpartition(".")[2]
        if not word or word in edit.before or word in edit.id:
            return Excuse(entry=grant.entry, red_on_base=True)
    return None


def _meant(target: str, edit: TestEdit) -> bool:
    """Every test, one by its id or the beginning of it, by its own name alone, or the files a glob matches."""
    return (
        not target
        or covers_id(target, edit.id)
        or edit.id.rpartition("::")[2] == target
        or permits(edit.path, expanded(target))
    )


def _lets_go(grants: Iterable[Grant], edit: TestEdit) -> Grant | None:
    for grant in grants:
        if grant.kind is GrantKind.DELETE_TESTS and _meant(grant.target, edit):
            return grant
    return None


def edit_questions(
    changed: Sequence[Owned],
    grants: Sequence[Grant],
    transformed: Transformed,
    red: Collection[str] = (),
    broken: Collection[str] = (),
) -> list[Question]:
    """What the change needs and the plan does not give. `red`: tests that fail in R1; `broken`: not so on the base.

    With R1 green, edits that add or move ask nothing; in other languages only what takes away asks. Files of data,
    settings and build ask whenever they changed and no grant names them.
    """
    paths = {one.path for one in changed}
    whole = any("::" not in id and "." not in id and id not in paths for id in red)
    found = [
        question for edit in transformed.edits if (question := _test_question(edit, transformed, red, broken, whole))
    ]
    tests_read = [one for one in changed if one.owner in (Owner.DATA, Owner.CONFIG, Owner.STEERING)]
    added = {one.after for one in changed if one.before is None}
    for one in tests_read:
        elsewhere = one.owner is Owner.DATA and one.after is None and one.before in added
        more = one.owner is Owner.DATA and not broken and grown(one.before, one.after)
        if not elsewhere and not more and (question := _file_question(one, grants, transformed)):
            found.append(question)
    return found


def _test_question(
    edit: TestEdit, transformed: Transformed, red: Collection[str], broken: Collection[str], whole: bool
) -> Question | None:
    """`whole`: a command that names no tests is red, so that any edited one may be the reason."""
    failing = whole or any(covers_id(edit.id, id) or (not edit.test and id.startswith(edit.path)) for id in red)
    excuse = transformed.excuse(edit.id)
    let_go = edit.kind is EditKind.DELETED and not failing  # it held, and nobody needed to take it away
    if (
        transformed.is_dropped(edit.id)
        or (excuse and not let_go and (excuse.same_question or not failing))
        or (not edit.test and transformed.excuse(edit.path))
    ):
        return None
    match edit.kind:
        case EditKind.MOVED:  # what was red where it stood is red where it stands
            asks = whole or any(covers_id(edit.id, id) or (not edit.test and id.startswith(edit.path)) for id in broken)
        case EditKind.STRONGER:
            asks = failing
        case EditKind.SAME_SHAPE | EditKind.CHANGED:
            asks = failing or (edit.path.endswith(PYTHON) and (edit.test or judges(edit))) or is_plain(edit.path)
        case EditKind.DELETED | EditKind.SKIPPED | EditKind.WEAKER:
            asks = edit.test or failing or (edit.kind is not EditKind.DELETED)
        case _:
            assert_never(edit.kind)
    if not asks:
        return None
    rule, text = _told(edit, failing)
    return Question(
        rule=rule,
        text=text,
        allow=(unasked(transformed, edit.before) if failing else "") or _entry(edit, failing),
        path=edit.path,
        line=edit.line,
        before=edit.before,
        after=edit.after,
    )


def unasked(transformed: Transformed, text: str) -> str:
    """The entry for a rename that the change shows and nobody asked for, where the text uses the old name."""
    if transformed.wanted:
        return ""
    for old, _, entry in transformed.found.pairs:
        last = re.split(r"[./]", old)[-1]
        if re.search(rf"(?<!\w){re.escape(last)}(?!\w)", text):
            return entry
    return ""


def judges(edit: TestEdit) -> bool:
    """A helper that compares or asserts: every test that uses it is as sharp as it is."""
    try:
        tree = python_source.parse(textwrap.dedent(edit.before))
    except (SyntaxError, ValueError, RecursionError):
        return True  # cut off, or not readable by itself
    return any(isinstance(node, ast.Compare | ast.Assert | ast.Raise) for node in ast.walk(tree))


def _told(edit: TestEdit, failing: bool) -> tuple[str, str]:
    match edit.kind:
        case EditKind.DELETED:
            return Rule.TEST_GONE, f"{edit.id} is deleted"
        case EditKind.SKIPPED:
            return Rule.TEST_SKIPPED, f"{edit.id} is skipped now"
        case EditKind.WEAKER:
            return Rule.FEWER_ASSERTIONS, f"{edit.id} asserts less than it did"
        case EditKind.SAME_SHAPE | EditKind.CHANGED | EditKind.MOVED | EditKind.STRONGER:
            how = "as it was, it fails on the change" if failing else "as it was, it still passes"
            return Rule.TEST_CHANGED, f"{edit.id} was edited; {how}"
        case _:
            assert_never(edit.kind)


def _entry(edit: TestEdit, failing: bool) -> str:
    """The narrowest entry that grants it."""
    match edit.kind:
        case EditKind.DELETED:
            return f"delete tests {edit.id}" if edit.test else f"edit tests {edit.path}"
        case EditKind.SKIPPED:
            return f"skip tests {edit.id if edit.test else edit.path}"
        case EditKind.SAME_SHAPE if failing:
            return "change behaviour"
        case EditKind.WEAKER | EditKind.SAME_SHAPE | EditKind.CHANGED | EditKind.MOVED | EditKind.STRONGER:
            return f"edit tests {edit.id if edit.test else edit.path}"
        case _:
            assert_never(edit.kind)


def _file_question(one: Owned, grants: Sequence[Grant], transformed: Transformed) -> Question | None:
    if one.path in transformed.files or file_grant(grants, one.path, one.before, one.after) is not None:
        return None
    if one.path.rpartition("/")[2] in SECTIONS and not steering(one.path, one.before, one.after, ()):
        return None  # a new dependency or version: nothing in it steers a check
    how = "added" if one.before is None else "deleted" if one.after is None else "changed"
    why = f" ({one.why})" if one.why else ""
    what = "a new file that a command finds by itself" if one.owner in ADDITIONS else f"the checks read it{why}"
    return Question(
        rule=Rule.ORACLE_CHANGED,
        text=f"{one.path} is {how}: {what}",
        allow=f"edit {one.path}",
        path=one.path,
        before=difference(one.before, one.after)[0],
        after=difference(one.before, one.after)[1],
    )


def difference(before: bytes | None, after: bytes | None) -> tuple[str, str]:
    """Both contents from the first line that differs."""
    old, new = (excerpt_lines(data) for data in (before, after))
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    first = max(0, same - 2)
    return tuple("\n".join(lines[first : first + 12])[:1600] for lines in (old, new))  # type: ignore[return-value]


def excerpt_lines(data: bytes | None) -> list[str]:
    if data is not None and b"\0" in data[:8000]:
        return [f"({len(data)} bytes, not text)"]
    return (data or b"").decode("utf-8", "replace").splitlines()


def granted(grants: Iterable[Grant], rule: str, path: str = "", subject: str = "", code: str = "") -> Grant | None:
    """The grant that covers a finding of a rule: at a path, about a test, of a linter's code."""
    for grant in grants:
        if grant.kind is GrantKind.ACCEPT:
            covered = grant.target == rule and _at(grant.to, path, subject)
        elif grant.kind is GrantKind.SUPPRESS:
            same = not grant.target or grant.target.lower() == code.lower()
            covered = rule == Rule.SUPPRESSION and same and _at(grant.to, path, "")
        elif grant.kind is GrantKind.EDIT:
            covered = rule in (Rule.CONFIG_CHANGED, Rule.ORACLE_CHANGED) and named(grant.target, path)
        else:
            covered = rule in OF_TESTS.get(grant.kind, ()) and _at(grant.target, path, subject)
        if covered:
            return grant
    return None


def _at(place: str, path: str, subject: str) -> bool:
    return not place or (bool(subject) and covers_id(place, subject)) or (bool(path) and named(place, path))


def entry_for(rule: str, path: str = "", subject: str = "", code: str = "") -> str:
    """The entry of `allow:` that would grant a finding."""
    if rule == Rule.SUPPRESSION:
        return f"suppress {code or 'CODE'} in {path}"
    if rule in (Rule.CONFIG_CHANGED, Rule.ORACLE_CHANGED, Rule.ENVIRONMENT_FILES):
        return f"edit {path}"
    if rule in (Rule.TEST_GONE, Rule.FEWER_PARAMS):
        return f"delete tests {subject or path}"
    if rule in (Rule.TEST_SKIPPED, Rule.TEST_DESELECTED):
        return f"skip tests {subject or path}"
    if rule in (Rule.TEST_CHANGED, Rule.FEWER_ASSERTIONS):
        return f"edit tests {subject or path}"
    place = subject or path
    return f"accept {rule} in {place}" if place else f"accept {rule}"


__all__ = [
    "Excuse",
    "Transformed",
    "edit_questions",
    "entry_for",
    "excerpt",
    "granted",
    "transform",
    "unasked",
]
