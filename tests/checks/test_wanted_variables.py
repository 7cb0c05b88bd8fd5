"""A variable that tests lack is named; words in capitals that are something else are not."""

from __future__ import annotations

import pytest

from engine.core.model import CheckKind
from engine.perform.checks.run.measure import Case, Measurement, Report
from engine.perform.checks.run.wanted_variables import wanted_variables


def measured(*texts: str, output: str = "") -> Measurement:
    cases = tuple(Case(id=f"t::{n}", outcome="failed", text=text) for n, text in enumerate(texts))
    report = Report(source="x", cases=cases, counts_tests=True)
    return Measurement(
        check="t", kind=CheckKind.TESTS, argv=(), ended="exited", exit_code=1, report=report, output=output
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("E   KeyError: 'APP_ENV'", "APP_ENV"),
        ("ImproperlyConfigured: Set the SECRET_KEY environment variable", "SECRET_KEY"),
        ("Error: Missing required environment variable DATABASE_URL", "DATABASE_URL"),
        ("panic: REDIS_HOST is not set", "REDIS_HOST"),
        ("KeyError: 'name'", ""),
        ("AssertionError: assert 'APP_ENV' == 'X'", ""),
        ("ValueError: HTTP is not a protocol", ""),
        ("KeyError: 'OK' and more", ""),
    ],
)
def test_what_is_wanted(text: str, name: str) -> None:
    assert wanted_variables(measured(text)) == ((name,) if name else ())
    assert wanted_variables(measured(output=text)) == ((name,) if name else ())


def test_a_runner_that_tells_the_kind_of_error_beside_its_text() -> None:
    case = Case(id="a", outcome="error", error="KeyError", text="'APP_ENV'")
    plain = measured("x")
    found = Measurement(check="t", kind=plain.kind, argv=(), ended="exited", report=Report(source="x", cases=(case,)))
    assert wanted_variables(found) == ("APP_ENV",)


def test_the_most_wanted_comes_first_and_what_passes_asks_for_nothing() -> None:
    both = measured("KeyError: 'ONE'", "KeyError: 'TWO'", "KeyError: 'TWO'")
    assert wanted_variables(both) == ("TWO", "ONE")
    fine = Case(id="a", outcome="passed", text="KeyError: 'ONE'")
    assert wanted_variables(Measurement(check="t", kind=CheckKind.TESTS, argv=(), ended="exited", exit_code=0,
                                        report=Report(source="x", cases=(fine,)))) == ()  # fmt: skip
