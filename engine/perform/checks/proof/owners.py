"""Three owners of a tree: what of a change is subject, oracle or addition. Pure."""

from __future__ import annotations

import doctest
import posixpath
import re
from collections import Counter
from collections.abc import Sequence

from engine.globs import matches
from engine.perform.checks.presets import project_files as reading
from engine.perform.checks.presets.makefile import parse
from engine.perform.checks.proof import chains
from engine.perform.checks.proof.chains import only_grew
from engine.perform.checks.proof.imports import imported_by, language_of, mentions, tests_only
from engine.perform.checks.proof.owned import TEST_NAME, Changed, Ground, Owned, Owner
from engine.perform.checks.proof.owners_of_new import PLAIN_TEST, is_program, owner_of_new
from engine.perform.checks.proof.places import DOCUMENTS, ENVIRONMENT, MANIFESTS, PROSE, SETTINGS

_CHECKER = re.compile(
    r"(?:^|/)(?:(?:units?|checks?|specs?)(?:[_-][^/]*)?|[^/]*[_-](?:units?|checks?|specs?))\.(?:c|cc|cpp|cxx)$"
)
_MAIN = re.compile(rb"\bmain\s*\(")
PROGRAMS = re.compile(r"(?:^|/)(?:bin|sbin|libexec|cmd|exe)/[^/]+$")
"""Where the programs of a product lie."""


def owners(changes: Sequence[Changed], ground: Ground) -> tuple[Owned, ...]:
    gone = frozenset(c.path for c in changes if c.after is None)
    after = {c.path: c.after for c in changes if c.after is not None and language_of(c.path)}
    found = []
    for change in changes:
        if change.before is None:
            owner, why = owner_of_new(change, ground, after, gone)
        else:
            owner, why = _old(change, ground)
        found.append(
            Owned(
                path=change.path,
                owner=owner,
                before=change.before,
                after=change.after,
                why=why,
                read=change.path in (ground.reads | ground.all_reads),
            )
        )
    return tuple(found)


def _old(change: Changed, ground: Ground) -> tuple[Owner, str]:
    """A file of the base."""
    path, read = change.path, change.path in ground.reads
    name = posixpath.basename(path)
    if path in ground.tests and not _documents(path, ground):
        return Owner.TEST, "holds tests that the base ran"
    if name == "conftest.py":
        return Owner.SUPPORT, "set-up of the tests"
    if matches(path, ENVIRONMENT):
        return Owner.CONFIG, "belongs to an environment"
    if only_grew(path, change.before, change.after):
        return Owner.SUPPORT, "the same commands, and more after them"
    if matches(path, SETTINGS) or matches(path, ground.settings):
        return Owner.CONFIG, "settings of a check"
    if name in MANIFESTS:
        seen = read or path in ground.all_reads
        return (Owner.CONFIG, "a manifest that a check read") if seen else (Owner.SUBJECT, "a manifest no check read")
    if (TEST_NAME.search(path) or PLAIN_TEST.search(path)) and (read or matches(path, ground.test_globs)):
        return Owner.TEST, "named like a test"
    if read and _is_checker(path, change.before):
        return Owner.TEST, "a program that checks, by its name"
    if matches(path, ground.test_globs):
        return (Owner.SUPPORT, "a helper beside the tests") if language_of(path) else (Owner.DATA, "beside the tests")
    if language_of(path) or is_program(change.before):
        return _old_source(change, ground, read)
    if matches(path, PROSE) and (not read or matches(path, DOCUMENTS)) and keeps_examples(change.before, change.after):
        return Owner.SUBJECT, "prose"
    if read and _shipped(path, ground):
        return Owner.SUBJECT, "data that lies with the source"
    if read and _expected(path, ground):
        return Owner.DATA, "only tests speak of it"
    if read and not ground.named(path) and not ground.in_scope(path):
        return Owner.DATA, "a check reads it"
    return Owner.SUBJECT, "data the task names" if read else "no check reads it"


def _is_checker(path: str, data: bytes | None) -> bool:
    """unit.c beside the sources, with a main of its own: no part of the program would have one."""
    return _CHECKER.search(path) is not None and _MAIN.search(data or b"") is not None


