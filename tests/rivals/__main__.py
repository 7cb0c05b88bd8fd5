"""make rivals: other loops and devteam with the same stub agent, repository and check, in one sitting.

    python -m tests.rivals [TASKS]

Fetched by package name at run time, never committed; what cannot be had is said. Every run has a fresh repository, an
empty HOME and no key. CPU is that of the tool with all its children, the stub's own share (a loop of nothing but the
stub) taken off. Prints a table in Markdown and writes bench-results/rivals-DATE.json.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.rivals.tools import NOT_HAD, Devteam, Lab, RalphTui, ShellLoop, Tool, make

TASKS = 6
PATIENCE = 60.0
"""Seconds for one failure test; a tool that is not done by then is ended, and that is the result."""
SLEEPER = b"98765"
FAILURES = ("false", "deleted", "outside", "reset", "held", "detached", "killed", "oneline", "longlines")


def ran(tool: Tool, folder: Path, case: str, tasks: int, patience: float = 600.0) -> dict[str, Any]:
    """One run to its end, or to the end of our patience."""
    lab = make(folder, tasks, "slow" if case == "killed" else case)
    tool.give(lab)
    if case == "reset":
        (lab.repo / "mine.txt").write_text("edited and not committed\n")
    begun = time.monotonic()
    with (folder / "said").open("wb") as said:
        process = subprocess.Popen(
            tool.argv(lab), cwd=lab.repo, env=lab.env(), stdin=subprocess.DEVNULL, stdout=said, stderr=said,
            start_new_session=True,
        )  # fmt: skip
    if case == "killed":
        return _killed(process)
    code, used = _waited(process, patience)
    seconds = time.monotonic() - begun
    left = _sleepers()
    found = {
        "done": code is not None,
        "exit": code,
        "seconds": round(seconds, 2),
        "cpu": round(used.ru_utime + used.ru_stime, 3) if used else None,
        "mb": round(used.ru_maxrss / 1000, 1) if used else None,
        "calls": _calls(lab),
        "accepted": tool.accepted(lab, code if code is not None else -1),
        "left": len(left),
        "users_edit": (lab.repo / "mine.txt").read_text().strip() if (lab.repo / "mine.txt").exists() else "(gone)",
        "test_file": tool.has(lab, "keep_test.sh"),
        "outside": tool.has(lab, "OUTSIDE.md"),
    }
    _end(left)
    return found


def _waited(process: subprocess.Popen[bytes], patience: float) -> tuple[int | None, Any]:
    end = time.monotonic() + patience
    while time.monotonic() < end:
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, used
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGTERM)
    time.sleep(3)
    os.killpg(process.pid, signal.SIGKILL)
    _, _, used = os.wait4(process.pid, 0)
    process.returncode = -9
    return None, used


def _killed(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """kill -9 of the loop while its agent works: what is alive five seconds later."""
    end = time.monotonic() + PATIENCE
    while not _sleepers() and time.monotonic() < end:
        time.sleep(0.1)
    process.kill()
    process.wait()
    time.sleep(5)
    left = _sleepers()
    _end(left)
    return {"left": len(left)}


def _sleepers() -> list[int]:
    """Processes of the stub that sleep for a day: by their words, for a sandbox hides their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[:2] == [b"sleep", SLEEPER]:
                found.append(int(entry.name))
    return found


