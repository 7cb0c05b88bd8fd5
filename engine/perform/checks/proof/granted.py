"""Findings of rules beside the entries of a plan: which grant covers one, and which entry would. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from engine.core.grants import Grant, GrantKind, Rule
from engine.perform.checks.proof.file_grants import named
from engine.perform.checks.proof.test_ids import covers_id

OF_TESTS: dict[GrantKind, tuple[Rule, ...]] = {
    GrantKind.DELETE_TESTS: (Rule.TEST_GONE, Rule.FEWER_PARAMS),
    GrantKind.SKIP_TESTS: (Rule.TEST_SKIPPED, Rule.TEST_DESELECTED),
    GrantKind.EDIT_TESTS: (Rule.TEST_CHANGED, Rule.FEWER_ASSERTIONS, Rule.FEWER_PARAMS),
}


def granted(grants: Iterable[Grant], rule: str, path: str = "", subject: str = "", code: str = "") -> Grant | None:
    """The grant that covers a finding of a rule: at a path, about a test, of a linter's code."""
    for grant in grants:
        if grant.kind is GrantKind.ACCEPT:
            covered = grant.target == rule and _at(grant.to, path, subject)
        elif grant.kind is GrantKind.SUPPRESS:
            same = not grant.target or grant.target.lower() == code.lower()
            covered = rule == Rule.SUPPRESSION and same and _at(grant.to, path, "")
        elif grant.kind is GrantKind.EDIT:
            covered = rule in (Rule.CONFIG_CHANGED, Rule.ORACLE_CHANGED) and named(grant.target, path)
        else:
            covered = rule in OF_TESTS.get(grant.kind, ()) and _at(grant.target, path, subject)
        if covered:
            return grant
    return None


def _at(place: str, path: str, subject: str) -> bool:
    return not place or (bool(subject) and covers_id(place, subject)) or (bool(path) and named(place, path))


def entry_for(rule: str, path: str = "", subject: str = "", code: str = "") -> str:
    """The entry of `allow:` that would grant a finding."""
    if rule == Rule.SUPPRESSION:
        return f"suppress {code or 'CODE'} in {path}"
    if rule in (Rule.CONFIG_CHANGED, Rule.ORACLE_CHANGED, Rule.ENVIRONMENT_FILES):
        return f"edit {path}"
    if rule in (Rule.TEST_GONE, Rule.FEWER_PARAMS):
        return f"delete tests {subject or path}"
    if rule in (Rule.TEST_SKIPPED, Rule.TEST_DESELECTED):
        return f"skip tests {subject or path}"
    if rule in (Rule.TEST_CHANGED, Rule.FEWER_ASSERTIONS):
        return f"edit tests {subject or path}"
    place = subject or path
    return f"accept {rule} in {place}" if place else f"accept {rule}"
