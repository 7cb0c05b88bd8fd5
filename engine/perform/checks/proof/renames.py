"""A rename or a move, applied to the tests of the base so that they can be run on the change. Pure.

Lines stay where they are: an import keeps its local name (`from shop.cart import put as add`), a chain is rewritten in
place. What a Python test says beyond names stays byte for byte what the base had.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence

from engine.core.grants import Grant, GrantKind
from engine.perform.checks import python_source
from engine.perform.checks.proof.owned import Owned, Owner
from engine.perform.checks.proof.python_names import Rename, defined, from_module, mapped, module_name, names_in
from engine.perform.checks.proof.rename_text import SUFFIXES

BUILT_IN = frozenset(name for kind in (str, bytes, int, float, list, dict, set, tuple) for name in dir(kind))
OBJECT_AND_NAME = ("setattr", "getattr", "hasattr", "delattr", "patch.object", "spy")


def renames_of(grants: Iterable[Grant], changed: Sequence[Owned], files: Collection[str]) -> tuple[Rename, ...]:
    """The renames a plan allows, with whole names where the change shows which thing was meant."""
    subject = [one for one in changed if one.owner is Owner.SUBJECT and one.python]
    before = _definitions(subject, files, before=True)
    after = _definitions(subject, files, before=False)
    found: list[Rename] = []
    for grant in grants:
        if grant.kind in (GrantKind.RENAME, GrantKind.MOVE):
            found += _resolved(grant, before, after, files)
    return tuple(dict.fromkeys(found))


def _definitions(subject: Iterable[Owned], files: Collection[str], before: bool) -> dict[str, bool]:
    found: dict[str, bool] = {}
    for one in subject:
        data = one.before if before else one.after
        if data is None:
            continue
        places = {*files, one.path} | ({p.path for p in subject if p.before is not None} if before else set())
        module = module_name(one.path, places)
        found[module] = False
        found |= defined(data, module)
    return found


def _resolved(
    grant: Grant, before: Mapping[str, bool], after: Mapping[str, bool], files: Collection[str]
) -> list[Rename]:
    old, new = _dotted(grant.target, files), _dotted(grant.to, files)
    if "." not in new and "." in old:
        new = f"{old.rpartition('.')[0]}.{new}"
    olds = [name for name in before if name == old or name.endswith(f".{old}")] or [old]
    found = []
    for one in olds:
        head, _, _ = one.rpartition(".")
        target = new
        if "." not in new and head:
            target = f"{head}.{new}"
        elif one != old and one.endswith(f".{old}") and new.rpartition(".")[0] == old.rpartition(".")[0]:
            target = one[: -len(old)] + new
        else:
            # `move shop.cart.add to shop.basket`: the place is named, the name stays
            inside = f"{new}.{one.rpartition('.')[2]}"
            if new not in after and inside not in after:
                longer = [name for name in after if name.endswith((f".{new}", f".{inside}"))]
                target = longer[0] if len(longer) == 1 else new
            elif inside in after:
                target = inside
        found.append(Rename(old=one, new=target, member=before.get(one, "." not in one), entry=grant.entry))
    return found


def _dotted(target: str, files: Collection[str]) -> str:
    if target.endswith((".py", ".pyi")):
        return module_name(target, files)
    if "/" in target and not target.endswith(SUFFIXES):
        return target.strip("/").removeprefix("src/").replace("/", ".")
    return target.replace(":", ".").replace("..", ".") if "/" not in target else target


class _Edits:
    """Replacements by place, applied from the back. Columns are bytes, as ast counts them."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._found: list[tuple[int, int, bytes]] = []

    def replace(self, node: ast.AST, text: str, skip: int = 0) -> None:
        start = self._starts[node.lineno - 1] + node.col_offset + skip  # type: ignore[attr-defined]
        end = self._starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
        lines = self._source[start:end].count(b"\n")
        self._found.append((start, end, text.encode() + b"\n" * lines))

    def tail(self, node: ast.Attribute, text: str) -> None:
        """The last word of a chain."""
        end = self._starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)
        self._found.append((end - len(node.attr.encode()), end, text.encode()))

    def keyword(self, node: ast.keyword, text: str) -> None:
        start = self._starts[node.lineno - 1] + node.col_offset
        self._found.append((start, start + len((node.arg or "").encode()), text.encode()))

    def done(self) -> bytes:
        data, last = self._source, len(self._source) + 1
        for start, end, text in sorted(set(self._found), reverse=True):
            if end <= last:
                data, last = data[:start] + text + data[end:], start
        return data


