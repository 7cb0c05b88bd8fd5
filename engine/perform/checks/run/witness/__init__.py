"""The engine's own test-runner shims, started outside the tree, and the reading of the account they keep."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections import Counter
from pathlib import Path

from engine.perform.checks.run.limits import UnreadableError, load_json, read_bounded, text_of
from engine.perform.checks.run.measure import IDLE, Canaries, Case, Report
from engine.perform.checks.run.runner import RunRequest

MISSING = 97
"""Exit code of a shim whose test runner is not installed."""


def source(name: str) -> bytes:
    return (Path(__file__).parent / f"{name}.py.txt").read_bytes()


def script(name: str) -> str:
    """A part in JavaScript."""
    return (Path(__file__).parent / f"{name}.js.txt").read_text("utf-8")


def boundary_orders(request: RunRequest) -> dict[str, object]:
    """What the proxy needs to put the subject into a process of its own."""
    return {
        "source": source("boundary_proxy").decode(),
        "server": source("boundary_server").decode(),
        "codec": source("boundary_codec").decode(),
        "subject": list(request.subject),
        "fork": request.beside,
    }


def read_account(path: Path, key: bytes) -> Report:
    """The account as a Report. A record out of the chain means that somebody meddled; no end, that the process died."""
    try:
        data = read_bounded(path)
    except UnreadableError:
        return Report(
            source="witness", problems=("the test runner kept no account",), complete=False, counts_tests=True
        )
    cases: dict[str, Case] = {}
    problems: list[str] = []
    tampered: list[str] = []
    deselected: list[str] = []
    foreign: list[str] = []
    collected: list[str] = []
    plugins: tuple[str, ...] = ()
    settings: dict[str, str] = {}
    modules: dict[str, str] = {}
    canaries: Canaries | None = None
    crossed: list[str] = []
    last, version, complete = "", "", False
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        mac, _, body = line.partition(" ")
        last = hmac.new(key, (last + body).encode("utf-8", "replace"), hashlib.sha256).hexdigest()
        try:
            item = load_json(body.encode(), "the account")
        except UnreadableError:
            item = None
        if not hmac.compare_digest(mac, last) or not isinstance(item, dict) or item.get("number") != number:
            problems.append(f"the runner's account was meddled with at record {number}")
            break
        match item["kind"]:
            case "start":
                version = f"python {item['python']}" + (f", pytest {item['pytest']}" if item["pytest"] else "")
                plugins = tuple(text_of(name, 100) for name in item["plugins"])
                settings = {"ini": text_of(item["ini"], 300), "rootdir": text_of(item["rootdir"], 300)}
            case "collected":
                collected = item["ids"]
                deselected += item["lost"]
            case "deselected":
                deselected += item["ids"]
            case "tampered":
                tampered += [text_of(what, 300) for what in item["what"]]
            case "case":
                case = Case(
                    id=text_of(item["id"]),
                    outcome=item["outcome"],
                    error=item["error"],
                    text=text_of(item["text"]),
                    path=text_of(item.get("path", "")),
                    place=text_of(item.get("place", ""), 200),
                    reached=tuple(text_of(mark, 200) for mark in item.get("reached", ())),
                )
                if case.outcome in IDLE and case.id in cases:
                    continue
                cases[case.id] = case
            case "canaries":
                missing = () if item["ended"] else ("the tests at the end of the run",)
                canaries = Canaries(
                    planted=item["planted"],
                    failed=item["failed"],
                    passed=(*(text_of(name, 100) for name in item["passed"]), *missing),
                )
            case "crossing":
                crossed += [text_of(what, 200) for what in item["what"]]
            case "finish":
                foreign = item["foreign"]
                modules = {text_of(name, 200): text_of(place, 300) for name, place in item["modules"].items()}
            case "exit":
                complete = True
    unfinished = [id for id in collected if id not in cases]
    if complete and unfinished and not problems:
        problems.append(
            f"{len(unfinished)} collected tests have no outcome, the first is {text_of(unfinished[0], 200)}"
        )
    return Report(
        source="witness",
        cases=tuple(cases.values()),
        problems=tuple(problems),
        deselected=tuple(dict.fromkeys(deselected)),
        tampered=tuple(dict.fromkeys(tampered)),
        foreign=tuple(foreign),
        version=version,
        canaries=canaries,
        plugins=plugins,
        settings=settings,
        modules=modules,
        crossing=tuple(dict.fromkeys(crossed)),
        counts_tests=True,
        complete=complete,
    )


def address(id: str) -> str:
    """How pytest's JUnit writer spells a node id, for the comparison of the two sources."""
    path, bracket, params = id.partition("[")
    names = path.split("::")
    names[0] = re.sub(r"\.py$", "", names[0].replace("/", "."))
    names[-1] += bracket + params
    return f"{'.'.join(names[:-1])}::{names[-1]}" if len(names) > 1 else names[0]


def disagreement(account: Report, junit: Report) -> str:
    """Two sources of one run must name the same failures and as many tests; empty when they do."""
    if junit.problems:
        return junit.problems[0]

    def bad(report: Report, spell: bool) -> Counter[str]:
        # JUnit writes "\x1b" as "#x1B" and pytest adds a second testcase for a teardown error: only names are compared
        return Counter(
            {
                re.sub(r"#x[0-9A-F]+|[^\w:.\[\]]", "", address(c.id) if spell else c.id): 1
                for c in report.cases
                if c.outcome in ("failed", "error") and "::" in c.id
            }
        )

    ours, theirs = bad(account, True), bad(junit, False)
    if ours != theirs:
        odd = sorted((ours - theirs) | (theirs - ours))
        return f"the JUnit report and the runner's account disagree about {odd[0]}"
    here = sum(1 for case in account.cases if "::" in case.id)
    there = sum(1 for case in junit.cases if "::" in case.id)
    if here != there:
        return f"the JUnit report has {there} tests, the runner's account {here}"
    return ""
