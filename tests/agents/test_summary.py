"""The summary of a session, from the logs that its calls left: what is listed, what is cut, what is survived."""

from __future__ import annotations

from pathlib import Path

import msgspec

from engine.core.activity import AgentOutput, OutputKind
from engine.core.model import Role, SessionSummary
from engine.perform import session_summary as summary


def heard(kind: OutputKind, text: str = "", **more: str) -> AgentOutput:
    return AgentOutput(effect="1", kind=kind, role=Role.IMPLEMENTER, text=text, **more)


def log(place: Path, *outputs: AgentOutput) -> Path:
    place.write_bytes(b"".join(msgspec.json.encode(output) + b"\n" for output in outputs))
    return place


def test_tool_calls_in_order_and_the_last_words(tmp_path: Path) -> None:
    first = log(
        tmp_path / "1.jsonl",
        heard(OutputKind.TEXT, "I begin."),
        heard(OutputKind.THINKING, "secretly"),
        heard(OutputKind.TOOL_CALL, "pytest -q\n--lf", tool="Bash"),
        heard(OutputKind.TOOL_RESULT, "1 failed", tool="Bash"),
    )
    second = log(
        tmp_path / "2.jsonl",
        heard(OutputKind.FILE_CHANGE, tool="Write", path="/repo/a.py"),
        heard(OutputKind.FILE_CHANGE, "update", path="b.py"),
        heard(OutputKind.TEXT, "Half of it "),
        heard(OutputKind.USAGE, "7 tokens in context"),
        heard(OutputKind.TEXT, "is there."),
        heard(OutputKind.ERROR, "prompt is too long"),
    )
    assert summary.summarise([first, second]) == SessionSummary(
        tools=("Bash: pytest -q⏎--lf", "Write: /repo/a.py", "file change: b.py update"), words="Half of it is there."
    )


def test_what_is_long_is_cut_and_counted(tmp_path: Path) -> None:
    calls = [heard(OutputKind.TOOL_CALL, f"step {number} " + "x" * 900, tool="Bash") for number in range(100)]
    words = [heard(OutputKind.TEXT, f"word{number} ") for number in range(2_000)]
    made = summary.summarise([log(tmp_path / "1.jsonl", *calls, *words)])
    assert (len(made.tools), made.left_out) == (summary.TOOLS, 100 - summary.TOOLS)
    assert made.tools[-1].startswith("Bash: step 99 ")
    assert max(map(len, made.tools)) <= summary.TOOL
    assert len(made.words) <= summary.WORDS
    assert made.words.startswith("… word")
    assert made.words.endswith("word1999")


def test_a_log_that_is_gone_broken_or_huge_is_no_trouble(tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    last = msgspec.json.encode(heard(OutputKind.TOOL_CALL, "the last", tool="Bash"))
    broken.write_bytes(b'{"live":"agent_output"\n\xff\xfe\n[1]\n' + b"y" * 3 * summary.TAIL + b"\n" + last + b"\n{")
    made = summary.summarise([tmp_path / "gone.jsonl", tmp_path, broken])
    assert made == SessionSummary(tools=("Bash: the last",))