def rewrite_python(
    path: str, source: bytes, candidate: bytes | None, renames: Sequence[Rename], files: Collection[str]
) -> bytes:
    """The file under the renames; as it was where it cannot be read or nothing of it is meant."""
    try:
        tree = python_source.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return source
    return _Rewriter(tree, source, candidate, tuple(renames), module_name(path, files)).done()


class _Rewriter:
    def __init__(
        self, tree: ast.Module, source: bytes, candidate: bytes | None, renames: tuple[Rename, ...], module: str
    ) -> None:
        self._tree = tree
        self._edits = _Edits(source)
        self._renames = renames
        self._module = module
        self._names = names_in(tree, module)
        self._shown = _Shown(candidate)
        self._aliases: dict[str, str] = {}

    def done(self) -> bytes:
        for statement in self._tree.body:
            self._walk(statement)
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._import(node)
        return self._edits.done()

    def _walk(self, node: ast.AST) -> None:
        if isinstance(node, ast.Attribute | ast.Name):
            full = self._names.full(node)
            if full:
                self._chain(node, full)
                return
            if isinstance(node, ast.Attribute):
                self._member(node)
        elif isinstance(node, ast.keyword) and node.arg:
            self._keyword(node)
        elif isinstance(node, ast.JoinedStr):
            for inner in ast.walk(node):
                if isinstance(inner, ast.FormattedValue):
                    self._walk(inner.value)
            return
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            self._string(node, node.value)
        elif isinstance(node, ast.Call) and self._object_and_name(node):
            rest = [node.func, *node.args[2:], *node.keywords]
            for inner in rest:
                self._walk(inner)
            return
        for child in ast.iter_child_nodes(node):
            self._walk(child)

    def _now(self, full: str) -> str:
        """Under the renames; a name that is re-exported elsewhere follows what the change's own file shows."""
        now = mapped(full, self._renames)
        if now == full:
            head, _, last = full.rpartition(".")
            for one in self._renames:
                if last == one.old_last and last != one.new_last and self._shown.instead(head, one):
                    return f"{head}.{one.new_last}"
        return now

    def _chain(self, node: ast.Attribute | ast.Name, full: str) -> None:
        now = self._now(full)
        if now == full or isinstance(node, ast.Name):
            return  # a plain name keeps its local name, its import says where from
        root: ast.AST = node
        while isinstance(root, ast.Attribute):
            root = root.value
        local = root.id if isinstance(root, ast.Name) else ""
        bound = self._names.bound[local]
        if now.startswith(f"{bound}.") and mapped(bound, self._renames) == bound:
            self._edits.replace(node, local + now[len(bound) :])
        elif mapped(bound, self._renames) != bound and now == mapped(bound, self._renames) + full[len(bound) :]:
            if bound == local:  # `import shop` and the package itself is called otherwise
                self._edits.replace(node, now)
        else:
            self._edits.replace(node, self._alias(now))

    def _alias(self, full: str) -> str:
        """A name that no import of the file gives: the module it moved to is imported beside the first import."""
        return self._aliases.setdefault(full, f"_moved_{len(self._aliases)}_{full.rpartition('.')[2]}")

    def _member(self, node: ast.Attribute) -> None:
        for one in self._renames:
            if node.attr != one.old_last or node.attr == one.new_last:
                continue
            if self._shown.renamed(one, node.attr in BUILT_IN) if one.member else self._shown.only_new(one):
                self._edits.tail(node, one.new_last)

    def _keyword(self, node: ast.keyword) -> None:
        for one in self._renames:
            if one.member and node.arg == one.old_last and self._shown.renamed(one, False):
                self._edits.keyword(node, one.new_last)

    def _string(self, node: ast.Constant, text: str) -> None:
        now = mapped(text, self._renames) if "." in text and not any(c.isspace() for c in text) else text
        if now != text:
            self._edits.replace(node, repr(now))
            return
        for one in self._renames:
            exact = text == one.old or (text == one.old_last and one.old_last == one.old)
            if exact and (not one.old.isidentifier() or self._shown.texts(one)):
                self._edits.replace(node, repr(one.new))

    def _object_and_name(self, node: ast.Call) -> bool:
        """`monkeypatch.setattr(module, "name", …)`: both arguments together are one name."""
        if len(node.args) < 2 or not isinstance(node.args[1], ast.Constant):
            return False
        word = node.args[1].value
        function = ast.unparse(node.func)
        full = self._names.full(node.args[0])
        if not isinstance(word, str) or not function.endswith(OBJECT_AND_NAME):
            return False
        if not full:
            for one in self._renames:
                if one.member and word == one.old_last:
                    self._edits.replace(node.args[1], repr(one.new_last))
                    return True
            return False
        now = mapped(f"{full}.{word}", self._renames)
        if now == f"{full}.{word}":
            return False
        head, _, last = now.rpartition(".")
        if head != full:
            self._edits.replace(node.args[0], self._alias(head))
        if last != word:
            self._edits.replace(node.args[1], repr(last))
        return True

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        extra = self._extra() if node is self._first_import() else []
        if isinstance(node, ast.Import):
            names = [self._plain_import(alias) for alias in node.names]
            changed = names != [_spelled(alias) for alias in node.names]
            lines = [f"import {', '.join(names)}"]
        else:
            lines, changed = self._from_import(node)
        if changed or extra:
            self._edits.replace(node, "; ".join([*lines, *extra]))

    def _plain_import(self, alias: ast.alias) -> str:
        now = mapped(alias.name, self._renames)
        return f"{now} as {alias.asname}" if alias.asname else now

    def _from_import(self, node: ast.ImportFrom) -> tuple[list[str], bool]:
        source = from_module(node, self._module)
        written = "." * node.level + (node.module or "")
        groups: dict[str, list[str]] = {}
        changed = False
        for alias in node.names:
            full = f"{source}.{alias.name}" if source else alias.name
            now = self._now(full)
            if alias.name == "*":
                self._starred(source, written, groups)
                changed = True
                continue
            if now == full:
                groups.setdefault(written, []).append(_spelled(alias))
                continue
            changed = True
            head, _, last = now.rpartition(".")
            local = alias.asname or alias.name
            groups.setdefault(head or source, []).append(last if last == local else f"{last} as {local}")
        return [f"from {place} import {name}" for place, names in groups.items() for name in _stars(names)], changed

    def _starred(self, source: str, written: str, groups: dict[str, list[str]]) -> None:
        """`from shop.cart import *` goes on giving the old local names."""
        module = mapped(source, self._renames)
        groups.setdefault(written if module == source else module, []).append("*")
        for one in self._renames:
            head, _, last = one.new.rpartition(".")
            if one.old.rpartition(".")[0] == source and not one.member and head:
                groups.setdefault(head, []).append(f"{last} as {one.old_last}")

    def _first_import(self) -> ast.AST | None:
        return next(
            (
                node
                for node in self._tree.body
                if isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and node.module != "__future__")
            ),
            None,
        )

    def _extra(self) -> list[str]:
        lines = []
        for full, local in self._aliases.items():
            head, _, last = full.rpartition(".")
            lines.append(f"from {head} import {last} as {local}" if head else f"import {full} as {local}")
        return lines


