"""Python that looks at its callers, at other people's objects or at the process around it. Pure; it only asks.

Such code is everyday in some projects, and says something where the project had none of it before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from engine.perform.checks import python_source
from engine.perform.checks.proof.suspicious import Hit, dotted, imported_as

CALLS = frozenset(
    (
        "sys._getframe", "sys._current_frames", "inspect.stack", "inspect.currentframe", "inspect.getouterframes",
        "inspect.trace", "traceback.extract_stack", "traceback.walk_stack", "gc.get_objects", "gc.get_referrers",
        "gc.get_referents", "sys.settrace", "sys.setprofile", "sys.addaudithook", "ctypes.pythonapi", "os.getppid",
        "threading.settrace", "faulthandler.dump_traceback", "sys.gettrace", "sys.getprofile",
    )
)  # fmt: skip
ATTRIBUTES = frozenset(
    (
        "f_back", "f_globals", "f_locals", "f_code", "f_builtins", "tb_frame", "cell_contents", "__closure__",
        "__globals__", "co_filename", "co_consts", "pluginmanager", "gi_frame", "cr_frame", "orig_argv", "_pytest",
    )
)  # fmt: skip
NAMES = frozenset({"__main__", "__builtins__"})
PLACES = ("/proc/", "/sys/fs/cgroup", "/.dockerenv")


def looks(source: bytes | None) -> dict[str, int]:
    """What of this a source does, with the first line of each."""
    try:
        tree = python_source.parse(source or b"")
    except (SyntaxError, ValueError, RecursionError):
        return {}
    known = imported_as(tree)
    found: dict[str, int] = {}
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        match node:
            case ast.Attribute(attr=attr):
                head, _, rest = dotted(node).partition(".")
                name = f"{known.get(head, head)}.{rest}"
                if name in CALLS:
                    found.setdefault(name, line)
                elif attr in ATTRIBUTES:
                    found.setdefault(attr, line)
            case ast.Name(id=name) if known.get(name, name) in CALLS:
                found.setdefault(known[name], line)
            case ast.Import(names=names) if any(alias.name in NAMES for alias in names):
                found.setdefault("__main__", line)
            case ast.Constant(value=str(text)):
                if text in ATTRIBUTES or (text in NAMES and not _is_guard(tree, node)) or text.startswith(PLACES):
                    found.setdefault(text, line)
    return found


def _is_guard(tree: ast.Module, node: ast.Constant) -> bool:
    """`if __name__ == "__main__"`."""
    for other in ast.walk(tree):
        if isinstance(other, ast.Compare) and any(one is node for one in (other.left, *other.comparators)):
            return any(isinstance(one, ast.Name) and one.id == "__name__" for one in (other.left, *other.comparators))
    return False


def looks_around(before: bytes | None, after: bytes | None, base: Iterable[bytes]) -> list[Hit]:
    """What a change brings in, and no source of the base had."""
    fresh = {name: line for name, line in looks(after).items() if name not in looks(before)}
    if not fresh:
        return []
    had = {
        name
        for source in base
        if any(name.rpartition(".")[2].encode() in source for name in fresh)
        for name in looks(source)
    }
    return [("unusual-source", line, f"looks around it ({name})") for name, line in fresh.items() if name not in had]
