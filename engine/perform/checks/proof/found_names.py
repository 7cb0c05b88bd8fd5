"""Renames and moves found in the difference itself: what vanished under one name and is there under another. Pure.

A map from names that are gone to names that are new can do no harm by being wrong: the base's tests are rewritten by
it, keep every assertion, and have to hold in full. So the map is read off the change, and the words only say whether
somebody asked for it.
"""

from __future__ import annotations

import ast
import difflib
import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from engine.core.grants import Grant, GrantKind
from engine.core.model import Struct
from engine.perform.checks import python_source
from engine.perform.checks.proof.found_words import moved_files, word_renames
from engine.perform.checks.proof.owned import Owned, Owner
from engine.perform.checks.proof.python_names import Rename, imported, mapped, module_name
from engine.perform.checks.proof.same_tree import alike, dump_plain

Function = ast.FunctionDef | ast.AsyncFunctionDef
MOST = 60
"""Renames in one change; more is no rename but another program."""
MOST_GONE = 4 * MOST
"""Names that are compared with each other at all."""


class Definition(Struct, frozen=True, kw_only=True):
    """One name that a module or class binds."""

    full: str
    sort: str
    """function, class, value or import."""
    node: ast.AST
    target: str = ""
    """What an import stands for."""

    @property
    def last(self) -> str:
        return self.full.rpartition(".")[2]

    @property
    def scope(self) -> str:
        return self.full.rpartition(".")[0]


class FoundNames(Struct, frozen=True, kw_only=True):
    """What the change calls otherwise."""

    renames: tuple[Rename, ...] = ()
    """Of Python, by whole names."""
    grants: tuple[Grant, ...] = ()
    """Of other languages, and of files: as a plan would have written them."""

    def __bool__(self) -> bool:
        return bool(self.renames or self.grants)

    @property
    def pairs(self) -> tuple[tuple[str, str, str], ...]:
        """(old, new, the entry of `allow:` that says it)."""
        return (
            *((one.old, one.new, one.entry) for one in self.renames),
            *((one.target, one.to, one.entry) for one in self.grants),
        )


def find_names(changed: Sequence[Owned], files: Collection[str], known: Sequence[Rename] = ()) -> FoundNames:
    """Every rename and move that the subject shows; `known` are those the plan names already."""
    subject = [one for one in changed if one.owner is Owner.SUBJECT]
    renames = _python(subject, files, tuple(known))
    grants = (*moved_files(subject), *word_renames(subject))
    if len(renames) > MOST:
        renames = ()
    return FoundNames(renames=renames, grants=grants if len(grants) <= MOST else ())


def definitions(subject: Iterable[Owned], files: Collection[str], *, before: bool) -> dict[str, Definition]:
    """Whole names to what the changed files bind there, members of classes among them."""
    sides = [(one.path, one.before if before else one.after) for one in subject if one.python]
    places = {path for path in files if not before or path not in {one.path for one in subject if one.before is None}}
    places |= {path for path, data in sides if data is not None}
    found: dict[str, Definition] = {}
    for path, data in sides:
        tree = parsed(data)
        if tree is not None:
            module = module_name(path, places)
            found |= {one.full: one for one in _bound(tree.body, module, module, path)}
    return found


def parsed(data: bytes | None) -> ast.Module | None:
    try:
        return python_source.parse(data) if data is not None else None
    except (SyntaxError, ValueError, RecursionError):
        return None


def _bound(body: Iterable[ast.stmt], prefix: str, module: str, path: str) -> Iterator[Definition]:
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield Definition(full=f"{prefix}.{node.name}", sort="function", node=node)
            case ast.ClassDef():
                yield Definition(full=f"{prefix}.{node.name}", sort="class", node=node)
                yield from _bound(node.body, f"{prefix}.{node.name}", module, path)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield Definition(full=f"{prefix}.{name}", sort="value", node=value)
            case ast.AnnAssign(target=ast.Name(id=name), value=value):
                yield Definition(full=f"{prefix}.{name}", sort="value", node=value or node.annotation)
            case ast.Import() | ast.ImportFrom():
                package = f"{module}.__init__" if path.endswith("__init__.py") else module
                for local, full in imported(node, package):
                    yield Definition(full=f"{prefix}.{local}", sort="import", node=node, target=full)
            case ast.If(body=inner, orelse=orelse) | ast.Try(body=inner, orelse=orelse):
                yield from _bound([*inner, *orelse], prefix, module, path)
            case _:
                pass


