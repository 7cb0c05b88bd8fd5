"""A task that wants something refused, and proofs that never provoke it. Pure; what is missing sends back.

Half of such a change is easy to show: what is accepted. The other half is a test that is refused, in whichever way the
language has: an exception, an error value, an exit code, a false answer. Every such way counts.
"""

from __future__ import annotations

import re

from engine.core.model import TaskSpec
from engine.perform.checks.proof.not_shown import sentences

_WANTED = re.compile(r"\b(?:refuses?|rejects?|(?:is|are|be|gets?) (?:refused|rejected)|returns? an error)\b")
_AGAINST = re.compile(
    r"\b(?:no longer|not|never|nothing|nobody|instead of|rather than|without|n't|today|why|who|which)\b", re.IGNORECASE
)
_PROVOKED = re.compile(
    r"[Rr]aises|[Tt]hrows?\b|rejects|toThrow|[Ee]rror|[Ee]xception|(?<![!])== *nil\b|wantErr|panic|is_err|is_none"
    r"|\bexcept\b|\bcatch\b|\$\?|exit|returncode|status|\bcode\b|\b[Ff]alse\b|\bNone\b|\bnull\b|undefined|-1\b"
    r"|\b[45]\d\d\b|[Ff]alsy|refus|reject|invalid|denied|\bnot\s+\w|!\s*\(|\|\||\bif !|\b! "
)


def unprovoked(task: TaskSpec | None, fresh: str) -> str:
    """The sentence that wants a refusal, where nothing new in the tests could show one; else nothing."""
    if task is None or not fresh.strip() or _PROVOKED.search(fresh):
        return ""
    for sentence in sentences(task):
        found = _WANTED.search(sentence)
        if found is not None and not _AGAINST.search(sentence[: found.start()]):
            return " ".join(sentence.split())
    return ""
