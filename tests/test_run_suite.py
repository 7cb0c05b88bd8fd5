"""The suite's own runner: what fails alone fails, what failed only in the crowd is named, many are not repeated."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests import depth
from tests.run_suite import FEW, in_memory, rewrite_assertions, run, with_it_hidden

ONCE = "from pathlib import Path\ndef test_a():\n    seen = Path('seen').exists(); Path('seen').touch(); assert seen\n"


@pytest.mark.parametrize(
    ("body", "code", "says"),
    [
        pytest.param("def test_a():\n    assert 0\n", 1, "once more, alone", id="fails-twice"),
        pytest.param(ONCE, 0, "Passed alone, failed among others", id="failed-once"),
        pytest.param("".join(f"def test_{n}(): assert 0\n" for n in range(FEW + 1)), 1, "", id="too-many"),
    ],
)
def test_a_second_look(tmp_path: Path, capfd: pytest.CaptureFixture[str], body: str, code: int, says: str) -> None:
    (tmp_path / "test_it.py").write_text(body)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "xdist.plugin"}
    assert run([], environment, tmp_path, workers=1) == code
    written = capfd.readouterr().out
    assert says in written
    assert says or "alone" not in written


@pytest.mark.parametrize("dear", [False, True], ids=["ordinary", "dear"])
@pytest.mark.parametrize("mark", ["", '@pytest.mark.xdist_group("packaging")\n'], ids=["alone", "in a group"])
def test_a_second_look_is_at_each_of_them(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], mark: str, dear: bool
) -> None:
    """Not at those only whose turn it is among so few: a test that fails twice was green."""
    (tmp_path / "conftest.py").write_text(
        "from pathlib import Path\nimport pytest\nfrom tests import depth\n"
        "@pytest.hookimpl(trylast=True)\ndef pytest_collection_modifyitems(items):\n"
        "    later = depth.left_out(items, Path(__file__).with_name('dear.txt'))\n"
        "    items[:] = [item for item in items if item.nodeid not in later]\n"
    )
    (tmp_path / "dear.txt").write_text("test_it.py::test_a\n" if dear else "")
    (tmp_path / "test_it.py").write_text(
        f"import pytest\nfrom pathlib import Path\ndef test_b(): pass\n{mark}"
        f"@pytest.mark.parametrize('n', {range(8) if dear else (0, 4)})\ndef test_a(n):\n"
        "    seen = Path(f'seen {n}').exists()\n    Path(f'seen {n}').touch()\n    assert seen and n < 4\n"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "xdist.plugin"}
    environment["PYTHONPATH"] = str(Path(__file__).parents[1])
    for now in range(2 if dear else 1):
        assert run([], {**environment, depth.TURN: str(now)}, tmp_path, workers=1) == 1
        assert "Passed alone" not in capfd.readouterr().out


def test_what_need_not_go_on_is_ended(tmp_path: Path) -> None:
    """As when lint has failed: nobody waits for the tests."""
    (tmp_path / "test_it.py").write_text("import time\ndef test_a():\n    time.sleep(3600)\n")
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "xdist.plugin"}
    assert run([], environment, tmp_path, workers=1, go_on=lambda: False) != 0


def test_files_lie_in_memory_where_it_has_room(tmp_path: Path) -> None:
    with in_memory(tmp_path, room=1) as told:
        (folder,) = told.values()
        assert Path(folder).parent == tmp_path and Path(folder).is_dir()
    assert list(tmp_path.iterdir()) == []
    for place, room in ((tmp_path, 1 << 60), (tmp_path / "gone", 1)):
        with in_memory(place, room=room) as told:
            assert told == {}


def test_a_run_leaves_nothing_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = tmp_path / "memory"
    memory.mkdir()
    monkeypatch.setattr("tests.run_suite.in_memory", lambda: in_memory(memory, room=1))
    (tmp_path / "test_it.py").write_text("def test_a(tmp_path):\n    assert 'memory' in str(tmp_path)\n")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "xdist.plugin"}
    assert run([], environment, tmp_path, workers=1) == 0
    assert list(memory.iterdir()) == []


def test_nothing_runs_twice_where_there_is_nothing_to_hide(tmp_path: Path) -> None:
    """Without bubblewrap the suite is already the run without it; with it, what depends on it is repeated."""
    assert with_it_hidden(str(tmp_path)) == []
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert "tests.without_bwrap" in with_it_hidden(str(tmp_path))


def test_assertions_are_rewritten_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    for name, value in {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "xdist.plugin"}.items():
        monkeypatch.setenv(name, value)
    test = tmp_path / "tests" / "core" / "test_it.py"
    test.parent.mkdir(parents=True)
    test.write_text("def test_a():\n    assert 1\n")
    rewrite_assertions(tmp_path)
    [kept] = test.parent.glob("__pycache__/*-pytest-*.pyc")
    test.write_text("def test_a():\n    assert 1\n\n")
    before = kept.stat().st_mtime_ns
    rewrite_assertions(tmp_path)
    assert kept.stat().st_mtime_ns == before, "a clone that was rewritten is not collected once more"
