"""Each danger has one home: who may start processes, signal them, call git, open the database, roll dice."""

from __future__ import annotations

import ast
import functools
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.xdist_group("homes")

PLAYER = "engine/perform/agents/player.py"
"""The scripted agent's own program: started by the spawner, it misbehaves inside the sandbox."""

MODULES = {
    # git.py names the types of what GitPython starts.
    "subprocess": {"engine/perform/process/spawner.py", "engine/perform/workspace/git.py", PLAYER},
    "git": {"engine/perform/workspace/git.py"},
    "apsw": {"engine/journal/"},
    "sqlite3": set(),
    "random": {"engine/perform/checks/proof/mutate.py"},  # seeded, so that the same change gets the same mutants
    "multiprocessing": set(),
    "pty": set(),
    "textual": {"tui/"},
}
CALLS = {
    # The opener hands the terminal to the user's own editor or pager and waits.
    ("os", "spawnvp"): {"tui/app/opener.py"},
    ("os", "system"): set(),
    ("os", "popen"): set(),
    ("os", "fork"): {"engine/perform/process/namespace_exec.py", PLAYER},
    ("os", "kill"): {"engine/perform/process/reaper.py", PLAYER},
    ("os", "killpg"): {"engine/perform/process/reaper.py", PLAYER},
    ("os", "execve"): {"engine/perform/process/self_confinement.py"},
    ("os", "execv"): set(),
    ("asyncio", "create_subprocess_exec"): {"engine/perform/process/spawner.py"},
    ("asyncio", "create_subprocess_shell"): set(),
    ("subprocess", "run"): {PLAYER},
    ("subprocess", "Popen"): {"engine/perform/process/spawner.py", PLAYER},
    # An interpreter of ours is started isolated (-I); the demo names it for its checks, as a user would.
    ("sys", "executable"): {
        "tui/cli/safe_path.py",
        "engine/perform/process/launching.py",
        "engine/perform/agents/scripted.py",
        "engine/demo/__init__.py",
    },
    # Threads that parse side by side break each other; the settings' docs are made in one.
    ("ast", "parse"): {"engine/perform/checks/python_source.py", "engine/config/field_text.py"},
    ("shutil", "rmtree"): {"engine/perform/workspace/destroy.py"},
}

WRITERS = {
    "engine/files.py",
    "engine/journal/",  # the database and its copies
    "engine/plans/in_place.py",  # the user's plan, edited under the eyes of their editor
    "engine/plans/sprints.py",  # a lock file
    "engine/perform/process/namespace_exec.py",  # inside the sandbox, where nothing of ours can be imported
    "engine/perform/process/placement.py",  # a place to mount on, in a folder that an agent had
    "engine/perform/process/probe.py",  # what the probe of a sandbox tries to reach
    "engine/perform/workspace/git.py",  # what goes into git by a file without a name
    "engine/perform/machine.py",  # whether anything can be written at all
    "tui/cli/main.py",  # the details of a crash, when nothing else can be trusted
    PLAYER,
}
WRITING = {"write_text", "write_bytes", "touch", "mkstemp", "NamedTemporaryFile", "TemporaryFile", "fsync", "O_CREAT"}


def writes(tree: ast.AST) -> bool:
    """Whether a module writes files by itself, in any of the ways Python has."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in WRITING:
            return True
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            modes = [
                arg.value for arg in [*node.args, *(k.value for k in node.keywords)] if isinstance(arg, ast.Constant)
            ]
            if name == "open" and any(isinstance(m, str) and len(m) < 4 and set(m) & set("wax+") for m in modes):
                return True
    return False


def test_files_are_written_at_their_home_only() -> None:
    users = {name for name, found in sources().items() if found.writes}
    assert strangers(users, WRITERS) == set(), "use engine.files"
    assert not {home for home in WRITERS if not any(home in user for user in users)}, "no longer a writer: take it off"


def imported(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add((node.module or "").split(".")[0])
    return names


def used(tree: ast.AST) -> set[tuple[str, str]]:
    return {
        (node.value.id, node.attr)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }


class Found(NamedTuple):
    """What a module reaches. Its tree is not kept: every collection of garbage would walk through all of them."""

    imported: set[str]
    used: set[tuple[str, str]]
    writes: bool


@functools.cache
def sources() -> dict[str, Found]:
    """Read when a test asks, not when it is collected: every worker of a run collects every file."""
    found = {}
    for folder in ("engine", "tui", "themes"):
        for path in (ROOT / folder).rglob("*.py"):
            tree = ast.parse(path.read_text("utf-8"))
            found[path.relative_to(ROOT).as_posix()] = Found(imported(tree), used(tree), writes(tree))
    return found


def strangers(users: set[str], homes: set[str]) -> set[str]:
    return {user for user in users if not any(user == home or (home[-1] == "/" and home in user) for home in homes)}


@pytest.mark.parametrize("module", MODULES)
def test_a_module_is_imported_at_its_home_only(module: str) -> None:
    users = {name for name, found in sources().items() if module in found.imported}
    assert strangers(users, MODULES[module]) == set()
    assert users or not MODULES[module], "the home has moved: say so here"


@pytest.mark.parametrize("call", CALLS, ids=".".join)
def test_a_call_is_made_at_its_home_only(call: tuple[str, str]) -> None:
    users = {name for name, found in sources().items() if call in found.used}
    assert strangers(users, CALLS[call]) == set()


def test_what_a_seed_drives_has_no_time_and_no_thread_of_its_own() -> None:
    """The simulation replays the loop, the core and the reconciliation exactly: all they wait for is the one clock."""
    driven = ("engine/core/", "engine/runner.py", "engine/bus.py", "engine/perform/reconcile.py")
    own = {("asyncio", name) for name in ("sleep", "to_thread", "timeout", "timeout_at", "wait_for")}
    own |= {("time", name) for name in ("time", "sleep", "monotonic")}
    own |= {("loop", name) for name in ("call_later", "call_at", "time", "run_in_executor")}
    found = {name: found for name, found in sources().items() if name.startswith(driven)}
    assert len(found) > 40
    assert {name: one.used & own for name, one in found.items() if one.used & own} == {}
    assert [name for name, one in found.items() if one.imported & {"threading", "concurrent", "time"}] == []


def test_live_facts_are_folded_by_who_decides_and_by_who_shows() -> None:
    """The runner in the engine's process, the feed in a viewer's; the others read a history that is over."""
    over = {"engine/report.py", "engine/link/replay.py", "engine/service/landing.py", "engine/core/statistics.py"}
    found = set()
    for path in (*(ROOT / "engine").rglob("*.py"), *(ROOT / "tui").rglob("*.py")):
        lines = path.read_text(encoding="utf-8").splitlines()
        if any(line.startswith("from engine.core.fold import") and "apply" in line for line in lines):
            found.add(str(path.relative_to(ROOT)))
    assert found - over == {"engine/runner.py", "tui/app/feed.py"}
