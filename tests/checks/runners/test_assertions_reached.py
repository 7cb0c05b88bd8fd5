"""Assertions that each test reached, in the runners of node's world: an emptied loop is missed."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import CheckKind
from engine.perform.checks.proof.against_base import assertion_faults
from engine.perform.checks.proof.red_to_green import fixed
from engine.perform.checks.proof.seen_cases import UNTOLD
from engine.perform.checks.run.measure import Case, Measurement, Report
from tests.checks.runners.drive import drive, spec_of
from tests.checks.runners.test_javascript import RUNNERS, needs, room_of

LOOP = "for (const item of items()) {inside}\n    {after}"
STYLES = {
    "tape": ("tape", "t.equal(item, 1, 'each');", "t.ok(true, 'end'); t.end();"),
    "mocha": ("mocha", "assert.equal(item, 1);", "assert.ok(true);"),
    "mocha with chai": ("mocha", "expect(item).to.equal(1);", "expect(true).to.be.true;"),
    "jest": ("jest", "expect(item).toBe(1);", "expect(1).not.toBe(2);"),
    "jest with assert": ("jest", "assert.equal(item, 1);", "assert.ok(true);"),
    "vitest": ("vitest", "expect(item).toBe(1);", "expect(1).not.toBe(2);"),
}
HEADS = {
    "tape": "const test = require('tape');\nconst { items } = require('../cart');\n",
    "mocha": "const assert = require('assert');\nconst { items } = require('../cart');\n",
    "mocha with chai": "const { expect } = require('chai');\nconst { items } = require('../cart');\n",
    "jest": "const { expect } = require('@jest/globals');\nconst { items } = require('../cart');\n",
    "jest with assert": "const assert = require('assert');\nconst { items } = require('../cart');\n",
    "vitest": "import { expect, it } from 'vitest';\nimport { items } from '../cart.mjs';\n",
}


def text_of(style: str) -> str:
    runner, inside, after = STYLES[style]
    body = LOOP.replace("{inside}", inside).replace("{after}", after)
    call = "test('each', (t) =>" if runner == "tape" else "it('each', () =>"
    return f"{HEADS[style]}{call} {{\n    {body}\n}});\n"


def measured(report: Report) -> Measurement:
    return Measurement(check="x", kind=CheckKind.TESTS, argv=(), ended="exited", report=report)


@pytest.mark.foreign
@pytest.mark.parametrize("style", [pytest.param(style, marks=needs(STYLES[style][0])) for style in STYLES])
def test_an_emptied_loop_is_missed_and_the_line_that_failed_is_known(style: str, tmp_path: Path) -> None:
    runner, command, path, _ = RUNNERS[STYLES[style][0]]
    spec = spec_of(runner, command, parser="tap" if runner.name == "tape" else "exit")
    seen = []
    for number, items in enumerate(("[1]", "[]", "[2]")):
        made = f"exports.items = () => {items};\n"
        files = {"cart.js": made, "cart.mjs": made.replace("exports.", "export const "), path: text_of(style)}
        _, report = drive(runner, spec, room_of(tmp_path / str(number), files))
        assert len(report.cases) == 1, report
        seen.append(measured(report))
    whole, emptied, red = (one.report.cases[0] for one in seen)
    lost = set(whole.reached) - set(emptied.reached)
    assert len(whole.reached) == 2 and len(lost) == 1, (whole, emptied)
    assert [fault.rule for fault in assertion_faults(seen[0], seen[1], "x")] == ["fewer-reached"]
    # red → green by an emptied loop does not reach what failed; the right answer does
    head = red.place.partition(":")[0]
    assert red.place.endswith(":assert ") and {mark.partition(":")[0] for mark in lost} == {head}, red
    assert [fault.rule for fault in fixed(seen[2], seen[1], "x")[1]] == ["not-reached"]
    assert len(fixed(seen[2], seen[0], "x")[0]) == 1


def test_what_is_not_told_is_not_held_against_anybody() -> None:
    def run(*marks: str, outcome: str = "passed", place: str = "") -> Measurement:
        case = Case(id="a::b", outcome=outcome, reached=marks, place=place)
        return measured(Report(source="x", cases=(case,), counts_tests=True))

    assert assertion_faults(run("3:ok", "4:ok"), run("3:ok"), "x")
    assert not assertion_faults(run("3:ok", "4:ok"), run("3:ok", UNTOLD), "x")
    assert not assertion_faults(run("3:ok", UNTOLD), run(), "x")
    red = run("3:ok", outcome="failed", place="9:assert ")
    assert fixed(red, run("3:ok"), "x")[1] and fixed(red, run("3:ok", UNTOLD), "x")[0]
