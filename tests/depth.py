"""How many examples a property gets: a share in each `make test`, which draws its own; all in `make torture`."""

from __future__ import annotations

import os

SHARE = 8


def examples(all_of_them: int, least: int = 10) -> int:
    return all_of_them if os.environ.get("DEVTEAM_DEEP") else min(all_of_them, max(least, all_of_them // SHARE))
