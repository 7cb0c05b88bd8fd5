"""Parsers: what the tools write, and what somebody hostile writes instead."""
# ruff: noqa: E501 (programs quoted on one line are easier to compare)

from __future__ import annotations

import json
import os
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.perform.checks.parse.coverage import parse_cobertura, parse_coverage_json
from engine.perform.checks.parse.report import PARSERS, parse_bytes, parse_report
from tests.depth import examples

JUNIT = b"""<?xml version="1.0"?><testsuites><testsuite name="s" tests="4" failures="1" errors="0">
<testcase classname="tests.test_a" name="good" time="0.1"/>
<testcase classname="tests.test_a" name="bad"><failure message="assert 1 == 2" type="AssertionError">long</failure></testcase>
<testcase classname="tests.test_a" name="idle"><skipped type="pytest.skip" message="later"/></testcase>
<testcase classname="tests.test_a" name="known"><skipped type="pytest.xfail" message=""/></testcase>
</testsuite></testsuites>"""

NODE = b"""<?xml version="1.0" encoding="utf-8"?><testsuites>
<testcase name="loose" time="0.1" classname="test"/>
<testsuite name="outer" tests="1" failures="1"><testsuite name="inner" tests="1" failures="1">
<testcase name="deep" classname="test"><failure type="testCodeFailure" message="x"/></testcase></testsuite></testsuite></testsuites>"""


def outcomes(report) -> dict[str, str]:
    return {case.id: case.outcome for case in report.cases}


def test_junit():
    report = parse_bytes("junit", JUNIT)
    assert outcomes(report) == {
        "tests.test_a::good": "passed",
        "tests.test_a::bad": "failed",
        "tests.test_a::idle": "skipped",
        "tests.test_a::known": "xfailed",
    }
    assert report.problems == ()
    assert report.cases[1].error == "AssertionError"
    assert outcomes(parse_bytes("junit", NODE)) == {"loose": "passed", "deep": "failed"}


def test_a_repeated_test_keeps_its_worst():
    twice = JUNIT.replace(
        b"</testsuite></testsuites>",
        b'<testcase classname="tests.test_a" name="good"><error/></testcase></testsuite></testsuites>',
    )
    assert outcomes(parse_bytes("junit", twice))["tests.test_a::good"] == "error"


BOMB = b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><testsuites><testsuite name="&b;"/></testsuites>'
XXE = b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY f SYSTEM "file:///etc/passwd">]><testsuites>&f;</testsuites>'


@pytest.mark.parametrize(
    ("parser", "data"),
    [
        pytest.param("junit", b"", id="junit-empty"),
        pytest.param("junit", b"<testsuites>", id="junit-cut-off"),
        pytest.param("junit", b"<html/>", id="junit-not-junit"),
        pytest.param("junit", BOMB, id="junit-bomb"),
        pytest.param("junit", XXE, id="junit-xxe"),
        pytest.param("junit", b"<testsuites>" + b"<testsuite>" * 5000, id="junit-deep"),
        pytest.param(
            "junit",
            b'<testsuites><testsuite failures="2"><testcase name="a"/></testsuite></testsuites>',
            id="junit-lies",
        ),
        pytest.param("ruff", b"[" * 100_000, id="json-deep"),
        pytest.param("ruff", b'{"a": 1}', id="ruff-not-a-list"),
        pytest.param("ruff", b'[{"line": NaN}]', id="json-nan"),
        pytest.param("sarif", b"{}", id="sarif-empty"),
        pytest.param("bandit", b'{"results": null}', id="bandit-empty"),
        pytest.param("jest", b"[]", id="jest-wrong"),
        pytest.param("eslint", b"oops", id="eslint-text"),
        pytest.param("pyright", b"no json", id="pyright-text"),
        pytest.param("libtest", b"test a ... ok\n", id="libtest-without-totals"),
    ],
)
def test_what_cannot_be_believed_is_a_problem(parser, data):
    assert parse_bytes(parser, data).problems


