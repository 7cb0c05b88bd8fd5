"""Path globs with `**`, as .gitignore people expect them: `**/x` also matches `x` at the top."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache


@lru_cache(maxsize=512)
def _compiled(glob: str) -> re.Pattern[str]:
    out, index = "", 0
    while index < len(glob):
        if glob.startswith("**/", index):
            out, index = out + "(?:.*/)?", index + 3
        elif glob.startswith("**", index):
            out, index = out + ".*", index + 2
        elif glob[index] == "*":
            out, index = out + "[^/]*", index + 1
        elif glob[index] == "?":
            out, index = out + "[^/]", index + 1
        else:
            out, index = out + re.escape(glob[index]), index + 1
    return re.compile(out, re.DOTALL)


def matches(path: str, globs: Iterable[str]) -> bool:
    return any(_compiled(glob).fullmatch(path) for glob in globs)