def _stars(names: list[str]) -> list[str]:
    """A star cannot stand beside other names."""
    plain = [name for name in names if name != "*"]
    return (["*"] if "*" in names else []) + ([", ".join(plain)] if plain else [])


class _Shown:
    """What the change's own version of the file shows of a name whose object the text does not tell."""

    def __init__(self, candidate: bytes | None) -> None:
        self._attributes: set[str] | None = None
        self._texts: set[str] = set()
        self._fulls: set[str] = set()
        try:
            tree = python_source.parse(candidate) if candidate is not None else None
        except (SyntaxError, ValueError, RecursionError):
            tree = None
        if tree is not None:
            self._attributes = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
            names = names_in(tree)
            self._fulls = {*names.bound.values(), *(names.full(n) for n in ast.walk(tree))}
            self._attributes |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.keyword) and n.arg}
            self._texts = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}

    def renamed(self, one: Rename, ambiguous: bool) -> bool:
        if self._attributes is None or not {one.new_last, one.old_last} & self._attributes:
            return not ambiguous
        if one.new_last not in self._attributes:
            return False
        return one.old_last not in self._attributes or not ambiguous

    def instead(self, head: str, one: Rename) -> bool:
        return f"{head}.{one.new_last}" in self._fulls and f"{head}.{one.old_last}" not in self._fulls

    def only_new(self, one: Rename) -> bool:
        seen = self._attributes or set()
        return one.new_last in seen and one.old_last not in seen

    def texts(self, one: Rename) -> bool:
        return one.new in self._texts and one.old not in self._texts


def _spelled(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name
