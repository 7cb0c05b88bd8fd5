"""Names of tests: what an id covers, in the spelling of pytest and in that of unittest. Pure."""

from __future__ import annotations


def covers_id(beginning: str, id: str) -> bool:
    """Whether `id` is the test, or a test below what is named: a parameter, a method, a subtest."""
    if id == beginning or id.startswith((f"{beginning}::", f"{beginning}[", f"{beginning}/", f"{beginning} > ")):
        return True
    return "::" not in id and ".py::" in beginning and _dotted(beginning, id.partition(" ")[0])


def _dotted(beginning: str, id: str) -> bool:
    """unittest calls `tests/test_a.py::A::test_x` tests.test_a.A.test_x, or from the folder of the tests on."""
    name = beginning.replace(".py::", ".").replace("::", ".").replace("/", ".")
    return name == id or name.endswith(f".{id}") or id.startswith(f"{name}.")
