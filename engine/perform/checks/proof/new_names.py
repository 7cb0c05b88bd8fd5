"""A proof that needs nothing of a change but names that nobody asked for. One run; the agent is told.

`const Padded = true` makes a test red on the base and green on the change, and nothing is mended. So the proof is run
over the change with every function that was there as it was, and the new names beside them. Where it passes, all it
shows are new names; where the task speaks of a function that the change leaves alone, and of none of them, that is
nothing.
"""

from __future__ import annotations

import ast
import asyncio
import difflib
import re
from collections.abc import Sequence

from engine.core.grants import Rule
from engine.core.model import Proof, Struct
from engine.perform.checks import python_source
from engine.perform.checks.proof.faults import Fault, unproven
from engine.perform.checks.proof.given_text import globals_of
from engine.perform.checks.proof.gutted_text import LANGUAGES, bodies
from engine.perform.checks.proof.imports import language_of
from engine.perform.checks.proof.owned import Owner
from engine.perform.checks.proof.seen_cases import by_id
from engine.perform.checks.proof.trial import Trial
from engine.perform.checks.run.measure import PASSED
from engine.perform.checks.run.runners import runner_of
from engine.perform.checks.run.spec import CheckSpec

COMMON = frozenset(
    ("add", "all", "any", "can", "for", "get", "has", "is", "it", "its", "last", "list", "make", "new", "next", "not",
     "now", "of", "on", "one", "open", "put", "read", "run", "set", "size", "take", "test", "the", "to", "use", "with")
)  # fmt: skip
"""Words of any sentence: as a name they count where they stand as one."""


class Older(Struct, frozen=True, kw_only=True):
    """A file with its old functions, and the names that are new in it."""

    source: bytes
    names: frozenset[str]
    kept: frozenset[str] = frozenset()
    """Functions that the change leaves as they were."""
    had: frozenset[str] = frozenset()
    """Functions of the base, changed or not."""


def older(path: str, before: bytes, after: bytes) -> Older | None:
    """None where the old cannot be told from the new."""
    if path.endswith(".py"):
        return _python(before, after)
    language = language_of(path)
    return _text(before, after, language) if language in LANGUAGES else None


def _python(before: bytes, after: bytes) -> Older | None:
    try:
        old, new = python_source.parse(before), python_source.parse(after)
    except (SyntaxError, ValueError, RecursionError):
        return None
    old_tree = python_source.parse(before)  # `old` goes into what is made
    kept = _functions(old) & _functions(new)
    names: set[str] = set()
    new.body = _merged(old.body, new.body, names)
    source = ast.unparse(ast.fix_missing_locations(new)).encode()
    had = frozenset(name for name, _ in _functions(old_tree))
    return Older(source=source, names=frozenset(names), kept=frozenset(name for name, _ in kept), had=had)


