"""Imported by a server that forks processes: every prompt is compiled here once, and not in each of them."""

from __future__ import annotations

from engine.core.model import Role
from engine.prompts.rendering import _environment

for role in Role:
    _environment().get_template(f"{role.value}.md.j2")
