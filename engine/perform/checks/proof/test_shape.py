"""How one unit of a test file differs from what it was, by its syntax: stronger, of the same shape, weaker. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from enum import StrEnum

from engine.core.model import Struct
from engine.perform.checks import python_source
from engine.perform.checks.proof.integrity_python import Function, is_assertion
from engine.perform.checks.proof.python_names import Names, Rename, canonical
from engine.perform.checks.proof.retold_tests import retold
from engine.perform.checks.proof.same_shape import RAISES, same_shape
from engine.perform.checks.proof.suspicious import dotted
from engine.perform.checks.proof.unrolled_tests import holds_all
from engine.perform.checks.proof.written_out import in_any_order, written_out


class EditKind(StrEnum):
    """What became of one unit (a test, a fixture, a helper, a constant) of the base's tests."""

    MOVED = "moved"
    """The same by its syntax, elsewhere or under another name."""
    STRONGER = "stronger"
    """Everything that was there still is, in order; something was added."""
    SAME_SHAPE = "same shape"
    """Other constants or call arguments, or the same questions with other answers; nothing else."""
    SKIPPED = "skipped"
    WEAKER = "weaker"
    """Fewer assertions than before."""
    CHANGED = "changed"
    DELETED = "deleted"


HARMLESS = frozenset({EditKind.MOVED, EditKind.STRONGER})


class Unit(Struct, frozen=True, kw_only=True):
    """A piece of a test file that stands for itself."""

    name: str
    line: int
    test: bool
    nodes: tuple[ast.AST, ...]
    text: str
    """The source as written, for excerpts."""
    names: Names = Names()
    """The imports of its file."""


def is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


