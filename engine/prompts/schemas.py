"""JSON schemas of structured answers. Every property is required, no other allowed: the strictest providers ask so."""

from __future__ import annotations

from typing import Any

from engine.core.model import Role

Schema = dict[str, Any]


def _object(**properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def _text(description: str = "") -> Schema:
    return {"type": "string", "description": description} if description else {"type": "string"}


_FLAG: Schema = {"type": "boolean"}
_NUMBER: Schema = {"type": "integer"}
_CONFIDENCE: Schema = {"type": "string", "enum": ["high", "medium", "low"]}
_TASK = _object(
    id=_text("phase.number, like 1.2"),
    title=_text(),
    description=_text(),
    accept=_list(_text("one checkable criterion")),
    scope=_list(_text("glob of files the task may touch")),
    depends_on=_list(_text("task id")),
    verify=_list(_text("shell command that must succeed")),
    complexity={"type": "integer", "description": "0 (trivial) to 14 (architecture)"},
    proof={"type": "string", "enum": ["", "none"], "description": "none: there is nothing to show"},
    allow=_list(_text("a permission, like: rename a to b")),
)
_STATUS: Schema = {"type": "string", "enum": ["READY", "NEEDS_CLARIFICATION"]}
_QUESTIONS = _list(
    _object(text=_text("a question only the user can answer"), assumption=_text("what you go on with if nobody says"))
)
_DECISIONS = _list(
    _object(decision=_text(), why=_text(), alternatives=_list(_text("what else was thought of, and why not")))
)

_REVIEW: dict[str, Schema] = {
    "approved": _FLAG,
    "criteria": _list(
        _object(
            text=_text("the acceptance criterion, word for word"),
            met=_FLAG,
            reference=_text("file:line, test id or check that shows it"),
        )
    ),
    "issues": _list(
        _object(
            text=_text("what is wrong"),
            fix=_text("what to do"),
            alternative=_text("another way, or empty"),
            confidence=_CONFIDENCE,
            path=_text(),
            line=_NUMBER,
            critical=_FLAG,
        )
    ),
    "notes": _list(_text()),
    "summary": _text(),
}
BATCH_REVIEW = _object(reviews=_list(_object(task=_text("the task's id"), **_REVIEW)))
"""What a reviewer answers who is shown several tasks at once."""

SCHEMAS: dict[Role, Schema] = {
    Role.REVIEWER: _object(**_REVIEW),
    Role.SPRINT_REVIEWER: _object(
        approved=_FLAG,
        criteria=_list(
            _object(
                task=_text("task id"),
                text=_text("the acceptance criterion, word for word"),
                met=_FLAG,
                reference=_text("file:line, test id or check that shows it"),
            )
        ),
        issues=_list(
            _object(
                task=_text("id of the task that must change"),
                text=_text("what is wrong"),
                fix=_text("what to do"),
                alternative=_text("another way, or empty"),
                confidence=_CONFIDENCE,
                path=_text(),
                line=_NUMBER,
            )
        ),
        summary=_text(),
    ),
    Role.SCOPE_JUDGE: _object(
        in_scope=_FLAG,
        paths=_list(_object(path=_text(), in_scope=_FLAG, reason=_text())),
        reason=_text(),
    ),
    Role.COUNCILLOR: _object(
        root_cause=_text(),
        evidence=_list(_text("file:line, commit or command output")),
        recommended_fix=_text(),
        confidence=_CONFIDENCE,
    ),
    Role.SYNTHESIST: _object(
        root_cause=_text(),
        recommended_fix=_text(),
        insight=_text("what about the architecture made this possible"),
        test_cases=_list(_text("a test that fails now and passes when it is mended")),
    ),
    Role.PLANNER: _object(
        status=_STATUS,
        questions=_QUESTIONS,
        title=_text(),
        topic=_text("one word for commit messages"),
        summary=_text(),
        phases=_list(_object(id=_text(), title=_text(), scaffold=_FLAG, tasks=_list(_TASK))),
        later=_list(_text("a request for a sprint after this one")),
        decisions=_DECISIONS,
    ),
    Role.PRD_WRITER: _object(status=_STATUS, questions=_QUESTIONS, document=_text("Markdown"), decisions=_DECISIONS),
    Role.PLAN_REVIEWER: _object(
        approved=_FLAG,
        issues=_list(_object(task=_text("task id or empty"), text=_text(), fix=_text())),
        summary=_text(),
    ),
}
"""The implementer and the answerer speak freely: a tree is judged by checks, an answer by its reader."""
