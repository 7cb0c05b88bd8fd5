"""A parked task by the real command line: asked, mistyped, allowed one by one, complete without a new agent call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.redteam.case import cases
from tests.redteam.outside import Ground


@pytest.mark.torture
def test_parked_work_is_allowed_and_completes_without_a_new_call(tmp_path: Path) -> None:
    case = next(one for one in cases() if one.name == "f-report-sorted-by-size")
    ground = Ground(case.repo, tmp_path)
    assert ground.run(case).answer == "asked"
    golden, test = asked(ground)
    assert (golden, test) == ("edit tests/golden/report.txt", "edit tests tests/test_report.py::test_report")

    slip = ground._devteam("allow", "1.1", "edit tests/goldn/report.txt", ok=False)
    assert slip.returncode == 4 and "tests/goldn/report.txt" in slip.stdout and golden in slip.stdout
    assert asked(ground) == [golden, test], "a slip of the pen changes nothing"

    assert test in ground._devteam("allow", "1.1", golden).stdout, "what is asked still"
    assert asked(ground) == [test]
    assert "its kept tree is checked again" in ground._devteam("allow", "1.1", test).stdout

    ran = ground._devteam("run", "--unattended", "--json", "--trust", ground.hash)
    facts = [json.loads(line)["event"] for line in ran.stdout.splitlines() if '"event"' in line]
    kinds = [fact["type"] for fact in facts]
    assert "checks_finished" in kinds and not [kind for kind in kinds if kind.startswith("agent")], kinds
    status = json.loads(ground._devteam("status", "--json").stdout.splitlines()[-1])
    assert (status["tasks"]["1.1"], status["outcome"]) == ("complete", "done")
    assert ground._devteam("questions").stdout == "no question waits for you\n"
    assert "refs/heads/devteam" in ground._git("for-each-ref", "refs/heads/devteam")


def asked(ground: Ground) -> list[str]:
    return [json.loads(line)["allow"] for line in ground._devteam("questions", "--json").stdout.splitlines()]