def _old_source(change: Changed, ground: Ground, read: bool) -> tuple[Owner, str]:
    path = change.path
    if ground.named(path):
        return Owner.SUBJECT, "the task names it"
    users = imported_by(path, ground.sources)
    if tests_only(path, change.before or b"", users, {user: ground.is_test(user) for user in users}):
        return Owner.SUPPORT, "a test framework's helper that only tests import"
    if not read or users or _packaged(path, ground):
        return Owner.SUBJECT, "source"
    if path.endswith(".go") and any(_beside(path, other) for other in ground.sources):
        return Owner.SUBJECT, "of a package that has tests"
    if _is_product(path, ground):
        return Owner.SUBJECT, "a program that the tests start"
    if _judged_elsewhere(path, ground):
        return Owner.SUBJECT, "outside of the folder whose scripts the check starts"
    if _runs_by_command(path, ground):
        if _judges(change.before or b"", path):
            return Owner.CONFIG, "a script that a check runs and nobody imports"
        return Owner.SUBJECT, "a program that a check runs, without a judgement of its own"
    tests = {name: text for name, text in ground.sources.items() if ground.is_test(name)}
    if mentions(path, tests):
        return Owner.SUBJECT, "a program that the tests run"
    if _judges(change.before or b"", path):
        return Owner.CONFIG, "an entry that a check reads and nobody imports"
    return Owner.SUBJECT, "source"


def _beside(path: str, other: str) -> bool:
    """A test of the package, which in Go is the folder: it is compiled together with the file."""
    return other.endswith("_test.go") and posixpath.dirname(path) == posixpath.dirname(other)


def _is_product(path: str, ground: Ground) -> bool:
    """A program of the product that the tests start: it is judged, whatever exit codes it has.

    It lies where programs lie, or the task speaks of it. One that a check's own command starts, or that is called like
    a judge, judges others.
    """
    name, folder = posixpath.basename(path), posixpath.dirname(path)
    if PROGRAMS.search(path) and not JUDGING_PART.search(name):
        return not _starts(path, ground.commands)
    if JUDGING_NAME.search(name) or _starts(path, ground.commands):
        return False
    if not PROGRAMS.search(path) and not _named_word(posixpath.splitext(name)[0], ground.words.encode()):
        return False
    judges = {
        other: text
        for other, text in ground.sources.items()
        if other != path and (ground.is_test(other) or PLAIN_TEST.search(other) or JUDGING_NAME.search(other))
    }
    # `for tool in a b; do sh bin/$tool` names the folder and the program apart
    apart = any(f"{folder}/$".encode() in text and _named_word(name, text) for text in judges.values())
    return (bool(folder) and apart) or bool(mentions(path, judges))


def _judged_elsewhere(path: str, ground: Ground) -> bool:
    """The check starts scripts of a folder of tests: what lies outside, and its recipe does not name, is judged."""
    recipe = _recipe(ground)
    beside = [other for other in ground.files if matches(other, ground.test_globs)]
    judges = {other for other in beside if _starts(other, recipe)} | {
        other for other in beside if (folder := posixpath.dirname(other)) and f"{folder}/" in recipe
    }
    compares = JUDGING_PART.search(posixpath.basename(path)) or _COMPARES.search(ground.sources.get(path, b""))
    return bool(judges) and path not in beside and not compares and not _starts(path, recipe)


_COMPARES = re.compile(rb"\bassert\b|\bdiff\b|\bcmp\b|\bdoctest\b|\bunittest\b|\bpytest\b|\bexpect\(|\bassert\.")


def _recipe(ground: Ground) -> str:
    """The commands of the checks, with what the targets of a Makefile and the scripts of a package make of them."""
    found = [ground.commands]
    for name in chains.MAKEFILES:
        if not re.search(r"\bmake\b", ground.commands) or name not in ground.sources:
            continue
        made = parse(ground.sources[name].decode("utf-8", "replace")).targets
        left = [word for word in ground.commands.split() if word in made] or list(made)[:1]
        seen: set[str] = set()
        while left:
            target = left.pop()
            if target in seen or target not in made:
                continue
            seen.add(target)
            needs, recipe = made[target]
            found += recipe
            left += needs.split()
    if re.search(r"\b(?:npm|yarn|pnpm)\b", ground.commands):
        package = ground.sources.get("package.json", b"").decode("utf-8", "replace")
        found += map(str, reading.table(reading.as_json(package), "scripts").values())
    return "\n".join(found)


def _named_word(word: str, text: bytes) -> bool:
    return re.search(rb"(?<![\w-])" + re.escape(word.encode()) + rb"(?![\w-])", text) is not None


