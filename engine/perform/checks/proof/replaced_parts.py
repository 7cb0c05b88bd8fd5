"""A proof that puts something in the place of what the change itself adds. One run, without the replacement.

`monkeypatch.setattr(fares, "GROUP", 5)` shows what the program would do with the right number, and it has another one.
A test may replace a new waiting time to be quick: it is green without that, too. Python, JavaScript and Go.
"""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import Collection, Sequence

from engine.core.grants import Rule
from engine.core.model import Proof
from engine.perform.checks import python_source
from engine.perform.checks.proof.faults import Fault, question
from engine.perform.checks.proof.imports import language_of
from engine.perform.checks.proof.new_names import older
from engine.perform.checks.proof.owned import Owner
from engine.perform.checks.proof.seen_cases import by_id
from engine.perform.checks.proof.source_text import JAVASCRIPT
from engine.perform.checks.proof.source_tokens import closing, tokens
from engine.perform.checks.proof.trial import Trial
from engine.perform.checks.run.measure import BAD, PASSED, Case
from engine.perform.checks.run.runners import runner_of
from engine.perform.checks.run.spec import CheckSpec

_MOCKS = re.compile(
    r"(?m)^[ \t]*(?:\w+\.)?(?:mock\.method|spyOn|sinon\.stub|sinon\.replace|stub)\(\s*(\w+)\s*,\s*['\"](\w+)['\"]"
)
_ASSIGNS = re.compile(r"(?m)^[ \t]+(\w+)\s*=(?!=)")
_SETS = re.compile(r"(?m)^[ \t]*(\w+)\.(\w+)\s*=(?![=>])")


def without_replacements(path: str, source: bytes, names: Collection[str]) -> tuple[bytes, str] | None:
    """The test file with replacements of these names taken out, and the first name; None: it has none."""
    if path.endswith(".py"):
        return _python(source, names)
    if path.endswith(".go"):
        return _text(source, names, (_ASSIGNS,))
    return _text(source, names, (_MOCKS, _SETS)) if path.endswith(JAVASCRIPT) else None


class _Taken(ast.NodeTransformer):
    def __init__(self, names: Collection[str], imported: Collection[str]) -> None:
        self.names, self.imported = names, imported
        self.first = ""

    def _replaces(self, node: ast.AST) -> bool:
        """setattr(x, "NAME", …), patch("a.NAME", …), patch.object(x, "NAME", …): with a value of the test's."""
        match node:
            case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called), args=args, keywords=words):
                if called not in ("setattr", "patch", "object") or not args:
                    return False
                whole = isinstance(args[0], ast.Constant)  # patch("a.NAME", value)
                told = args[: 1 if whole else 2]
                texts = [one.value for one in told if isinstance(one, ast.Constant) and isinstance(one.value, str)]
                by_word = any(word.arg in ("new", "return_value", "side_effect") for word in words)
                given = len(args) > (1 if whole else 2) or by_word
                name = texts[-1].rpartition(".")[2] if texts else ""
                if name in self.names and given:
                    self.first = self.first or name
                    return True
        return False

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        return ast.copy_location(ast.Pass(), node) if self._replaces(node.value) else self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        match node.targets:
            case [ast.Attribute(value=ast.Name(id=owner), attr=name)] if owner in self.imported and name in self.names:
                self.first = self.first or name
                return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def visit_withitem(self, node: ast.withitem) -> ast.AST:
        if node.optional_vars is None and self._replaces(node.context_expr):
            node.context_expr = python_source.parse("__import__('contextlib').nullcontext()", mode="eval").body
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.decorator_list = [one for one in node.decorator_list if not self._replaces(one)]
        return self.generic_visit(node)


def _python(source: bytes, names: Collection[str]) -> tuple[bytes, str] | None:
    try:
        tree = python_source.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    bound = {(alias.asname or alias.name).partition(".")[0] for node in imports for alias in node.names}
    taken = _Taken(names, bound)
    made = taken.visit(tree)
    return (ast.unparse(ast.fix_missing_locations(made)).encode(), taken.first) if taken.first else None


def _text(source: bytes, names: Collection[str], patterns: Sequence[re.Pattern[str]]) -> tuple[bytes, str] | None:
    text = source.decode("utf-8", "surrogateescape")
    spans: list[tuple[int, int]] = []
    first = ""
    for match in [match for pattern in patterns for match in pattern.finditer(text)]:
        if match[1] not in names and match[match.re.groups] not in names:
            continue
        if match.re is _SETS and match[1] not in names:
            continue  # a property of an object that the test has made
        end = statement_end(text, match.start() + len(match[0]) - len(match[0].lstrip()))
        statement = text[match.start() : end]
        if "spyOn" in statement and ".mock" not in statement:
            continue  # it only looks on
        spans.append((match.start(), end))
        last = match[match.re.groups]
        first = first or (last if last in names else match[1])
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    return (text.encode("utf-8", "surrogateescape"), first) if first else None


def statement_end(text: str, start: int) -> int:
    """Behind the `;`, or the line in which its brackets are closed."""
    found = tokens(text)
    index = next((at for at, token in enumerate(found) if token.at >= start), len(found))
    while index < len(found):
        token = found[index]
        if token.text == ";":
            return token.end
        if token.text in "([{" and token.text and (close := closing(found, index)) > 0:
            index = close
        after = found[index + 1] if index + 1 < len(found) else None
        if after is None or ("\n" in text[found[index].end : after.at] and after.text not in (".", "+", "=>", "=")):
            return found[index].end
        index += 1
    return len(text)


async def replaced_parts(trial: Trial, specs: Sequence[CheckSpec], proofs: Sequence[Proof]) -> list[Fault]:
    """Proofs that are red once they leave alone what the change adds."""
    names: set[str] = set()
    for one in trial.change.owned:
        if one.owner is Owner.SUBJECT and one.after is not None and language_of(one.path):
            made = older(one.path, one.before or b"", one.after)
            names |= made.names if made is not None else set()
    for spec in specs if names else ():
        mine = [proof for proof in proofs if proof.check == spec.name and proof.path]
        for path in tuple(dict.fromkeys(proof.path for proof in mine))[:2] if runner_of(spec).picks_files else ():
            source = await asyncio.to_thread(trial.trees.show, trial.change.rooms.r2, path)
            plain = without_replacements(path, source, names) if source is not None else None
            if plain is None:
                continue
            tree = await asyncio.to_thread(trial.trees.edit, trial.change.rooms.r2, {path: plain[0]})
            runs = await trial.files("nothing replaced", tree, spec, (path,), trial.on_base())
            seen = {case.id: case.outcome for run in runs for case in by_id(run).values()}
            for proof in mine:
                if proof.path == path and seen.get(proof.name) in BAD:
                    case = Case(id=proof.name, outcome=PASSED, path=proof.path)
                    text = f"{proof.name} replaces {plain[1]}, which the change adds, and fails without that"
                    entry = f"accept {Rule.MOCKED_SUBJECT} in {proof.name}"
                    return [question(Rule.MOCKED_SUBJECT, text, entry, case, proof.check)]
    return []
