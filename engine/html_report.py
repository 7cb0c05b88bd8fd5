"""The sprint as one self-contained HTML page: what is open, then criterion → proof → commit, ladder, cost, time."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping

from engine.core import sprint_review
from engine.core.clean import clean, clean_line
from engine.core.model import Decision, ProofVerdict, Verdict
from engine.core.state import State, Status, TaskState
from engine.core.status_words import of_sprint
from engine.core.wording import plural

STYLE = """
:root{color-scheme:light dark;--fg:#1b1f24;--bg:#fff;--soft:#f3f4f6;--line:#d5d9df;--good:#1a7f37;
--bad:#b42318;--warn:#8a5a00;--bar:#4565c9}
@media(prefers-color-scheme:dark){:root{--fg:#e6e8eb;--bg:#14171b;--soft:#1f242a;--line:#3a414a;
--good:#57c878;--bad:#ff8a7a;--warn:#e5b454;--bar:#8fa6f5}}
*{box-sizing:border-box}
body{font:15px/1.5 system-ui,sans-serif;color:var(--fg);background:var(--bg);max-width:1000px;margin:0 auto;
padding:24px;overflow-wrap:anywhere}
h1{font-size:1.5rem;margin:0}h2{font-size:1.15rem;border-bottom:1px solid var(--line);margin-top:2rem}
h3{font-size:1rem;margin:1.2rem 0 .3rem}
table{border-collapse:collapse;width:100%}
td,th{text-align:left;padding:4px 8px;border-bottom:1px solid var(--line);vertical-align:top}
.good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}.soft{opacity:.75}
code,pre{font:13px/1.45 ui-monospace,monospace}
pre{background:var(--soft);padding:8px;overflow:auto;max-height:26rem}
section.first{background:var(--soft);padding:8px 16px;border-left:4px solid var(--warn)}
svg text{fill:var(--fg);font:12px system-ui,sans-serif}svg rect{fill:var(--bar)}details{margin:.3rem 0}
svg rect.good{fill:var(--good)}svg rect.bad{fill:var(--bad)}svg text.in{fill:var(--bg);font-weight:600}
summary{cursor:pointer}pre .add{color:var(--good)}pre .del{color:var(--bad)}pre .at{color:var(--bar)}
ul{margin:.3rem 0}code.whole{white-space:nowrap}.wide{overflow-x:auto}td.mark{width:5.5rem;font-weight:600}
@media print{:root{color-scheme:light;--fg:#000;--bg:#fff;--soft:#f3f4f6;--line:#bbb;--good:#0a5c24;--bad:#8f1a10;
--warn:#6b4500;--bar:#33499a}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}body{max-width:none;padding:0}
pre{max-height:none;white-space:pre-wrap;overflow-wrap:anywhere}
details::details-content{content-visibility:visible;height:auto}summary{list-style:none}
h2,h3{break-after:avoid}tr,section,li{break-inside:avoid}}
"""
LONGEST_DIFF = 60_000
PROOF = "proof"
"""The check that carries the verdict of the proof."""


def page(state: State, diffs: Mapping[str, str]) -> str:
    """The whole page. `diffs`: the change of each task, by its id. Text from outside is escaped, never markup."""
    title = state.plan.title if state.plan is not None else state.sprint
    tasks = list(state.tasks.values())
    done, total = state.progress()
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width,initial-scale=1'>",
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f"<title>{_text(title)}</title><style>{STYLE}</style></head><body>",
        f"<h1>{_text(title)}</h1><p class='soft'>{_text(state.sprint)} on {_text(state.branch)} · "
        f"{done} of {plural(total, 'task')} complete · {_text(of_sprint(state) or 'not ended')} · "
        f"${state.spent_usd:.2f} in {plural(state.calls, 'call')}</p>",
        _open_ends(state, tasks),
        _final_review(state),
        "<h2>Tasks: criterion → proof → commit → diff</h2>",
        *(_task(state, task, diffs.get(task.id, "")) for task in tasks),
        "<h2>Ladder</h2>",
        _ladder(state),
        _climbs(state),
        "<h2>Cost and time</h2>",
        _bars("Cost by task ($)", [(task.id, task.spent_usd) for task in tasks], "{:.2f}"),
        _bars("Minutes by task", [(task.id, _minutes(task)) for task in tasks], "{:.1f}"),
        _bars("Cost by role ($)", [(name, usage.cost_usd) for name, usage in state.usage_by_role.items()], "{:.2f}"),
        _questions(state),
        "</body></html>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _open_ends(state: State, tasks: list[TaskState]) -> str:
    """What a reader must know before the rest: skipped, unproven, overridden, waiting."""
    rows = [
        f"<li class='bad'>{_text(task.id)} {_text(task.spec.title)}: {_text(task.status.value)}: {_text(task.reason)}"
        + (f"<br><code>{_text(task.action)}</code>" if task.action else "")
        + "</li>"
        for task in tasks
        if task.status is not Status.COMPLETE
    ]
    rows += [
        f"<li class='warn'>{_text(task.id)} {_text(task.spec.title)}: nothing to show (proof: none)</li>"
        for task in tasks
        if task.status is Status.COMPLETE and task.spec.proof.startswith("none")
    ]
    rows += [f"<li class='warn'>{_text(task.id)}: you overrode the reviewer</li>" for task in tasks if task.overridden]
    rows += [f"<li class='warn'>{_text(gate.id)} waits: {_text(gate.title)}</li>" for gate in state.open_gates()]
    rows += [
        f"<li class='warn'>{_text(task.id)} {_text(task.spec.title)}: complete without a proof</li>"
        for task in tasks
        if task.status is Status.COMPLETE and task.proof is ProofVerdict.UNPROVEN
    ]
    review = state.sprint_review
    if review.head and not review.approved:
        rows.append(f"<li class='warn'>final review: {_text(sprint_review.standing(state))}</li>")
    if state.final is not None and state.final is not Verdict.PASS:
        rows.append(f"<li class='bad'>final checks: {_text(state.final_reason)}</li>")
    inside = f"<ul>{''.join(rows)}</ul>" if rows else "<p class='good'>Nothing is open: every task is proven.</p>"
    return f"<section class='first'><h3>What is open</h3>{inside}</section>"


def _final_review(state: State) -> str:
    """One reviewer over the whole: what it said, and of which commit."""
    review = state.sprint_review
    if not (words := sprint_review.standing(state)):
        return ""
    style = "good" if review.approved else "warn"
    rows = [
        f"<li>{_text(one.task)}: {_text(one.issue.text)}{f' — {_text(one.issue.fix)}' if one.issue.fix else ''}</li>"
        for one in review.issues
    ]
    unmet = [one for one in review.criteria if not one.criterion.met]
    rows += [f"<li class='bad'>{_text(one.task)}: not met: {_text(one.criterion.text)}</li>" for one in unmet]
    at = f" <code>{_text(review.head[:12])}</code>" if review.head else ""
    listed = f"<ul>{''.join(rows)}</ul>" if rows else ""
    return f"<h2>Final review of the whole</h2><p><span class='{style}'>{_text(words)}</span>{at}</p>{listed}"


def _task(state: State, task: TaskState, diff: str) -> str:
    good = task.status is Status.COMPLETE
    commit = f"<code class='whole'>{_text(task.commit[:12])}</code>" if task.commit else ""
    evidence = f" · evidence <code>{_text(task.evidence[:16])}</code>" if task.evidence else ""
    committed = f"commit {commit}" if commit else "no commit"
    climbs = [f"{_text(one.source)}→{_text(one.target)}" for one in state.escalations if one.task == task.id]
    climbed = f" · escalated {', '.join(climbs)}" if climbs else ""
    shown = f"<details><summary>diff</summary><pre>{_diff(diff)}</pre></details>" if diff else ""
    override = f"<p class='warn'>{_text(task.override)}</p>" if task.override else ""
    rows = "".join((*_criteria(task, commit), *_proofs(task), *_checks(task)))
    return (
        f"<h3><span class='{'good' if good else 'bad'}'>{_text(task.status.value)}</span> "
        f"{_text(task.id)} {_text(task.spec.title)}</h3>"
        f"<p class='soft'>{plural(task.iteration, 'iteration')} · ${task.spent_usd:.2f} · {committed}{evidence}"
        f"{climbed}</p>{override}"
        f"<div class='wide'><table>{rows}</table></div>{shown}"
    )


def _criteria(task: TaskState, commit: str) -> Iterator[str]:
    """Each criterion, what shows it, and the commit that has it."""
    known = {one.text: one for one in task.review.criteria} if task.review is not None else {}
    for text in task.spec.accept:
        one = known.get(text)
        met = one is not None and one.met
        where = _text(one.reference) if one is not None and one.reference else "not judged"
        mark = "<td class='mark good'>met</td>" if met else "<td class='mark bad'>open</td>"
        yield f"<tr>{mark}<td>{_text(text)}</td><td><code>{where}</code></td><td>{commit if met else ''}</td></tr>"


def _proofs(task: TaskState) -> Iterator[str]:
    """What turned red → green, by name."""
    if task.proof is None:
        return
    style = "good" if task.proof is ProofVerdict.PROVEN else "warn"
    head = f"<td class='mark {style}'>{task.proof.value}</td>"
    yield f"<tr>{head}<td>{_text(task.proof_reason) or 'proof'}</td><td></td><td></td></tr>"
    for proof in task.proofs[:20]:
        red = f"red before: {_text(proof.red)}" if proof.red else "red before, green now"
        yield f"<tr><td></td><td>{_text(proof.kind)}: <code>{_text(proof.name)}</code></td><td>{red}</td><td></td></tr>"


def _checks(task: TaskState) -> Iterator[str]:
    for check in task.checks:
        if check.name == PROOF and task.proof is not None:
            continue  # said above, in full
        style = "good" if check.verdict is Verdict.PASS else "bad"
        counted = f" {check.counts.passed}/{check.counts.total}" if check.counts and check.counts.total else ""
        said = _text(check.reason) or _text(check.command)
        cells = f"<td class='mark {style}'>{check.verdict.value}</td><td>{_text(check.name)}{counted}</td>"
        yield f"<tr>{cells}<td class='soft'>{said}</td><td></td></tr>"


def _ladder(state: State) -> str:
    rows = [
        f"<tr><td>{_text(rung.name)}</td><td>{usage.calls}</td><td>{usage.successes}</td>"
        f"<td>${usage.cost_usd:.2f}</td></tr>"
        for rung in state.policy.ladder.rungs
        if (usage := state.usage_by_rung.get(rung.name)) is not None
    ]
    head = "<tr><th>rung</th><th>calls</th><th>ended well</th><th>cost</th></tr>"
    climbs = "".join(
        f"<li>{_text(one.task)} {_text(one.source)} → {_text(one.target)}: {_text(one.reason)}</li>"
        for one in state.escalations
    )
    return f"<table>{head}{''.join(rows)}</table>" + (f"<ul>{climbs}</ul>" if climbs else "")


def _climbs(state: State) -> str:
    """Every iteration of every task, at which rung and how it ended: a row a task, a box an iteration."""
    known = [task for task in state.tasks.values() if task.history][:60]
    if not known:
        return ""
    names = [rung.name for rung in state.policy.ladder.rungs]
    boxes = []
    for row, task in enumerate(known):
        y = row * 24
        boxes.append(f"<text x='0' y='{y + 16}'>{_text(task.id)}</text>")
        for place, record in enumerate(task.history[-16:]):
            name = names[min(record.rung, len(names) - 1)] if names else "?"
            word = record.decision.value if record.decision is not None else ""
            style = "good" if record.decision is Decision.COMPLETE else "bad"
            x = 70 + place * 84
            boxes.append(
                f"<rect class='{style}' x='{x}' y='{y + 2}' width='78' height='19' rx='3'>"
                f"<title>iteration {record.iteration}: {_text(word)}: {_text(record.reason)}</title></rect>"
                f"<text class='in' x='{x + 6}' y='{y + 16}'>{record.iteration} {_text(name)[:9]}</text>"
            )
    most = max(len(task.history[-16:]) for task in known)
    width, height = 70 + most * 84, len(known) * 24
    return (
        f"<h3>Iterations by task and rung</h3><div class='wide'><svg role='img' aria-label='Iterations by rung' "
        f"viewBox='0 0 {width} {height}' width='{width}' height='{height}'>{''.join(boxes)}</svg></div>"
    )


def _bars(title: str, rows: Iterable[tuple[str, float]], form: str) -> str:
    """A bar chart without a script: drawn to the largest value."""
    known = [(name, value) for name, value in rows if value > 0][:40]
    if not known:
        return ""
    top = max(value for _, value in known)
    lines = []
    for place, (name, value) in enumerate(known):
        y = place * 22
        width = max(3.0, 520 * value / top)  # seen on a phone, too
        lines.append(
            f"<text x='0' y='{y + 15}'>{_text(name)}</text><rect x='130' y='{y + 4}' width='{width:.0f}' height='14'/>"
            f"<text x='{138 + width:.0f}' y='{y + 15}'>{form.format(value)}</text>"
        )
    height = len(known) * 22 + 4
    return (
        f"<h3>{_text(title)}</h3><svg role='img' aria-label='{_text(title)}' viewBox='0 0 760 {height}' width='100%'>"
        f"{''.join(lines)}</svg>"
    )


def _questions(state: State) -> str:
    planning = state.planning
    answers = planning.answers if planning is not None else ()
    rows = [f"<li>{_text(one.question)} → {_text(one.answer)} ({_text(one.by)})</li>" for one in answers]
    rows += [
        f"<li>{_text(gate.id)} {_text(gate.title)}: {_text(gate.choice)} by {_text(gate.by or 'you')}"
        f" {_text(gate.text)}</li>"
        for gate in state.gates.values()
        if not gate.open
    ]
    return f"<h2>Questions and answers</h2><ul>{''.join(rows)}</ul>" if rows else ""


def _minutes(task: TaskState) -> float:
    return max(0.0, task.ended_at - task.started_at) / 60 if task.ended_at and task.started_at else 0.0


def _text(words: object) -> str:
    return html.escape(clean_line(str(words)))


def _diff(words: str) -> str:
    """A diff, its lines coloured by what they do; text from outside stays text."""
    cut = words if len(words) <= LONGEST_DIFF else words[:LONGEST_DIFF] + "\n[… cut …]"
    return "\n".join(_diff_line(line) for line in cut.split("\n"))


def _diff_line(line: str) -> str:
    if not line.strip():
        return ""
    text = html.escape(clean(line).replace("\n", " "))  # its indentation is what it says
    style = {"+": "add", "-": "del", "@": "at"}.get(line[0])
    return f"<span class='{style}'>{text}</span>" if style else text
