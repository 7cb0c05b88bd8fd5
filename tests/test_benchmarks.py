"""`make bench` itself: every benchmark can be started as it starts them."""

from __future__ import annotations

import importlib
import inspect

import pytest

from tests.benchmarks.__main__ import NAMES


@pytest.mark.parametrize("name", NAMES)
def test_make_bench_can_start_it(name: str) -> None:
    run = importlib.import_module(f"tests.benchmarks.{name}").run
    inspect.signature(run).bind()