def _functions(tree: ast.Module) -> set[tuple[str, str]]:
    return {(node.name, ast.dump(node)) for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def _merged(old: list[ast.stmt], new: list[ast.stmt], names: set[str]) -> list[ast.stmt]:
    had = {name: node for node in old for name in _bound(node)}
    out: list[ast.stmt] = []
    for node in new:
        known = next((had[name] for name in _bound(node) if name in had), None)
        if known is None:
            names |= set(_bound(node))
            out.append(node)
        elif isinstance(known, ast.ClassDef) and isinstance(node, ast.ClassDef):
            known.body = _merged(known.body, node.body, names)
            out.append(known)
        else:
            out.append(known)
    gone = [node for node in old if not any(name in _bound(one) for one in new for name in _bound(node))]
    return [*out, *(node for node in gone if isinstance(node, ast.FunctionDef | ast.ClassDef))]


def _bound(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [node.name]
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return []


def _text(before: bytes, after: bytes, language: str) -> Older | None:
    try:
        old, new = before.decode("utf-8"), after.decode("utf-8")
    except UnicodeDecodeError:
        return None
    was, now = list(bodies(old, language, "")), list(bodies(new, language, ""))
    had = {one.name: old[one.start : one.end] for one in was}
    if len(had) < len(was) or len({one.name for one in now}) < len(now):
        return None  # two of one name
    for one in sorted(now, key=lambda one: -one.start):
        nested = any(other.start < one.start and one.end < other.end for other in now)
        if one.name in had and not nested:
            new = new[: one.start] + had[one.name] + new[one.end :]
    steps = difflib.SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False).get_opcodes()
    if any(tag in ("replace", "delete") for tag, *_ in steps):
        return None  # outside of its functions something is otherwise, too
    fresh = {one.name for one in now} - set(had)
    fresh |= globals_of(new, language) - globals_of(old, language)
    if language == "go":
        constants = r"^const\s+(\w+)|^type\s+(\w+)"
        fresh |= {"".join(one) for one in re.findall(constants, new, re.M)} - {
            "".join(one) for one in re.findall(constants, old, re.M)
        }
    same = {(one.name, one.text) for one in was} & {(one.name, one.text) for one in now}
    names = frozenset(name for name, _ in same)
    return Older(source=new.encode(), names=frozenset(fresh), kept=names, had=frozenset(one.name for one in was))


def speaks_of(name: str, words: str) -> bool:
    """By a part of it, too: `load_yaml` is what "support YAML" asks for."""
    if re.search(rf"[`.]{re.escape(name)}\b|\b{re.escape(name)}\(", words):
        return True
    parts = [part.lower() for part in re.findall(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}", name)]
    stems = [part[: max(4, len(part) - 3)] for part in parts if part not in COMMON]
    return any(re.search(rf"\b{re.escape(stem)}", words, re.IGNORECASE) for stem in stems)


def called(name: str, words: str) -> bool:
    """The task has it as a name: in backticks, with brackets, behind a dot, or in a form that only names have."""
    if len(name) < 3:
        return False
    if re.search(rf"`{re.escape(name)}\b|(?<!\w){re.escape(name)}\(|\w\.{re.escape(name)}\b", words):
        return True
    odd = "_" in name or re.search(r"[a-z][A-Z]|^[A-Z]", name) is not None
    return odd and re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", words) is not None


async def names_alone(trial: Trial, specs: Sequence[CheckSpec], proofs: Sequence[Proof], fresh: str) -> list[Fault]:
    """Where every proof passes with the old functions, and needs new names that the task does not speak of."""
    able = {spec.name: spec for spec in specs if runner_of(spec).picks_files}
    mine = [proof for proof in proofs if proof.path and proof.check in able and proof.kind == "new"]
    if not mine or len(mine) < len(proofs) or len({proof.path for proof in mine}) > 2:
        return []
    files: dict[str, bytes | None] = {}
    names: set[str] = set()
    kept: set[str] = set()
    had: set[str] = set()
    for one in trial.change.owned:
        if one.owner is not Owner.SUBJECT or not language_of(one.path) or one.after is None:
            continue
        made = older(one.path, one.before, one.after) if one.before is not None else None
        if made is None:
            return []
        files[one.path] = made.source
        kept |= made.kept
        had |= made.had
        names |= {name for name in made.names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", fresh)}
    words = trial.change.ground.words
    about = any(len(name) > 2 and re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", words) for name in kept)
    unspoken = about and not any(speaks_of(name, words) for name in names)
    # Where the task says by name which function it is about, a helper with a word of its text does not stand for that.
    named = any(called(name, words) for name in had) and not any(called(name, words) for name in names)
    if not names or not (unspoken or named):
        return []
    tree = await asyncio.to_thread(trial.trees.edit, trial.change.rooms.r2, files)
    for name in dict.fromkeys(proof.check for proof in mine):
        ours = [proof for proof in mine if proof.check == name]
        paths = tuple(dict.fromkeys(proof.path for proof in ours))
        runs = await trial.files("old functions", tree, able[name], paths, trial.on_base())
        seen = {case.id: case.outcome for run in runs for case in by_id(run).values()}
        if any(seen.get(proof.name) != PASSED for proof in ours):
            return []
    told = ", ".join(sorted(names)[:3])
    text = f"{mine[0].name} needs nothing of the change but {told}, of which the task does not speak"
    return [unproven(Rule.NOT_SHOWN, text, test=mine[0].name)]