def _end(pids: list[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _calls(lab: Lab) -> int:
    """Calls of the stub; inside a sandbox it cannot count."""
    try:
        return int((lab.agent.parent / "count").read_text())
    except (OSError, ValueError):
        return -1


def verdict(case: str, found: dict[str, Any]) -> str:
    """What a reader wants to know of one failure test."""
    ended = "" if found.get("done", True) else f", not done in {PATIENCE:.0f} s"
    match case:
        case "false":
            return ("accepted" if found["accepted"] else "refused") + ended
        case "deleted":
            return ("put back" if found["test_file"] else "unnoticed") + ended
        case "outside":
            return ("unnoticed" if found["outside"] else "put back") + ended
        case "reset":
            return ("kept" if found["users_edit"].startswith("edited") else "user's edit gone") + ended
        case "held" | "detached":
            return f"{found['left']} left" + (ended or f", {found['seconds']:.0f} s")
        case "killed":
            return "nothing left" if not found["left"] else "the agent goes on"
        case _:
            return ended.lstrip(", ") or f"{found['seconds']:.1f} s, {found['cpu']:.1f} CPU-s, {found['mb']:.0f} MB"


def floor(folder: Path, tasks: int) -> float:
    """CPU seconds of one call of the stub by itself."""
    lab = make(folder, tasks, "cost")
    script = f"i=0; while [ $i -lt {tasks} ]; do i=$((i+1)); echo go | claude > /dev/null; done"
    process = subprocess.Popen(["sh", "-c", script], cwd=lab.repo, env=lab.env())
    _, used = _waited(process, 600.0)
    return float(used.ru_utime + used.ru_stime) / tasks


def main(tasks: int = TASKS) -> None:
    results: dict[str, Any] = {"date": time.strftime("%Y-%m-%d %H:%M"), "machine": machine(), "tasks": tasks}
    cache = Path(tempfile.gettempdir()) / "devteam-rivals"
    cache.mkdir(exist_ok=True)
    tools: list[Tool] = []
    for tool in (ShellLoop(), RalphTui(), Devteam()):
        if missing := tool.had(cache):
            results.setdefault("not_had", {})[tool.name] = missing
        else:
            tools.append(tool)
    for name in NOT_HAD:
        asked = subprocess.run(["npm", "view", name, "version"], capture_output=True, check=False, timeout=60)
        if asked.returncode:
            results.setdefault("not_had", {})[name] = "no registry here has it"
    with tempfile.TemporaryDirectory() as place:
        base = Path(place)
        each = results["floor_ms"] = round(floor(base / "floor", tasks) * 1000, 1)
        for tool in tools:
            slug = tool.name.split()[0].replace(" ", "-")
            few = ran(tool, base / f"{slug}-few", "cost", 1)
            many = ran(tool, base / f"{slug}-many", "cost", 1 + tasks)
            row: dict[str, Any] = {
                "cpu_ms_per_iteration": round((many["cpu"] - few["cpu"]) * 1000 / tasks - each, 1),
                "wall_ms_per_iteration": round((many["seconds"] - few["seconds"]) * 1000 / tasks, 1),
                "start_cpu_s": few["cpu"],
                "mb": many["mb"],
                "accepted": many["accepted"],
            }
            print(tool.name, row, flush=True)
            for case in FAILURES:
                found = ran(tool, base / f"{slug}-{case}", case, 1, PATIENCE)
                row[case] = verdict(case, found)
                print("  ", case, row[case], flush=True)
            results[tool.name] = row
            shutil.rmtree(base / f"{slug}-oneline", ignore_errors=True)
    folder = Path("bench-results")
    folder.mkdir(exist_ok=True)
    (folder / f"rivals-{time.strftime('%Y%m%d-%H%M%S')}.json").write_text(json.dumps(results, indent=2))
    print(table(results, [tool.name for tool in tools]))


def machine() -> str:
    memory = int(Path("/proc/meminfo").read_text().split()[1]) // 1_000_000
    system = f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    return f"{os.cpu_count()} cores, {memory} GB, {system}"


def table(results: dict[str, Any], names: list[str]) -> str:
    rows = ["cpu_ms_per_iteration", "wall_ms_per_iteration", "start_cpu_s", "mb", *FAILURES]
    lines = [f"{results['date']}, {results['machine']}; the stub itself: {results['floor_ms']} ms CPU a call", ""]
    lines += ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    lines += [f"| {row} | " + " | ".join(str(results[name][row]) for name in names) + " |" for row in rows]
    lines += ["", *(f"Not had: {name}: {why}." for name, why in results.get("not_had", {}).items())]
    return "\n".join(lines)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
