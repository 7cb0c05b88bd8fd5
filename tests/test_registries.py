"""A family has one registry; everything about a member stands in its record, and its suite runs over every member."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from engine import agent_records
from engine.agent_records import BUILT_IN, TEMPLATES, AgentRecord, DocsRow
from engine.config.docs import with_agents
from engine.conformance import agent_problems, plan_format_problems, preset_problems, record_problems
from engine.core.model import CheckKind, PhaseSpec, Plan, TaskSpec
from engine.perform.agents.settings import AgentConfig
from engine.perform.checks.presets.package import Candidate
from engine.perform.checks.presets.registry import PRESETS, Preset
from engine.perform.checks.run.spec import CheckSpec
from engine.plans import FORMATS, PlanFormat
from tests.agents.test_conformance import AGENTS
from tests.plans.samples import NAMES, WRITERS

ROOT = Path(__file__).parents[1]
PLUGIN = ROOT / "tests" / "sample_plugin"
SAMPLE = Plan(
    title="Sample",
    status="DRAFT",
    phases=(
        PhaseSpec(
            id="1", title="One", tasks=(TaskSpec(id="1.1", title="First"), TaskSpec(id="1.2", title="Second")),
        ),
    ),
)  # fmt: skip
REPOSITORIES = {
    "python": {"pyproject.toml": "[tool.ruff]\n[tool.pytest.ini_options]\n", "tests/test_a.py": "def test_a(): ...\n"},
    "javascript": {"package.json": '{"scripts": {"test": "jest"}}'},
    "go": {"go.mod": "module x\n", "x.go": "package x\n"},
    "rust": {"Cargo.toml": "[package]\n"},
    "java": {"pom.xml": "<project/>"},
    "cmake": {"CMakeLists.txt": "project(x)\nenable_testing()\n"},
    "make": {"Makefile": "test:\n\ttrue\n"},
}


def test_every_adapter_is_in_the_conformance_suite() -> None:
    """A registered agent whose adapter no suite runs is a failure."""
    run = {TEMPLATES.get(name) or next(one.adapter for one in BUILT_IN if one.name == name) for name in AGENTS}
    assert run == {one.adapter for one in BUILT_IN} | set(TEMPLATES.values())


@pytest.mark.parametrize("record", BUILT_IN, ids=lambda record: record.name)
def test_every_agent_says_everything_of_itself(record: AgentRecord) -> None:
    assert record_problems(record) == []
    if record.looked_for:
        assert record.install and record.login_hint and (record.login.env or record.login.files)


async def test_no_adapter_takes_a_broken_program_for_a_success() -> None:
    own = [one for one in BUILT_IN if not one.acp and one.name != "scripted"]
    configs = {"opencode": AgentConfig(argv=("x",))}
    acp = next(one for one in BUILT_IN if one.name == "opencode")
    found = await asyncio.gather(*(agent_problems(one, configs.get(one.name)) for one in (*own, acp)))
    assert [problem for problems in found for problem in problems] == []


def test_a_record_that_contradicts_itself_is_found() -> None:
    docs = DocsRow(driven="x")
    rung = agent_records.CLAUDE.rungs[0]
    bad = AgentRecord(
        name="claude", adapter="nowhere", docs=docs, rungs=(rung,), login=agent_records.Login(files=("/x",))
    )
    assert len(record_problems(bad)) == 3


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_every_plan_format_holds_the_published_suite(form: PlanFormat) -> None:
    assert plan_format_problems(form, WRITERS[form.name](SAMPLE), str(NAMES[form.name])) == []


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_every_preset_holds_the_published_suite(preset: Preset) -> None:
    assert preset_problems(preset, REPOSITORIES[preset.name]) == []


def test_the_suites_find_what_is_wrong() -> None:
    class Forgetful:
        name = "Bad Name"

        def __getattr__(self, name: str) -> object:
            return getattr(FORMATS[1], name)

        def mark(self, text: str, _marks: object) -> str:
            return text

    problems = plan_format_problems(Forgetful(), WRITERS[FORMATS[1].name](SAMPLE), str(NAMES[FORMATS[1].name]))
    assert len(problems) >= 3
    assert preset_problems(Preset(name="x", manifests=("x",), detect=lambda package: iter(())), {"x": ""})
    spec = CheckSpec(name="x", kind=CheckKind.TESTS, command=("x",), why="x")
    anywhere = Preset(name="x", manifests=("x",), detect=lambda package: iter((Candidate(check=spec),)))
    assert [one for one in preset_problems(anywhere, {"x": ""}) if "empty repository" in one]


def test_the_docs_table_is_made_from_the_records() -> None:
    page = (ROOT / "docs" / "agents.md").read_text("utf-8")
    assert with_agents(page) == page, "python -m engine.config --write-docs"


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The python of a virtual environment that has devteam and the sample plug-in installed."""
    root = tmp_path_factory.mktemp("plugin") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(root)], check=True)
    [packages] = root.glob("lib/python3*/site-packages")
    (packages / "ours.pth").write_text(f"{ROOT}\n{sysconfig.get_path('purelib')}\n")
    install(packages)
    return root / "bin" / "python"


