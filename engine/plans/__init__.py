"""Plans and sprint folders: formats to read and mark in place (one file each), and where a sprint lives on disk."""

from engine.plans.change import describe_change
from engine.plans.plan_format import PLAN_STATUSES, TASK_STATUSES, PlanError, PlanFormat, PlanRefused
from engine.plans.registry import FORMATS, format_of, mark_plan, mark_tasks, read_plan
from engine.plans.sprint_search import SprintNotFound, find_sprint
from engine.plans.sprints import SprintFolder, ensure_gitignore, list_sprints, new_sprint, slug_of
from engine.plans.write import render

__all__ = [
    "FORMATS",
    "PLAN_STATUSES",
    "TASK_STATUSES",
    "PlanError",
    "PlanFormat",
    "PlanRefused",
    "SprintFolder",
    "SprintNotFound",
    "describe_change",
    "ensure_gitignore",
    "find_sprint",
    "format_of",
    "list_sprints",
    "mark_plan",
    "mark_tasks",
    "new_sprint",
    "read_plan",
    "render",
    "slug_of",
]
