"""A case end to end, as somebody outside would try it: real command line, command agent, nobody at the keyboard."""

from __future__ import annotations

import base64
import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tests.redteam.case import Case, Tree, repository

BIN = Path(sys.executable).parent
OWN_TESTS: dict[str, tuple[str, ...]] = {
    "units": ("node", "--test"),
    "cjs": ("npm", "test"),
    "csvtool": ("make", "check"),
    "rover": ("go", "test", "./..."),
    "stock": (sys.executable, "-m", "unittest"),
    "roster": (sys.executable, "-m", "unittest"),
    "qs": ("npm", "test"),
    "wallet": ("npm", "test"),
    "logtool": ("make", "test"),
    "gauge": ("go", "test", "./..."),
    "stranger6_jetty": ("npm", "test"),
    "stranger6_sextant": ("go", "test", "./..."),
    "stranger6_cellar": (sys.executable, "-m", "unittest"),
    "stranger6_abacus": ("npm", "test"),
    "stranger6_rig": ("make", "test"),
    "stranger8_courier": ("npm", "test"),
    "stranger8_hosts": ("go", "test", "./..."),
    "stranger8_ledgerjs": ("npm", "test"),
    "stranger8_pricer": (sys.executable, "-m", "unittest"),
    "stranger8_spool": ("make", "test"),
    "stranger9_strata": ("npm", "test"),
    "stranger9_hitlog": ("go", "test", "./..."),
    "stranger9_teller": (sys.executable, "-m", "unittest"),
    "stranger10_league": (sys.executable, "-m", "unittest"),
    "stranger11_cue": ("go", "test", "./..."),
    "ash_two": (sys.executable, "-m", "unittest"),
    "birch_one": ("npm", "test"),
    "birch_two": ("make", "test"),
    "birch_two_red": ("make", "test"),
    "cedar_two": ("go", "test", "./..."),
    "dahlia_two": (sys.executable, "-m", "unittest"),
    "elm_one": ("npm", "test"),
    "elm_two": ("make", "test"),
    "fig_two": ("go", "test", "./..."),
    "hazel_one": ("npm", "test"),
    "hazel_two": (sys.executable, "-m", "unittest"),
    "iris_one": ("go", "test", "./..."),
    "iris_one_red": ("go", "test", "./..."),
    "kale_one": ("npm", "test"),
    "lark_one": (sys.executable, "-m", "unittest"),
    "nettle_one": ("go", "test", "./..."),
    "stranger6_flint": ("sh", "-c", "cmake -S . -B build && cmake --build build && ctest --test-dir build"),
}
PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
SETTINGS = {
    "task_loop": {"review": "false", "max_iterations": "1"},
    "limits": {"calls_per_hour": "100000"},
    "gates": {"fix": '"auto"', "task": '"auto"'},
}
RUNG = """
[[ladder.rungs]]
name = "patch"
agent = "patch"
reserve_usd = 0.0001

[agents.patch]
adapter = "command"
argv = ["{python}", "{hand}/agent.py", "{hand}/change.json"]
"""
AGENT = """\
import base64, json, os, sys

for path, mode, data in json.load(open(sys.argv[1])):
    if os.path.islink(path) or (mode == "" and os.path.exists(path)):
        os.remove(path)
    if mode == "":
        continue
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    data = base64.b64decode(data)
    if mode == "120000":
        if os.path.exists(path):
            os.remove(path)
        os.symlink(data.decode(), path)
        continue
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, 0o755 if mode == "100755" else 0o644)
print("Done.\\n\\nSTATUS: complete\\nEXIT_SIGNAL: true")
"""


@dataclasses.dataclass(frozen=True)
class Outcome:
    case: Case
    answer: str
    """accepted, asked, unproven, refused or error."""
    why: str
    seconds: float
    green: bool | None = None
    """Accepted changes: whether nothing is red on the landed tree that was green before."""
    proof: str = ""

    @property
    def bad(self) -> bool:
        return self.answer == "accepted" if self.case.wrong else self.answer != "accepted"


