"""Whether two pieces of Python do the same under other names. Pure."""

from __future__ import annotations

import ast

IDENTIFIERS = frozenset({"id", "attr", "arg", "name", "asname"})
SKIPPED = frozenset({"annotation", "returns", "type_comment", "ctx", "kind", "type_params"})


def alike(old: ast.AST, new: ast.AST) -> bool:
    """The same tree but for names, each old name standing for one new name everywhere; documentation aside."""
    return swaps(old, new) is not None


def swaps(old: ast.AST, new: ast.AST) -> dict[str, str] | None:
    """The names that differ, old to new; None where more than names differs, or one name became two."""
    pairs: dict[str, str] = {}
    if not _unify(old, new, pairs):
        return None
    if len(set(pairs.values())) != len(pairs):
        return None
    return {was: now for was, now in pairs.items() if was != now}


def dump_plain(node: ast.AST | None) -> str:
    """The tree as text, without documentation, annotations and places; empty for nothing."""
    return "" if node is None else _dumped(node)


def _dumped(value: object) -> str:
    if isinstance(value, ast.AST):
        parts = [f"{name}={_dumped(_field(value, name))}" for name in value._fields if name not in SKIPPED]
        return f"{type(value).__name__}({','.join(parts)})"
    if isinstance(value, list):
        return f"[{','.join(map(_dumped, value))}]"
    return repr(value)


def _field(node: ast.AST, name: str) -> object:
    value = getattr(node, name, None)
    if name == "body" and isinstance(value, list):
        value = [part for part in value if not _documents(part)]
    return value


def _documents(node: object) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _unify(old: object, new: object, pairs: dict[str, str]) -> bool:
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(_unify(a, b, pairs) for a, b in zip(old, new, strict=True))
    if not isinstance(old, ast.AST) or not isinstance(new, ast.AST):
        return type(old) is type(new) and old == new
    if type(old) is not type(new):
        return False
    for name in old._fields:
        if name in SKIPPED:
            continue
        a, b = _field(old, name), _field(new, name)
        if name in IDENTIFIERS and isinstance(a, str) and isinstance(b, str):
            if pairs.setdefault(a, b) != b:
                return False
        elif name == "module" or (name == "value" and isinstance(old, ast.Constant) and _word(a) and _word(b)):
            continue  # where an import comes from, and a text that is a name, follow the rename
        elif not _unify(a, b, pairs):
            return False
    return True


def _word(value: object) -> bool:
    """A text that may be a name: `getattr(self, "add")`. It may differ, and is held by the tests."""
    return isinstance(value, str) and value.isidentifier()
