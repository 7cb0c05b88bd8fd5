"""For the whole suite: a test is called hung by the speed of the machine it runs on, never by a fixed clock."""

from __future__ import annotations

import gc
import os
import sys

import pytest
from hypothesis import HealthCheck, settings

from tests import lean_python
from tests.depth import examples, left_out
from tests.patience import slowness

sys.dont_write_bytecode = False
"""Whatever the environment says: every worker rewrites the assertions of every test file, ten seconds of CPU, unless it
finds them rewritten. Only this process; its children are told what they were told."""

HUNG_SECONDS = 300.0
"""On a quiet machine, where the slowest ordinary test takes a tenth of it; the suite itself is a load to come."""

settings.register_profile(
    "any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=examples(100, least=30)
)
settings.load_profile("any-machine")
"""Neither is a property judged by the time that an example takes."""


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if config.option.timeout is None:
        config.option.timeout = HUNG_SECONDS * max(2.0, slowness())
    lean_python.put_on_path()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: many tests wait for a child or a timer."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Dear tests take turns (tests/depth.py). The longer limits of the torture runs grow with the slowness."""
    if later := left_out(items):
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in later])
        items[:] = [item for item in items if item.nodeid not in later]
    slow = max(2.0, slowness())
    for item in items:
        if mark := item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(mark.args[0] * slow), append=False)


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: no collection of garbage need look at it again. How often one
    looks is as in the product (tui/cli/main.py), and a sixth of the dashboard's tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
