"""What a plan may allow a task (`allow:`): a closed grammar, parsed strictly. Pure.

A grant is a transformation of the oracle (a rename is applied to the base's tests) or names one place that may change;
none is a switch for everything. The entries of older plans (`delete-tests`, a rule, a test's id) are still read.
"""

from __future__ import annotations

from enum import StrEnum

from engine.core.model import Struct


class GrantKind(StrEnum):
    """What an entry of `allow:` gives."""

    RENAME = "rename"
    """A name, dotted or plain: the base's tests are rewritten, then they must all hold."""
    MOVE = "move"
    """A module, a name in it or a file: as rename."""
    DELETE = "delete"
    """Something of the source: only tests that need it go."""
    DELETE_TESTS = "delete tests"
    EDIT_TESTS = "edit tests"
    SKIP_TESTS = "skip tests"
    RENAME_TEST = "rename test"
    CHANGE_BEHAVIOUR = "change behaviour"
    """Old tests may change constants and call arguments, if they are red on the base then."""
    EDIT = "edit"
    """The file named: data, golden file, script, settings."""
    CONFIGURE = "configure"
    """A tool's own settings file and its own table in a shared one; never a build script."""
    SUPPRESS = "suppress"
    """One code, in one file."""
    DEPENDENCIES = "change dependencies"
    """Lock files, and the tables of dependencies in a manifest; nothing else of the manifest."""
    ACCEPT = "accept"
    """One finding of a rule, at one place."""


class Rule(StrEnum):
    """What the proof can ask about a change; each may be accepted by name. An old word is never taken away."""

    TEST_GONE = "test-gone"
    TEST_RENAMED = "test-renamed"
    TEST_SKIPPED = "test-skipped"
    TEST_DESELECTED = "test-deselected"
    TEST_CHANGED = "test-changed"
    FEWER_PARAMS = "fewer-params"
    FEWER_ASSERTIONS = "fewer-assertions"
    TAUTOLOGY = "tautology"
    SWALLOWED_ASSERTION = "swallowed-assertion"
    UNREACHABLE_ASSERTION = "unreachable-assertion"
    MOCKED_SUBJECT = "mocked-subject"
    FOCUSED_TEST = "focused-test"
    ORACLE_CHANGED = "oracle-changed"
    """A file that a check reads and the task is not about: data, settings, a script."""
    CONFIG_CHANGED = "config-changed"
    ENVIRONMENT_FILES = "environment-files"
    SHADOWED_MODULE = "shadowed-module"
    SUPPRESSION = "suppression"
    COVERAGE_LOWER = "coverage-lower"
    SUSPICIOUS_SOURCE = "suspicious-source"
    UNUSUAL_SOURCE = "unusual-source"
    DETECTS_TESTS = "detects-tests"
    ALWAYS_EQUAL = "always-equal"
    RUNNER_TAMPERED = "runner-tampered"
    TREE_CHANGED = "tree-changed"
    NEWLY_FLAKY = "newly-flaky"
    FLAKY = "flaky"
    ALREADY_GREEN = "already-green"
    NO_RED_TEST = "no-red-test"
    NEW_TEST_ERROR = "new-test-error"
    UNREADABLE_SOURCE = "unreadable-source"
    MUTANTS = "mutants"
    HELD_OUT = "held-out"
    FEWER_REACHED = "fewer-reached"
    """A test of the base passes and reaches fewer of its assertions than it did there."""
    FAILS_DIFFERENTLY = "fails-differently"
    """Red on the base, red on the change, for another reason."""
    NAMED_RED = "named-red"
    """A red test whose words the task shares, red still."""
    DIFFERS_ACROSS = "differs-across"
    """A proof that does not hold with the subject in another process."""
    SPECIAL_CASED = "special-cased"
    """Right for the inputs of the test, and for none beside them."""
    NOT_SHOWN = "not-shown"
    """The task gives an input, an example or an error that no proof tries, or that does not come out so."""
    OTHERWISE = "behaves-otherwise"
    """The plan says that nothing changes; for inputs beside those of the tests the program answers otherwise."""
    MORE_CHANGED = "more-changed"
    """A part of the change that can be taken back while every test stays green."""
    OWN_EXPECTATION = "own-expectation"
    """Expected data that the change wrote itself is all that proves it, and the plan names only a pattern for it."""
    UNWATCHED = "unwatched"
    """Nothing is to be shown, and no test reads a source file that the change gives another meaning."""
    NOT_DONE = "not-done"
    """Asked for by name, and neither in the base nor in the change."""


RULES = frozenset(Rule)


class Grant(Struct, frozen=True, kw_only=True):
    """One thing a plan allows."""

    kind: GrantKind
    target: str = ""
    """A name, a path, a glob, a test's id, a code or a rule; empty: any (only where the grammar lets it be)."""
    to: str = ""
    """The new name; for suppress and accept: the place."""
    entry: str = ""
    """As the plan writes it."""


class GrantError(ValueError):
    """An entry that is none; `expected` and `fix` are for the plan's error."""

    def __init__(self, what: str, expected: str = "", fix: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.expected = expected
        self.fix = fix