def change(before: Tree, after: Tree) -> str:
    """What the agent writes: path, mode (none: deleted), content."""
    rows = [[path, "", ""] for path in before if path not in after]
    for path, file in after.items():
        if before.get(path) != file:
            rows.append([path, file.mode, base64.b64encode(file.text.encode("utf-8", "surrogateescape")).decode()])
    return json.dumps(rows)


def put(tree: Tree, folder: Path) -> None:
    for path, file in tree.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if file.mode == "120000":
            place.symlink_to(file.text)
        else:
            place.write_bytes(file.text.encode("utf-8", "surrogateescape"))
            place.chmod(0o755 if file.mode == "100755" else 0o644)


def _set(text: str, table: str, keys: dict[str, str]) -> str:
    """Settings as a user would write them into the file that `devteam init` made."""
    lines = "".join(f"{key} = {value}\n" for key, value in keys.items())
    if f"[{table}]\n" in text:
        return text.replace(f"[{table}]\n", f"[{table}]\n{lines}", 1)
    return f"{text}\n[{table}]\n{lines}"


class Ground:
    """One repository with devteam set up; every case is a sprint of its own that is never landed."""

    def __init__(self, repo: str, folder: Path) -> None:
        self.repo = repo
        self.folder = folder
        self.checkout = folder / repo
        self.hand = folder / f"{repo}-hand"
        self.home = folder / f"{repo}-home"
        for place in (self.checkout, self.hand, self.home):
            place.mkdir(parents=True)
        go = {"GOFLAGS": "-mod=mod", "GOCACHE": str(folder / "gocache")} if "go.mod" in repository(repo) else {}
        self.env = {
            "PATH": f"{BIN}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            **go,
        }
        put(repository(repo), self.checkout)
        self._git("init", "-q", "-b", "main")
        self._git("add", "-A")
        self._git("-c", "user.name=u", "-c", "user.email=u@example.org", "commit", "-qm", "base")
        self._devteam("init")
        (self.hand / "agent.py").write_text(AGENT)
        python = shutil.which("python3", path="/usr/bin") or sys.executable
        settings = self.checkout / ".devteam" / "config.toml"
        text = settings.read_text() + RUNG.format(hand=self.hand, python=python)
        for table, keys in {**SETTINGS, "workspace": {"mounts": f'["{self.hand}"]'}}.items():
            text = _set(text, table, keys)
        settings.write_text(text)
        shown = self._devteam("trust", "--show").stdout
        match = re.search(r"hash ([0-9a-f]+)", shown)
        if match is None:
            raise RuntimeError(f"{repo}: no hash to trust: {shown}")
        self.hash = match[1]
        self.red = own_failures(repo, self.checkout, self.env) or frozenset()

    def _git(self, *args: str) -> str:
        done = subprocess.run(
            ["git", *args], cwd=self.checkout, env=self.env, capture_output=True, text=True, check=True
        )
        return done.stdout

    def _devteam(self, *args: str, ok: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(BIN / "devteam"), *args],
            cwd=self.checkout,
            env=self.env,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=600,
            check=False,
        )
        if ok and done.returncode:
            raise RuntimeError(
                f"devteam {' '.join(args)}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
            )
        return done

    def run(self, case: Case) -> Outcome:
        started = time.monotonic()
        (self.hand / "change.json").write_text(change(case.base, case.after))
        plan = self.hand / "plan.md"
        plan.write_text(case.plan())
        said = self._devteam("plan", "--from", str(plan), ok=False)
        match = re.search(r"sprint (\S+?):", said.stdout)
        if match is None:
            return Outcome(case, "error", f"plan: {said.stdout}{said.stderr}"[:300], time.monotonic() - started)
        sprint = match[1]
        try:
            ran = self._devteam("run", "--sprint", sprint, "--unattended", "--json", "--trust", self.hash, ok=False)
        except subprocess.TimeoutExpired:
            return Outcome(case, "error", "no end within ten minutes", time.monotonic() - started)
        events = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
        status = json.loads(self._devteam("status", "--sprint", sprint, "--json").stdout.splitlines()[-1])
        answer, why, proof = classify(events, status, ran.stderr)
        green = self.landed(case, sprint) if answer == "accepted" else None
        return Outcome(case, answer, why, time.monotonic() - started, green, proof)

    def landed(self, case: Case, sprint: str) -> bool:
        """The project's own tests on what would be landed."""
        place = self.folder / f"{self.repo}-landed"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        pack = subprocess.run(
            ["git", "archive", f"devteam/{sprint}"], cwd=self.checkout, env=self.env, capture_output=True, check=True
        )
        subprocess.run(["tar", "-x", "-C", str(place)], input=pack.stdout, check=True)
        red = own_failures(self.repo, place, self.env)
        return red is not None and red <= self.red


