"""The closing summary of a sprint: how it ended, what is proven, what was made, what needs the human."""

from __future__ import annotations

from typing import assert_never

from engine.core import sprint_review
from engine.core.clean import clean_line
from engine.core.gates import waiting_questions
from engine.core.model import CheckKind, Verdict
from engine.core.state import State, Status, TaskState
from engine.core.verdict import counts
from engine.core.vocabulary import Outcome
from engine.core.wording import plural
from engine.report import criteria_of


def summary(state: State) -> str:
    """The seed's closing words, from state alone."""
    tasks = list(state.tasks.values())
    complete = [task for task in tasks if task.status is Status.COMPLETE]
    files = list(_files(complete).values())
    tests = sum(task.history[-1].new_tests for task in complete if task.history)
    last = [result for task in tasks for result in task.checks]
    by = [f"{sum(result.verdict is verdict for result in last)} {verdict.value}" for verdict in Verdict]
    head = (
        f"Sprint {state.sprint} successfully completed in {plural(state.iterations, 'iteration')}!"
        if state.outcome is Outcome.DONE
        else f"Sprint {state.sprint} ended: {state.outcome or 'still going'}. {clean_line(state.outcome_reason)}"
    )
    over = all(task.ended for task in tasks)
    overridden = sum(task.overridden and task.status is Status.COMPLETE for task in tasks)
    lines = [
        *_questions(state),
        head,
        "",
        f"Evidence: {plural(len(last), 'check')}: {', '.join(by)}"
        + (f", {plural(overridden, 'review')} overridden by the human" if overridden else ""),
        "",
        *_waiting(state),
        *(["Final Validation:", *_validation(state, tasks)] if over else [_so_far(state)]),
        "",
        "Files Modified:",
        f"- {plural(files.count('added'), 'file')} created",
        f"- {plural(files.count('modified'), 'file')} modified",
        f"- {plural(files.count('deleted'), 'file')} deleted",
        f"- {plural(tests, 'test')} added",
        "",
        f"Cost: ${state.spent_usd:.2f} in {plural(state.calls, 'agent call')}, "
        f"{plural(len(state.escalations), 'escalation')}, {plural(state.councils, 'council session')}",
    ]
    open_ends = [task for task in tasks if task.ended and task.status is not Status.COMPLETE]
    if open_ends:
        lines += ["", "Needs you:"]
        lines += [
            f"- {task.id} {clean_line(task.spec.title)}: {task.status.value}: {clean_line(task.reason)}"
            + (f"\n  → {clean_line(task.action)}" if task.action else "")
            for task in open_ends
        ]
    if state.sprint and state.plan is not None:
        lines += ["", f"Plan kept at: .devteam/sprints/{state.sprint}/plan.md"]
    if over and state.landed != state.head and any(task.commit for task in tasks):
        lines += ["To take it over: devteam land   (look at it first: devteam report --html > report.html)"]
    return "\n".join(lines)


def _questions(state: State) -> list[str]:
    """What waits for the human's word comes first."""
    found = waiting_questions(state)
    if not found:
        return []
    lines = [f"{plural(len(found), 'question')} for you:"]
    for task, question in found:
        lines.append(f"- {task.id} {clean_line(task.spec.title)}: {clean_line(question.text)}")
        lines.append(f'  → devteam allow {task.id} "{clean_line(question.allow)}"')
    return [*lines, ""]


def _waiting(state: State) -> list[str]:
    """Open gates, each with what to type."""
    gates = state.open_gates()
    lines = ["Waits for you:"] if gates else []
    for gate in gates:
        lines.append(f"- {gate.id} {gate.kind} gate: {clean_line(gate.title)}")
        lines.append(f"  → devteam gate {gate.id}; devteam answer {gate.id} {'|'.join(gate.choices)}")
    return [*lines, ""] if lines else []


def _so_far(state: State) -> str:
    """A sprint that goes on later is not validated: only what is committed counts."""
    done, total = state.progress()
    return f"So far: {done} of {plural(total, 'task')} complete and committed on {state.branch}"


