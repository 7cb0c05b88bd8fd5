"""The tests of this folder reach loopback and nothing else."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.agents.fake_model_server import FakeModelServer
from tests.real.agents import PROBLEMS

pytestmark = pytest.mark.real


def test_there_is_no_way_out(model_server: FakeModelServer) -> None:
    if "network" in PROBLEMS:
        pytest.skip(PROBLEMS["network"])
    assert [name for _, name in socket.if_nameindex()] == ["lo"]
    assert Path("/proc/net/route").read_text().count("\n") == 1, "the headline, and no route"
    host, port = model_server.url("x").split("/")[2].split(":")
    with socket.create_connection((host, int(port)), timeout=5):
        pass
