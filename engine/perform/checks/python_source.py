"""The one parser of Python sources in the engine: threads take turns.

CPython counts the depth of a tree once for all threads (until 3.11.8 and 3.12.2). Where lanes are judged side by side
and the garbage collector comes in between, a sound source ends in
`SystemError: AST constructor recursion depth mismatch`.
"""

from __future__ import annotations

import ast
import threading
from typing import Literal, cast, overload

_ALONE = threading.Lock()


@overload
def parse(source: str | bytes) -> ast.Module: ...
@overload
def parse(source: str | bytes, *, mode: Literal["eval"]) -> ast.Expression: ...
def parse(source: str | bytes, *, mode: Literal["exec", "eval"] = "exec") -> ast.Module | ast.Expression:
    """As `ast.parse`."""
    with _ALONE:
        return cast("ast.Module | ast.Expression", ast.parse(source, mode=mode))
