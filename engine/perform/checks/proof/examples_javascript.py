"""The task's own examples, and calls that must leave their arguments alone, as tests in JavaScript. Pure.

As in Python (`examples`, `kept_arguments`): only what can be read without doubt, a call of constants and a constant
behind it. The tests stand at the end of a copy of the test file that proves the change, and use the names that it knows
(`witness/told_examples` is there too).
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from engine.core.model import TaskSpec
from engine.perform.checks.proof import kept_arguments
from engine.perform.checks.proof.examples import MOST, Example, examples_by, goes_on
from engine.perform.checks.proof.source_tokens import Token, TokenKind, arguments, closing, tokens

PREFIX = "of_the_task"
_VALUES = frozenset({"true", "false", "null", "undefined", "NaN", "Infinity"})
_NAMES = (
    r"import\s+(?P<names>[^;'\"]+?)\s+from\s*['\"](?P<module>[^'\"]+)['\"]",
    r"(?:const|let|var)\s+(?P<names>[^;=]+?)\s*=\s*(?:await\s+import|require)\(\s*['\"](?P<module>[^'\"]+)['\"]\s*\)",
)


# ── constants ───────────────────────────────────────────────────────────────────────────────────────────────────────


def constant(all: Sequence[Token], at: int) -> int:
    """Where the constant that begins at this token ends; -1: there is none."""
    if at >= len(all):
        return -1
    token = all[at]
    if token.kind in (TokenKind.NUMBER, TokenKind.TEXT, TokenKind.REGEX):
        return at + 1
    if token.kind is TokenKind.RAW:
        return at + 1 if "${" not in token.text else -1
    if token.text == "-":
        after = all[at + 1] if at + 1 < len(all) else None
        return at + 2 if after is not None and (after.kind is TokenKind.NUMBER or after.text == "Infinity") else -1
    if token.kind is TokenKind.WORD:
        return at + 1 if token.text in _VALUES else -1
    if token.text not in ("[", "{"):
        return -1
    end = closing(all, at)
    if end < 0:
        return -1
    for start, stop in arguments(all, at):
        first = start
        if token.text == "{":
            named = all[start].kind in (TokenKind.WORD, TokenKind.TEXT, TokenKind.NUMBER)
            if not named or start + 1 >= stop or all[start + 1].text != ":":
                return -1
            first = start + 2
        if constant(all, first) != stop:
            return -1
    return end + 1


def literal(text: str) -> str:
    """The longest constant that the text begins with, and that a sentence could end behind; a list also without []."""
    line = text.partition("\n")[0].partition("`")[0]
    for end in range(len(line), 0, -1):
        if end < len(line) and goes_on(line[end:]):
            continue
        part = line[:end].strip()
        if not part or part.endswith((".", ",")) or part[0] == "/":
            continue
        all = tokens(part)
        if not all or all[-1].end != len(part):
            continue
        if constant(all, 0) == len(all):
            return part
        bare = tokens(f"[{part}]")
        if len(bare) > 3 and constant(bare, 0) == len(bare):
            return f"[{part}]"
    return ""


def is_call(text: str) -> bool:
    """`name(…)`, `name.name(…)`, `name(…).name(…)`, with constants between the brackets."""
    all = tokens(text)
    at = 0
    called = False
    while at < len(all) and all[at].kind is TokenKind.WORD and all[at].text not in _VALUES:
        at += 1
        while at < len(all) and all[at].text == "(":
            end = closing(all, at)
            if end < 0 or any(constant(all, start) != stop for start, stop in arguments(all, at)):
                return False
            at, called = end + 1, True
        if at == len(all):
            return called and all[-1].text == ")" and all[-1].end == len(text)
        if all[at].text != ".":
            return False
        at += 1
    return False


def examples(task: TaskSpec | None) -> list[Example]:
    """What the words of a task say of calls, with constants as JavaScript writes them."""
    return [one for one in dict.fromkeys(examples_by(task, literal)) if is_call(one.call)][:MOST]


# ── tests ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def bound(text: str) -> set[str]:
    """Names that a test file takes from other files."""
    found: set[str] = set()
    for pattern in _NAMES:
        for match in re.finditer(pattern, text):
            outside, _, inside = match["names"].partition("{")
            found |= set(re.findall(r"[A-Za-z_$][\w$]*", outside.replace("* as", "")))
            for part in inside.rstrip("} \n").split(","):
                local = re.split(r"\s+as\s+|\s*:\s*", part.strip())[-1].partition("=")[0].strip()
                if re.fullmatch(r"[A-Za-z_$][\w$]*", local):
                    found.add(local)
    return found


def at_home(some: Sequence[Example], sources: Mapping[str, bytes]) -> list[Example]:
    """The examples with the one module of the program that exports their function.

    Where `a.b()` may be both, b of the module a comes before a method of what is exported as a.
    """
    found = []
    for one in some:
        first, *more = one.call.partition("(")[0].split(".")
        homes = _exporting(first, sources)
        if homes and len(more) == 1:
            inside = [path for path in _exporting(more[0], sources) if _called(path) == first]
            if len(inside) == 1:
                one, homes = replace(one, call=one.call[len(first) + 1 :]), inside
        found.append(replace(one, home=homes[0]) if len(homes) == 1 else one)
    return found


def _exporting(name: str, sources: Mapping[str, bytes]) -> list[str]:
    name = re.escape(name)
    exports = re.compile(
        rf"^export (?:default )?(?:async )?(?:function\*?|class|const|let) {name}\b|\bexports\.{name}\s*=|"
        rf"^(?:export|module\.exports =) \{{[^}}]*\b{name}\b(?!\s*:)[^}}]*\}}(?!\s*from)".encode(),
        re.MULTILINE,
    )
    return [path for path, text in sources.items() if exports.search(text) and path.endswith((".js", ".mjs", ".cjs"))]


def _called(path: str) -> str:
    """What people call a module: its file, or the folder of an index."""
    folder, _, file = path.rpartition("/")
    stem = file.partition(".")[0]
    return folder.rpartition("/")[2] if stem == "index" else stem


def told_tests(some: Sequence[Example], text: str, path: str, callee: str) -> Iterator[tuple[str, str]]:
    """(name, test) of each example whose function the test file knows, or one module of the program exports."""
    names = bound(text)
    for number, one in enumerate(some):
        call = one.call
        dotted = call.partition("(")[0]
        head = ""
        if dotted.partition(".")[0] not in names:
            first, _, last = dotted.partition(".")[0], "", dotted.rpartition(".")[2]
            if last in names:
                call = last + call[len(dotted) :]
            elif one.home:
                place = posixpath.relpath(one.home, posixpath.dirname(path) or ".")
                place = json.dumps(place if place.startswith(".") else f"./{place}")
                head = f"const {{ {first} }} = {'require' if 'require(' in text else 'await import'}({place}); "
            else:
                continue
        name = f"{PREFIX}__e{number}"
        yield name, f"{callee}({json.dumps(name)}, async () => {{ {head}{_asked(call, one)} }});\n"


def _asked(call: str, one: Example) -> str:
    if one.raises:
        said = f" && __holds(__e, {json.dumps(one.says)})" if one.says else ""
        seen = f"__told(__e !== undefined && __raised(__e, {json.dumps(one.raises)}){said});"
        return f"let __e; try {{ await {call}; }} catch (error) {{ __e = error; }} {seen}"
    if one.gives[:1] in "[{":  # it may be a text that looks like a list
        return f"const __g = await {call}; __told(__g === {json.dumps(one.gives)} || __alike(__g, {one.gives}));"
    return f"__told(__alike(await {call}, {one.gives}));"


def kept_tests(text: str, callee: str, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[str, str]]:
    """A test for each call of a name of the program's, in one of the tests, with a list or an object written out."""
    all = tokens(text)
    names = bound(text)
    number = 0
    for start, stop in spans:
        for index in range(start, stop):
            token = all[index]
            if token.kind is not TokenKind.WORD or token.text not in names or all[index - 1].text in (".", "new"):
                continue
            at = index + 1
            while at + 1 < stop and all[at].text == "." and all[at + 1].kind is TokenKind.WORD:
                at += 2
            if at >= stop or all[at].text != "(" or number >= kept_arguments.MOST:
                continue
            given = arguments(all, at)
            if any(constant(all, first) != last for first, last in given) or not any(
                all[first].text in ("[", "{") for first, _ in given
            ):
                continue
            name = f"{PREFIX}__m{number}"
            number += 1
            args = text[all[at].end : all[closing(all, at)].at]
            call = text[token.at : all[at].at]
            body = (
                f"const __given = [{args}]; const __before = structuredClone(__given); "
                f"const __answer = await {call}(...__given); "
                "__told(__answer === undefined || __nearText(__given, 0, []) === __nearText(__before, 0, []));"
            )
            yield name, f"{callee}({json.dumps(name)}, async () => {{ {body} }});\n"
