"""Lanes are judged side by side: sources are parsed one after another, whatever the collector does in between."""

from __future__ import annotations

import ast
import gc
import sys
import threading
from pathlib import Path

from engine.perform.checks import python_source


class Circle:
    """The collector has to run Python for it, and another thread may come in."""

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        sum(range(200))


def test_threads_do_not_break_each_other() -> None:
    """On the versions of CPython that count for all threads together, a dozen of these fail without the lock."""
    source, failed = Path(ast.__file__).read_text(), []

    def work() -> None:
        for _ in range(15):
            for _ in range(50):
                Circle()
            try:
                python_source.parse(source)
            except SystemError as problem:
                failed.append(problem)

    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(100)
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
        gc.set_threshold(*thresholds)
    assert failed == []


def test_it_is_what_ast_says() -> None:
    assert ast.dump(python_source.parse(b"x = 1\n")) == ast.dump(ast.parse("x = 1\n"))
    assert isinstance(python_source.parse("f(1)", mode="eval").body, ast.Call)


def test_a_copy_says_the_same_and_is_apart() -> None:
    tree = python_source.parse(Path(ast.__file__).read_text())
    before, made = ast.dump(tree, include_attributes=True), python_source.copied(tree)
    assert ast.dump(made, include_attributes=True) == before
    for node in ast.walk(made):
        match node:
            case ast.Name() | ast.FunctionDef():
                node.id = node.name = "other"
            case ast.Call():
                node.args.clear()
    assert ast.dump(tree, include_attributes=True) == before
