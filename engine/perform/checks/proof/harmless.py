"""Holds a change to the kind that `proof: none (KIND)` calls it: docs that change the program are no docs. Pure."""

from __future__ import annotations

import ast
import posixpath
import re
from collections import Counter
from collections.abc import Iterable
from typing import assert_never

from msgspec.structs import replace

from engine.core.harmless import HarmlessKind
from engine.core.model import Struct
from engine.perform.checks import python_source
from engine.perform.checks.proof.imports import language_of

DOCUMENTS = ("docs/", "doc/", "examples/")
_C_LIKE = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".go", ".rs", ".java", ".kt", ".c", ".h", ".cc", ".cpp", ".cs")
_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\w+|[^\s\w]", re.DOTALL
)


class Source(Struct, frozen=True, kw_only=True):
    """A file of the subject, before and after."""

    path: str
    before: bytes | None
    after: bytes | None


def outside(kinds: Iterable[HarmlessKind], changed: Iterable[Source]) -> str:
    """The first file of the subject whose change is of none of the kinds; empty: all are, or it is bound to none."""
    wanted = tuple(kinds)
    for file in changed:
        if wanted and not any(_is(kind, file) for kind in wanted):
            return file.path
    return ""


def _is(kind: HarmlessKind, file: Source) -> bool:
    match kind:
        case HarmlessKind.MOVE | HarmlessKind.REFACTORING | HarmlessKind.SETTINGS:
            return True  # the tests of the base hold it, nothing else can
        case HarmlessKind.TYPES:
            return not file.path.endswith(".py") or _means(file, annotations=False)
        case HarmlessKind.REMOVAL:
            return _only_less(file)
        case HarmlessKind.GENERATED:
            return b"generated" in (file.after or b"")[:2000].lower() or _means(file)
        case HarmlessKind.DOCS | HarmlessKind.LAYOUT | HarmlessKind.TESTS | HarmlessKind.DEPENDENCIES:
            return file.path.startswith(DOCUMENTS) or _means(file)
        case _:
            assert_never(kind)


def means_the_same(file: Source) -> bool:
    """Whether nothing but comments, docstrings, layout and annotations differs, or it is a document's example."""
    return file.path.startswith(DOCUMENTS) or _means(file, annotations=False)


def only_words(file: Source) -> bool:
    """Whether nothing but comments, docstrings and layout differs: annotations are part of the program here."""
    return _means(file)


def _means(file: Source, *, annotations: bool = True) -> bool:
    """Whether the program is the same but for comments, docstrings and layout (and annotations)."""
    if file.before is None or file.after is None:
        return _says_nothing(file)
    if file.path.endswith((".py", ".pyi")):
        after = file.after if annotations else _without_imports_for_types(file.before, file.after)
        trees = [_python(text, annotations=annotations) for text in (file.before, after)]
        return trees[0] is not None and trees[0] == trees[1]
    if file.path.endswith(_C_LIKE):
        return _tokens(file.before) == _tokens(file.after)
    if language_of(file.path) == "shell" and b"<<" not in file.before + file.after:
        return _shell_lines(file) == _shell_lines(replace(file, after=file.before))
    return not posixpath.splitext(file.path)[1] and file.before == file.after


def _shell_lines(file: Source) -> list[str]:
    """Of the file after the change, without comments; a `#` at the first line's begin says what runs it."""
    text = (file.after or b"").decode("utf-8", "replace")
    first, _, rest = text.partition("\n")
    head = [first.rstrip()] if first.startswith("#!") else _shell_code(first)
    return [*head, *_shell_code(rest)]