def _python(subject: Sequence[Owned], files: Collection[str], known: tuple[Rename, ...]) -> tuple[Rename, ...]:
    before = definitions(subject, files, before=True)
    after = definitions(subject, files, before=False)
    found: list[Rename] = []

    def now(full: str) -> str:
        return mapped(full, (*known, *found))

    _modules(subject, files, before, after, found)
    tops = [one for one in before.values() if _parent(one.scope, before) is None]
    _match(tops, [one for one in after.values() if _parent(one.scope, after) is None], now, found, before, after)
    members = [one for one in before.values() if _parent(one.scope, before) is not None]
    _match(members, [one for one in after.values() if one not in tops], now, found, before, after)
    for name, one in before.items():
        there = after.get(now(name))
        if there is not None and one.sort == there.sort == "function":
            found += _parameters(one, there)
        if there is not None and one.sort == there.sort == "class":
            found += _attributes(one, there)
    _handed_on(before, after, now, found)
    _moved_and_kept(before, after, found)
    named = {one.old for one in known}
    return tuple(dict.fromkeys(one for one in found if one.old not in named and one.old != one.new))


def _parent(scope: str, definitions: Mapping[str, Definition]) -> Definition | None:
    return definitions.get(scope)


def _modules(
    subject: Sequence[Owned],
    files: Collection[str],
    before: Mapping[str, Definition],
    after: Mapping[str, Definition],
    found: list[Rename],
) -> None:
    """A module that is gone, all of it found again in one that is new."""
    gone = [one for one in subject if one.python and one.after is None and one.before is not None]
    new = [one for one in subject if one.python and one.before is None and one.after is not None]
    old_places = {*files, *(one.path for one in gone)}
    modules = {module_name(one.path, {*files, one.path}): one for one in new}
    for one in gone:
        name = module_name(one.path, old_places)
        if name in modules or any(each.scope == name for each in after.values()):
            continue  # a module became a package of the same name
        every = [each for each in before.values() if each.scope == name and each.sort != "import"]
        mine = {each.last: each.sort for each in every}
        fits = [other for other in modules if mine and _has(after, other, mine)]
        tree = dump_plain(parsed(one.before))
        exact = [other for other in modules if dump_plain(parsed(modules[other].after)) == tree]
        fits = exact or fits
        if len(fits) > 1:
            fits = [other for other in fits if posixpath.basename(modules[other].path) == posixpath.basename(one.path)]
        if len(fits) == 1 and not any(taken.new == fits[0] for taken in found):
            found.append(Rename(old=name, new=fits[0], entry=f"move {name} to {fits[0]}"))


def _has(after: Mapping[str, Definition], module: str, wanted: Mapping[str, str]) -> bool:
    """The module binds all these names, to things of the same sort."""
    return all(
        (there := after.get(f"{module}.{word}")) is not None and there.sort == sort for word, sort in wanted.items()
    )


def _match(
    olds: Sequence[Definition],
    news: Sequence[Definition],
    now: Callable[[str], str],
    found: list[Rename],
    before: Mapping[str, Definition],
    after: Mapping[str, Definition],
) -> None:
    """Names that are gone with names that are new: by what they do, then by being the only ones of their place."""
    gone = [one for one in olds if now(one.full) not in after and one.sort != "import"]
    kept = {now(name) for name in before}
    fresh = [one for one in news if one.full not in kept and one.sort != "import"]
    if len(gone) > MOST_GONE or len(fresh) > MOST_GONE:
        return  # another program
    for rule in (_same_body, _same_members, _alone):
        for one in list(gone):
            scope = now(one.scope)
            fits = [other for other in fresh if other.sort == one.sort and rule(one, other, scope, gone, fresh)]
            if len(fits) > 1:  # twins: the one of the same name, of the same place, of the nearest name
                near = [other for other in fits if other.last == one.last] or [o for o in fits if o.scope == scope]
                fits = [max(near, key=lambda other: _nearness(one.last, other.last))] if near else []
            if not fits:
                continue
            member = _parent(one.scope, before) is not None
            if member and fits[0].scope != scope:
                continue  # a method belongs to its class
            gone.remove(one)
            fresh.remove(fits[0])
            word = "rename" if fits[0].scope == scope else "move"
            entry = f"{word} {one.full} to {fits[0].full}"
            found.append(Rename(old=one.full, new=fits[0].full, member=member, entry=entry))


def _nearness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()


def _same_body(
    one: Definition, other: Definition, scope: str, gone: Sequence[Definition], fresh: Sequence[Definition]
) -> bool:
    if one.sort == "value":
        plain = isinstance(one.node, ast.Constant) and one.last != other.last
        # two equal numbers say little: they have to be the only ones
        return dump_plain(one.node) == dump_plain(other.node) and (not plain or one.scope == other.scope)
    return alike(one.node, other.node)


def _same_members(
    one: Definition, other: Definition, scope: str, gone: Sequence[Definition], fresh: Sequence[Definition]
) -> bool:
    """A class by most of what it has."""
    if not isinstance(one.node, ast.ClassDef) or not isinstance(other.node, ast.ClassDef):
        return False
    had, has = ({node.name for node in each.body if isinstance(node, Function)} for each in (one.node, other.node))
    return len(had & has) * 2 > len(had | has) and (other.scope == scope or one.last == other.last)


