"""Permissions as transformations of the oracle: what R1 is run with, what may be gone, what has to be asked.

`transform` turns the grants of a plan into files for R1's room. What no grant covers is asked (`edit_questions`). Pure.
the one entry of `allow:` that would grant it. Pure.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from engine.core.grant_grammar import grants_of
from engine.core.grants import Grant, GrantKind
from engine.core.harmless import HarmlessKind
from engine.core.model import Struct
from engine.globs import permits
from engine.perform.checks.proof.asked_inputs import asks_otherwise
from engine.perform.checks.proof.deletions import gone, no_tests_left, without
from engine.perform.checks.proof.file_grants import expanded, file_grant
from engine.perform.checks.proof.found_names import FoundNames, as_grants, find_names
from engine.perform.checks.proof.golden import stated, stated_test, stated_words
from engine.perform.checks.proof.imports import python_name
from engine.perform.checks.proof.more_of_the_same import more_of_the_same
from engine.perform.checks.proof.moved_along import goes_along
from engine.perform.checks.proof.moved_whole import left_behind, moved_whole
from engine.perform.checks.proof.owned import Owned, Owner
from engine.perform.checks.proof.plain_edits import is_plain, same_but_for_texts, without_additions
from engine.perform.checks.proof.python_names import Rename
from engine.perform.checks.proof.rename_text import equal_but_for, replayed, rewrite_text
from engine.perform.checks.proof.renames import renames_of, rewrite_python
from engine.perform.checks.proof.source_text import tokens
from engine.perform.checks.proof.test_edits import MOST_EXCERPT, PYTHON, TestEdit, edits_of, units_of
from engine.perform.checks.proof.test_ids import covers_id
from engine.perform.checks.proof.test_shape import EditKind
from engine.perform.checks.proof.texts_grow import texts_grow
from engine.perform.checks.proof.unrolled_tests import unrolled
from engine.plans.leanings import asks_for_names, leans, takes_away

TESTS = frozenset({Owner.TEST, Owner.SUPPORT})


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
    moved: tuple[str, ...] = ()
    """Test files that moved with their code: R1 has them where they stand now."""
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
    grants = (*grants, *_goes_with(changed, words))
    files: dict[str, bytes | None] = {}
    dropped: dict[str, str] = {}
    used: set[str] = set()
    known = {*candidate, *oracle}
    renames = renames_of(grants, changed, known)
    things = gone(grants, changed, known)
    found = _without_deleted(find_names(changed, known, renames), {thing.name for thing in things})
    wanted = asks_for_names(found.pairs, words)
    whole = moved_whole(changed) if leans(HarmlessKind.MOVE, words.partition("\n")[0], words) else ()
    replayed_by: tuple[Grant, ...] = tuple(grants)
    if wanted:
        renames = (*renames, *found.renames)
        replayed_by = (*grants, *found.grants, *as_grants(found.renames))
    for one in changed:
        if one.path in whole:
            files[one.path] = one.after
            dropped |= dict.fromkeys(left_behind(one), "move")
        elif (place := goes_along(one, changed, grants)) is not None:
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
            elif one.owner is Owner.DATA and (
                _went_along(one.path, oracle, changed, words)
                if one.after is None
                else stated(one.before, one.after, words)
            ):
                files[one.path] = one.after
    edits = _edits([one for one in changed if one.path not in whole], renames, files)
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
        if edit.kind is EditKind.DELETED and edit.test and takes_away(words, f"{edit.id} {edit.before}"):
            # as it was, it must fail: what it asks for is not there any more, or somebody else asks it
            excuses.setdefault(edit.id, Excuse(entry="change behaviour", red_on_base=bool(edit.now)))
        if edit.kind is EditKind.DELETED and (grant := _lets_go(grants, edit)) is not None:
            dropped[edit.id] = grant.entry
            used.add(grant.entry)
    gone_whole = {one.path for one in changed if one.after is None}
    for edit in edits:  # what stood around tests that may go
        own = [each for each in edits if each.test and each.path == edit.path]
        if edit.path in gone_whole and not edit.test and own and all(each.id in excuses for each in own):
            excuses.setdefault(edit.path, excuses[own[0].id])
    return Transformed(
        files=files,
        dropped=tuple(dropped),
        used=tuple(grant for grant in grants if grant.entry in used),
        excuses=excuses,
        edits=edits,
        found=found,
        moved=whole,
        wanted=wanted,
    )


def _goes_with(changed: Sequence[Owned], words: str) -> tuple[Grant, ...]:
    """Modules that are gone and of which the task orders something to be taken away: only tests that need them go."""
    gone_ones = [one for one in changed if one.owner is Owner.SUBJECT and one.python and one.after is None]
    names = [python_name(one.path) for one in gone_ones if takes_away(words, _defines(one.before))]
    plain = [name.removeprefix("src.") for name in names if re.fullmatch(r"[A-Za-z_][\w.]*", name)]
    return grants_of(tuple(f"delete {name}" for name in plain))


def _defines(source: bytes | None) -> str:
    return " ".join(re.findall(r"(?m)^(?:async def|def|class)\s+(\w+)", (source or b"").decode("utf-8", "replace")))


def _went_along(path: str, oracle: Mapping[str, bytes], changed: Sequence[Owned], words: str) -> bool:
    """Data that goes with what the task takes away: called like it, or spoken of only by tests that are gone."""
    if takes_away(words, path):
        return True
    name = path.rpartition("/")[2].encode()
    left = {one.path: one.after or b"" for one in changed}
    speak = [other for other, text in oracle.items() if other != path and name in text]
    return bool(speak) and takes_away(words, words) and not any(name in left.get(other, name) for other in speak)


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
    called = edit.now.partition("::")[2] if edit.now.startswith(f"{edit.path}::") else name
    before, after = units_of(one.before) or {}, units_of(one.after) or {}
    old, new = before.get(name), after.get(called)
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
    asked_again = edit.kind is EditKind.DELETED and edit.test and bool(edit.now)  # by a new test, for another answer
    if grant.kind is GrantKind.CHANGE_BEHAVIOUR and (
        asked_again or edit.kind in (EditKind.SAME_SHAPE, EditKind.STRONGER) or _asks_more(edit)
    ):
        word = grant.target.rpartition(".")[2]
        if not word or word in edit.before or word in edit.id:
            return Excuse(entry=grant.entry, red_on_base=True)
    return None


def _asks_more(edit: TestEdit) -> bool:
    whole = max(len(edit.before), len(edit.after)) < MOST_EXCERPT
    changed = edit.kind is EditKind.CHANGED and edit.test and whole
    return changed and more_of_the_same(edit.path, edit.before, edit.after)


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
