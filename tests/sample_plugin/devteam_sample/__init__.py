"""A sample plug-in: everything it needs comes from devteam's published names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath

from engine.agent_records import AgentRecord, DocsRow, Login
from engine.core.model import CheckKind, PhaseSpec, Plan, Rung, TaskSpec
from engine.perform.checks.presets.package import Candidate, Found, Package
from engine.perform.checks.presets.registry import Preset
from engine.perform.checks.run.spec import CheckSpec
from engine.plans.plan_format import PlanError, PlanRefused, places_to_mark

AGENT = AgentRecord(
    name="sample-agent",
    adapter="devteam_sample.agent:SampleAgent",
    install="pip install devteam-sample",
    docs=DocsRow(driven="its own words on stdout", cost="free"),
    login=Login(env=("SAMPLE_AGENT_KEY",), files=(".sample-agent/key",)),
    rungs=(Rung(name="sample", agent="sample-agent", reserve_usd=0.01),),
)

_LINE = re.compile(r"^(?P<mark>TODO|DOING|DONE|SKIPPED|BLOCKED) (?P<id>\d+\.\d+) (?P<title>\S.*)$", re.MULTILINE)
_WORDS = {"open": "TODO", "in_progress": "DOING", "done": "DONE", "skipped": "SKIPPED", "blocked": "BLOCKED"}


class _Lines:
    """`TODO 1.1 Title`, one task a line, in a file that ends in .lines."""

    name = "lines"

    def matches(self, path: PurePath, text: str) -> bool:
        return path.suffix == ".lines"

    def read(self, text: str, source: str) -> Plan:
        found = list(_LINE.finditer(text))
        if not found:
            raise PlanRefused([PlanError(source=source, line=0, what="no task", expected="TODO 1.1 Title")])
        tasks = tuple(TaskSpec(id=one["id"], title=one["title"], done=one["mark"] == "DONE") for one in found)
        if len({task.id for task in tasks}) != len(tasks):
            raise PlanRefused([PlanError(source=source, line=0, what="two tasks with one id")])
        return Plan(title=PurePath(source).stem or "plan", phases=(PhaseSpec(id="1", title="All", tasks=tasks),))

    def mark(self, text: str, marks: Mapping[str, str]) -> str:
        spans = [(one["id"], *one.span("mark")) for one in _LINE.finditer(text)]
        for start, end, status in places_to_mark(marks, spans, "plan.lines"):
            text = text[:start] + _WORDS[status] + text[end:]
        return text

    def mark_plan(self, text: str, status: str) -> str:
        return text


LINES = _Lines()


def _just(package: Package) -> Iterator[Found]:
    if re.search(r"^test\b.*:", package.text("justfile"), re.MULTILINE):
        yield Candidate(check=CheckSpec(name="just test", kind=CheckKind.TESTS, command=("just", "test")))


JUST = Preset(name="just", manifests=("justfile",), detect=_just)
