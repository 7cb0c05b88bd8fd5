"""Decisions by something that no caller gave: the clock, the place, the machine, chance, calls before. Pure; it asks.

A test holds for what it gives. Where new code decides by what lies around it, the test holds here, now and for the
first time, and says nothing about anywhere else. The task may want that; then its words speak of it. Python only.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from engine.core.grants import Rule
from engine.perform.checks import python_source
from engine.perform.checks.proof.suspicious import Hit, dotted, imported_as


class Around(StrEnum):
    """What a decision may hang on, beside its inputs."""

    CLOCK = "the time"
    PLACE = "where it lies"
    VARIABLES = "the environment"
    INTERPRETER = "how the interpreter was started"
    PROCESS = "the process or the machine"
    CHANCE = "chance"


_CALLS: tuple[tuple[Around, re.Pattern[str]], ...] = (
    (
        Around.CLOCK,
        re.compile(
            r"time\.(?:time|time_ns|monotonic\w*|perf_counter\w*|localtime|gmtime|strftime|ctime)"
            r"|(?:datetime\.)?(?:datetime|date)\.(?:now|today|utcnow)"
        ),
    ),
    (
        Around.PLACE,
        re.compile(
            r"os\.getcwd|(?:pathlib\.)?Path\.(?:cwd|home)|tempfile\.gettempdir|os\.path\.expanduser|site\.\w+|shutil\.which"
        ),
    ),
    (Around.VARIABLES, re.compile(r"os\.getenv|os\.environ(?:\..+)?")),
    (
        Around.INTERPRETER,
        re.compile(
            r"sys\.(?:flags|argv|executable|path|prefix|base_prefix|modules|gettrace|getprofile|warnoptions|_xoptions|stdin"
            r"|stdout|stderr)(?:\..+)?"
        ),
    ),
    (
        Around.PROCESS,
        re.compile(
            r"os\.(?:getpid|getppid|getuid|geteuid|getlogin|uname|cpu_count|getpgid|getsid|isatty|nice|times)"
            r"|socket\.(?:gethostname|getfqdn)|platform\.node|getpass\.getuser|threading\.(?:current_thread|main_thread"
            r"|active_count|enumerate|get_ident)|resource\.\w+|multiprocessing\.(?:current_process|parent_process)"
        ),
    ),
    (Around.CHANCE, re.compile(r"random\.\w+|secrets\.\w+|uuid\.uuid[14]|os\.urandom|id|hash")),
)
_NAMES = {"__file__": Around.PLACE, "__debug__": Around.INTERPRETER, "__spec__": Around.INTERPRETER}
_SPOKEN = {
    Around.CLOCK: r"\btim(?:e|es|ed|er|ers|ing|eout|eouts|estamps?)\b|\bdat(?:e|es|ed)\b|\bdays?\b|\bdaily\b|clock"
    r"|expir|\bttl\b|\bage|\bold|year|month|hour|minute|second|today|\bnow\b|throttl|\brate|retr(?:y|ies)|delay|wait"
    r"|schedul|deadline|stale|recent|since|until|stamp|elapsed|duration|seed|birthday|week|due\b|late\b",
    Around.PLACE: r"\bfiles?\b|folder|director|\bpath|exist|missing|config|cache|disk|\bload|\bsave|\bread|\bopen|dump"
    r"|install|\bhome\b|\btemp|\bplace|located?|relative|absolute|cwd|plug-?ins?|templates?|package|\bdata\b|ship",
    Around.VARIABLES: r"\benv|variable|config|setting|option|\$[A-Z]|[A-Z]{2,}_[A-Z]+|NO_COLOR",
    Around.INTERPRETER: r"\barg|option|flag|command|\bcli\b|python|interpreter|optimi|debug|import|modul|stdin|stdout"
    r"|stderr|input|output|print|pip(?:e|ed|ing)|colou?r|terminal|\btty\b|plug-?in|--\w",
    Around.PROCESS: r"process|\bpid\b|user|host|machine|platform|\bcpus?\b|core|thread|worker|parallel|concurren"
    r"|terminal|\btty\b|root|server|\block",
    Around.CHANCE: r"random|chance|shuffl|sampl|jitter|\buuid|token|secret|password|salt|seed|unique|\bhash|\bids?\b"
    r"|identit|identif|dice|draw|weight|probab|nonce|\bsame\b|__eq__|\bset\b|\bdict|\bkeys?\b",
}
_LOOKS = frozenset({"exists", "is_file", "is_dir", "isfile", "isdir", "lexists", "iterdir", "glob", "listdir", "stat"})


def decides_by(before: bytes | None, after: bytes | None, words: str, base: Iterable[bytes] = ()) -> list[Hit]:
    """The first new decision of each sort that the task does not speak of and no source of the base asks about."""
    new = _parsed(after)
    fresh = dict(reversed(list(_decisions(new))))
    found = {kind: line for kind, line in fresh.items() if not re.search(_SPOKEN[kind], words, re.IGNORECASE)}
    for source in (before or b"", *base):
        if not found:
            return []
        old = _parsed(source)
        known = imported_as(old)
        for kind in set(_kinds(old, known, {})):
            found.pop(kind, None)
    return [
        (Rule.UNUSUAL_SOURCE, line, f"decides by {kind.value}, and the task does not speak of that")
        for kind, line in found.items()
    ]


def _parsed(source: bytes | None) -> ast.Module:
    try:
        return python_source.parse(source or b"")
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module(body=[], type_ignores=[])


def _decisions(tree: ast.Module) -> Iterator[tuple[Around, int]]:
    """Conditions that hang on something around, directly or by a name that holds it."""
    known = imported_as(tree)
    tainted = _tainted(tree, known)
    guards = {id(node.test) for node in tree.body if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)}
    for node in ast.walk(tree):
        tests: list[ast.expr] = []
        match node:
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) if id(test) not in guards:
                tests = [test]
            case ast.comprehension(ifs=ifs):
                tests = list(ifs)
            case ast.BoolOp(values=values):
                tests = list(values)
            case ast.Match(subject=subject):
                tests = [subject]
            case ast.Compare():
                tests = [node]
        for test in tests:
            for kind in _kinds(test, known, tainted):
                yield kind, getattr(test, "lineno", 0)


def _tainted(tree: ast.Module, known: Mapping[str, str]) -> dict[str, set[Around]]:
    """Names (of variables, attributes and functions) whose value comes from around, to the end of the chain."""
    found: dict[str, set[Around]] = {}
    for _ in range(4):
        size = sum(map(len, found.values()))
        for node in ast.walk(tree):
            targets: Sequence[ast.expr] = ()
            match node:
                case ast.Assign(value=value):
                    targets = node.targets
                case ast.AnnAssign(value=value) | ast.NamedExpr(value=value):
                    targets = (node.target,)
                case ast.FunctionDef(name=name, body=body) if not _uses_parameters(node):
                    kinds = {
                        kind
                        for statement in body
                        for one in ast.walk(statement)
                        if isinstance(one, ast.Return) and one.value is not None
                        for kind in _kinds(one.value, known, found)
                    }
                    if kinds:
                        found.setdefault(name, set()).update(kinds)
                    continue
                case _:
                    continue
            kinds = set(_kinds(value, known, found)) if value is not None else set()
            for target in targets:
                for one in ast.walk(target):
                    name = one.id if isinstance(one, ast.Name) else one.attr if isinstance(one, ast.Attribute) else ""
                    if kinds and name not in ("", "self", "cls"):
                        found.setdefault(name, set()).update(kinds)
        if sum(map(len, found.values())) == size:
            break
    return found


def _uses_parameters(node: ast.FunctionDef) -> bool:
    names = {arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)} - {"self", "cls"}
    return any(isinstance(one, ast.Name) and one.id in names for one in ast.walk(node))


def _kinds(node: ast.AST, known: Mapping[str, str], tainted: Mapping[str, set[Around]]) -> Iterator[Around]:
    """What around an expression asks for. A file is around where its path is no caller's."""
    called = {id(one.func) for one in ast.walk(node) if isinstance(one, ast.Call)}
    for one in ast.walk(node):
        match one:
            case ast.Name(id=name) if name in _NAMES:
                yield _NAMES[name]
            case ast.Name(id=name) if name in tainted:
                yield from tainted[name]
            case ast.Attribute(attr=attr) if attr in tainted and isinstance(one.value, ast.Name):
                yield from tainted[attr]
            case ast.Call(func=ast.Attribute(attr=attr), args=[ast.Constant(value=str()), *_]) if attr in _LOOKS:
                yield Around.PLACE
        if not isinstance(one, ast.Attribute | ast.Name):
            continue
        head, _, rest = dotted(one).partition(".")
        name = f"{known.get(head, head)}.{rest}" if rest else known.get(head, head)
        for kind, pattern in _CALLS:
            if pattern.fullmatch(name) and ("." in name or (id(one) in called and head not in known)):
                yield kind
