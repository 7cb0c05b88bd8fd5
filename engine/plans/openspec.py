"""OpenSpec's changes/*/tasks.md: `## 1. Group`, `- [ ] 1.1 Task`, with proposal.md and delta specs beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath

from msgspec.structs import replace

from engine.core.model import Plan
from engine.plans import fields
from engine.plans.foreign import Explained, Foreign, prose_lines
from engine.plans.native import NATIVE

_TASK = re.compile(r"^## +\d+[.)] +.+\n(?:[ \t]*\n)*- \[.?\] +\d+\.\d+ ", re.MULTILINE)
_REQUIREMENT = re.compile(r"#{2,4}[ \t]+(Requirement|Scenario):[ \t]*(.*)$", re.IGNORECASE)
_CLAUSE = re.compile(r"[-*][ \t]+\*\*(GIVEN|WHEN|THEN|AND)\*\*[ \t]*(.*)$", re.IGNORECASE)


class OpenSpecFormat(Foreign):
    """The tasks have the native shape; what is added are the requirements and the reason for the change."""

    name = "openspec"
    what = "OpenSpec `openspec/changes/*/tasks.md`"

    def matches(self, path: PurePath, text: str) -> bool:
        return path.name.lower() == "tasks.md" and ("openspec" in path.parts or bool(_TASK.search(text)))

    def parse(self, text: str, source: str) -> tuple[Plan, Explained]:
        plan = NATIVE.read(text, source)
        folder = PurePath(source).parent.name
        if plan.title.lower() in ("tasks", "task", "implementation", "") and folder:
            plan = replace(plan, title=fields.title_of(f"{folder}.md"))
        understood = (f"{len(plan.tasks())} tasks in {len(plan.phases)} groups",)
        return plan, Explained(understood=understood, guessed=("groups are phases: done one after another",))

    def mark(self, text: str, marks: Mapping[str, str]) -> str:
        return NATIVE.mark(text, marks)

    def companions(self, path: PurePath) -> tuple[PurePath, ...]:
        return (path.with_name("proposal.md"), path.parent / "specs" / "*" / "spec.md", path.with_name("design.md"))

    def enrich(self, plan: Plan, texts: Mapping[str, str]) -> tuple[Plan, Explained]:
        """Requirements and scenarios, in their words, above the tasks."""
        wanted: list[str] = []
        for name, text in texts.items():
            if not name.endswith("spec.md"):
                continue
            clauses: list[str] = []
            for line in prose_lines(text, name):
                heading, clause = _REQUIREMENT.match(line.body), _CLAUSE.match(line.body)
                if heading:
                    wanted += [f"  {' '.join(clauses)}"] if clauses else []
                    clauses = []
                    mark = "- " if heading.group(1).lower() == "requirement" else "  - "
                    wanted.append(f"{mark}{fields.tidy_criterion(heading.group(2))}")
                elif clause:
                    clauses.append(f"{clause.group(1).upper()} {fields.tidy_criterion(clause.group(2))}")
            wanted += [f"  {' '.join(clauses)}"] if clauses else []
        why = [line.body for line in prose_lines(texts.get("proposal.md", ""), "proposal.md") if line.body][:12]
        parts = [plan.summary, *(["Proposal:", *why] if why else [])]
        parts += ["Requirements:", *wanted] if wanted else []
        summary = "\n".join(part for part in parts if part)
        understood = (f"{sum(one.startswith('- ') for one in wanted)} requirements",) if wanted else ()
        rest = tuple(f"{name}: read by the agents, not by the plan" for name in texts if name == "design.md")
        return replace(plan, summary=summary), Explained(understood=understood, unused=rest)


OPENSPEC = OpenSpecFormat()
