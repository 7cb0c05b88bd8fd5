"""What the sections say of themselves: the docstring under each field, and a field's default."""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import inspect


@cache
def docs_of(kind: type) -> dict[str, str]:
    """The docstring under each field of a section."""
    source = Path(str(sys.modules[kind.__module__].__file__)).read_text("utf-8")
    node = next(
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef) and node.name == kind.__name__
    )
    found: dict[str, str] = {}
    for statement, after in zip(node.body, node.body[1:], strict=False):
        named = isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
        if named and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            found[ast.unparse(statement.target)] = " ".join(str(after.value.value).split())  # type: ignore[attr-defined]
    return found


def toml(name: str, value: Any) -> str:
    import tomli_w

    return tomli_w.dumps({name: msgspec.to_builtins(value)}).strip()


def struct_of(kind: inspect.Type) -> type | None:
    """The section a field holds, alone, in a list or by name."""
    match kind:
        case inspect.StructType():
            return kind.cls
        case inspect.VarTupleType():
            return struct_of(kind.item_type)
        case inspect.DictType():
            return struct_of(kind.value_type)
    return None


def own_default(field: inspect.Field) -> Any:
    return field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
