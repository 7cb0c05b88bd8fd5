"""A repository with a leaky agent and leaky checks: both say every secret they can get hold of, in every place.

The secrets stand in the repository's own files backwards, so that a search for them finds only leaks.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from engine.plans.sprints import SprintFolder, new_sprint
from engine.project import Project, open_project
from tests.engine import small

CANARIES = {
    "key of this agent": "sk-ant-api03-canary0key0of0this0agent0000",
    "key of another": "canary-key-of-another-provider",
    "token": "canary-token-without-a-shape",
    "password in an address": "canary-database-password",
    "dotenv": "canary-in-the-dotenv-file",
    "quoted dotenv": 'canary "quoted" in dotenv',
    "login file": "canary-refresh-token-of-the-login",
}
HIDDEN = "canary-in-a-file-of-the-users-home"
"""Nothing tells the engine that this is a secret: the sandbox has to keep it away."""

AGENT = """
import json, os, pathlib, sys

said = [line[::-1] for line in pathlib.Path("tools/backwards.txt").read_text().splitlines()]
prompt = sys.stdin.read()
places = [pathlib.Path.home() / ".config/leaky/auth.json"]
if (there := pathlib.Path("tools/place.txt")).exists():
    places.append(pathlib.Path(there.read_text()))
for place in places:
    try:
        said.append(place.read_text())
    except OSError:
        said.append("cannot read " + str(place))
every = " ".join(said)
def say(**fields):
    print(json.dumps(fields), flush=True)
count = pathlib.Path.home() / "count"
calls = int(count.read_text()) + 1 if count.exists() else 1
count.write_text(str(calls))
say(session="session " + said[2], text="I found: " + every)
say(text="environment: " + json.dumps(dict(os.environ)))
say(thinking="I think " + every)
for one in said:
    say(tool="tool " + one, path="path/" + one)
say(unknown={one: one for one in said})
print("not json: " + every, flush=True)
print("x" * 3980 + ". " + every, flush=True)
say(text="y" * 3980 + ". " + every)
print("on stderr: " + every, file=sys.stderr, flush=True)
if "You implement" in prompt:
    if calls == 1:
        say(error="cannot go on: " + every)
        sys.exit(1)
    pathlib.Path("word.txt").write_text("bad\\n" if calls == 2 else "good\\n" * (calls - 2))
    issues = every if calls > 2 else ". ".join((every, "z" * 1500, "z" * (1980 - 1500 - len(every)), every))
    say(text="STATUS: complete\\nISSUES: " + issues, done="yes")
else:
    review = {
        "approved": calls > 1,
        "criteria": [{"text": "word.txt says good", "met": True, "reference": every}],
        "issues": [] if calls > 1 else [
            {"text": every, "fix": every, "alternative": every, "confidence": "high", "path": said[2], "line": 1,
             "critical": False}
        ],
        "notes": [every],
        "summary": "z" * 15980 + ". " + every,
    }
    say(text="```json\\n" + json.dumps(review) + "\\n```", done="yes")
"""
CHECK = """
import pathlib, sys
every = " ".join(line[::-1] for line in pathlib.Path("tools/backwards.txt").read_text().splitlines())
print(every)
print(every, file=sys.stderr)
sys.exit("bad" in pathlib.Path("word.txt").read_text())
"""
TESTS = """
import pathlib, sys
from xml.sax.saxutils import escape, quoteattr
every = " ".join(line[::-1] for line in pathlib.Path("tools/backwards.txt").read_text().splitlines())
bad = "bad" in pathlib.Path("word.txt").read_text()
wrong = f"<failure message={quoteattr(every)}>{escape(every)}</failure>" if bad else ""
pathlib.Path(sys.argv[1]).write_text(
    f"<testsuite><testcase classname='t' name={quoteattr(every)}>{wrong}"
    f"<system-out>{escape(every)}</system-out></testcase></testsuite>"
)
sys.exit(bad)
"""
CONFIG = """
notify_command = "cat >> notified.txt; env >> notified.txt"

