"""A task that wants something refused, and proofs that never provoke it. Pure; what is missing sends back.

Half of such a change is easy to show: what is accepted. The other half is a test that is refused, in whichever way the
language has: an exception, an error value, an exit code, a false answer. Every such way counts.
"""

from __future__ import annotations

import re

from engine.core.model import TaskSpec
from engine.perform.checks.proof.not_shown import sentences

_WANTED = re.compile(
    r"\b(?:refuses?|rejects?|(?:is|are|be|gets?) (?:refused|rejected)|returns? an error|(?:is|are|be) an error"
    r"|(?:should|must|shall|has to|have to) (?:throw|raise|panic))\b"
)
_AGAINST = re.compile(
    r"\b(?:no longer|not|never|nothing|nobody|instead of|rather than|without|n't|today|why|who|which)\b", re.IGNORECASE
)
_SYMPTOM = re.compile(r"\b(?:is|are)\s+(?:refused|rejected)\b[^.;]{0,3}[:,(]\s*[\"'`“]|\bis\s+wrongly\b")
"""What it says when it refuses stands behind it: so it is today."""
_PROVOKED = re.compile(
    r"\bErr[A-Z]\w*|errors\.(?:Is|As)\b|\bNULL\b|!\s*[A-Za-z_]\w*\s*\(|==\s*0\b"
    r"|[Rr]aises|[Tt]hrows?\b|rejects|toThrow|[Ee]rror|[Ee]xception|(?<![!])== *nil\b|wantErr|panic|is_err|is_none"
    r"|\bexcept\b|\bcatch\b|\$\?|exit|returncode|status|\bcode\b|\b[Ff]alse\b|\bNone\b|\bnull\b|undefined|-1\b"
    r"|\b[45]\d\d\b|[Ff]alsy|refus|reject|invalid|denied|\bnot\s+\w|!\s*\(|\|\||\bif !|\b! "
)
_COMPLAINS = re.compile(
    r"\b[a-z]\w{0,2}\.(?:Errorf?|Fatalf?)\b(?:\(\"[^\"\n]*\")?|\berr(?:or)? != nil\b"
    r"|\b(?:test|it|describe)\(\s*(['\"`]).*?\1"
)
"""How a test of Go says that it fails, and how one of JavaScript is called: no refusal of the program's."""


def unprovoked(task: TaskSpec | None, fresh: str) -> str:
    """The sentence that wants a refusal, where nothing new in the tests could show one; else nothing."""
    if task is None or not fresh.strip() or _PROVOKED.search(_COMPLAINS.sub(" ", fresh)):
        return ""
    for sentence in sentences(task):
        if _SYMPTOM.search(sentence):
            continue
        found = _WANTED.search(sentence)
        if found is not None and not _AGAINST.search(sentence[: found.start()]):
            return " ".join(sentence.split())
    return ""
