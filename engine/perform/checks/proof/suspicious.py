"""Python that meddles with its judge, found in the syntax tree: patched runners, early exits, test detection."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator

from engine.perform.checks import python_source

RUNNERS = ("pytest", "_pytest", "unittest", "pluggy", "doctest")
TELLTALE = ("PYTEST_CURRENT_TEST", "PYTEST_VERSION", "PYTEST_XDIST_WORKER", "PYTEST_ADDOPTS")
UNUSUAL_CALLS = {
    "atexit.register": "registers code for the interpreter's end",
    "sys.settrace": "traces the interpreter",
    "sys.setprofile": "traces the interpreter",
    "sys._getframe": "looks at its callers",
    "inspect.stack": "looks at its callers",
    "inspect.currentframe": "looks at its callers",
    "gc.get_objects": "looks at objects of others",
    "gc.get_referrers": "looks at objects of others",
}
EXITS = ("os._exit", "os.abort", "pytest.exit", "signal.raise_signal", "os.kill", "os.killpg")
VALUE_TYPES = ("int", "float", "str", "list", "dict", "tuple", "bytes", "set", "frozenset", "bool")

OWN_IDEAS = {
    "__ne__": "equality", "__bool__": "truth", "__lt__": "order", "__le__": "order", "__gt__": "order",
    "__ge__": "order", "__hash__": "equality", "__contains__": "membership", "__class__": "its class",
}  # fmt: skip

Hit = tuple[str, int, str]
"""(rule, line, text)"""

Full = Callable[[ast.AST], str]
"""The dotted name of an expression, with imports' aliases undone."""


def suspicious_python(after: bytes, before: bytes = b"", *, test: bool = False) -> list[Hit]:
    """What the change brings in; what the base had already is not counted. UnreadableError source is itself a hit."""
    try:
        hits = list(_hits(python_source.parse(after), test))
    except (SyntaxError, ValueError, RecursionError) as error:
        return [("unreadable-source", getattr(error, "lineno", 0) or 0, "the file is not readable as Python")]
    try:
        had = Counter((rule, text) for rule, _, text in _hits(python_source.parse(before), test))
    except (SyntaxError, ValueError, RecursionError):
        had = Counter()
    fresh = []
    for rule, line, text in hits:
        if had[(rule, text)] > 0:
            had[(rule, text)] -= 1
        else:
            fresh.append((rule, line, text))
    return fresh


def dotted(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr):
            inner = dotted(value)
            return f"{inner}.{attr}" if inner else attr
        case ast.Subscript(value=value):
            return dotted(value)
    return ""


def _hits(tree: ast.Module, test: bool) -> Iterator[Hit]:
    aliases = imported_as(tree)

    def full(node: ast.AST) -> str:
        name = dotted(node)
        head, _, rest = name.partition(".")
        known = aliases.get(head, head)
        return f"{known}.{rest}" if rest else known

    for node in ast.walk(tree):
        match node:
            case ast.Import() | ast.ImportFrom() if not test:
                yield from _imports(node)
            case ast.Assign(targets=targets):
                for target in targets:
                    yield from _written(target, full, test)
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                yield from _written(target, full, test)
            case ast.Delete(targets=targets):
                for target in targets:
                    yield from _written(target, full, test)
            case ast.Call():
                yield from _call(node, full, test)
            case ast.Compare(left=ast.Constant(value=str(name)), ops=[ast.In() | ast.NotIn()], comparators=[where]) if (
                not test
            ):
                if name.partition(".")[0] in RUNNERS and full(where) in ("sys.modules", "sys.argv"):
                    yield "detects-tests", node.lineno, f"asks whether {name} is running"
            case ast.Constant(value=str(text)):
                yield from _string(node, text, test)
            case ast.ClassDef():
                yield from _class(node, full)
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and key.value == "__eq__" and _always(value):
                        yield "always-equal", node.lineno, "makes a class whose objects equal everything"
    if not test:
        yield from _exits_at_import(tree, full)


