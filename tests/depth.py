"""How many examples a property gets: a share in each `make test`, which draws its own; all in `make torture`."""

from __future__ import annotations

import os

SHARE = 4


def examples(all_of_them: int) -> int:
    return all_of_them if os.environ.get("DEVTEAM_DEEP") else max(10, all_of_them // SHARE)
