"""The base of every recorded fact, and the version of their JSON form."""

from __future__ import annotations

import msgspec

SCHEMA = 1


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """Base of events."""
