"""The files a task is about, held by name from tree to tree: the same as going through all of them each time."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from engine.globs import matcher
from engine.perform.surveying import Names

PART = st.sampled_from(["a", "b", "src", "test_a", "a_test", "x.py", "b.py", "test_b.py", "-", "é"])
PATHS = st.frozensets(st.lists(PART, min_size=1, max_size=3).map("/".join), max_size=12).map(sorted)
GLOB = st.one_of(
    PART, st.lists(PART, min_size=1, max_size=2).map("/".join),
    st.sampled_from(["*.py", "src/", "/a", "**/b.py", "src/**", "[ab]", "!b.py", ".", "./src", "src/ ", "\\a", "*"]),
)  # fmt: skip


@example([["b.py"]], ("**/b.py",))
@given(st.lists(PATHS, min_size=1, max_size=3), st.lists(GLOB, max_size=3).map(tuple))
def test_names_held_from_tree_to_tree_are_those_of_the_last(trees: list[list[str]], scope: tuple[str, ...]) -> None:
    held = Names()
    for files in trees:
        held.hold(files)
    fresh = Names(trees[-1])
    words = ["a", "b", "src", "x", "src/b.py", "test_a"]
    assert held.about(words) == fresh.about(words)
    inside = matcher(scope)
    wanted = [path for path in trees[-1] if scope and inside(path.encode())]
    assert held.within(scope) == fresh.within(scope) == wanted
