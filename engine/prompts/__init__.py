"""The words given to each role, as strict templates, and what is asked back.

`render` makes a prompt from typed fields; `SCHEMAS` is what a structured answer must satisfy; the `parse_*` functions
turn such an answer into the core's values, or None when it is not what was asked for.
"""

from engine.prompts.answers import (
    parse_batch_review,
    parse_councillor,
    parse_diagnosis,
    parse_plan,
    parse_plan_review,
    parse_prd,
    parse_review,
    parse_scope,
    parse_sprint_review,
)
from engine.prompts.fields import SEATS
from engine.prompts.rendering import fence, render
from engine.prompts.schemas import BATCH_REVIEW, SCHEMAS

__all__ = [
    "BATCH_REVIEW",
    "SCHEMAS",
    "SEATS",
    "fence",
    "parse_batch_review",
    "parse_councillor",
    "parse_diagnosis",
    "parse_plan",
    "parse_plan_review",
    "parse_prd",
    "parse_review",
    "parse_scope",
    "parse_sprint_review",
    "render",
]
