"""Secrets are taken out: known values, well-known shapes, over any cut of a stream, and twice is once."""

import itertools
import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.perform.secrets.redact import MARK, Redactor, secret_values
from tests.depth import examples

KEY = "".join(
    [
        "-----BEGIN OPENSSH PRIVATE ",
        "KEY-----\n",
        "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAE\n" * 20,
        "-----END OPENSSH PRIVATE ",
        "KEY-----",
    ]
)
SHAPES = {
    "anthropic": "sk-ant-api03-" + "aB3_-" * 15,
    "openai": "sk-proj-" + "x9" * 20,
    "stripe": "sk_live_" + "a1" * 12,
    "github": "ghp_" + "aB1" * 12,
    "github fine": "github_pat_" + "aB1_" * 15,
    "gitlab": "glpat-" + "a1-_" * 6,
    "aws": "AKIA" + "ABCD1234" * 2,
    "google": "AIza" + "aB1_-" * 7,
    "google oauth": "ya29." + "aB1_-" * 9,
    "slack": "xoxb-" + "12345-" * 5,
    "hugging face": "hf_" + "aB" * 17,
    "npm": "npm_" + "aB1x" * 9,
    "pypi": "pypi-" + "AgEIcHlwaS5vcmc" * 5,
    "sendgrid": "SG." + "a" * 22 + "." + "b" * 43,
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dBjftJeZ4CVP-mB92K27uhbUJU1p1r",
    "key block": KEY,
}
VALUES = (
    "hunter2-hunter2",
    'p@ss"word\\1234',
    "пароль-пароль",
    "redacted",
    "‹redacted› and more",
    "first-line-1\nsecond-line-2",
)
ORDINARY = (
    "task-1234567890abcdef1234, risk-averse, AKIA, disk-usage-0123456789-0123456789, https://example.org/a:b@c, "
    "eyJ, Bearer of news, sk-, ghp_short, 41 of 43 tests passed, "
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
)


@pytest.mark.parametrize("name", SHAPES)
def test_well_known_shapes(name: str) -> None:
    secret = SHAPES[name]
    assert Redactor(()).text(f'say "{secret}" now') == f'say "{MARK}" now'
    assert Redactor(()).bytes(b"\xff" + secret.encode() + b"\xfe") == b"\xff" + MARK.encode() + b"\xfe"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("git clone https://bob:s3cr3t@host/x", f"git clone https://{MARK}@host/x", id="address"),
        pytest.param("Authorization: Bearer abcdefghijklmnop1234", f"Authorization: Bearer {MARK}", id="bearer"),
        pytest.param(ORDINARY, ORDINARY, id="ordinary text"),
    ],
)
def test_secrets_by_what_stands_before_them(text: str, expected: str) -> None:
    assert Redactor(()).text(text) == expected


@pytest.mark.parametrize("value", VALUES)
def test_known_values_in_every_dress(value: str) -> None:
    redactor = Redactor(VALUES)
    for dressed in (value, json.dumps(value), json.dumps(value, ensure_ascii=False)):
        for part in (
            "hunter2-",
            'ss"word',
            'ss\\"word',
            "пароль",
            "\\u043f\\u0430\\u0440",
            "and more",
            "first-line",
            "second-line",
        ):
            assert part not in redactor.text(f"<{dressed}>")


def test_short_values_are_left_alone() -> None:
    assert Redactor(["abc", "1234567", ""]).text("abc 1234567") == "abc 1234567"


def test_which_values_of_the_environment_are_secret() -> None:
    env = {
        "ANTHROPIC_API_KEY": "key-without-shape",
        "DB_PASSWORD": "correct horse",
        "ODD": SHAPES["github"],
        "SSH_AUTH_SOCK": "/run/user/1/agent",
        "TOKENIZERS_PARALLELISM": "false",
        "SESSION_TIMEOUT": "123456789",
        "AUTH_URL": "https://login.example.org",
        "SHORT_TOKEN": "abc",
        "EDITOR": "vim -c 'set nu'",
    }
    assert secret_values(env) == ("key-without-shape", "correct horse", SHAPES["github"])


pieces = st.one_of(
    st.sampled_from(
        [*SHAPES.values(), *VALUES, MARK, "://a:bcd@", "Bearer ", "-----BEGIN ", "sk-", "eyJ", " ", "\n", "@"]
    ),
    st.text(alphabet="abAB01-_.:/@ \n‹›é", max_size=30),
)
texts = st.lists(pieces, max_size=12).map("".join)


@given(texts)
@example("sk-" + "a" * 1000)
@example(MARK * 3)
def test_twice_is_once(text: str) -> None:
    redactor = Redactor(VALUES)
    once = redactor.text(text)
    assert redactor.text(once) == once


@settings(max_examples=examples(300))
@given(texts, st.lists(st.integers(0, 3000), max_size=20))
@example(KEY * 3, [100, 200, 700, 800])
@example("-----BEGIN PRIVATE KEY-----" + "x" * 40_000, list(range(0, 40_000, 1000)))
@example("a" * 600 + "Bearer " + "b" * 40 + " " * 600, [516, 606, 607, 640])
def test_a_stream_is_redacted_as_the_whole(text: str, cuts: list[int]) -> None:
    redactor = Redactor(VALUES)
    data = text.encode()
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    stream = redactor.stream()
    out = b"".join(stream.feed(data[a:b]) for a, b in itertools.pairwise(edges)) + stream.flush()
    assert out == redactor.bytes(data)


@pytest.mark.parametrize("name", SHAPES)
def test_a_secret_cut_at_every_place(name: str) -> None:
    redactor = Redactor(())
    data = f"before {SHAPES[name]} after".encode()
    for cut in range(0, len(data), 7):
        stream = redactor.stream()
        assert stream.feed(data[:cut]) + stream.feed(data[cut:]) + stream.flush() == f"before {MARK} after".encode()


def test_a_stream_holds_back_little() -> None:
    stream = Redactor(()).stream()
    assert len(stream.feed(b"word " * 10_000)) > 49_000