def imported_as(tree: ast.Module) -> dict[str, str]:
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[Hit]:
    modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    for module in modules:
        if module.partition(".")[0] in RUNNERS:
            yield "suspicious-source", node.lineno, f"imports {module} outside the tests"
        elif module.partition(".")[0] in ("tests", "test", "conftest") or module.startswith("test_"):
            yield "detects-tests", node.lineno, f"imports {module} outside the tests"
        elif module in ("ctypes", "gc"):
            yield "unusual-source", node.lineno, f"imports {module}"


def _written(target: ast.AST, full: Full, test: bool) -> Iterator[Hit]:
    name = full(target)
    line = getattr(target, "lineno", 0)
    if isinstance(target, ast.Subscript) and name == "sys.modules":
        yield "suspicious-source", line, "writes to sys.modules"
    elif isinstance(target, ast.Attribute | ast.Subscript):
        if (
            name.partition(".")[0] in (*RUNNERS, "builtins", "__builtins__")
            or name in ("sys.exit", "os._exit", "sys.excepthook", "sys.meta_path", "sys.path_hooks")
            or (name.endswith((".__eq__", ".__class__")) and not name.startswith("self."))
        ):
            yield "suspicious-source", line, f"replaces {name}"
        elif not test and re.search(r"\.[A-Z]\w*\.\w+$", name) and isinstance(target, ast.Attribute):
            yield "suspicious-source", line, f"replaces {name}, which another module defines"
    elif isinstance(target, ast.Name) and target.id in ("AssertionError", "pytest_plugins"):
        yield "suspicious-source", line, f"replaces {target.id}"


def _call(node: ast.Call, full: Full, test: bool) -> Iterator[Hit]:
    name = full(node.func)
    line = node.lineno
    first = node.args[0] if node.args else None
    where = full(first) if first is not None else ""
    if test and name.endswith(".addTypeEqualityFunc"):
        yield "suspicious-source", line, "registers a comparison of its own for a whole type"
    elif not test and name.rpartition(".")[2] in ("field", "Field", "attrib", "ib") and _left_out(node):
        yield "always-equal", line, "a field is left out: objects are equal whatever their field says"
    elif name in EXITS[:3]:
        yield "suspicious-source", line, f"calls {name}"
    elif name in EXITS and not test:
        yield "unusual-source", line, f"calls {name}"
    elif name in UNUSUAL_CALLS and not (test and name != "atexit.register"):
        yield "unusual-source", line, UNUSUAL_CALLS[name]
    elif name in ("exec", "eval") and not test:
        yield "unusual-source", line, f"calls {name}"
    elif name in ("setattr", "delattr", "object.__setattr__", "type.__setattr__"):
        if where.partition(".")[0] in (*RUNNERS, "builtins", "__builtins__") or where == "sys.modules":
            yield "suspicious-source", line, f"replaces a part of {where}"
    elif name.startswith("sys.modules.") and name.rpartition(".")[2] in (
        "update",
        "setdefault",
        "__setitem__",
        "clear",
    ):
        yield "suspicious-source", line, "writes to sys.modules"
    elif not test and name.startswith("sys.modules.") and isinstance(first, ast.Constant) and first.value in RUNNERS:
        yield "detects-tests", line, f"asks whether {first.value} is running"
    elif (
        name == "getattr"
        and len(node.args) > 1
        and isinstance(node.args[1], ast.Constant)
        and node.args[1].value in ("_exit", "modules")
    ):
        yield "suspicious-source", line, f"reaches for {node.args[1].value} by name"
    elif name in ("__import__", "importlib.import_module") and isinstance(first, ast.Constant) and not test:
        module = str(first.value)
        if module.partition(".")[0] in RUNNERS:
            yield "suspicious-source", line, f"imports {module} outside the tests"


def _left_out(node: ast.Call) -> bool:
    """A field of a data class that equality does not look at."""
    return any(
        word.arg in ("compare", "eq") and isinstance(word.value, ast.Constant) and word.value.value is False
        for word in node.keywords
    )


def _string(node: ast.Constant, text: str, test: bool) -> Iterator[Hit]:
    if text in TELLTALE and not test:
        yield "detects-tests", node.lineno, f"looks for {text}"
    elif text.lower().endswith("junit.xml") or text.startswith("--junit"):
        yield "suspicious-source", node.lineno, f"names a test report ({text[:60]})"
    elif not test and len(text) < 200 and ("tests/test_" in text or text.startswith("_pytest")):
        yield "detects-tests", node.lineno, f"names a test file ({text[:60]})"


