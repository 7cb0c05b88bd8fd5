"""The scripted agent: steps by name, edits that happen, and faults that are real ones."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from engine.core.activity import OutputKind
from engine.core.model import AgentResult, ResultKind, Role
from engine.perform.agents.scripted import Scenario, ScenarioError, ScriptedAgent, load
from engine.perform.process.reaper import find_orphans
from engine.perform.process.spawner import ProcessSpawner
from engine.perform.process.spawning import AgentCall, Output
from tests.patience import patience, slowed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("clone", "home", "scratch"):
        (tmp_path / name).mkdir()
    (tmp_path / "clone" / "a.txt").write_text("one\ntwo\n")
    return tmp_path


def scenario(folder: Path, text: str) -> Scenario:
    path = folder / "scenario.toml"
    path.write_text(text)
    return load(path)


async def play(
    folder: Path, text: str, *, run_id: str = "scripted-test", timeout: float = 10.0, **more: object
) -> tuple[AgentResult, list[Output]]:
    spawner = ProcessSpawner(
        "none", run_id, time.monotonic, home=folder / "home", scratch=folder / "scratch", grace=0.2
    )
    agent = ScriptedAgent(scenario(folder, text), now=time.time)
    heard: list[Output] = []
    call = AgentCall(
        effect="e1",
        role=more.pop("role", Role.IMPLEMENTER),  # type: ignore[arg-type]
        model="haiku",
        prompt="",
        task="1.1",
        iteration=1,
        attempt=1,
        timeout=timeout,
        idle_timeout=timeout,
        checkout=folder / "clone",
        clone=folder / "clone",
        home=folder / "home",
        env={"PATH": "/usr/bin:/bin"},
        **more,  # type: ignore[arg-type]
    )
    return await agent.call(call, spawner, heard.append), heard


async def test_a_step_edits_streams_and_claims(folder: Path) -> None:
    text = """
[[call]]
task = "1.1"
output = ["reading", { type = "tool", tool = "Read", path = "a.txt" }]
edit = [
  { path = "a.txt", find = "one", replace = "ONE" },
  { path = "new/b.txt", content = "b" },
]
text = "done"
cost_usd = 0.5
"""
    result, heard = await play(folder, text)
    assert result.kind is ResultKind.OK
    assert (result.claim, result.text, result.cost_usd, result.exit_code) == ("complete", "done", 0.5, 0)
    assert (folder / "clone/a.txt").read_text() == "ONE\ntwo\n"
    assert (folder / "clone/new/b.txt").read_text() == "b"
    kinds = [output.kind for output in heard]
    assert kinds == [OutputKind.TEXT, OutputKind.TOOL_CALL, OutputKind.FILE_CHANGE, OutputKind.FILE_CHANGE]


async def test_a_patch_is_applied_with_git(folder: Path) -> None:
    diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n"
    result, _heard = await play(folder, f"[[call]]\npatch = '''\n{diff}'''\n")
    assert result.kind is ResultKind.OK
    assert (folder / "clone/a.txt").read_text() == "one\nTWO\n"


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        pytest.param("hang", ResultKind.TIMEOUT, id="hang"),
        pytest.param("ignore_sigterm", ResultKind.TIMEOUT, id="ignores SIGTERM"),
        pytest.param("crash", ResultKind.CRASH, id="crash"),
        pytest.param("exit", ResultKind.CRASH, id="exit code"),
        pytest.param("garbage", ResultKind.NO_RESULT, id="garbage"),
        pytest.param("endless_line", ResultKind.CRASH, id="endless line"),
        pytest.param("flood", ResultKind.CRASH, id="flood"),
        pytest.param("orphan", ResultKind.OK, id="orphan"),
        pytest.param("no_result", ResultKind.NO_RESULT, id="no result"),
    ],
)
async def test_a_process_fault_ends_in_its_kind_and_leaves_nothing(folder: Path, fault: str, kind: ResultKind) -> None:
    run_id = f"scripted-{fault}-{time.time_ns()}"
    seconds = slowed(1.0) if kind is ResultKind.TIMEOUT else patience(30.0)
    result, _heard = await play(folder, f'[[call]]\nfault = "{fault}"\n', run_id=run_id, timeout=seconds)
    assert result.kind is kind, result
    assert not find_orphans(run_id)


@pytest.mark.parametrize("kind", [kind for kind in ResultKind if kind.value not in ("ok", "crash", "no_result")])
async def test_every_result_kind_can_be_scripted(folder: Path, kind: ResultKind) -> None:
    result, _heard = await play(folder, f'[[call]]\nfault = "{kind.value}"\nhint = "do this"\n')
    assert result.kind is kind
    assert result.hint == "do this"


async def test_a_limit_resets_when_its_time_is_over(folder: Path) -> None:
    text = '[[call]]\nfault = "limit"\nreset_in = 0.3\n'
    spawner = ProcessSpawner("none", "r", time.monotonic, home=folder / "home", scratch=folder / "scratch")
    now = [1000.0]
    agent = ScriptedAgent(scenario(folder, text), now=lambda: now[0])
    call = AgentCall(
        effect="e", role=Role.IMPLEMENTER, model="m", prompt="", checkout=folder / "clone", clone=folder / "clone",
        home=folder / "home", env={"PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    first = await agent.call(call, spawner, lambda _output: None)
    assert (first.kind, first.reset_at) == (ResultKind.LIMIT, 1000.3)
    now[0] += 1
    assert (await agent.call(call, spawner, lambda _output: None)).kind is ResultKind.OK


def test_the_most_particular_step_is_played(folder: Path) -> None:
    text = """