def _starts(path: str, commands: str) -> bool:
    return re.search(r"(?<![\w./-])(?:\./)?" + re.escape(path) + r"(?![\w/-])", commands) is not None


def _runs_by_command(path: str, ground: Ground) -> bool:
    if _starts(path, ground.commands):
        return True
    recipes = {
        name: text
        for name, text in ground.sources.items()
        if not language_of(name) or language_of(name) == "shell" or name.endswith("package.json")
    }
    return bool(mentions(path, recipes))


JUDGES = re.compile(
    rb"\bassert\b|\bsys\.exit\s*\(|\braise SystemExit|\bexit\s+[1-9$]|\bset -[a-z]*e|\bdiff\b|\bcmp\b|\bprocess\.exit"
    rb"|\bprocess\.exitCode|\bos\.Exit\(|\bdoctest\b|\bunittest\b|\bpytest\b|\bexpect\(|\bjest\b|\bassert\.",
)
JUDGING_NAME = re.compile(r"(?:test|check|verify|spec|ci|lint|validate|ensure|assert)", re.IGNORECASE)
JUDGING_PART = re.compile(
    r"(?:^|[-_.])(?:tests?|testing|checks?|checker|verify|specs?|ci|lint|validate|ensure|assert|compare|diff|cmp|expect)"
    r"(?=$|[-_.])",
    re.IGNORECASE,
)
"""`bin/run-tests`, and not `bin/tscheck`: where programs lie, the word stands for itself."""


def _judges(source: bytes, path: str) -> bool:
    """A script that says yes or no: by what it does, or by its name."""
    return bool(JUDGES.search(source)) or bool(JUDGING_NAME.search(posixpath.basename(path)))


def _packaged(path: str, ground: Ground) -> bool:
    """A module of a package, or below a source folder: part of the product whoever starts it."""
    folder = posixpath.dirname(path)
    return path.startswith(("src/", "lib/")) or (bool(folder) and f"{folder}/__init__.py" in ground.files)


GOLDEN = re.compile(r"golden|expect|fixture|snapshot|baseline|approved|sample|reference|testdata", re.IGNORECASE)


def _shipped(path: str, ground: Ground) -> bool:
    """Data in a folder of the source: part of the product. What a name calls expected is what it is compared with."""
    folder = posixpath.dirname(path)
    if not folder or GOLDEN.search(path):
        return False
    beside = (other for other in ground.files if posixpath.dirname(other) == folder or other.startswith(f"{folder}/"))
    return any(language_of(other) and not ground.is_test(other) for other in beside) or _packaged(path, ground)


def _expected(path: str, ground: Ground) -> bool:
    """Data whose file or folder is named by tests and by no program: what the program is compared with.

    The task may name it too. Were it the program's, the base would be tried with its old one, and no test were red."""
    for word in reversed(path.split("/")):  # its own name says more than its folder's, which may be a package's
        told = re.compile(rb"(?<![\w-])" + re.escape(word).encode() + rb"(?![\w-])")
        by = {ground.is_test(other) for other, text in ground.sources.items() if told.search(text)}
        if by:
            return by == {True}
    return False


def _documents(path: str, ground: Ground) -> bool:
    """Tests collected from documentation strings or beside the code: the file is source (or prose) all the same."""
    inside = language_of(path) != "javascript" or b"import.meta.vitest" in ground.sources.get(path, b"")
    return (
        inside
        and bool(language_of(path) or matches(path, PROSE))
        and not TEST_NAME.search(path)
        and not matches(path, ground.test_globs)
    )


def keeps_examples(before: bytes | None, after: bytes | None) -> bool:
    """Every example of the base is there still, word for word."""
    old, new = (_examples(text) for text in (before, after))
    return old <= new


def _examples(text: bytes | None) -> Counter[tuple[str, str]]:
    if text is None or b">>>" not in text:
        return Counter()
    try:
        found = doctest.DocTestParser().get_examples(text.decode("utf-8", "replace"))
    except ValueError:
        return Counter({(text.decode("utf-8", "replace"), ""): 1})
    return Counter((example.source, _within(example.want)) for example in found)


def _within(want: str) -> str:
    """What an example answers, up to the end of its documentation string: the code behind it is none of it."""
    return re.split(r"^.*(?:\"{3}|'{3})", want, maxsplit=1, flags=re.MULTILINE)[0]
