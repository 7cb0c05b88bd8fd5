"""Whether a change is names and places alone: the base's program, piece by piece, with the old words replaced. Pure."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from engine.perform.checks.proof.found_names import FoundNames, definitions, parsed
from engine.perform.checks.proof.imports import language_of
from engine.perform.checks.proof.owned import Owned, Owner
from engine.perform.checks.proof.python_names import mapped
from engine.perform.checks.proof.rename_text import equal_but_for
from engine.perform.checks.proof.same_tree import dump_plain


def names_only(changed: Sequence[Owned], found: FoundNames, files: Collection[str]) -> bool:
    """The subject before and after is the same collection of definitions and statements under the renames."""
    subject = [one for one in changed if one.owner is Owner.SUBJECT and language_of(one.path)]
    python = [one for one in subject if one.python]
    before = definitions(python, files, before=True)
    modules = {one.scope for one in before.values()} - set(before)
    words = {one.old_last: one.new_last for one in found.renames if one.old not in modules}
    places = words | {one.old_last: one.new_last for one in found.renames}
    if not any(
        (new := _pieces(python, one, before=False)) is not None and _pieces(python, one, before=True) == new
        for one in (words, places)
    ):
        return False
    if not _targets(python, found, files):
        return False  # something is taken from elsewhere
    return _other_languages([one for one in subject if not one.python], found)


def _other_languages(subject: Sequence[Owned], found: FoundNames) -> bool:
    """The same lines, whichever file they stand in; or file by file the same words under the renames."""
    lines = [Counter(line for one in subject for line in _lines(side(one))) for side in (_before, _after)]
    if lines[0] == lines[1]:
        return True
    moved = {grant.target: grant.to for grant in found.grants}
    after = {one.path: one.after for one in subject}
    for one in subject:
        if one.before is None:
            if one.path not in moved.values():
                return False
            continue
        now = after.get(moved.get(one.path, one.path))
        if now is None or (now != one.before and not equal_but_for(one.path, one.before, now, found.grants)):
            return False
    return True


def _before(one: Owned) -> bytes | None:
    return one.before


def _after(one: Owned) -> bytes | None:
    return one.after


_ABOUT_FILES = re.compile(
    r"(?:import|export\s*\{|package|use|mod|from|#include|require)\b|(?:source|\.)\s+\S+$|const\s+[\w{},\s]+=\s*require\("
)


_COMMENT = re.compile(r"//|#(?![!\[\w])")


def _lines(data: bytes | None) -> list[str]:
    """What a file says, without its layout and without what it takes from other files."""
    text = (data or b"").decode("utf-8", "replace")
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not (_ABOUT_FILES.match(line) or _COMMENT.match(line))]


def _pieces(python: Iterable[Owned], words: Mapping[str, str], *, before: bool) -> Counter[str] | None:
    """Every top-level statement of the files as text, its names as the change calls them."""
    found: Counter[str] = Counter()
    for one in python:
        data = one.before if before else one.after
        if data is None:
            continue
        tree = parsed(data)
        if tree is None:
            return None
        for node in tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom) or _lists_names(node):
                continue  # what an import stands for is compared by `_targets`
            piece = dump_plain(_Renamed(words, names=before).visit(node))
            if not piece.startswith("Expr(value=Constant") and not _alias(piece):
                found[piece] += 1
    return found


def _targets(python: Sequence[Owned], found: FoundNames, files: Collection[str]) -> bool:
    """Whether all that the files import now they imported before, or it is a piece of theirs that stands elsewhere."""
    before, after = (definitions(python, files, before=side) for side in (True, False))
    had = {mapped(one.target or one.full, found.renames) for one in before.values()}
    had |= {mapped(one.full, found.renames) for one in before.values()}
    lasts = {mapped(one.full, found.renames).rpartition(".")[2] for one in before.values() if one.sort != "import"}
    now = {one.target for one in after.values() if one.sort == "import"}
    mine = {one.full for one in after.values() if one.sort != "import" and one.last in lasts}
    return now <= had | mine


def _lists_names(node: ast.stmt) -> bool:
    """`__all__`: what is handed on is held by the tests that import it."""
    return isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets)


def _alias(piece: str) -> bool:
    """`old = new`, kept for a while."""
    return piece.startswith("Assign(targets=[Name(id=") and ",value=Name(id=" in piece


class _Renamed(ast.NodeTransformer):
    """Words of the tree as the change calls them."""

    def __init__(self, words: Mapping[str, str], *, names: bool) -> None:
        """`names`: not only those in texts, which may follow or stay."""
        self._now, self._names = words, names
        self._said = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})(?!\w)")

    def visit(self, node: ast.AST) -> ast.AST:
        self.generic_visit(node)
        for field in ("id", "attr", "arg", "name", "asname") if self._names else ():
            word = getattr(node, field, None)
            if isinstance(word, str):
                setattr(node, field, self._now.get(word, word))
        if self._names and isinstance(node, ast.Global | ast.Nonlocal):
            node.names = [self._now.get(word, word) for word in node.names]
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = self._said.sub(lambda word: self._now[word[0]], node.value) if self._now else node.value
        return node
