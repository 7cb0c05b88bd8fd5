"""Each danger has one home: who may start processes, signal them, call git, open the database, roll dice."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = {
    path.relative_to(ROOT).as_posix(): ast.parse(path.read_text("utf-8"))
    for folder in ("engine", "tui", "themes")
    for path in (ROOT / folder).rglob("*.py")
}

PLAYER = "engine/perform/agents/player.py"
"""The scripted agent's own program: started by the spawner, it misbehaves inside the sandbox."""

MODULES = {
    # git.py names the types of what GitPython starts.
    "subprocess": {"engine/perform/process.py", "engine/perform/workspace/git.py", PLAYER},
    "git": {"engine/perform/workspace/git.py"},
    "apsw": {"engine/journal/"},
    "sqlite3": set(),
    "random": {"engine/perform/checks/mutate.py"},  # seeded, so that the same change gets the same mutants
    "multiprocessing": set(),
    "pty": set(),
    "textual": {"tui/"},
}
CALLS = {
    # The opener hands the terminal to the user's own editor or pager and waits.
    ("os", "spawnvp"): {"tui/opener.py"},
    ("os", "system"): set(),
    ("os", "popen"): set(),
    ("os", "fork"): {PLAYER},
    ("os", "kill"): {"engine/perform/reaper.py", PLAYER},
    ("os", "killpg"): {"engine/perform/reaper.py", PLAYER},
    ("os", "execv"): {"engine/perform/landlock_exec.py"},
    ("asyncio", "create_subprocess_exec"): {"engine/perform/process.py"},
    ("asyncio", "create_subprocess_shell"): set(),
    ("subprocess", "run"): {PLAYER},
    ("subprocess", "Popen"): {"engine/perform/process.py", PLAYER},
    ("shutil", "rmtree"): {"engine/perform/workspace/destroy.py"},
}


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


def strangers(users: set[str], homes: set[str]) -> set[str]:
    return {user for user in users if not any(user == home or (home[-1] == "/" and home in user) for home in homes)}


@pytest.mark.parametrize("module", MODULES)
def test_a_module_is_imported_at_its_home_only(module: str) -> None:
    users = {name for name, tree in SOURCES.items() if module in imported(tree)}
    assert strangers(users, MODULES[module]) == set()
    assert users or not MODULES[module], "the home has moved: say so here"


@pytest.mark.parametrize("call", CALLS, ids=".".join)
def test_a_call_is_made_at_its_home_only(call: tuple[str, str]) -> None:
    users = {name for name, tree in SOURCES.items() if call in used(tree)}
    assert strangers(users, CALLS[call]) == set()
