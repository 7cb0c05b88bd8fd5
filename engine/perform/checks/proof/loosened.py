"""Annotations that say less than they did: a type check that is content has less to look at. Pure; it only asks."""

from __future__ import annotations

import ast
import re

from engine.perform.checks import python_source
from engine.perform.checks.proof.source_text import without_comments
from engine.perform.checks.proof.suspicious import Hit

ANYTHING = re.compile(r"\b(?:Any|object|Incomplete)\b")
SCRIPT = re.compile(r"(?::|<|\bas)\s*(?:any|unknown)\b")
TYPED = (".ts", ".tsx", ".mts", ".cts")


def loosened(path: str, before: bytes | None, after: bytes | None) -> list[Hit]:
    """Where a function or variable that had a type has none now, or one that fits everything."""
    if before is None or after is None:
        return []
    if path.endswith(TYPED):
        old, new = (without_comments(path, text.decode("utf-8", "replace")) for text in (before, after))
        found = list(SCRIPT.finditer(new))
        if len(found) > len(SCRIPT.findall(old)):
            return [("suppression", new.count("\n", 0, found[-1].start()) + 1, "a type became `any`")]
        return []
    if not path.endswith((".py", ".pyi")):
        return []
    try:
        old_types, new_types = _types(python_source.parse(before)), _types(python_source.parse(after))
    except (SyntaxError, ValueError, RecursionError):
        return []
    hits: list[Hit] = []
    for name, (was, _) in old_types.items():
        now, line = new_types.get(name, (was, 0))
        lost = was and not now
        wider = bool(was) and len(ANYTHING.findall(now)) > len(ANYTHING.findall(was))
        if lost or wider:
            hits.append(("suppression", line, f"the type of {name} was {was} and is {now or 'not said'} now"))
    return hits


def _types(tree: ast.Module) -> dict[str, tuple[str, int]]:
    """Annotations by where they stand: `Class.method(argument)`, `function →`, `Class.attribute`."""
    found: dict[str, tuple[str, int]] = {}

    def text(node: ast.expr | None) -> str:
        return ast.unparse(node) if node is not None else ""

    def walk(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            match node:
                case ast.FunctionDef(name=name, args=args) | ast.AsyncFunctionDef(name=name, args=args):
                    found[f"{prefix}{name} →"] = (text(node.returns), node.lineno)
                    for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs):
                        found[f"{prefix}{name}({arg.arg})"] = (text(arg.annotation), arg.lineno)
                case ast.ClassDef(name=name):
                    walk(node.body, f"{prefix}{name}.")
                case ast.AnnAssign(target=target):
                    found[f"{prefix}{ast.unparse(target)}"] = (text(node.annotation), node.lineno)

    walk(tree.body, "")
    return found
