"""The base of every value."""

from __future__ import annotations

import msgspec


class Struct(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of every value: frozen, keyword-only, compact in JSON; unknown fields from a newer version are ignored."""
