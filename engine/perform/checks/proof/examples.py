"""Examples that the words of a task give ("split(100, 3) gives 34, 33, 33"), as test functions. Pure.

They are the task's own: a change whose tests say something else was made to fit its tests.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from engine.core.model import Struct, TaskSpec
from engine.perform.checks import python_source

MOST = 6
_IN = r"\((?:[^()\n`]|\((?:[^()\n`]|\([^()\n`]*\))*\))*\)"
_ONE = rf"[A-Za-z_][\w.]*{_IN}(?:\.\w+{_IN})*"
_OPERATOR = r"\s*(?:[-+*/%|&@^]|//|\*\*|<<|>>)\s*"
_OPERAND = rf"(?:{_ONE}|\d+(?:\.\d+)?|\"[^\"\n]*\"|'[^'\n]*')"
# a call, or what is computed of calls and constants: `Sum(4) + 5`
_CALL = (
    rf"(?<![\w.])(?<![-+*/%|&@^]\s)(?<![<>=!]\s)(?<![-+*/%|&@^<>])"
    rf"((?:{_OPERAND}{_OPERATOR})*{_ONE}(?:{_OPERATOR}{_OPERAND})*)"
)
_MODAL = r"(should|must|has to|needs to)?\s*"
_IS = r"(?:→|->|=>|===?|=|(?:gives?|returns?|shows?|be|is|equals?|yields?|becomes?|is read as)\b)\s*`?"
_GIVES = re.compile(_CALL + r"`?\s*" + _MODAL + _IS)
_RAISES = re.compile(_CALL + r"`?\s*" + _MODAL + r"(?:raises?|throws?)\s+(?:an?\s+)?`?(\w+(?:Error|Exception))")
_GIVEN = re.compile(r"(\"[^\"\n]*\")\s+(?:is|gives|becomes|is read as)\s+")
"""A text and what comes of it, where the title names the function."""
_TITLE = re.compile(r"(?<![\w.])([a-z_]\w*)\(\)")
_SYMPTOM = re.compile(
    r"\b(?:today|now|currently|at the moment|although|though|wrong\w*|bug|but|still|takes? nonsense|loses?|instead)\b",
    re.IGNORECASE,
)


class Example(Struct, frozen=True, kw_only=True):
    call: str
    gives: str = ""
    """An expression of constants, as Python writes it."""
    raises: str = ""
    says: str = ""
    """What the message of the error has to hold."""
    sure: bool = True
    """The words say that it is wanted. Else the base tells: what holds there is how it is today."""
    symptom: bool = False
    """The words around it say that it is how it is today, and is not to stay."""
    home: str = ""
    """The module that the function is taken from where the test file does not know it by name."""

    @property
    def words(self) -> str:
        if not self.raises:
            return f"{self.call} gives {self.gives}"
        return f"{self.call} raises {self.raises}" + (f" with “{self.says}”" if self.says else "")


def examples(task: TaskSpec | None) -> list[Example]:
    """What can be read without doubt: a call of constants, and a literal or an error behind it.

    A description may say what is wrong today: there, what "should" be is wanted, and of the rest the base decides. A
    criterion says what is wanted.
    """
    return [one for one in dict.fromkeys(examples_by(task, _literal)) if _constant(one.call, call=True)][:MOST]


def examples_by(task: TaskSpec | None, literal: Callable[[str], str]) -> list[Example]:
    """Those of any language: `literal` reads the constant that a text begins with."""
    if task is None:
        return []
    found = _read(task.title, literal, wanted=False, title=True)
    if len(found) > 1:  # a title of several examples counts up what is wanted
        found = _read(task.title, literal, wanted=False)
    for sentence in re.split(r"(?<=[.;!?])\s+(?=[A-Z`\"'\[])|;\s|\n", task.description):
        found += _read(sentence, literal, wanted=False)
    named = set(_TITLE.findall(task.title))
    if len(named) == 1:
        found += _given(task.description, next(iter(named)), literal)
    for criterion in task.accept:
        found += _read(criterion, literal, wanted=True)
    return found


def _read(text: str, literal: Callable[[str], str], *, wanted: bool, title: bool = False) -> list[Example]:
    found = []
    for match in _RAISES.finditer(text):
        if _elided(match[1]):
            continue
        sure = wanted or bool(match[2])
        symptom = not sure and (title or _SYMPTOM.search(text) is not None)
        says = _message(match[1], text[match.end() :]) if sure else ""
        found.append(Example(call=match[1], raises=match[3], says=says, sure=sure, symptom=symptom))
    for match in _GIVES.finditer(text):
        gives = literal(text[match.end() : match.end() + 120])
        if gives and not _elided(match[1]) and not _elided(gives):
            sure = wanted or bool(match[2])
            symptom = not sure and (title or _SYMPTOM.search(text) is not None)
            found.append(Example(call=match[1], gives=gives, sure=sure, symptom=symptom))
    return found


_SAYS = re.compile(
    r"[`,\s]*(?:and\s+|with\s+|whose\s+|saying\s+|:\s*)*(?:the\s+|an?\s+|its\s+)?(?:error\s+)?(?:message|text)?\s*"
    r"(?:is\s+|reads\s+|says\s+|:\s*)?(?:\"([^\"\n]+)\"|“([^”\n]+)”|`([^`\n]+)`)"
)
_SAYS_INPUT = re.compile(
    r"[^.;\n]{0,30}?\bmessage\b[^.;\n]{0,12}?\b(?:holds?|contains?|names?|includes?|mentions?|quotes?|has)\s+"
    r"(?:the\s+)?(?:bad\s+|offending\s+|given\s+|wrong\s+)?(?:text|value|input|string|word|argument)\b"
)


def _message(call: str, rest: str) -> str:
    """What a sentence says of the message of an error: the words of it, or the first thing that the call was given."""
    if (match := _SAYS.match(rest)) is not None:
        words = match[1] or match[2] or match[3]
        form = _elided(words) or re.search(r"[{}<>%$*]|\b[A-Z]\b|…", words)
        return "" if form or goes_on(rest[match.end() :].lstrip("`")) else words
    if _SAYS_INPUT.match(rest):
        try:
            tree = python_source.parse(call, mode="eval").body
        except (SyntaxError, ValueError):
            return ""
        match tree:
            case ast.Call(args=[ast.Constant(value=str() | int() as value), *_]) if str(value).strip():
                return str(value)
    return ""


def _elided(text: str) -> bool:
    """`tail(-1, ...)`: whoever wrote that left something out."""
    return re.search(r"\.\.\.|…|Ellipsis", re.sub(r"\"[^\"]*\"|'[^']*'", "", text)) is not None


def _given(text: str, function: str, literal: Callable[[str], str]) -> list[Example]:
    found = []
    for match in _GIVEN.finditer(text):
        gives = literal(text[match.end() : match.end() + 120])
        if gives and text[: match.start()].rstrip()[-1:] not in ("(", ","):
            found.append(Example(call=f"{function}({match[1]})", gives=gives, sure=False, symptom=True))
    return found


_GOES_ON = re.compile(
    r"[\w(]|\s?[€$£¥%°‰]|[-/:+*%@^]\w|\s+(?!and\b|but\b|not\b|instead\b|or\b|today\b|now\b)\w|[.,]\s*\d"
)


def goes_on(rest: str) -> bool:
    """Whether what follows a constant belongs to it: a sentence could not end there."""
    return _GOES_ON.match(rest) is not None


_PLAIN = (
    ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.USub, ast.Load, ast.keyword, ast.Expression,
    ast.BinOp, ast.operator,
)  # fmt: skip


def _constant(text: str, *, call: bool = False) -> bool:
    """Constants, lists of them, and calls with such: nothing that has to be known first."""
    try:
        tree = python_source.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return False
    if call and not isinstance(tree.body, ast.Call | ast.BinOp):
        return False
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            inner: ast.expr = node.func
            while isinstance(inner, ast.Attribute):
                names.add(id(inner))
                inner = inner.value
            names.add(id(inner))
    return all(isinstance(node, (*_PLAIN, ast.Call)) or id(node) in names for node in ast.walk(tree))


def _literal(text: str) -> str:
    """The longest literal that the text begins with, and that a sentence could end behind."""
    line = text.partition("\n")[0].partition("`")[0]
    for end in range(len(line), 0, -1):
        if end < len(line) and goes_on(line[end:]):
            continue
        part = line[:end].strip()
        if not part or part.endswith((".", ",")):
            continue
        try:
            return repr(ast.literal_eval(part))
        except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
            if re.match(r"[\[({]*[A-Z]", part) and _constant(part):
                return part
    return ""


def functions(some: list[Example], names: set[str]) -> Iterator[tuple[str, ast.stmt]]:
    """A test function for each example whose functions the test file knows by name."""
    for number, one in enumerate(some):
        call = one.call
        dotted = call.partition("(")[0]
        if isinstance(python_source.parse(call, mode="eval").body, ast.BinOp):
            if not _roots(call) <= names:
                continue
        elif dotted.partition(".")[0] not in names:
            last = dotted.rpartition(".")[2]
            if last not in names and not (one.home and last == dotted):
                continue
            call = last + call[len(dotted) :]
        first = dotted.partition(".")[0]
        taken = {first} if one.home and first not in names else set()
        if not _roots(f"[{call}, {one.gives or 0}]") <= names | taken:
            continue
        name = f"test_of_the_task__e{number}"
        if one.raises:
            names_of = "[c.__name__ for c in type(_error).__mro__]"
            seen = f"except Exception as _error:\n        assert {one.raises!r} in {names_of}"
            if one.says:
                seen += f"\n        assert _holds(_error, {one.says!r})"
            if one.raises != "TypeError":  # called as a sentence writes it, without what it needs
                seen = f"except TypeError:\n        raise\n    {seen}"
            body = f"try:\n        _whole({call})\n    {seen}\n    else:\n        assert False"
        else:
            body = f"assert _alike({call}, {one.gives})"
            if one.gives[:1] in "[{":  # it may be a text that looks like a list
                body = f"_given = {call}\n    assert _given == {one.gives!r} or _alike(_given, {one.gives})"
        head = "".join(f"from {one.home} import {word}\n    " for word in taken)
        yield name, python_source.parse(f"def {name}():\n    {head}{body}\n").body[0]


def at_home(some: Sequence[Example], sources: Mapping[str, bytes]) -> list[Example]:
    """The examples with the one module of the program that defines their function."""
    found = []
    for one in some:
        name = one.call.partition("(")[0]
        defined = re.compile(rf"^(?:(?:async )?def|class) {re.escape(name)}\b".encode(), re.MULTILINE)
        homes = [path for path, text in sources.items() if path.endswith(".py") and defined.search(text)]
        home = homes[0].removesuffix(".py").removesuffix("/__init__").removeprefix("src/") if len(homes) == 1 else ""
        plain = all(part.isidentifier() for part in home.split("/")) if home else False
        found.append(replace(one, home=home.replace("/", ".")) if plain else one)
    return found


def _roots(text: str) -> set[str]:
    return {node.id for node in ast.walk(python_source.parse(text)) if isinstance(node, ast.Name)}


ALIKE = '''
def _whole(found):
    """What a call comes to: a coroutine is awaited, an iterator run through; a sentence does not tell them apart."""
    import asyncio
    import inspect
    import itertools

    if inspect.iscoroutine(found):
        found = asyncio.run(found)
    return list(itertools.islice(found, 1000)) if hasattr(found, "__next__") else found


def _holds(error, told):
    """Words in a message, however they are spaced and spelt; a text may stand there as it is written in a program."""
    said = " ".join(str(error).lower().split())
    return any(" ".join(one.lower().split()) in said for one in (told, repr(told)[1:-1]))


def _alike(found, told):
    """A sentence does not tell a list from a tuple, nor a number from a decimal."""
    found = _whole(found)
    if found == told or str(found) == str(told):
        return True
    if isinstance(told, tuple):
        return list(found) == list(told)
    return isinstance(told, float) and abs(float(found) - told) < 1e-9
'''
