"""Who needs whom: the modules that source files import, read from their text. Pure."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from engine.perform.checks import python_source

SOURCES: dict[str, tuple[str, ...]] = {
    "python": (".py", ".pyi", ".pyx"),
    "javascript": (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte"),
    "go": (".go",),
    "rust": (".rs",),
    "jvm": (".java", ".kt", ".kts", ".scala", ".groovy"),
    "c": (".c", ".h", ".cc", ".cpp", ".hpp", ".cxx", ".m"),
    "shell": (".sh", ".bash"),
    "other": (".rb", ".php", ".pl", ".lua", ".ex", ".exs", ".cs", ".swift", ".hs", ".ml", ".r", ".jl", ".sql", ".awk"),
}
LANGUAGE = {suffix: language for language, suffixes in SOURCES.items() for suffix in suffixes}
REQUIRED = re.compile(
    rb"""(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*|\bimport\s+[\w*{}\s,$]+\s+from\s*)["'`]([^"'`\n]+)["'`]"""
)
SCRIPTED = re.compile(rb"[\w./-]+\.(?:py|js|mjs|cjs|ts|sh|rb|pl|awk|sql)\b")
FRAMEWORKS = frozenset({"pytest", "unittest", "_pytest", "nose", "hypothesis", "doctest"})


@lru_cache(maxsize=1 << 17)  # asked for every file of a repository, in each iteration
def language_of(path: str) -> str:
    """The language of a source file by its name; empty for data, prose and settings."""
    return LANGUAGE.get(posixpath.splitext(path)[1].lower(), "")


def python_name(path: str) -> str:
    """The dotted name by which a file may be imported, from the repository's root."""
    name = path.removesuffix(".pyi").removesuffix(".py").replace("/", ".")
    return name.removesuffix(".__init__")


@lru_cache(maxsize=4096)
def python_imports(source: bytes, path: str = "") -> frozenset[str]:
    """Every dotted name a file may import, relative ones made whole as far as its path tells."""
    try:
        tree = python_source.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        found = re.findall(rb"^\s*(?:from|import)\s+([\w.]+)", source, re.MULTILINE)
        return frozenset(name.decode("ascii", "replace") for name in found)
    names: set[str] = set()
    package = posixpath.dirname(path).replace("/", ".")
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                names |= {alias.name for alias in aliases}
            case ast.ImportFrom(module=module, names=aliases, level=level):
                parts = package.split(".") if package else []
                if level > 1:
                    parts = parts[: len(parts) - (level - 1)]
                head = ".".join([*(parts if level else []), *([module] if module else [])])
                names.add(head)
                names |= {f"{head}.{alias.name}" if head else alias.name for alias in aliases}
            case ast.Call(
                func=ast.Name(id="__import__") | ast.Attribute(attr="import_module" | "run_module" | "importorskip"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                names.add(name)
    return frozenset(name for name in names if name)


def imported_by(path: str, files: Mapping[str, bytes]) -> tuple[str, ...]:
    """Files among `files` that import `path`, or (as programs) name it."""
    if path.endswith((".py", ".pyi")):
        return tuple(other for other, source in files.items() if other != path and _python_needs(other, source, path))
    language = language_of(path)
    stem = posixpath.splitext(path)[0]
    found = []
    for other, source in files.items():
        if other == path or language_of(other) != language:
            continue
        for match in REQUIRED.findall(source):
            target = match.decode("utf-8", "replace")
            if target.startswith("."):
                whole = posixpath.normpath(posixpath.join(posixpath.dirname(other), target))
                if whole in (path, stem, posixpath.dirname(path) or "."):
                    found.append(other)
                    break
    return tuple(found)


def _python_needs(other: str, source: bytes, path: str) -> bool:
    if not other.endswith((".py", ".pyi")):
        return False
    name = python_name(path)
    tails = {name, *(name.partition(".")[2] if name.startswith(root) else name for root in ("src.", "lib."))}
    # a module beside its importer, and one below a folder on the path, are named by their last parts
    last = name.rpartition(".")[2]
    for wanted in python_imports(source, other):
        if wanted in tails or any(tail.endswith(f".{wanted}") or wanted.endswith(f".{tail}") for tail in tails):
            return True
        if wanted.rpartition(".")[2] == last and posixpath.dirname(other) == posixpath.dirname(path):
            return True
    return False


def mentions(path: str, files: Mapping[str, bytes]) -> tuple[str, ...]:
    """Files whose text names `path`, whole or by its last part."""
    whole, last = path.encode(), posixpath.basename(path).encode()
    return tuple(other for other, text in files.items() if other != path and (whole in text or _word(last, text)))


def _word(word: bytes, text: bytes) -> bool:
    return word in text and re.search(rb"(?<![\w.-])" + re.escape(word) + rb"(?![\w-])", text) is not None


def tests_only(path: str, source: bytes, importers: Iterable[str], is_test: Mapping[str, bool]) -> bool:
    """A module that brings a test framework in and that only tests import: a helper of the tests, wherever it lies."""
    if not path.endswith(".py"):
        return False
    roots = {name.partition(".")[0] for name in python_imports(source, path)}
    users = list(importers)
    return bool(FRAMEWORKS & roots) and bool(users) and all(is_test.get(user, False) for user in users)
