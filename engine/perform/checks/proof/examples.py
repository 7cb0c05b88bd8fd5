"""Examples that the words of a task give ("split(100, 3) gives 34, 33, 33"), as test functions. Pure.

They are the task's own: a change whose tests say something else was made to fit its tests.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from engine.core.model import Struct, TaskSpec

MOST = 6
_CALL = r"(?<![\w.])([A-Za-z_][\w.]*\((?:[^()\n`]|\([^()\n`]*\))*\))"
_MODAL = r"(should|must|has to|needs to)?\s*"
_GIVES = re.compile(
    _CALL + r"`?\s*" + _MODAL + r"(?:→|->|=>|===?|=|(?:gives?|returns?|be|is|equals?|yields?|becomes?)\b)\s*`?"
)
_RAISES = re.compile(_CALL + r"`?\s*" + _MODAL + r"(?:raises?|throws?)\s+(?:an?\s+)?`?(\w+(?:Error|Exception))")


class Example(Struct, frozen=True, kw_only=True):
    call: str
    gives: str = ""
    """A literal, as Python writes it."""
    raises: str = ""

    @property
    def words(self) -> str:
        return f"{self.call} raises {self.raises}" if self.raises else f"{self.call} gives {self.gives}"


def examples(task: TaskSpec | None) -> list[Example]:
    """What can be read without doubt: a call of constants, and a literal or an error behind it.

    A description may say what is wrong today: only what "should" be counts there. A criterion says what is wanted.
    """
    if task is None:
        return []
    found = _read(f"{task.title}\n{task.description}", wanted=False)
    for criterion in task.accept:
        found += _read(criterion, wanted=True)
    return [one for one in dict.fromkeys(found) if _constant_call(one.call)][:MOST]


def _read(text: str, *, wanted: bool) -> list[Example]:
    found = [Example(call=match[1], raises=match[3]) for match in _RAISES.finditer(text) if wanted or match[2]]
    for match in _GIVES.finditer(text):
        gives = _literal(text[match.end() : match.end() + 120]) if wanted or match[2] else ""
        if gives:
            found.append(Example(call=match[1], gives=gives))
    return found


def _constant_call(call: str) -> bool:
    try:
        node = ast.parse(call, mode="eval").body
        if not isinstance(node, ast.Call):
            return False
        for argument in (*node.args, *(word.value for word in node.keywords)):
            ast.literal_eval(argument)
    except (SyntaxError, ValueError):
        return False
    return True


def _literal(text: str) -> str:
    """The longest literal that the text begins with, and that a sentence could end behind."""
    line = text.partition("\n")[0].partition("`")[0]
    for end in range(len(line), 0, -1):
        if end < len(line) and re.match(r"[\w(]|\s+(?!and\b|but\b|not\b|instead\b|or\b)\w|[.,]\s*\d", line[end:]):
            continue
        part = line[:end].strip()
        if part.endswith((".", ",")):
            continue
        try:
            return repr(ast.literal_eval(part)) if part else ""
        except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
            continue
    return ""


def functions(some: list[Example], names: set[str]) -> Iterator[tuple[str, ast.stmt]]:
    """A test function for each example whose function the test file knows by name."""
    for number, one in enumerate(some):
        call = one.call
        dotted = call.partition("(")[0]
        if dotted.partition(".")[0] not in names:
            last = dotted.rpartition(".")[2]
            if last not in names:
                continue
            call = last + call[len(dotted) :]
        name = f"test_of_the_task__e{number}"
        if one.raises:
            names_of = "[c.__name__ for c in type(_error).__mro__]"
            seen = f"except Exception as _error:\n        assert {one.raises!r} in {names_of}"
            body = f"try:\n        {call}\n    {seen}\n    else:\n        assert False"
        else:
            body = f"assert _alike({call}, {one.gives})"
        yield name, ast.parse(f"def {name}():\n    {body}\n").body[0]


ALIKE = '''
def _alike(found, told):
    """A sentence does not tell a list from a tuple, nor a number from a decimal."""
    if found == told or str(found) == str(told):
        return True
    if isinstance(told, tuple):
        return list(found) == list(told)
    return isinstance(told, float) and abs(float(found) - told) < 1e-9
'''
