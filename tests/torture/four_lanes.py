"""A sprint on four lanes with everything at once: two tasks that conflict, a Bug Council, a usage limit that is waited
out. The same files at the end, whatever was killed in between."""

from __future__ import annotations

from pathlib import Path

from engine.plans.sprints import SprintFolder
from tests.engine import small

TASKS = {
    "1.1": "shared.txt",
    "1.2": "shared.txt",
    "1.3": "hard.txt",
    "1.4": "late.txt",
    "1.5": "plain.txt",
    "2.1": "last.txt",
}


def _task(name: str, path: str) -> str:
    return f"- [ ] {name} Write {path} ({name})\n      scope: {path}\n      proof: none\n      complexity: 1\n\n"


PLAN = (
    "# Four lanes\n\nStatus: APPROVED\nTopic: lanes\n\n## Phase 1: Together\n\n"
    + "".join(_task(name, path) for name, path in TASKS.items() if name.startswith("1"))
    + "## Phase 2: Then\n\n"
    + _task("2.1", TASKS["2.1"])
)


def _call(task: str, content: str, more: str = "") -> str:
    return f'[[call]]\ntask = "{task}"\n{more}\nedit = [{{ path = "{TASKS[task]}", content = "{content}\\n" }}]\n\n'


SCENARIO = "".join(
    (
        _call("1.1", "one"),
        _call("1.2", "two"),
        _call("1.3", "bad", "iteration = 1"),
        _call("1.3", "bad and bad", "iteration = 2"),
        _call("1.3", "good"),
        _call("1.4", "late", 'fault = "limit"\nreset_in = 1.0'),
        _call("1.5", "plain"),
        _call("2.1", "last"),
        '[[call]]\nrole = "reviewer"\n[call.structured]\napproved = true\ncriteria = []\nsummary = "fine"\n\n',
        '[[call]]\nrole = "councillor"\n[call.structured]\nroot_cause = "it says bad"\nrecommended_fix = "say good"\n'
        'evidence = []\nconfidence = "high"\n\n',
        '[[call]]\nrole = "synthesist"\n[call.structured]\nroot_cause = "it says bad"\nrecommended_fix = "say good"\n'
        'insight = ""\ntest_cases = []\n\n',
    )
)
CONFIG = (
    "lanes = 4\n"
    + small.CONFIG.replace("failures = [2, 3]", "failures = [1, 1]")
    + "\n[budget]\nsession_usd = 100000\nday_usd = 100000\n\n[limits]\ncalls_per_hour = 100000\n"
)


def make(folder: Path) -> SprintFolder:
    return small.make(folder, plan=PLAN, scenario=SCENARIO, config=CONFIG)


def contents(folder: Path, branch: str) -> dict[str, str]:
    return {path: small.git(folder, "show", f"{branch}:{path}") for path in set(TASKS.values())}