[ladder]
failures = [5, 5]

[[ladder.rungs]]
name = "implementing"
agent = "leaky"
model = "m"
reserve_usd = 0.1

[[ladder.rungs]]
name = "reviewing"
agent = "filed"
model = "m"
reserve_usd = 0.1

[agents.leaky]
argv = [{python}, "tools/agent.py"]
output = "jsonl"
login_env = ["ANTHROPIC_API_KEY"]

[agents.leaky.fields]
text = "text"
thinking = "thinking"
tool = "tool"
path = "path"
session = "session"
error = "error"
done = "done"

[agents.filed]
argv = [{python}, "tools/agent.py"]
output = "jsonl"
login_files = [".config/leaky/auth.json"]

[agents.filed.fields]
text = "text"
thinking = "thinking"
tool = "tool"
path = "path"
session = "session"
error = "error"
done = "done"

[error_recovery]
initial_delay_seconds = 0.01

[checks]
preset = "none"

[[checks.run]]
name = "words"
kind = "own"
command = [{python}, "tools/check.py"]

[[checks.run]]
name = "unit"
kind = "tests"
command = [{python}, "tools/tests.py", "{{reports}}/unit.xml"]
parser = "junit"
report = "unit.xml"

[gates]
fix = "auto"
task = "auto"
"""
PLAN = """# Make it good

Status: APPROVED
Topic: small

## Phase 1: Words

- [ ] 1.1 Write a good word
      description: Put the word good into word.txt.
      accept: word.txt says good
      scope: word.txt
      proof: none
      complexity: 1
"""


@dataclass
class Leaky:
    """The repository and everything around it."""

    folder: Path
    place: Path
    sprint: SprintFolder
    project: Project

    @property
    def notified(self) -> Path:
        return self.folder / "notified.txt"


def make(place: Path, *, fenced: bool) -> Leaky:
    """`fenced`: the agent also tries a file of the user's home by its full path."""
    folder, home = place / "repo", place / "home"
    (folder / "tools").mkdir(parents=True)
    (home / ".config" / "leaky").mkdir(parents=True)
    login = {"user": "someone", "tokens": {"refresh_token": CANARIES["login file"]}}
    (home / ".config" / "leaky" / "auth.json").write_text(json.dumps(login))
    (home / "private.txt").write_text(HIDDEN)
    told = [value for name, value in CANARIES.items() if name != "login file"]
    (folder / "tools" / "backwards.txt").write_text("".join(f"{value[::-1]}\n" for value in told))
    for name, text in (("agent", AGENT), ("check", CHECK), ("tests", TESTS)):
        (folder / "tools" / f"{name}.py").write_text(text)
    if fenced:
        (folder / "tools" / "place.txt").write_text(str(home / "private.txt"))
    (folder / "word.txt").write_text("none\n")
    (folder / ".gitignore").write_text(".env\nnotified.txt\n")
    small.git(folder, "init", "-q", "-b", "main")
    small.git(folder, "add", "-A")
    small.git(folder, "commit", "-q", "-m", "start")
    quoted = CANARIES["quoted dotenv"]
    (folder / ".env").write_text(f"# own\nexport STRIPE_SECRET={CANARIES['dotenv']}\nWEB_TOKEN='{quoted}'\nPORT=8080\n")
    (folder / ".devteam").mkdir()
    (folder / ".devteam" / "config.toml").write_text(CONFIG.format(python=json.dumps(sys.executable)))
    sprint = new_sprint(folder, PLAN, "plan.md", "2026-11-16")
    env = {
        **small.project_of(folder, place / "state").env,
        "HOME": str(home),
        "ANTHROPIC_API_KEY": CANARIES["key of this agent"],
        "OPENAI_API_KEY": CANARIES["key of another"],
        "MY_SECRET_TOKEN": CANARIES["token"],
        "DATABASE_URL": f"postgres://user:{CANARIES['password in an address']}@localhost/base",
    }
    return Leaky(folder, place, sprint, open_project(folder, env, home))