@settings(max_examples=examples(150), deadline=None)
@given(st.sampled_from(sorted(PARSERS)), st.binary(max_size=200) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.sampled_from(["results", "runs", "testResults", "message", "messages", "file", "locations", "Action", "reason", "spans"]), inner, max_size=4),
    max_leaves=12).map(lambda value: json.dumps(value).encode()))  # fmt: skip
def test_no_report_raises(parser, data):
    parse_bytes(parser, data)


def test_files(tmp_path):
    now = time.time()
    path = tmp_path / "junit.xml"
    assert "not written" in parse_report("junit", path, now).problems[0]
    path.write_bytes(JUNIT)
    assert parse_report("junit", path, now).problems == ()
    os.utime(path, (now - 60, now - 60))
    assert "older than the run" in parse_report("junit", path, now).problems[0]
    fresh, link = tmp_path / "fresh.xml", tmp_path / "link.xml"
    fresh.write_bytes(JUNIT)
    link.symlink_to(fresh)
    assert "cannot be read" in parse_report("junit", link, now).problems[0]
    pipe = tmp_path / "pipe.xml"
    os.mkfifo(pipe)
    assert "plain file" in parse_report("junit", pipe, now).problems[0]
    huge = tmp_path / "huge.xml"
    with huge.open("wb") as file:
        file.truncate(65_000_000)
    assert "more than" in parse_report("junit", huge, now).problems[0]


def test_a_folder_of_reports(tmp_path):
    (tmp_path / "surefire").mkdir()
    now = time.time()
    assert parse_report("junit", tmp_path / "surefire", now).problems
    (tmp_path / "surefire" / "a.xml").write_bytes(JUNIT)
    (tmp_path / "surefire" / "b.xml").write_bytes(JUNIT.replace(b"test_a", b"test_b"))
    assert len(parse_report("junit", tmp_path / "surefire", now).cases) == 8


def rows(report) -> list[tuple[str, str, int, str]]:
    return [(f.rule, f.path, f.line, f.severity) for f in report.findings]


def test_tools():
    ruff = [{"code": "F401", "message": "m", "filename": "/r/a.py", "location": {"row": 3, "column": 1}}]
    assert rows(parse_bytes("ruff", json.dumps(ruff).encode())) == [("F401", "/r/a.py", 3, "error")]
    mypy = b'{"file": "a.py", "line": 2, "message": "m", "code": "arg-type", "severity": "error"}\n{"file": "a.py", "line": 2, "message": "n", "severity": "note"}\nFound 1 error\n'
    assert rows(parse_bytes("mypy", mypy)) == [("arg-type", "a.py", 2, "error"), ("mypy", "a.py", 2, "note")]
    pyright = {
        "version": "1",
        "generalDiagnostics": [
            {"file": "a.py", "severity": "error", "message": "m", "rule": "r", "range": {"start": {"line": 4}}}
        ],
    }
    assert rows(parse_bytes("pyright", b"noise " + json.dumps(pyright).encode())) == [("r", "a.py", 5, "error")]
    eslint = [
        {
            "filePath": "/r/a.js",
            "messages": [
                {"ruleId": "semi", "severity": 2, "message": "m", "line": 1},
                {"ruleId": "x", "severity": 1, "line": 2},
            ],
        }
    ]
    assert rows(parse_bytes("eslint", json.dumps(eslint).encode())) == [
        ("semi", "/r/a.js", 1, "error"),
        ("x", "/r/a.js", 2, "warning"),
    ]
    bandit = {"errors": [], "results": [
        {"test_id": "B602", "issue_severity": "HIGH", "issue_confidence": "HIGH", "issue_text": "m", "filename": "./a.py", "line_number": 7},
        {"test_id": "B101", "issue_severity": "LOW", "issue_confidence": "HIGH", "issue_text": "m", "filename": "./a.py", "line_number": 8}]}  # fmt: skip
    assert rows(parse_bytes("bandit", json.dumps(bandit).encode())) == [
        ("B602", "a.py", 7, "critical"),
        ("B101", "a.py", 8, "warning"),
    ]
    sarif = {"runs": [{"tool": {"driver": {"name": "x", "rules": [{"id": "r", "properties": {"security-severity": "9.8"}}]}}, "results": [
        {"ruleId": "r", "level": "error", "message": {"text": "m"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "a.py"}, "region": {"startLine": 4}}}]},
        {"ruleId": "q", "message": {"text": "m"}}]}]}  # fmt: skip
    assert rows(parse_bytes("sarif", json.dumps(sarif).encode())) == [
        ("r", "a.py", 4, "critical"),
        ("q", "", 0, "warning"),
    ]
    assert rows(parse_bytes("tsc", b"src/a.ts(3,7): error TS2322: Type 'x'.\nFound 1 error.\n")) == [
        ("TS2322", "src/a.ts", 3, "error")
    ]


