"""JSON plans as other loops write them."""

from __future__ import annotations

import json

import pytest

from engine.plans import PlanRefused
from engine.plans.json_plan import JSON

PRD = """{
  "project": "Shop",
  "branchName": "ralph/cart",
  "description": "A cart.",
  "userStories": [
    {"id": "US-001", "title": "Add to cart", "description": "As a buyer", "acceptanceCriteria": ["Typecheck passes"],
     "priority": 1, "passes": true, "notes": "kept  as is"},
    {"id": "US-002", "title": "Pay", "priority": 2, "passes": false, "dependsOn": ["US-001"]}
  ]
}"""


def test_a_prd_is_read():
    plan = JSON.read(PRD, "prd.json")
    first, second = plan.tasks()
    assert (plan.title, plan.summary, [phase.title for phase in plan.phases]) == ("Shop", "A cart.", ["Tasks"])
    assert (first.id, first.title, first.accept, first.done) == ("US-001", "Add to cart", ("Typecheck passes",), True)
    assert (second.depends_on, second.done) == (("US-001",), False)
    assert first.priority > second.priority, "1 is the first to do"


def test_features_without_titles_or_ids_are_read():
    text = json.dumps(
        [{"category": "x", "description": "User can log in", "steps": ["open", "type"], "passes": False}] * 2
    )
    plan = JSON.read(text, "features.json")
    assert [(task.id, task.title, task.accept) for task in plan.tasks()] == [
        ("1.1", "User can log in", ("open", "type")),
        ("1.2", "User can log in", ("open", "type")),
    ]
    assert plan.title == "Features"


def test_ids_that_plan_md_cannot_write_are_replaced_and_dependencies_follow():
    text = json.dumps([{"id": "log in", "title": "a"}, {"id": "x", "title": "b", "dependsOn": ["log in"]}])
    assert [(task.id, task.depends_on) for task in JSON.read(text, "p.json").tasks()] == [
        ("1.1", ()),
        ("1.2", ("1.1",)),
    ]


MARKS = [
    pytest.param('[{"title":"a","passes":false }]', "done", '[{"title":"a","passes":true }]', id="flag"),
    pytest.param(
        '\ufeff[{"title":"a","passes":true}]\r\n', "open", '\ufeff[{"title":"a","passes":false}]\r\n', id="bom, crlf"
    ),
    pytest.param('[ {"title":"a"} ]', "done", '[ {"status": "done", "title":"a"} ]', id="no flag"),
    pytest.param('[{"title":"a","status":"todo"}]', "skipped", '[{"title":"a","status":"skipped"}]', id="status"),
    pytest.param(
        '[{"passes":true,"title":"a \\"passes\\": false","passes":false}]',
        "done",
        '[{"passes":true,"title":"a \\"passes\\": false","passes":true}]',
        id="the last of two keys, not the text in a title",
    ),
]


@pytest.mark.parametrize(("text", "status", "wanted"), MARKS)
def test_marking_touches_the_flag_only(text, status, wanted):
    assert JSON.mark(text, {"1.1": status}) == wanted
    assert JSON.read(wanted, "p").tasks()[0].done is (status == "done")


def test_only_the_story_named_changes():
    assert JSON.mark(PRD, {"US-002": "done"}) == PRD.replace('"passes": false', '"passes": true')


REFUSED = [
    pytest.param('{"tasks": [\n{"title": }]}', 2, "not JSON", id="broken"),
    pytest.param("[" * 100_000, 0, "nested too deeply", id="deep"),
    pytest.param("{}", 0, "no tasks", id="no list"),
    pytest.param("3", 0, "no tasks", id="a number"),
    pytest.param('[\n"a"]', 2, "not a task", id="not an object"),
    pytest.param('[\n{"passes": false}]', 2, "has no title", id="no title"),
    pytest.param('[\n\n{"title": "a", "complexity": 99}]', 3, "complexity 99", id="complexity"),
    pytest.param('[{"title": "a", "scope": [true]}]', 1, "not a list of text", id="scope of the wrong kind"),
    pytest.param('[{"title": "a", "priority": 1.5}]', 1, "priority 1.5", id="priority"),
]


@pytest.mark.parametrize(("text", "line", "words"), REFUSED)
def test_what_is_wrong_is_named_with_its_line(text, line, words):
    with pytest.raises(PlanRefused) as refused:
        JSON.read(text, "p.json")
    assert [error.line for error in refused.value.errors if words in error.what] == [line], str(refused.value)
