"""Python tests read as syntax: how many assertions each has, whether they can fail, whether a test was edited."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from engine.core.model import Struct
from engine.perform.checks import python_source
from engine.perform.checks.proof.suspicious import Hit, dotted

Function = ast.FunctionDef | ast.AsyncFunctionDef
BROAD = ("Exception", "BaseException", "AssertionError", "")


class TestFunction(Struct, frozen=True, kw_only=True):
    """One test as the source states it."""

    __test__ = False

    name: str
    """Qualified as in a node id, e.g. TestAdd::test_small."""
    line: int
    assertions: int
    text: str
    """Its body and decorators, normalised."""


def read_tests(source: bytes) -> dict[str, TestFunction]:
    """Every function a runner may take for a test; empty for a file that is not readable."""
    try:
        tree = python_source.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    return {test.name: test for test in _tests(tree, "")}


def module_text(source: bytes) -> str:
    """The module without its tests: imports, helpers and constants that every test of the file rests on."""
    try:
        tree = python_source.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return source.decode("utf-8", "replace")
    return "\n".join(sorted(ast.dump(n) for n in tree.body if not _is_test(n) and not _docstring(n)))


def _is_test(node: ast.AST) -> bool:
    if isinstance(node, ast.ClassDef):
        return node.name.startswith("Test") or any("TestCase" in dotted(base) for base in node.bases)
    return isinstance(node, Function) and node.name.startswith("test")


def _docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _tests(node: ast.Module | ast.ClassDef, prefix: str) -> Iterator[TestFunction]:
    for item in node.body:
        if isinstance(item, ast.ClassDef) and _is_test(item):
            yield from _tests(item, f"{prefix}{item.name}::")
        elif isinstance(item, Function) and item.name.startswith("test"):
            body = [ast.dump(s) for s in item.body if not _docstring(s)]
            marks = [ast.dump(d) for d in item.decorator_list]
            yield TestFunction(
                name=prefix + item.name,
                line=item.lineno,
                assertions=sum(1 for n in ast.walk(item) if is_assertion(n)),
                text="\n".join([*marks, ast.dump(item.args), *body]),
            )


def is_assertion(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return True
    if isinstance(node, ast.Call):
        name = dotted(node.func).rpartition(".")[2]
        return name.startswith(("assert", "expect", "check_", "verify_")) or dotted(node.func) in (
            "pytest.raises",
            "pytest.warns",
            "pytest.fail",
        )
    return False


def weak_spots(after: bytes, before: bytes = b"") -> list[Hit]:
    """Assertions that cannot fail, in what the change brings in."""
    try:
        hits = list(_weak(python_source.parse(after)))
    except (SyntaxError, ValueError, RecursionError):
        return []
    try:
        had = Counter((rule, text) for rule, _, text in _weak(python_source.parse(before)))
    except (SyntaxError, ValueError, RecursionError):
        had = Counter()
    fresh = []
    for hit in hits:
        if had[(hit[0], hit[2])] > 0:
            had[(hit[0], hit[2])] -= 1
        else:
            fresh.append(hit)
    return fresh


def _weak(tree: ast.Module) -> Iterator[Hit]:
    for node in ast.walk(tree):
        match node:
            case ast.Assert(test=test) if _always_true(test):
                yield "tautology", node.lineno, f"`assert {ast.unparse(test)[:80]}` cannot fail"
            case ast.Call(func=ast.Attribute(attr="assertTrue"), args=[test, *_]) if _always_true(test):
                yield "tautology", node.lineno, f"`assertTrue({ast.unparse(test)[:80]})` cannot fail"
            case ast.Call(func=ast.Attribute(attr="assertTrue" | "assertFalse" as name), args=[_, other]) if _value(
                other
            ):
                yield "tautology", node.lineno, f"`{name}` {FIRST_ONLY}: `{ast.unparse(other)[:60]}` is taken for words"
            case ast.Call(func=ast.Attribute(attr="assertEqual"), args=[left, right, *_]) if _same(left, right):
                yield "tautology", node.lineno, "`assertEqual` of a thing with itself cannot fail"
            case ast.Try(body=body, handlers=handlers, finalbody=final) if _asserts(body):
                for handler in handlers:
                    if _broad(handler.type) and not _complains(handler.body):
                        yield "swallowed-assertion", handler.lineno, "an assertion's failure is caught and dropped"
                if any(isinstance(n, ast.Return) for s in final for n in ast.walk(s)):
                    yield "swallowed-assertion", node.lineno, "a return in `finally` drops an assertion's failure"
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body) if _asserts(body):
                for item in items:
                    if _swallows(item.context_expr):
                        yield (
                            "swallowed-assertion",
                            node.lineno,
                            f"`{ast.unparse(item.context_expr)[:80]}` drops an assertion's failure",
                        )
            case ast.FunctionDef() | ast.AsyncFunctionDef() if node.name.startswith("test"):
                yield from _unreachable(node)
                yield from _mocked(node)


FIRST_ONLY = "looks at its first value only"


def _value(node: ast.expr) -> bool:
    """Something to compare with, where `assertTrue` takes a message."""
    if isinstance(node, ast.Constant):
        return not isinstance(node.value, str | None)
    return isinstance(node, ast.List | ast.Tuple | ast.Dict | ast.Set)


def _always_true(test: ast.expr) -> bool:
    match test:
        case ast.Constant(value=value):
            return bool(value)
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            return bool(elts)
        case ast.UnaryOp(op=ast.Not(), operand=ast.Constant(value=value)):
            return not value
        case ast.BoolOp(op=ast.Or(), values=values):
            return any(_always_true(value) for value in values)
        case ast.BoolOp(op=ast.And(), values=values):
            return all(_always_true(value) for value in values)
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is() | ast.LtE() | ast.GtE()], comparators=[right]):
            return _same(left, right) or (
                isinstance(right, ast.Constant)
                and right.value == 0
                and isinstance(test.ops[0], ast.GtE)
                and dotted(getattr(left, "func", left)) == "len"
            )
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, ast.Name(id="object")]):
            return True
        case ast.Lambda() | ast.JoinedStr():
            return True
        case ast.Call(func=ast.Name(id="bool"), args=[inner]):
            return _always_true(inner)
    return False


def _same(left: ast.expr, right: ast.expr) -> bool:
    """Two spellings of one plain thing. Calls are left out: `Point(1) == Point(1)` is a real test of equality."""
    return ast.dump(left) == ast.dump(right) and not any(isinstance(n, ast.Call) for n in ast.walk(left))


def _asserts(body: list[ast.stmt]) -> bool:
    return any(is_assertion(n) for s in body for n in ast.walk(s))


def _broad(kind: ast.expr | None) -> bool:
    if kind is None:
        return True
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(dotted(k).rpartition(".")[2] in BROAD for k in kinds)


def _complains(body: list[ast.stmt]) -> bool:
    return any(isinstance(n, ast.Raise) or is_assertion(n) for s in body for n in ast.walk(s))


def _swallows(context: ast.expr) -> bool:
    if not isinstance(context, ast.Call) or dotted(context.func).rpartition(".")[2] not in ("suppress", "raises"):
        return False
    return any(_broad(arg) for arg in context.args) or not context.args


def _unreachable(node: Function) -> Iterator[Hit]:
    ended = False
    for statement in node.body:
        if ended and _asserts([statement]):
            yield "unreachable-assertion", statement.lineno, f"{node.name} returns before its assertion"
            break
        ended = ended or isinstance(statement, ast.Return)
    for inner in ast.walk(node):
        if (
            isinstance(inner, ast.If | ast.While)
            and isinstance(inner.test, ast.Constant)
            and not inner.test.value
            and _asserts(inner.body)
        ):
            yield "unreachable-assertion", inner.lineno, f"an assertion of {node.name} is never reached"
        elif isinstance(inner, ast.For) and _nothing(inner.iter) and _asserts(inner.body):
            yield "unreachable-assertion", inner.lineno, f"an assertion of {node.name} loops over nothing"


def _nothing(over: ast.expr) -> bool:
    match over:
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Dict(keys=items):
            return not items
    return False


def _mocked(node: Function) -> Iterator[Hit]:
    """A test that replaces the very function it calls tests the replacement."""
    replaced: dict[str, int] = {}
    called: set[str] = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Assign):
            for target in inner.targets:
                if (
                    isinstance(target, ast.Attribute)
                    and isinstance(target.value, ast.Name)
                    and isinstance(inner.value, ast.Lambda)
                ):
                    replaced[target.attr] = inner.lineno
        if not isinstance(inner, ast.Call):
            continue
        name = dotted(inner.func)
        words = [arg.value for arg in inner.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        if name.endswith(("patch", "patch.object", "monkeypatch.setattr", "mocker.patch")) and words:
            replaced[words[0].rpartition(".")[2]] = inner.lineno
        else:
            called.add(name.rpartition(".")[2])
    for name, line in replaced.items():
        if name in called:
            yield "mocked-subject", line, f"{node.name} replaces {name} and then calls it"