[[call]]
text = "any"
[[call]]
task = "1.1"
text = "task"
[[call]]
task = "1.1"
iteration = 2
text = "iteration"
[[call]]
role = "reviewer"
text = "review"
"""
    made = scenario(folder, text)

    def chosen(**fields: object) -> str:
        step = made.step(AgentCall(effect="e", model="m", prompt="", **{"role": Role.IMPLEMENTER, **fields}))  # type: ignore[arg-type]
        return step.text if step else "none"

    assert chosen(task="2.1") == "any"
    assert chosen(task="1.1", iteration=1) == "task"
    assert chosen(task="1.1", iteration=2) == "iteration"
    assert chosen(task="1.1", role=Role.REVIEWER) == "review"
    assert chosen(role=Role.COUNCILLOR) == "none"


async def test_a_missing_step_says_so(folder: Path) -> None:
    result, _heard = await play(folder, '[[call]]\ntask = "9.9"\n')
    assert result.kind is ResultKind.MODEL
    assert "no implementer step for task 1.1" in result.error


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("[[call]\n", "not TOML", id="broken"),
        pytest.param("[[call]]\nfault = 'sneeze'\n", "unknown fault 'sneeze'", id="fault"),
        pytest.param("[[call]]\nrole = 'king'\n", "king", id="role"),
        pytest.param("[[call]]\ncosts = 1\n", "costs", id="key"),
    ],
)
def test_a_broken_scenario_is_refused_with_its_file(folder: Path, text: str, words: str) -> None:
    with pytest.raises(ScenarioError, match=r"scenario\.toml") as refused:
        scenario(folder, text)
    assert words in str(refused.value)


def test_a_missing_scenario_is_refused(folder: Path) -> None:
    with pytest.raises(ScenarioError, match="cannot be read"):
        load(folder / "nowhere.toml")


@pytest.mark.parametrize("delay", [0.0, 0.002], ids=["shell", "player"])
async def test_a_plain_step_is_the_same_by_a_shell_and_by_the_player(folder: Path, delay: float) -> None:
    odd = 'it\'s 100% $HOME `id` \\n \\\\ "x"\n\té\n\n'
    text = f"""
[[call]]
delay = {delay}
output = ["%s 'quoted' $(id)"]
edit = [
  {{ path = "new folder/-odd 'name'.txt", content = {_toml(odd)} }},
  {{ path = "a.txt", content = "" }},
]
"""
    result, heard = await play(folder, text)
    assert (result.kind, result.claim, result.exit_code) == (ResultKind.OK, "complete", 0)
    assert (folder / "clone" / "new folder" / "-odd 'name'.txt").read_text() == odd
    assert (folder / "clone" / "a.txt").read_text() == ""
    assert [(one.kind, one.text or one.path) for one in heard] == [
        (OutputKind.TEXT, "%s 'quoted' $(id)"),
        (OutputKind.FILE_CHANGE, "new folder/-odd 'name'.txt"),
        (OutputKind.FILE_CHANGE, "a.txt"),
    ]


async def test_a_file_a_plain_step_cannot_write_is_a_crash(folder: Path) -> None:
    (folder / "clone" / "taken").mkdir()
    result, _ = await play(folder, '[[call]]\nedit = [{ path = "taken", content = "x" }]\n')
    assert result.kind is ResultKind.CRASH


def _toml(text: str) -> str:
    return json.dumps(text)