def test_test_streams():
    go = b'{"Action":"run","Package":"p","Test":"TestA"}\n{"Action":"pass","Package":"p","Test":"TestA"}\n{"Action":"run","Package":"p","Test":"TestB"}\n{"Action":"fail","Package":"q"}\n'
    assert outcomes(parse_bytes("go", go)) == {"p::TestA": "passed", "p::TestB": "error", "q": "error"}
    rust = b"     Running unittests src/lib.rs (target/debug/deps/shop-0123456789abcdef)\ntest a ... ok\ntest b ... FAILED\ntest c ... ignored\ntest result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured\n"
    report = parse_bytes("libtest", rust)
    assert outcomes(report) == {"shop::a": "passed", "shop::b": "failed", "shop::c": "skipped"}
    assert report.problems == ()
    clippy = {
        "reason": "compiler-message",
        "message": {
            "level": "warning",
            "code": {"code": "clippy::x"},
            "message": "m",
            "spans": [{"file_name": "src/lib.rs", "line_start": 2, "is_primary": True}],
        },
    }
    assert rows(parse_bytes("rustc", json.dumps(clippy).encode())) == [("clippy::x", "src/lib.rs", 2, "warning")]
    tap = b"TAP version 13\nok 1 - a\nnot ok 2 - b\nok 3 - c # SKIP no\nnot ok 4 - d # TODO later\n1..4\n"
    assert outcomes(parse_bytes("tap", tap)) == {"a": "passed", "b": "failed", "c": "skipped", "d": "skipped"}
    assert not parse_bytes("tap", b"ok 1 - a\n").complete
    jest = {
        "success": False,
        "testResults": [
            {
                "name": "/r/a.test.js",
                "status": "failed",
                "assertionResults": [
                    {"fullName": "x y", "status": "failed", "failureMessages": ["m"]},
                    {"fullName": "z", "status": "pending"},
                ],
            },
            {"name": "/r/b.test.js", "status": "failed", "message": "syntax", "assertionResults": []},
        ],
    }
    assert outcomes(parse_bytes("jest", json.dumps(jest).encode())) == {
        "/r/a.test.js::x y": "failed",
        "/r/a.test.js::z": "skipped",
        "/r/b.test.js": "error",
    }


def test_coverage():
    data = {"totals": {"percent_covered": 87.5}, "files": {"a.py": {"executed_lines": [1, 2], "missing_lines": [3]}}}
    percent, lines = parse_coverage_json(json.dumps(data).encode())
    assert (percent, lines["a.py"].missing) == (87.5, (3,))
    xml = b'<coverage line-rate="0.5"><packages><package><classes><class filename="a.py"><lines><line number="1" hits="1"/><line number="2" hits="0"/></lines></class></classes></package></packages></coverage>'
    percent, lines = parse_cobertura(xml)
    assert (percent, lines["a.py"].executed, lines["a.py"].missing) == (50.0, (1,), (2,))
    assert parse_coverage_json(b'{"totals": {"percent_covered": 1e9}}')[0] is None
