"""One dialect of globs, held against git's own reading of ignore lines."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.globs import matcher, matches, permits, rule
from tests.depth import examples
from tests.workspace.repos import PLAIN, make_repo


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
        (("*.lock",), "a/b.lock", True),
        (("ci/",), "ci/run.sh", True),
        (("ci/",), "x/ci/run.sh", True),
        (("src/[ab].py",), "src/b.py", True),
        (("src/[ab].py",), "src/c.py", False),
        (("a",), "a\nb", False),
        (("**/x",), "y\nz/x", True),
    ],
)
def test_globs(globs: tuple[str, ...], path: str, inside: bool) -> None:
    assert matcher(globs)(path.encode()) is inside


@pytest.mark.parametrize(
    ("target", "path", "covered"),
    [
        ("a.py", "a.py", True),
        ("a.py", "x/a.py", False),
        ("src", "src/deep/a.py", True),
        ("src", "x/src/a.py", False),
        ("*.py", "x/a.py", True),
        ("tests/test_a.py", "tests/test_a.py", True),
        ("/a.py", "a.py", True),
    ],
)
def test_a_plain_name_permits_one_path(target: str, path: str, covered: bool) -> None:
    assert permits(path, (target,)) is covered


def git_says(repo: Path, pattern: str, paths: list[str]) -> set[str]:
    if not repo.exists():
        make_repo(repo, {}, commit=False)
    (repo / ".git/info").mkdir(exist_ok=True)
    (repo / ".git/info/exclude").write_text(pattern + "\n")
    done = subprocess.run(
        ["git", "check-ignore", "--no-index", "-z", "--stdin"], cwd=repo, env=PLAIN, check=False,
        input=b"".join(path.encode() + b"\0" for path in paths), capture_output=True,
    )  # fmt: skip
    return {part.decode() for part in done.stdout.split(b"\0") if part}


PIECES = st.sampled_from(
    ["a", "b", ".", "*", "**", "?", "/", "[ab]", "[!a]", "[^b]", "[a-c]", "\\*", "\\a", "-", "]", "é"]
)
NAMES = st.lists(st.text("abc.*-é]", min_size=1, max_size=3), min_size=1, max_size=4).map("/".join)


@settings(max_examples=examples(150), deadline=None)
@given(pattern=st.lists(PIECES, min_size=1, max_size=7).map("".join), paths=st.lists(NAMES, min_size=1, max_size=10))
def test_globs_read_patterns_as_git_does(
    tmp_path_factory: pytest.TempPathFactory, pattern: str, paths: list[str]
) -> None:
    """One positive pattern at a time: git check-ignore and the matcher agree on files."""
    good = sorted({path for path in paths if not {".", ".."} & set(path.split("/"))})
    if not good or pattern.strip("./") == "" or pattern.startswith("./"):
        return
    said = git_says(tmp_path_factory.getbasetemp() / "globs", pattern, good)
    mine = matcher((pattern,))
    assert {path for path in good if mine(path.encode())} == said, pattern


@given(st.text(max_size=12), st.text(max_size=12))
def test_any_text_is_a_glob(pattern: str, path: str) -> None:
    """Whatever a plan or a configuration says, it matches or does not; it never fails."""
    assert matches(path.replace("\0", ""), [pattern]) in (True, False)


def test_scope_and_checks_read_one_dialect() -> None:
    """There is one module of globs; the rooms of scope and of checks import it."""
    root = Path(__file__).parents[1] / "engine"
    assert [path.relative_to(root).as_posix() for path in root.rglob("globs.py")] == ["globs.py"]
    strangers = [
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if "import fnmatch" in (text := path.read_text()) or "from fnmatch" in text or "import glob" in text.split()
    ]
    assert strangers == ["perform/process/environment.py"], "names of variables, no paths"


ODD = st.sampled_from(
    ["a", "b", "*", "**", "?", "/", "[ab]", "[!a]", "[(?P<x>]", "(?P<ps_d>", "\\", "\\*", ".", "|", ")", "\n"]
)


@settings(max_examples=examples(300), deadline=None)
@given(
    st.lists(st.lists(ODD, min_size=1, max_size=6).map("".join), max_size=5),
    st.text("abP(?<>x/|).*\n", min_size=1, max_size=8),
)
@example(["[(?P<x>].py", "a"], "P.py")
def test_many_patterns_match_what_one_of_them_does(patterns: list[str], path: str) -> None:
    """They are one expression: none of them may change what another means."""
    letting_in = [one for one in patterns if not one.startswith("!")]
    alone = [rule(one.encode()) for one in letting_in]
    wanted = any(found is not None and found[1].match(path.encode()) for found in alone)
    assert matcher(letting_in)(path.encode()) is wanted
