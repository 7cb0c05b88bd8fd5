"""Keys are found where they stand."""

from __future__ import annotations

import tomllib

import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.config.locate import locate, nearest
from tests.depth import examples

TEXT = '''\
# a comment [x]
a = 1
"q.k" = 2
d.e = """
[not]
x = 1
"""  # after
list = [
  1, # [no]
  "]",
  {in = 3},
]
[t]
k = '#'
  deep.er = {x = 1, y = {z = "}"}}
[[arr]]
n = 1
[arr.sub]
m = 1
[[arr]]
n = 2
[arr.sub]
m = 2
'''
CASES = [
    pytest.param(("a",), (2, 1), id="plain"),
    pytest.param(("q.k",), (3, 1), id="quoted"),
    pytest.param(("d", "e"), (4, 1), id="dotted"),
    pytest.param(("list", 1), (10, 3), id="list item"),
    pytest.param(("list", 2, "in"), (11, 4), id="inline table in a list"),
    pytest.param(("t",), (13, 1), id="table"),
    pytest.param(("t", "k"), (14, 1), id="key of a table"),
    pytest.param(("t", "deep", "er", "y", "z"), (15, 26), id="inline in inline"),
    pytest.param(("arr", 1), (20, 1), id="second of an array"),
    pytest.param(("arr", 0, "sub", "m"), (19, 1), id="table in the first"),
    pytest.param(("arr", 1, "sub", "m"), (23, 1), id="table in the second"),
    pytest.param(("arr", 1, "absent", "x"), (20, 1), id="what holds it"),
    pytest.param(("absent",), (0, 0), id="nowhere"),
]


@pytest.mark.parametrize(("path", "place"), CASES)
def test_places(path, place):
    tomllib.loads(TEXT)
    assert nearest(locate(TEXT), path) == place


KEYS = st.text(st.sampled_from("ab.\"'# =[é\\"), min_size=1, max_size=4)
VALUES = st.recursive(
    st.integers() | st.booleans() | st.text(st.sampled_from("a\"'\\#[]{}=\n,"), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(KEYS, VALUES, max_size=4), st.booleans())
@settings(max_examples=examples(200), deadline=None)
def test_every_key_of_any_document_is_found(data, multiline):
    text = tomli_w.dumps(data, multiline_strings=multiline)
    places = locate(text)
    for path in paths(data):
        assert path in places, (path, text)


def paths(value, path=()):
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from paths(inner, (*path, key))
