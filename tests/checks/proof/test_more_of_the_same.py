"""An old test that follows a changed behaviour in its constants and asks for more: that is let go, anything else is not."""

# ruff: noqa: E501 (programs are read better in one piece)

from __future__ import annotations

import pytest

from engine.perform.checks.proof.more_of_the_same import more_of_the_same

PYTHON = "def test_fee():\n    desk = Desk(10)\n    assert desk.fee(3) == 30\n    assert desk.rows() == [1, 2]\n"
GO = 'func TestRound(t *testing.T) {\n\tfor _, test := range []pair{\n\t\t{"a", 15, 15},\n\t\t{"b", 16, 30},\n\t} {\n\t\tcheck(t, test)\n\t}\n}\n'
SHELL = 'for name in "$@"; do\n  if diff -u "$here/$name.out" "$here/out/$name"; then\n    ok "$name"\n  fi\ndone\nexpect "rounds up" 15 hours march\n'
SCRIPT = "test('fee', () => {\n  assert.equal(fee(3), 30);\n});\n"


@pytest.mark.parametrize(
    ("path", "before", "after", "fits"),
    [
        pytest.param("t.py", PYTHON, PYTHON.replace("30", "45"), True, id="another constant"),
        pytest.param("t.py", PYTHON, PYTHON.replace("[1, 2]", "[1, 2, 3]"), True, id="one more in a list"),
        pytest.param("t.py", PYTHON, PYTHON.replace("30\n", "-30\n    assert desk.fee(9) == 2\n"), True, id="one more"),
        pytest.param("t.py", PYTHON, PYTHON.replace("    assert desk.rows() == [1, 2]\n", ""), False, id="one less"),
        pytest.param("t.py", PYTHON, PYTHON.replace("== 30", ">= 30"), False, id="another comparison"),
        pytest.param("t.py", PYTHON, PYTHON.replace("fee(3)", "tax(3)"), False, id="another question"),
        pytest.param("t.py", PYTHON, PYTHON.replace("(10)\n", "(10)\n    pytest.skip()\n"), False, id="skips"),
        pytest.param("t.py", PYTHON, PYTHON.replace("(10)\n", "(10)\n    desk.fee = 30\n"), False, id="puts an answer in"),
        pytest.param("t.py", PYTHON, PYTHON.replace("(10)\n", "(10)\n    if desk.old:\n"), False, id="asks first"),
        pytest.param("a_test.go", GO, GO.replace("16, 30", "16, 15").replace("15},\n\t} {", "15},\n\t\t{\"c\", 23, 30},\n\t} {"), True, id="a table"),
        pytest.param("a_test.go", GO, GO.replace("\t\tcheck", "\t\tt.Parallel()\n\t\tcheck"), False, id="at the same time"),
        pytest.param("a_test.go", GO, GO.replace('\t\t{"a", 15, 15},\n', ""), False, id="a row less"),
        pytest.param("a.test.js", SCRIPT, SCRIPT.replace("30);", "45);\n  assert.equal(fee(0), 0);"), True, id="a script"),
        pytest.param("a.test.js", SCRIPT, SCRIPT.replace("'fee', (", "'fee', { todo: true }, ("), False, id="todo"),
        pytest.param("run.sh", SHELL, SHELL.replace("15", "12"), True, id="a script of the shell"),
        pytest.param("run.sh", SHELL, f"{SHELL}expect \"none\" 0 hours june\n", True, id="asks once more"),
        pytest.param("run.sh", SHELL, SHELL.replace("$here/out/$name", "$here/out/plain"), False, id="compares another file"),
        pytest.param("run.sh", SHELL, f"plain() {{\n  sed s/[0-9]/0/g\n}}\n{SHELL}", False, id="masks what it compares"),
    ],
)  # fmt: skip
def test_more_of_the_same(path: str, before: str, after: str, fits: bool) -> None:
    assert before != after and more_of_the_same(path, before, after) is fits
