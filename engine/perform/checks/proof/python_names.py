"""What a name in a Python file stands for: modules by path, imports, dotted chains; and names under a rename. Pure."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping

from engine.core.model import Struct
from engine.perform.checks import python_source

SOURCE_ROOTS = ("src/", "lib/", "python/")
PLACEHOLDER = "\N{RIGHTWARDS ARROW}"


class Rename(Struct, frozen=True, kw_only=True):
    """One name that became another, both as whole dotted names where they are known."""

    old: str
    new: str
    member: bool = False
    """A method, an attribute or a parameter: its object is seldom known from the text."""
    entry: str = ""
    exact: bool = False
    """This name alone: a module is called so too, and what is in it stays."""

    @property
    def old_last(self) -> str:
        return self.old.rpartition(".")[2]

    @property
    def new_last(self) -> str:
        return self.new.rpartition(".")[2]


class Names(Struct, frozen=True, kw_only=True):
    """The imports of one file: local name to what it stands for."""

    bound: Mapping[str, str] = {}

    def full(self, node: ast.AST) -> str:
        """The dotted name a chain stands for; empty where its root is not imported."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.bound:
            return ""
        return ".".join([self.bound[node.id], *reversed(parts)])


def module_name(path: str, files: Collection[str]) -> str:
    """`src/shop/cart.py` → `shop.cart`: below the folder that is no package, or below a usual source root."""
    stem = path.removesuffix(".pyi").removesuffix(".py").removesuffix("/__init__")
    parts = stem.split("/")
    first = len(parts) - 1
    while first > 0 and f"{'/'.join(parts[:first])}/__init__.py" in files:
        first -= 1
    if first == len(parts) - 1 and first > 0 and not path.endswith("/__init__.py"):
        for root in SOURCE_ROOTS:
            stem = stem.removeprefix(root)
        return stem.replace("/", ".")
    return ".".join(parts[first:])


def names_in(tree: ast.AST, module: str = "") -> Names:
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        for local, full in imported(node, module):
            bound.setdefault(local, full)
    return Names(bound=bound)


def imported(node: ast.AST, module: str) -> Iterator[tuple[str, str]]:
    """(local name, what it stands for) for each name an import binds."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield (alias.asname, alias.name) if alias.asname else (alias.name.partition(".")[0],) * 2
    elif isinstance(node, ast.ImportFrom):
        source = from_module(node, module)
        for alias in node.names:
            yield alias.asname or alias.name, f"{source}.{alias.name}" if source else alias.name


def from_module(node: ast.ImportFrom, module: str) -> str:
    if not node.level:
        return node.module or ""
    parents = module.split(".")[: -node.level] if module else []
    return ".".join([*parents, *([node.module] if node.module else [])])


def mapped(full: str, renames: Iterable[Rename]) -> str:
    """The name under the renames; the longest old name that fits wins."""
    for one in sorted(renames, key=lambda rename: -len(rename.old)):
        if full == one.old or (not one.exact and full.startswith(f"{one.old}.")):
            return one.new + full[len(one.old) :]
    return full


class _Canonical(ast.NodeTransformer):
    """Chains by what they stand for, and both ends of a rename as one: equal trees mean equal tests."""

    def __init__(self, names: Names, renames: tuple[Rename, ...]) -> None:
        self._names = names
        self._renames = renames
        self._ends = {end for one in renames for end in (one.old_last, one.new_last)}
        self._texts = {end for one in renames for end in (one.old, one.new, one.old_last, one.new_last)}

    def _word(self, word: str) -> str:
        return PLACEHOLDER if word in self._ends else word

    def visit_Name(self, node: ast.Name) -> ast.AST:
        full = self._names.full(node)
        if not full:
            return ast.Name(id=self._word(node.id), ctx=ast.Load())
        return ast.Name(id=self._ended(mapped(full, self._renames)), ctx=ast.Load())

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        full = self._names.full(node)
        if full:
            return ast.Name(id=self._ended(mapped(full, self._renames)), ctx=ast.Load())
        self.generic_visit(node)
        node.attr = self._word(node.attr)
        return node

    def _ended(self, full: str) -> str:
        head, dot, last = full.rpartition(".")
        return f"{head}{dot}{self._word(last)}"

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        self.generic_visit(node)
        node.arg = self._word(node.arg) if node.arg else node.arg
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if not isinstance(node.value, str) or not self._renames:
            return node
        text = mapped(node.value, self._renames)
        return ast.Constant(value=PLACEHOLDER if text in self._texts else text)


def canonical(tree: ast.AST, names: Names, renames: tuple[Rename, ...] = ()) -> ast.AST:
    """Changes `tree` in place; give it a copy."""
    changed: ast.AST = _Canonical(names, renames).visit(tree)
    return changed


def defined(source: bytes | None, module: str) -> dict[str, bool]:
    """Whole names a module defines, to whether each is a member (a method, an attribute, a parameter)."""
    try:
        tree = python_source.parse(source or b"")
    except (SyntaxError, ValueError, RecursionError):
        return {}
    return dict(_defined(tree.body, module, member=False))


def _defined(body: Iterable[ast.stmt], prefix: str, member: bool) -> Iterator[tuple[str, bool]]:
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield f"{prefix}.{node.name}", member
                arguments = node.args
                for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                    if one.arg not in ("self", "cls"):
                        yield f"{prefix}.{node.name}.{one.arg}", True
                if member:
                    yield from _self_attributes(node, prefix)
            case ast.ClassDef():
                yield f"{prefix}.{node.name}", member
                yield from _defined(node.body, f"{prefix}.{node.name}", member=True)
            case ast.Assign(targets=targets):
                for target in targets:
                    for inner in ast.walk(target):
                        if isinstance(inner, ast.Name):
                            yield f"{prefix}.{inner.id}", member
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield f"{prefix}.{name}", member
            case ast.If(body=inner_body, orelse=orelse):
                yield from _defined([*inner_body, *orelse], prefix, member)
            case ast.Try(body=inner_body, handlers=handlers, orelse=orelse):
                yield from _defined([*inner_body, *orelse, *(s for h in handlers for s in h.body)], prefix, member)
            case ast.Import() | ast.ImportFrom() if not member:
                for local, _ in imported(node, ""):
                    yield f"{prefix}.{local}", False
            case _:
                pass


def _self_attributes(node: ast.AST, prefix: str) -> Iterator[tuple[str, bool]]:
    for inner in ast.walk(node):
        if (
            isinstance(inner, ast.Attribute)
            and isinstance(inner.ctx, ast.Store)
            and isinstance(inner.value, ast.Name)
            and inner.value.id == "self"
        ):
            yield f"{prefix}.{inner.attr}", True