def _shell_code(text: str) -> list[str]:
    """Lines that are more than a comment; one behind a command is left as it is: it may stand in a text."""
    return [line.rstrip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def _says_nothing(file: Source) -> bool:
    """A new or deleted file without a statement: `py.typed`, an `__init__.py` with a docstring."""
    text = file.after if file.before is None else file.before
    if not (text or b"").strip():
        return True
    if not file.path.endswith((".py", ".pyi")):
        return False
    return _python(text or b"", annotations=True) == _python(b"", annotations=True)


def _python(text: bytes, *, annotations: bool) -> str | None:
    try:
        tree = python_source.parse(text)
    except (SyntaxError, ValueError):
        return None
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and isinstance(
            body, list
        ):
            node.body = [part for part in body if not _quiet(part, annotations=annotations)]
    if not annotations:
        tree = ast.fix_missing_locations(_Bare().visit(tree))
    return ast.dump(tree)


def _without_imports_for_types(before: bytes, after: bytes) -> bytes:
    """The file without the names that it imports anew and uses in annotations alone."""
    try:
        old, new = python_source.parse(before), python_source.parse(after)
    except (SyntaxError, ValueError):
        return after
    had = {ast.dump(node) for node in old.body}
    bare = ast.fix_missing_locations(_Bare().visit(python_source.parse(after)))
    used = {node.id for node in ast.walk(bare) if isinstance(node, ast.Name)}
    used |= {node.value for node in ast.walk(bare) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    left: list[ast.stmt] = []
    for node in new.body:
        if isinstance(node, ast.ImportFrom) and ast.dump(node) not in had:
            names = [alias for alias in node.names if (alias.asname or alias.name) in used or alias.name == "*"]
            if not names:
                continue
            node.names = names
        left.append(node)
    new.body = left
    return ast.unparse(new).encode("utf-8", "surrogateescape")


def _quiet(node: ast.stmt, *, annotations: bool) -> bool:
    """A docstring or another lone text, `pass`; without annotations also imports, which types need."""
    if isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        return True
    if annotations:
        return False
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    if isinstance(node, ast.AnnAssign):
        return node.value is None or ast.unparse(node.annotation).rpartition(".")[2] == "TypeAlias"
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
        return ast.unparse(node.value.func).rpartition(".")[2] in ("TypeVar", "ParamSpec", "TypeVarTuple")
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    module = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
    return module in _FOR_TYPES or (bool(names) and set(names) <= _FOR_TYPES)


_FOR_TYPES = frozenset({"__future__", "typing", "typing_extensions", "collections.abc", "types"})


class _Bare(ast.NodeTransformer):
    """The program without its annotations."""

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        self.generic_visit(node)
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        node.returns = None
        self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        if node.value is None:
            return node
        return ast.Assign(targets=[node.target], value=node.value)


def _tokens(text: bytes) -> list[str]:
    words = _TOKEN.findall(text.decode("utf-8", "replace"))
    return [word for word in words if not word.startswith(("//", "/*"))]


def _only_less(file: Source) -> bool:
    """Deleted, or every definition that is left is as it was."""
    if file.after is None:
        return True
    if file.before is None:
        return False
    if not file.path.endswith(".py"):
        before, after = file.before.splitlines(), file.after.splitlines()
        return all(line in before for line in after)
    left, had = _definitions(file.after), _definitions(file.before)
    if left is None or had is None:
        return False
    if all(had.get(name) == body for name, body in left.items()):
        return True
    return _without_a_name(file.before, file.after)


_SPELLED = re.compile(r"[\"'](--?[A-Za-z][\w-]*|[A-Za-z][\w-]*)[\"']")


def _without_a_name(before: bytes, after: bytes) -> bool:
    """Words went and none came, and with them every place of a text that is a name: of a command, an option."""
    try:
        was, now = (ast.unparse(python_source.parse(text)) for text in (before, after))
    except (SyntaxError, ValueError, RecursionError):
        return False
    gone = set(_SPELLED.findall(was)) - set(_SPELLED.findall(now))
    old, new = _TOKEN.findall(was), _TOKEN.findall(now)
    rest = iter(old)
    return bool(gone) and "not" not in Counter(old) - Counter(new) and all(token in rest for token in new)


def _definitions(text: bytes) -> dict[str, str] | None:
    try:
        tree = python_source.parse(text)
    except (SyntaxError, ValueError):
        return None
    found: dict[str, str] = {}

    def walk(body: list[ast.stmt], within: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                walk(node.body, f"{within}{node.name}.")
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found[f"{within}{node.name}"] = ast.dump(node)
            elif not _quiet(node, annotations=False) and not _exports(node):
                found[f"{within}{ast.dump(node)}"] = ""

    walk(tree.body, "")
    return found


def _exports(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom) or "__all__" in ast.dump(node)