class _Plain(ast.NodeTransformer):
    """Without what no run can see: annotations, docstrings, type comments."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.returns = None
        node.body = [s for s in node.body if not is_docstring(s)] or [ast.Pass()]
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.returns = None
        node.body = [s for s in node.body if not is_docstring(s)] or [ast.Pass()]
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        if node.value is None:
            return ast.Pass()
        return ast.Assign(targets=[node.target], value=node.value, lineno=node.lineno)


def plain(node: ast.AST) -> ast.AST:
    """A copy of a unit without annotations and docstrings."""
    copied = python_source.parse(ast.unparse(ast.fix_missing_locations(_copy(node)))).body
    return _Plain().visit(copied[0]) if copied else ast.Pass()


def _copy(node: ast.AST) -> ast.AST:
    if isinstance(node, ast.ClassDef) and not node.body:
        return ast.ClassDef(
            name=node.name,
            bases=node.bases,
            keywords=node.keywords,
            body=[ast.Pass()],
            decorator_list=node.decorator_list,
        )
    return node


def spelled(unit: Unit, renames: tuple[Rename, ...] = (), rename: str = "") -> str:
    """The unit as its syntax says it; `rename` stands in for the name of the function or class."""
    out = []
    for node in unit.nodes:
        tree = canonical(plain(node), unit.names, renames)
        if rename and isinstance(tree, Function | ast.ClassDef):
            tree.name = rename
        out.append(ast.dump(tree))
    return "\n".join(out)


def compare(old: Unit, new: Unit, renames: tuple[Rename, ...] = ()) -> EditKind:
    """How a unit differs from what it was."""
    before, after = ([canonical(plain(n), unit.names, renames) for n in unit.nodes] for unit in (old, new))
    was, now = ([written_out(node) for node in nodes] for nodes in (before, after))
    if len(before) == len(after) and all(
        _stronger(a, b) or holds_all(a, b) or _stronger(c, d)
        for a, b, c, d in zip(before, after, was, now, strict=True)
    ):
        return EditKind.STRONGER
    if _skips(after) > _skips(before):
        return EditKind.SKIPPED
    before, after = was, now
    if _assertions(after) < _assertions(before):
        return EditKind.WEAKER
    if len(before) == len(after) and all(
        same_shape(a, b) or retold(a, b, same_shape) or in_any_order(a, b, same_shape)
        for a, b in zip(before, after, strict=True)
    ):
        return EditKind.SAME_SHAPE
    return EditKind.CHANGED


def same_under_another_name(old: Unit, new: Unit, renames: tuple[Rename, ...] = ()) -> bool:
    """A test of the same shape with other constants, and so with another name: `test_half_fare_up_to_fourteen`."""
    if not (old.test and new.test):
        return False
    before, after = ([canonical(plain(n), unit.names, renames) for n in unit.nodes] for unit in (old, new))
    for node in (*before, *after):
        if isinstance(node, Function):
            node.name = "_"
    return len(before) == len(after) and all(same_shape(a, b) for a, b in zip(before, after, strict=True))


def taken_up(old: Unit, new: Unit, renames: tuple[Rename, ...] = ()) -> bool:
    """A test that is gone, whose every assertion a row of a table makes."""
    before, after = ([canonical(plain(n), unit.names, renames) for n in unit.nodes] for unit in (old, new))
    return len(before) == len(after) == 1 and holds_all(before[0], after[0])


def _assertions(nodes: Iterable[ast.AST]) -> int:
    return sum(1 for node in nodes for n in ast.walk(node) if is_assertion(n))


def _skips(nodes: Iterable[ast.AST]) -> int:
    """Marks and calls that keep a test from running."""
    words = (
        "skip",
        "skipif",
        "skipIf",
        "skipUnless",
        "xfail",
        "expectedFailure",
        "skipTest",
        "SkipTest",
        "importorskip",
    )
    return sum(1 for node in nodes for n in ast.walk(node) if dotted(n).rpartition(".")[2] in words)


def _stronger(old: ast.AST, new: ast.AST) -> bool:
    """Everything of `old` is in `new`, in order, and what came in between cannot take it back."""
    if isinstance(old, Function) and isinstance(new, Function):
        same_head = type(old) is type(new) and ast.dump(old.args) == ast.dump(new.args)
        return same_head and _decorators(old, new) and _more(old.body, new.body, _names(old))
    if isinstance(old, ast.ClassDef) and isinstance(new, ast.ClassDef):
        heads = [
            (ast.dump(ast.Tuple(elts=[*n.bases], ctx=ast.Load())), [ast.dump(k) for k in n.keywords])
            for n in (old, new)
        ]
        return heads[0] == heads[1] and _decorators(old, new) and _more(old.body, new.body, set())
    return ast.dump(old) == ast.dump(new)


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {
        n.arg for n in ast.walk(node) if isinstance(n, ast.arg)
    }


def _decorators(old: Function | ast.ClassDef, new: Function | ast.ClassDef) -> bool:
    """The same marks; a list of parameters may have grown, and a mark that keeps nothing from running may be new.

    A mark that kept the test from running, or let it fail, may be gone.
    """
    had = {ast.dump(one) for one in old.decorator_list}
    has = {ast.dump(one) for one in new.decorator_list}
    kept = [one for one in new.decorator_list if ast.dump(one) in had or not _plain_mark(one)]
    old = _with_marks(old, [one for one in old.decorator_list if ast.dump(one) in has or not _skips([one])])
    new = _with_marks(new, kept)
    if len(old.decorator_list) != len(new.decorator_list):
        return False
    return all(
        ast.dump(a) == ast.dump(b) or _grown(a, b) for a, b in zip(old.decorator_list, new.decorator_list, strict=True)
    )


def _with_marks(node: Function | ast.ClassDef, marks: list[ast.expr]) -> Function | ast.ClassDef:
    if isinstance(node, ast.FunctionDef):
        return ast.FunctionDef(name=node.name, args=node.args, body=node.body, decorator_list=marks)
    if isinstance(node, ast.AsyncFunctionDef):
        return ast.AsyncFunctionDef(name=node.name, args=node.args, body=node.body, decorator_list=marks)
    return ast.ClassDef(name=node.name, bases=node.bases, keywords=node.keywords, body=node.body, decorator_list=marks)


def _plain_mark(mark: ast.expr) -> bool:
    """`pytest.mark.slow`: a label. What skips, expects a failure, brings fixtures or parameters is more than that."""
    name = dotted(mark)
    more = ("skip", "skipif", "xfail", "parametrize", "usefixtures", "filterwarnings", "asyncio")
    return name.startswith("pytest.mark.") and name.rpartition(".")[2] not in more


def _grown(old: ast.expr, new: ast.expr) -> bool:
    if not (isinstance(old, ast.Call) and isinstance(new, ast.Call) and dotted(old.func).endswith("parametrize")):
        return False
    if dotted(new.func) != dotted(old.func) or len(old.args) != len(new.args) or len(old.args) < 2:
        return False
    values = (old.args[1], new.args[1])
    rest = [ast.dump(arg) for arg in (*old.args[:1], *old.args[2:], *(k.value for k in old.keywords))]
    rest_now = [ast.dump(arg) for arg in (*new.args[:1], *new.args[2:], *(k.value for k in new.keywords))]
    if rest != rest_now or not all(isinstance(v, ast.List | ast.Tuple) for v in values):
        return False
    had, has = ([ast.dump(e) for e in getattr(v, "elts", [])] for v in values)
    return _subsequence(had, has)


def _subsequence(old: list[str], new: list[str]) -> bool:
    rest = iter(new)
    return all(item in rest for item in old)


def _more(old: list[ast.stmt], new: list[ast.stmt], names: set[str]) -> bool:
    """Old statements in order (blocks may have grown inside), with only assertions and fresh names put in between."""
    at = 0
    for statement in new:
        if at < len(old) and _holds(old[at], statement, names):
            at += 1
        elif at >= len(old):
            return True
        elif not _inert(statement, names):
            return False
    return at == len(old)


def _holds(old: ast.stmt, new: ast.stmt, names: set[str]) -> bool:
    return ast.dump(old) == ast.dump(new) or _block_grown(old, new, names) or _narrower(old, new)


def _narrower(old: ast.stmt, new: ast.stmt) -> bool:
    """`with raises(E)` that looks at the message now, too."""
    match old, new:
        case (
            ast.With(items=[ast.withitem(context_expr=ast.Call() as was, optional_vars=None)], body=body),
            ast.With(items=[ast.withitem(context_expr=ast.Call() as now, optional_vars=None)], body=body_now),
        ) if dotted(was.func).rpartition(".")[2] in RAISES and [*map(ast.dump, body)] == [*map(ast.dump, body_now)]:
            less = ast.Call(func=now.func, args=now.args, keywords=[one for one in now.keywords if one.arg != "match"])
            return not any(one.arg == "match" for one in was.keywords) and ast.dump(was) == ast.dump(less)
    return False


def _block_grown(old: ast.stmt, new: ast.stmt, names: set[str]) -> bool:
    if type(old) is not type(new) or not isinstance(old, ast.With | ast.For | ast.If | ast.AsyncWith | ast.AsyncFor):
        return False
    for field in ("items", "target", "iter", "test", "orelse"):
        a, b = getattr(old, field, None), getattr(new, field, None)
        listed = (a, b) if isinstance(a, list) else ([a], [b])
        if [ast.dump(n) for n in listed[0] or [] if n] != [ast.dump(n) for n in listed[1] or [] if n]:
            return False
    return not _raising(old) and _more(old.body, getattr(new, "body", []), names)


def _raising(node: ast.stmt) -> bool:
    """In `with raises(…)` a line more can be the one that raises."""
    return isinstance(node, ast.With) and any(
        isinstance(i.context_expr, ast.Call) and dotted(i.context_expr.func).rpartition(".")[2] in RAISES
        for i in node.items
    )


def _inert(node: ast.stmt, names: set[str]) -> bool:
    """A statement that cannot keep a later one from failing: an assertion, or a name nobody used so far."""
    if isinstance(node, ast.Assert | ast.Import | ast.ImportFrom | ast.Pass):
        return not any(isinstance(n, ast.NamedExpr) for n in ast.walk(node))
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return is_assertion(node.value)
    if isinstance(node, ast.With):
        return _raising(node)
    if isinstance(node, ast.Assign):
        bound = {n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)}
        plain_targets = all(isinstance(t, ast.Name | ast.Tuple) for t in node.targets)
        return plain_targets and not bound & names
    return False
