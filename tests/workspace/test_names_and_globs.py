"""Paths in text, and ignore files held against git's own reading of them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.globs import rule
from engine.perform.workspace.ignore import flatten
from engine.perform.workspace.names import raw, shown
from tests.workspace.repos import git, make_repo, write


@given(st.binary(min_size=1).filter(lambda path: b"\0" not in path))
def test_a_path_survives_its_text_form(path: bytes) -> None:
    text = shown(path)
    assert raw(text) == path
    assert text.isprintable()
    assert msgspec.json.decode(msgspec.json.encode(text)) == text


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (b"src/a b.py", "src/a b.py"),
        ("naïve/ü.py".encode(), "naïve/ü.py"),
        (b"a\nb", '"a\\nb"'),
        (b"\x1b[2J", '"\\033[2J"'),
        (b"\xff", '"\\377"'),
        (b'"q"', '"\\"q\\""'),
        ("a\u202eb".encode(), '"a\\342\\200\\256b"'),
    ],
)
def test_odd_names_are_written_as_git_writes_them(path: bytes, text: str) -> None:
    assert shown(path) == text


def test_nested_ignore_files_flatten_to_what_they_meant(tmp_path: Path) -> None:
    repo = make_repo(
        tmp_path / "repo",
        {
            ".gitignore": "*.log\n/top\n# note\n",
            "sub/.gitignore": "*.tmp\n/here\n!keep.log\nx/y\n",
            "sub/deep dir/.gitignore": "only/\n",
        },
    )
    names = ["a.log", "top", "sub/top", "sub/a.tmp", "sub/q/a.tmp", "a.tmp", "sub/here", "sub/q/here", "sub/keep.log",
             "sub/x/y", "sub/q/x/y", "sub/deep dir/only/f", "sub/only/f"]  # fmt: skip
    for name in names:
        write(repo / name)
    wanted = git(repo, "ls-files", "--others", "--exclude-standard").splitlines()
    flat = tmp_path / "flat"
    lines = [
        *flatten(b"", (repo / ".gitignore").read_bytes()),
        *flatten(b"sub", (repo / "sub/.gitignore").read_bytes()),
        *flatten(b"sub/deep dir", (repo / "sub/deep dir/.gitignore").read_bytes()),
    ]
    flat.write_bytes(b"\n".join(lines) + b"\n")
    assert git(repo, "ls-files", "--others", f"--exclude-from={flat}").splitlines() == wanted
    assert all(rule(line) for line in lines)
