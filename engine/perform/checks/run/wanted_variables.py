"""Variables that tests ask their environment for: checks are given none of the user's, so a missing one is named."""

from __future__ import annotations

import re
from collections import Counter

from engine.perform.checks.run.measure import BAD, Measurement

NAME = r"[\"'`]?([A-Z][A-Z0-9_]{2,})[\"'`]?"
ASKED = (
    re.compile(rf"KeyError: {NAME}\s*$", re.MULTILINE),
    re.compile(rf"(?i:environment variable|env var|setting)s?:? {NAME}"),
    re.compile(rf"{NAME} (?i:environment variable|env var)\b"),
    re.compile(rf"{NAME} (?i:is not set|must be set|is not defined|is missing|is required|not found in)\b"),
    re.compile(
        rf"(?i:set the|set|missing|undefined|required) {NAME} (?i:environment variable|env var|in the environment)"
    ),
)


def wanted_variables(found: Measurement) -> tuple[str, ...]:
    """Names that failing tests, or a runner that could not begin, said they lack; the most wanted first."""
    bad = [f"{case.error}: {case.text}" for case in found.report.cases if case.outcome in BAD]
    texts = bad or ([found.output[-4000:]] if found.exit_code else [])
    names = Counter(name for text in texts for name in {match[1] for one in ASKED for match in one.finditer(text)})
    return tuple(name for name, _ in names.most_common(5))


def secret_variable(name: str) -> bool:
    """By its name it may hold a key or a password: never written into a configuration."""
    return re.search(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH|URL|URI|DSN|CERT|PRIVATE", name) is not None