def _always(node: ast.AST) -> bool:
    """A function that says True whatever it is compared with."""
    match node:
        case ast.Lambda(body=ast.Constant(value=value)):
            return bool(value)
        case ast.FunctionDef(body=body, args=args):
            told = [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
            other = args.args[1].arg if len(args.args) > 1 else ""
            mentioned = any(isinstance(n, ast.Name) and n.id == other for s in told for n in ast.walk(s))
            returns = [n.value for s in told for n in ast.walk(s) if isinstance(n, ast.Return)]
            if returns and all(isinstance(r, ast.Constant) and r.value for r in returns):
                return True
            return bool(other) and not mentioned and not any(isinstance(s, ast.Raise) for s in told)
    return False


def _class(node: ast.ClassDef, full: Full) -> Iterator[Hit]:
    bases = [full(base) for base in node.bases]
    for item in node.body:
        name = item.name if isinstance(item, ast.FunctionDef) else ""
        value: ast.AST = item
        if isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name):
            name, value = item.targets[0].id, item.value
        if name in OWN_IDEAS and any(base in VALUE_TYPES for base in bases):
            yield "always-equal", item.lineno, f"{node.name} is a {bases[0]} with its own idea of {OWN_IDEAS[name]}"
        if name != "__eq__":
            continue
        if _always(value):
            yield "always-equal", item.lineno, f"objects of {node.name} equal everything"
        elif missing := _not_compared(node, item):
            yield "always-equal", item.lineno, f"objects of {node.name} are equal whatever their {missing} are"
        elif any(base in VALUE_TYPES for base in bases):
            yield "always-equal", item.lineno, f"{node.name} is a {bases[0]} with its own idea of equality"


_WHOLE = re.compile(r"__dict__|\bvars\(|astuple|asdict|_asdict|__slots__|super\(\)\.__eq__|\brepr\(|\bstr\(|\bhash\(")
_NEARLY = re.compile(r"\babs\(|\bround\(|isclose|\.lower\(|casefold|\.strip\(|//")


def _not_compared(node: ast.ClassDef, item: ast.AST) -> str:
    """What objects keep, and a comparison written by hand leaves out, or takes for the same when it is near."""
    if not isinstance(item, ast.FunctionDef):
        return ""
    methods = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
    told = ast.unparse(item)
    for _ in range(DEEP):  # what it asks of its own properties and methods is compared, too
        more = [
            ast.unparse(one) for name, one in methods.items() if re.search(rf"\b{name}\b", told) and one is not item
        ]
        told = "\n".join(dict.fromkeys((told, *(text for text in more if text not in told))))
    named = {one.target.id for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)}
    made = {
        one.attr
        for one in ast.walk(methods.get("__init__", ast.Pass()))
        if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store) and ast.unparse(one.value) == "self"
    }
    slots = {
        text.value
        for one in node.body
        if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "__slots__"
        for text in ast.walk(one.value)
        if isinstance(text, ast.Constant) and isinstance(text.value, str)
    }
    kept = sorted(named | made | slots)
    if _WHOLE.search(told):
        return ""
    missing = [name for name in kept if re.search(rf"\.{name}\b", told) is None]
    return ", ".join(missing or (kept if _NEARLY.search(ast.unparse(item)) else []))


DEEP = 2


def _exits_at_import(tree: ast.Module, full: Full) -> Iterator[Hit]:
    """sys.exit while the module is loaded; below `if __name__ == "__main__"` it is everyday."""
    pending: list[ast.stmt] = list(tree.body)
    while pending:
        statement = pending.pop()
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                continue
            case ast.If(test=test, body=body, orelse=orelse):
                if "__name__" not in ast.dump(test):
                    pending += body
                pending += orelse
                continue
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
                pending += [*body, *orelse, *final, *(s for h in handlers for s in h.body)]
                continue
        for node in ast.walk(statement):
            if (isinstance(node, ast.Call) and full(node.func) in ("sys.exit", "exit", "quit")) or (
                isinstance(node, ast.Raise) and node.exc is not None and "SystemExit" in ast.dump(node.exc)
            ):
                yield "suspicious-source", node.lineno, "exits while it is loaded"