def install(folder: Path, package: str = "devteam_sample") -> None:
    """As pip would: the package and its metadata."""
    (folder / package).symlink_to(PLUGIN / "devteam_sample")
    metadata = folder / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[devteam.agents]\nsample = devteam_sample:AGENT\nbroken = devteam_sample:NOTHING\n"
        "[devteam.plans]\nlines = devteam_sample:LINES\n[devteam.presets]\njust = devteam_sample:JUST\n"
    )


SUITE = """
import asyncio, json, sys
from pathlib import Path, PurePath
from engine import agent_records, conformance, plugins
from engine.agent_records import AgentRecord
from engine.config import parse
from engine.perform.checks.presets.registry import detect, presets
from engine.plans import format_of
record = agent_records.record("sample-agent")
form = format_of(PurePath("plan.lines"), "TODO 1.1 a")
[just] = [one for one in presets() if one.name == "just"]
folder = Path(sys.argv[1])
(folder / "justfile").write_text("test:\\n  true\\n")
text = 'TODO 1.1 First\\nwords of the user\\nTODO 1.2 Second\\n'
parse('[[ladder.rungs]]\\nname = "s"\\nagent = "sample-agent"\\n', "config.toml")
print(json.dumps({
    "agent": asyncio.run(conformance.agent_problems(record)),
    "plan": conformance.plan_format_problems(form, text, "plan.lines"),
    "preset": conformance.preset_problems(just, {"justfile": "test:\\n  true\\n"}),
    "detected": [spec.name for spec in detect(folder)],
    "broken": [one.problem for one in plugins.installed("devteam.agents", AgentRecord) if one.problem],
}))
"""


def test_a_plug_in_is_the_same_thing_as_a_built_in(machine: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [str(machine), "-I", "-c", SUITE, str(tmp_path)], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said.pop("broken")[0].startswith("cannot be loaded: AttributeError")
    assert said == {"agent": [], "plan": [], "preset": [], "detected": ["just test"]}


def test_a_plug_in_that_lies_in_the_repository_is_never_loaded(tmp_path: Path) -> None:
    """Its metadata is on the module path of whoever starts us: only the interpreter's own folders are looked at."""
    install(tmp_path)
    code = (
        "import sys; from engine import agent_records; assert agent_records.record('sample-agent') is None; "
        "assert 'devteam_sample' not in sys.modules; import devteam_sample"
    )
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_pane_has_its_key_and_its_panel() -> None:
    """One record a pane; what cannot be derived from it is asked for here and by mypy."""
    from tui.kit.keys import ACTIONS
    from tui.kit.panes import FOCUSED, PANES, PaneName
    from tui.panels.registry import make
    from tui.screens.dashboard import Dashboard

    assert [pane.name for pane in PANES] == [*PaneName]
    keys = {action.name: action.keys for action in ACTIONS}
    for pane in PANES:
        assert make(pane.name).id in (pane.name, f"{pane.name}s")
    for pane in FOCUSED:
        assert keys[f"pane_{pane.name}"] == pane.key
        assert callable(getattr(Dashboard, f"do_pane_{pane.name}"))


def test_every_theme_file_is_a_theme() -> None:
    """The folder is the registry: a file in it is a choice, and nothing else names the themes."""
    from tui.app.theme import DEFAULT, PACKAGED, load_theme

    files = sorted(PACKAGED.glob("*.toml"))
    assert DEFAULT in {path.stem for path in files}
    for path in files:
        assert getattr(load_theme(path), "name", "") == path.stem