def _alone(
    one: Definition, other: Definition, scope: str, gone: Sequence[Definition], fresh: Sequence[Definition]
) -> bool:
    """The one that is gone and the one that is new in the same place, called with as many arguments."""
    if one.sort == "value" or other.scope != scope:
        return one.sort == other.sort == "function" and one.last == other.last and _arity(one) == _arity(other)
    mine = [each for each in gone if each.scope == one.scope and each.sort == one.sort]
    theirs = [each for each in fresh if each.scope == scope and each.sort == one.sort]
    return len(mine) == len(theirs) == 1 and one.sort == "function" and _arity(one) == _arity(other)


def _arity(one: Definition) -> tuple[str, ...] | None:
    if not isinstance(one.node, Function):
        return None
    arguments = one.node.args
    return tuple(each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))


def _parameters(one: Definition, other: Definition) -> Iterator[Rename]:
    """Arguments of another name at the same place."""
    if not isinstance(one.node, Function) or not isinstance(other.node, Function):
        return
    old_args, new_args = one.node.args, other.node.args
    placed = ([*old_args.posonlyargs, *old_args.args], [*new_args.posonlyargs, *new_args.args])
    for before, after in (placed, (old_args.kwonlyargs, new_args.kwonlyargs)):
        had, has = [each.arg for each in before], [each.arg for each in after]
        for old, new in zip(had, has, strict=False):
            if old != new and old not in has and new not in had:
                entry = f"rename {one.full}.{old} to {new}"
                yield Rename(old=f"{one.full}.{old}", new=f"{other.full}.{new}", member=True, entry=entry)


def _attributes(one: Definition, other: Definition) -> Iterator[Rename]:
    """`self.x` that is `self.y` at every place where it stood."""
    had, has = (_own_attributes(node.node) for node in (one, other))
    gone = [word for word in had if word not in has]
    new = [word for word in has if word not in had]
    if len(gone) == len(new) and gone:
        for old, fresh in zip(gone, new, strict=True):
            if had[old] == has[fresh]:
                entry = f"rename {one.full}.{old} to {fresh}"
                yield Rename(old=f"{one.full}.{old}", new=f"{other.full}.{fresh}", member=True, entry=entry)


def _own_attributes(node: ast.AST) -> dict[str, int]:
    """Attributes of self that the class sets, in order, to how often it names them."""
    found: dict[str, int] = {}
    every: dict[str, int] = {}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name) and inner.value.id == "self":
            every[inner.attr] = every.get(inner.attr, 0) + 1
            if isinstance(inner.ctx, ast.Store):
                found.setdefault(inner.attr, 0)
    return {word: every[word] for word in found}


def _handed_on(
    before: Mapping[str, Definition],
    after: Mapping[str, Definition],
    now: Callable[[str], str],
    found: list[Rename],
) -> None:
    """A package hands on a name of its module: under the new name the same thing is handed on."""
    for one in before.values():
        if one.sort != "import" or now(one.full) in after:
            continue
        target = now(one.target)
        fits = [
            other
            for other in after.values()
            if other.sort == "import" and other.scope == now(one.scope) and other.target == target
        ]
        if target != one.target and len(fits) == 1 and fits[0].full not in before:
            entry = f"rename {one.full} to {fits[0].full}"
            module = any(each.scope == one.full for each in before.values())
            found.append(Rename(old=one.full, new=fits[0].full, entry=entry, exact=module))


def _moved_and_kept(before: Mapping[str, Definition], after: Mapping[str, Definition], found: list[Rename]) -> None:
    """A function or class that stands elsewhere now, and is handed on where it stood: both names are the same thing."""
    for name, one in before.items():
        there = after.get(name)
        if there is None or there.sort != "import" or one.sort not in ("function", "class"):
            continue
        other = after.get(there.target)
        if other is not None and there.target not in before and other.sort == one.sort and alike(one.node, other.node):
            found.append(Rename(old=name, new=other.full, entry=f"move {name} to {other.full}"))


def hands_on_only(changed: Iterable[Owned]) -> bool:
    """The source differs by nothing but imports that hand on a name as it is, and by the lists of such names."""
    source = [one for one in changed if one.owner is Owner.SUBJECT and one.python]
    for one in source:
        old, new = parsed(one.before), parsed(one.after)
        if old is None or new is None:
            return False
        had = {dump_plain(node) for node in old.body}
        if {dump_plain(node) for node in old.body if not _hands_on(node)} - {dump_plain(node) for node in new.body}:
            return False
        if not all(dump_plain(node) in had or _hands_on(node) for node in new.body):
            return False
    return bool(source)


def _hands_on(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)  # a docstring
    if isinstance(node, ast.ImportFrom):
        return all(alias.asname in (None, alias.name) and alias.name != "*" for alias in node.names)
    return isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["__all__"]


def as_grants(renames: Iterable[Rename]) -> tuple[Grant, ...]:
    """For rules that read grants: data and texts that name what was renamed."""
    return tuple(
        Grant(
            kind=GrantKind.MOVE if one.entry.startswith("move") else GrantKind.RENAME,
            target=one.old,
            to=one.new,
            entry=one.entry,
        )
        for one in renames
    )
