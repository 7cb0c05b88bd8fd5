"""Paths in text, and the globs of scopes, held against git's own reading of ignore lines."""

from __future__ import annotations

import subprocess
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.perform.workspace.globs import compile_rule, matcher
from engine.perform.workspace.ignore import flatten
from engine.perform.workspace.names import raw, shown
from tests.workspace.repos import PLAIN, git, make_repo, write


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


@pytest.mark.parametrize(
    ("globs", "path", "inside"),
    [
        (("src/**",), "src/a/b.py", True),
        (("src/**",), "src", False),
        (("src/**",), "lib/src/b.py", False),
        (("src/auth",), "src/auth/deep/x.py", True),
        (("src/auth/",), "src/auth/x.py", True),
        (("src/auth/",), "src/auth", False),
        (("src/*.py",), "src/a.py", True),
        (("src/*.py",), "src/sub/a.py", False),
        (("*.py",), "deep/down/a.py", True),
        (("/a.py",), "a.py", True),
        (("/a.py",), "x/a.py", False),
        (("./src/a.py",), "src/a.py", True),
        (("**/test_*.py",), "test_a.py", True),
        (("**/test_*.py",), "t/u/test_a.py", True),
        (("a/**/b",), "a/b", True),
        (("a/**/b",), "a/x/y/b", True),
        (("[ab].txt",), "b.txt", True),
        (("[!ab].txt",), "b.txt", False),
        (("src/**", "!src/secret/**"), "src/secret/x", False),
        (("src/**", "!src/secret/**", "src/secret/ok"), "src/secret/ok", True),
        (("a?c",), "a/c", False),
        (("\\*.txt",), "*.txt", True),
        (("\\*.txt",), "a.txt", False),
        ((".",), "any/thing", True),
        ((), "a", False),
    ],
)
def test_globs(globs: tuple[str, ...], path: str, inside: bool) -> None:
    assert matcher(globs)(path.encode()) is inside


@settings(max_examples=60, deadline=None)
@given(
    pattern=st.text("ab*?/[]!.", min_size=1, max_size=8),
    paths=st.lists(st.text("ab./", min_size=1, max_size=6), min_size=1, max_size=8),
)
def test_globs_read_patterns_as_git_does(
    tmp_path_factory: pytest.TempPathFactory, pattern: str, paths: list[str]
) -> None:
    """One positive pattern at a time: git check-ignore and the matcher agree on files."""
    good = sorted({path for path in paths if all(part not in ("", ".", "..") for part in path.split("/"))})
    if pattern.startswith(("!", "#")) or not good or "[" in pattern or "//" in pattern or pattern.strip("./") == "":
        return
    repo = tmp_path_factory.getbasetemp() / "globs"
    if not repo.exists():
        make_repo(repo, {}, commit=False)
    (repo / ".git/info").mkdir(exist_ok=True)
    (repo / ".git/info/exclude").write_text(pattern + "\n")
    done = subprocess.run(
        ["git", "check-ignore", "--no-index", "-z", "--stdin"], cwd=repo, env=PLAIN, check=False,
        input=b"".join(path.encode() + b"\0" for path in good), capture_output=True,
    )  # fmt: skip
    said = {part.decode() for part in done.stdout.split(b"\0") if part}
    mine = matcher((pattern,))
    assert {path for path in good if mine(path.encode())} == said


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
    assert all(compile_rule(line) for line in lines)