def _validation(state: State, tasks: list[TaskState]) -> list[str]:
    """The seed's four questions, answered from the last tree that was judged and the checks on the whole branch."""
    done, total = state.progress()
    judged = [task for task in tasks if task.checks and task.status is Status.COMPLETE]
    results = judged[-1].checks if judged else ()
    tests = [result for result in results if result.kind is CheckKind.TESTS]
    builds = [result for result in results if result.kind is CheckKind.BUILD]
    passed, known = counts(tests)
    covered = next((result.coverage for result in tests if result.coverage is not None), None)
    coverage = f" ({covered:.0f}% coverage)" if covered is not None else ""
    green = bool(tests) and all(result.verdict is Verdict.PASS for result in tests)
    final = state.final.value if state.final else Verdict.NOT_RUN.value
    build = (
        f"{_tick(all(one.verdict is Verdict.PASS for one in builds))} Build succeeds" if builds else "– No build check"
    )
    word = f"All {total} tasks" if done == total > 1 else f"{done} of {plural(total, 'task')}"
    untested = "– No tests were run" if judged else "– No task is complete, so there are no tests of finished work"
    return [
        _tests_line(green, passed, known, coverage) if tests else untested,
        build,
        _tasks_line(state, tasks, word),
        f"{_tick(state.final is Verdict.PASS)} All checks on the finished branch: {final}",
        _criteria_line(tasks, bool(state.policy.review)),
        *_final_review(state),
    ]


def _tasks_line(state: State, tasks: list[TaskState], word: str) -> str:
    done, total = state.progress()
    ticked = sum(task.status is Status.COMPLETE and task.spec.done and not task.commit for task in tasks)
    if not ticked:
        return f"{_tick(done == total)} {word} complete and committed on {state.branch}"
    made = f"{done - ticked} of {plural(total, 'task')} committed on {state.branch}"
    return f"{_tick(done == total) if done > ticked else '–'} {made}, {ticked} ticked off in the plan beforehand"


def _final_review(state: State) -> list[str]:
    words = sprint_review.standing(state)
    mark = _tick(state.sprint_review.approved) if state.sprint_review.head else "–"
    return [f"{mark} Final review: {clean_line(words)}"] if words else []


def _tests_line(green: bool, passed: int, known: int, coverage: str) -> str:
    """A check may pass although tests fail that failed before the sprint: then that is said."""
    if green and passed < known:
        return f"✓ No test broken{coverage}: {passed}/{known} pass, as before the sprint"
    if not known:
        return "– No test was counted"
    return f"{_tick(green)} All tests passing{coverage}: {passed}/{known}"


def _criteria_line(tasks: list[TaskState], reviewed: bool) -> str:
    met, criteria = (
        (sum(pair) for pair in zip(*(criteria_of(task) for task in tasks), strict=True)) if tasks else (0, 0)
    )
    what = f"{criteria} acceptance {'criterion' if criteria == 1 else 'criteria'}"
    if not criteria:
        return "– No acceptance criteria are written down"
    if not reviewed:
        return f"– {what}: judged by nobody, the review is off"
    return f"{_tick(met == criteria)} {'All' if met == criteria else f'{met} of'} {what} met"


def _files(complete: list[TaskState]) -> dict[str, str]:
    """What became of each path over all completed tasks: a file that several tasks changed is one file."""
    files: dict[str, str] = {}
    for task in sorted(complete, key=lambda task: task.ended_at):
        for one in task.changes:
            made = files.get(one.path) == "added"
            match one.change:
                case "deleted" if made:
                    del files[one.path]
                case "added" | "deleted":
                    files[one.path] = one.change
                case "modified" | "type":
                    files[one.path] = "added" if made else "modified"
                case _:
                    assert_never(one.change)
    return files


def _tick(passed: bool) -> str:
    return "✓" if passed else "✗"
