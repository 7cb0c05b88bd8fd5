"""`delete X`: the tests of the base without those that need what was deleted, and only if it is really gone. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from engine.core.grants import Grant, GrantKind
from engine.core.model import Struct
from engine.globs import permits
from engine.perform.checks import python_source
from engine.perform.checks.proof.gutted_text import without_unused
from engine.perform.checks.proof.owned import Owned, Owner
from engine.perform.checks.proof.plain_edits import is_plain
from engine.perform.checks.proof.python_names import Names, defined, imported, module_name, names_in
from engine.perform.checks.proof.source_text import tokens
from engine.perform.checks.proof.source_tokens import CLOSES, OPENS
from engine.perform.checks.proof.test_blocks import REST, blocks_of
from engine.perform.checks.proof.test_edits import units_of


class Gone(Struct, frozen=True, kw_only=True):
    """Something of the source that the plan let go and that is gone."""

    name: str
    """Whole dotted name; for other languages the word or the path."""
    member: bool = False
    entry: str = ""
    python: bool = True

    @property
    def last(self) -> str:
        return self.name.rpartition(".")[2]


class Kept(Struct, frozen=True, kw_only=True):
    """A test file without the tests that need what is gone."""

    content: bytes
    dropped: tuple[tuple[str, str], ...]
    """(id, the entry that lets it go)."""


def gone(grants: Iterable[Grant], changed: Sequence[Owned], files: Collection[str]) -> tuple[Gone, ...]:
    """What the grants name and the change really deleted."""
    subject = [one for one in changed if one.owner is Owner.SUBJECT]
    before: dict[str, bool] = {}
    after: dict[str, bool] = {}
    known = {*files, *(one.path for one in subject if one.before is not None)}
    for one in subject:
        if not one.python:
            continue
        module = module_name(one.path, known)
        if one.before is not None:
            before |= {module: False, **defined(one.before, module)}
        if one.after is not None:
            after |= {module: False, **defined(one.after, module)}
    found: list[Gone] = []
    for grant in grants:
        if grant.kind is GrantKind.DELETE:
            found += _named(grant, before, after, known)
            found += _texts(grant, subject)
            found += _other_languages(grant, subject)
    return tuple(dict.fromkeys(found))


def _named(grant: Grant, before: dict[str, bool], after: dict[str, bool], files: Collection[str]) -> list[Gone]:
    target = grant.target
    if target.endswith((".py", ".pyi")):
        target = module_name(target, files)
    elif "/" in target:
        target = target.strip("/*").removeprefix("src/").replace("/", ".")
    names = [name for name in before if name == target or name.endswith(f".{target}")]
    below = [name for name in before if name.startswith(f"{target}.") or f".{target}." in f".{name}"]
    return [Gone(name=name, member=before[name], entry=grant.entry) for name in (names or below) if name not in after]


def _texts(grant: Grant, subject: Iterable[Owned]) -> list[Gone]:
    """A variable of the environment or an option that the source has no more: in Python it is a text."""
    if not _SPELLED.fullmatch(grant.target):
        return []
    sides = [(_strings(one.before), _strings(one.after)) for one in subject if one.python]
    had, has = (any(grant.target in side[at] for side in sides) for at in (0, 1))
    return [Gone(name=grant.target, entry=grant.entry)] if had and not has else []


_SPELLED = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|--[a-z][\w-]+")


def _strings(source: bytes | None) -> set[str]:
    try:
        tree = python_source.parse(source or b"")
    except (SyntaxError, ValueError, RecursionError):
        return set()
    return {one.value for one in ast.walk(tree) if isinstance(one, ast.Constant) and isinstance(one.value, str)}


def _other_languages(grant: Grant, subject: Iterable[Owned]) -> list[Gone]:
    """A file by its path, or a word that the source has no more."""
    found = []
    word = grant.target.rpartition(".")[2].rpartition(":")[2]
    pattern = re.compile(rf"(?<![\w$-]){re.escape(word)}(?![\w$-])")
    for one in subject:
        if one.python or one.before is None:
            continue
        if one.after is None and (one.path == grant.target or permits(one.path, (grant.target,))):
            found.append(Gone(name=one.path, entry=grant.entry, python=False))
        elif "/" not in grant.target and _had(pattern, one.before) and not _had(pattern, one.after):
            found.append(Gone(name=word, entry=grant.entry, python=False))
    return found


def _had(pattern: re.Pattern[str], data: bytes | None) -> bool:
    return pattern.search((data or b"").decode("utf-8", "replace")) is not None


def without(path: str, source: bytes, things: Sequence[Gone], files: Collection[str]) -> Kept:
    """The test file with every test that needs one of `things` taken out; lines stay where they are."""
    if path.endswith((".py", ".pyi")):
        return _python_without(path, source, [thing for thing in things if thing.python], files)
    return _text_without(path, source, [thing for thing in things if not thing.python])


def _python_without(path: str, source: bytes, things: Sequence[Gone], files: Collection[str]) -> Kept:
    units = units_of(source)
    if not things or units is None:
        return Kept(content=source, dropped=())
    tree = python_source.parse(source)
    module = module_name(path, files)
    names = names_in(tree, module)
    dead: dict[str, str] = {}
    changed = True
    while changed:  # a helper that is gone takes those with it that use it
        changed = False
        for name, unit in units.items():
            entry = next((e for node in unit.nodes if (e := _needs(node, names, things, dead))), "")
            if entry and name not in dead:
                dead[name] = entry
                changed = True
    lines = source.decode("utf-8", "replace").splitlines(keepends=True)
    for name in dead:
        for node in units[name].nodes:
            _blank(lines, node)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            _trim_import(lines, node, module, things)
    text = _filled("".join(lines))
    dropped = [(f"{path}::{name}", entry) for name, entry in dead.items() if units[name].test]
    return Kept(content=text.encode(), dropped=tuple(dropped))


def _needs(node: ast.AST, names: Names, things: Sequence[Gone], dead: dict[str, str]) -> str:
    """The entry that lets go what the unit cannot do without; empty when it needs none of it."""
    helpers = {name.rpartition("::")[2]: entry for name, entry in dead.items()}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute | ast.Name):
            full = names.full(inner)
            for thing in things:
                if full and (full == thing.name or full.startswith(f"{thing.name}.")):
                    return thing.entry
                if full and not thing.member and full.rpartition(".")[2] == thing.last and _reexport(full, thing.name):
                    return thing.entry
            if isinstance(inner, ast.Attribute) and not full:
                for thing in things:
                    if thing.member and inner.attr == thing.last:
                        return thing.entry
            if isinstance(inner, ast.Name) and inner.id in helpers:
                return helpers[inner.id]
        elif isinstance(inner, ast.arg) and inner.arg in helpers:
            return helpers[inner.arg]
        elif isinstance(inner, ast.keyword):
            for thing in things:
                if thing.member and inner.arg == thing.last:
                    return thing.entry
        elif isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            for thing in things:
                if inner.value == thing.name or inner.value.startswith(f"{thing.name}."):
                    return thing.entry
    return ""


def _reexport(full: str, name: str) -> bool:
    """`shop.add` for `shop.cart.add`: a package that hands on what its module had."""
    return name.startswith(f"{full.rpartition('.')[0]}.")


def _blank(lines: list[str], node: ast.AST) -> None:
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])  # type: ignore[attr-defined]
    last = node.end_lineno  # type: ignore[attr-defined]
    head = lines[first - 1]
    indent = head[: len(head) - len(head.lstrip())]
    for index in range(first - 1, last):
        lines[index] = "\n"
    lines[first - 1] = f"{indent}pass\n"


def _trim_import(lines: list[str], node: ast.Import | ast.ImportFrom, module: str, things: Sequence[Gone]) -> None:
    def is_gone(full: str) -> bool:
        return any(full == t.name or full.startswith(f"{t.name}.") for t in things) or any(
            not t.member and full.rpartition(".")[2] == t.last and _reexport(full, t.name) for t in things
        )

    fulls = [full for _, full in imported(node, module)]
    if isinstance(node, ast.Import):
        fulls = [alias.name for alias in node.names]
    kept = [alias for alias, full in zip(node.names, fulls, strict=True) if not is_gone(full)]
    if len(kept) == len(node.names):
        return
    names = ", ".join(f"{a.name} as {a.asname}" if a.asname else a.name for a in kept)
    source = f"from {'.' * node.level}{node.module or ''} " if isinstance(node, ast.ImportFrom) else ""
    _blank(lines, node)
    if kept:
        first = node.lineno - 1
        indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
        lines[first] = f"{indent}{source}import {names}\n"


def _filled(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


def _text_without(path: str, source: bytes, things: Sequence[Gone]) -> Kept:
    if not things:
        return Kept(content=source, dropped=())
    text = source.decode("utf-8", "surrogateescape")
    words: dict[str, str] = {}
    for thing in things:
        if "/" in thing.name:
            for line, names in _imports_of(text, thing.name):
                words |= dict.fromkeys(names, thing.entry)
                text = text.replace(line, " " * len(line), 1)
        else:
            words[thing.name] = thing.entry
    dropped = []
    for block in blocks_of(path, source):
        said = _WORD.findall(block.text) if is_plain(path) else block.body  # in a script a text may hold a command
        entry = next((words[word] for word in said if word in words), "")
        if not entry or block.name == REST:
            continue
        left, rows = _without_rows(path, block.text, words)
        if not rows:
            dropped.append((f"{path}::{block.name}", entry))
        dropped += [(f"{path}::{block.name}/{row}", entry) for row in rows if row]
        text = text.replace(block.text, left if rows else re.sub(r"[^\n]", " ", block.text), 1)
    text = without_unused(text) if path.endswith(".go") and dropped else text
    return Kept(content=text.encode("utf-8", "surrogateescape"), dropped=tuple(dropped))


_ROW = re.compile(r"^[ \t]*\{.*\},[ \t]*$", re.MULTILINE)


def _without_rows(path: str, text: str, words: Mapping[str, str]) -> tuple[str, list[str]]:
    """A table test of Go without the rows that need what is gone, and their subtests; none: it needs it elsewhere."""
    if not path.endswith(".go"):
        return text, []
    rows: list[str] = []

    def blank(match: re.Match[str]) -> str:
        said = tokens(path, match[0])
        balance = sum((word in OPENS) - (word in CLOSES) for word in said)
        if balance or not any(word in words for word in said):
            return match[0]
        name = next((word[1:-1] for word in said if word[:1] in '"`'), "")
        rows.append(name.replace(" ", "_"))
        return ""

    left = _ROW.sub(blank, text)
    needs = any(word in words for word in tokens(path, left))
    return (text, []) if needs or not _ROW.search(left) else (left, rows)


_WORD = re.compile(r"(?<![\w$-])[A-Za-z_][\w-]*")


def no_tests_left(path: str, content: bytes) -> bool:
    return not any(block.test for block in blocks_of(path, content))


_IMPORT = re.compile(r"^.*?(?:import|require|use|from)\b.*$", re.MULTILINE)


def _imports_of(text: str, path: str) -> list[tuple[str, list[str]]]:
    """Lines that import a file, with the names they bind."""
    stem = path.rpartition("/")[2].partition(".")[0]
    found = []
    for match in _IMPORT.finditer(text):
        line = match.group(0)
        if re.search(rf"[\"'/]{re.escape(stem)}(?:\.\w+)?[\"']", line):
            left = re.split(r"\bfrom\b|=\s*(?:await\s+)?(?:require|import)", line)[0]
            found.append((line, [w for w in re.findall(r"[A-Za-z_$][\w$]*", left) if w not in _KEYWORDS]))
    return found


_KEYWORDS = frozenset({"import", "const", "let", "var", "as", "type", "default", "require", "await", "from"})
