"""A test that hangs the new code into the program, which does not use it, shows nothing of the program."""

from __future__ import annotations

import pytest

from engine.perform.checks.proof.narrow import Source
from engine.perform.checks.proof.wired_tests import wired

SRT = "def parse(text):\n    return text.split()\n"
NEW = SRT + "\n\ndef normalise(text):\n    return text.strip()\n"
LOG = "class Log {\n  average() { return NaN; }\n}\nmodule.exports = { Log };\n"
MEAN = LOG.replace("module.exports = { Log };", "function mean(all) { return null; }\nmodule.exports = { Log, mean };")
HEAD = "import srt\nfrom unittest.mock import patch\n\n\n"


def asked(path: str, before: str, after: str, test: str, other: str = "") -> list[str]:
    changed = [Source(path=path, before=before.encode(), after=after.encode())]
    place = "tests/test_a.py" if path.endswith(".py") else "test/a.test.js"
    return [one.rule for one in wired(changed, [other.encode()], {place: test.encode()})]


@pytest.mark.parametrize(
    "test",
    [
        "def test_a(monkeypatch):\n    monkeypatch.setattr(srt, 'parse', lambda t: srt.normalise(t))\n",
        "def test_a():\n    srt.parse = lambda t: srt.normalise(t)\n",
        "def fake(t):\n    return srt.normalise(t)\n\n\ndef test_a(mp):\n    mp.setattr(srt, 'parse', fake)\n",
        "@patch('srt.parse', srt.normalise)\ndef test_a():\n    pass\n",
        "def test_a():\n    with patch('srt.parse', new=srt.normalise):\n        pass\n",
    ],
)
def test_the_fix_is_in_the_test(test: str) -> None:
    assert asked("srt.py", SRT, NEW, HEAD + test) == ["mocked-subject"]


PUT = "def test_a(mp):\n    mp.setattr(srt, 'parse', srt.normalise)\n"


@pytest.mark.parametrize(
    ("after", "test", "other"),
    [
        pytest.param(NEW, PUT.replace("srt.normalise", "list"), "", id="its own stand-in"),
        pytest.param(NEW.replace("text.split()", "normalise(text)"), PUT, "", id="the program uses it"),
        pytest.param(NEW, PUT, "from srt import normalise\nprint(normalise('x'))\n", id="another file uses it"),
        pytest.param(
            NEW, "def test_a():\n    box = Box()\n    box.parse = srt.normalise\n", "", id="an object of its own"
        ),
        pytest.param(NEW, "def test_a():\n    assert srt.normalise(' a') == 'a'\n", "", id="it is called"),
    ],
)
def test_other_replacements(after: str, test: str, other: str) -> None:
    assert asked("srt.py", SRT, after, HEAD + test, other) == []


@pytest.mark.parametrize(
    ("after", "test", "rules"),
    [
        (MEAN, "Log.prototype.average = function average() {\n  return mean(this.all);\n};\n", ["mocked-subject"]),
        (MEAN, "  mock.method(log, 'average', () => mean([]));\n", ["mocked-subject"]),
        (MEAN, "  mock.method(log, 'average', () => 3);\n  assert.equal(mean([]), null);\n", []),
        (MEAN.replace("NaN", "mean(this.all)"), "Log.prototype.average = mean;\n", []),
    ],
)
def test_in_javascript(after: str, test: str, rules: list[str]) -> None:
    assert asked("lib/log.js", LOG, after, test) == rules
