"""The words given to each role, as strict templates, and what is asked back.

`render` makes a prompt from typed fields; `SCHEMAS` is what a structured answer must satisfy; the `parse_*` functions
turn such an answer into the core's values, or None when it is not what was asked for.
"""

from engine.prompts.answers import (
    parse_councillor,
    parse_diagnosis,
    parse_plan,
    parse_plan_review,
    parse_review,
    parse_scope,
)
from engine.prompts.fields import SEATS
from engine.prompts.rendering import fence, render
from engine.prompts.schemas import SCHEMAS

__all__ = [
    "SCHEMAS",
    "SEATS",
    "fence",
    "parse_councillor",
    "parse_diagnosis",
    "parse_plan",
    "parse_plan_review",
    "parse_review",
    "parse_scope",
    "render",
]