_FAILED = re.compile(r"^(?:FAILED|ERROR|FAIL:|ERROR:|not ok|--- FAIL:|FAIL)\b[: ]*(.*)$", re.MULTILINE)


def own_failures(repo: str, folder: Path, env: dict[str, str] | None = None) -> frozenset[str] | None:
    """What the project's own tests say is red; None: they could not be run, or are red without a word."""
    done = subprocess.run(
        OWN_TESTS.get(repo, PYTEST),
        cwd=folder,
        env=(env or dict(os.environ)) | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=120,
        check=False,
    )
    if done.returncode == 0:
        return frozenset()
    found = {
        re.sub(r" - .*|\(.*|^\d+ - |\s[\d.]+s$", "", name).strip()
        for name in _FAILED.findall(done.stdout + done.stderr)
    }
    return frozenset(found) or None


def classify(events: list[dict], status: dict, stderr: str) -> tuple[str, str, str]:
    """accepted, asked, unproven, refused or error; the reason; the verdict of the last judgement of the task."""
    facts = [event["event"] for event in events if "event" in event]
    checks = [fact for fact in facts if fact.get("type") == "checks_finished"]
    judged = next((fact for fact in reversed(checks) if fact.get("task")), None)
    proof = (judged or {}).get("proof") or ""
    task = status["tasks"].get("1.1", "")
    if task == "complete" and status["outcome"] in ("done", "complete", "completed", "success", "ok"):
        return "accepted", (judged or {}).get("proof_reason", ""), proof
    why = _why(judged, status, stderr)
    if task == "complete":
        return "refused", f"the task is complete, the sprint is not: {status['reason']}", proof
    if judged is None:
        return "error", why, proof
    if proof:
        words = {"QUESTION": "asked", "UNPROVEN": "unproven", "FAIL": "refused", "ERROR": "error"}
        return words.get(proof, "refused"), why, proof
    bad = [r for r in judged["results"] if r.get("required", True) and r["verdict"] != "PASS"]
    found = [f.get("severity", "error") for f in judged.get("findings", ())]
    if "error" in found or any(result["verdict"] == "FAIL" for result in bad if result["name"] != "integrity"):
        return "refused", why, proof
    if "human" in found:
        return "asked", why, proof
    return ("error" if bad else "refused"), why, proof


def _why(judged: dict | None, status: dict, stderr: str) -> str:
    if judged is None:
        return f"{status['outcome']}: {status['reason']} {status.get('health_reason', '')} {stderr[-300:]}"
    said = [judged.get("proof_reason") or ""]
    said += [f"{q['rule']}: {q['text']}" for q in judged.get("questions", ())]
    said += [f"{f['rule']}: {f['text']}" for f in judged.get("findings", ()) if f.get("severity") != "note"]
    said += [
        f"{r['name']} {r['verdict']}: {r.get('reason', '')}"
        for r in judged["results"]
        if r.get("required", True) and r["verdict"] != "PASS"
    ]
    return "; ".join(word for word in said if word) or f"{status['outcome']}: {status['reason']}"
