"""Checks behind each sandbox this machine has: same verdicts, no network, nothing written outside."""

from __future__ import annotations

import time

import pytest
from msgspec.structs import replace

from engine.core.model import CheckKind, TaskSpec, Verdict
from engine.core.sandboxes import SandboxName
from engine.perform.checks.proof.judge import judge
from engine.perform.checks.run.spec import CheckSpec
from engine.perform.process.probe import SandboxUnavailableError, probe
from engine.perform.process.spawner import ProcessSpawner
from tests.checks.ground import PYTHON

PYTEST = CheckSpec(
    name="pytest", kind=CheckKind.TESTS, command=(PYTHON, "-m", "pytest"), parser="junit", runner="pytest",
    env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
)  # fmt: skip
PROBE = """import os
import socket

import pytest

import calc


def test_the_change_is_loaded():
    assert calc.WHOSE == "change", calc.__file__


def test_no_network():
    with pytest.raises(OSError):
        socket.create_connection(("192.0.2.1", 80), timeout=1)


def test_writes_where_it_likes():
    with open(os.environ["USERS"] + "/planted", "w") as file:
        assert file.write("x") == 1
"""


@pytest.mark.parametrize(
    "mode",
    # Every other test of the judge is without a sandbox.
    [pytest.param(one, marks=pytest.mark.torture if one is SandboxName.NONE else ()) for one in SandboxName],
)
async def test_a_change_is_judged(mode, trees, place, tmp_path):
    for name in ("user", "spawn", "elsewhere"):
        (tmp_path / name).mkdir()
    try:
        found = await probe(mode, scratch=tmp_path / "spawn", home=tmp_path / "user")
    except SandboxUnavailableError as error:
        pytest.skip(str(error))
    spawner = ProcessSpawner(found, "checks-test", time.monotonic, home=tmp_path / "user", scratch=tmp_path / "spawn")
    (place.checkout / "calc.py").write_text("WHOSE = 'user'\n")
    setting = replace(place, confine=True, hide=(tmp_path / "elsewhere",), env={**place.env, "USERS": str(tmp_path)})
    base = {"calc.py": "WHOSE = 'base'\n", "tests/test_a.py": "def test_a():\n    assert str(1) == '1'\n"}
    # Without mounts there is no /tmp of its own to write to, without a sandbox there is the network.
    last = {SandboxName.LANDLOCK: "def test_writes", SandboxName.NONE: "def test_no_network"}.get(mode)
    probing = PROBE.partition(last)[0] if last else PROBE
    judged = await judge(
        tree=trees.write({**base, "calc.py": "WHOSE = 'change'\n", "tests/test_probe.py": probing}),
        base=trees.write(base),
        specs=(PYTEST,),
        trees=trees,
        spawner=spawner,
        setting=setting,
        clock=time.time,
        task=TaskSpec(id="1", title="Improve"),
    )
    assert judged.results[0].verdict is Verdict.PASS, judged.results[0].output
    assert judged.accepted, judged.findings
    assert not (tmp_path / "planted").exists()
    assert (place.checkout / "calc.py").read_text() == "WHOSE = 'user'\n"
