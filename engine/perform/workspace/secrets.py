"""What looks like a secret, by its name or by its shape; and how somebody who knows the user's secrets tells of one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from engine.core.model import Struct
from engine.globs import matcher

NAMES = (
    ".env", ".env.*", "*.env", "!.env.example", "!.env.sample", "!.env.template", "!.env.dist", "!example.env",
    "!sample.env", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "id_rsa", "id_dsa", "id_ecdsa",
    "id_ed25519", ".netrc", ".pypirc", ".pgpass", ".htpasswd", ".git-credentials", "credentials.json",
    "service-account*.json", "service_account*.json", "*.tfstate", ".aws/credentials", ".ssh/**",
)  # fmt: skip
named_like_a_secret = matcher(NAMES)

_KEY = re.compile(rb"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----")
_TOKEN = re.compile(
    rb"\b(?:AKIA[0-9A-Z]{16}|ghp_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{40,}|glpat-[A-Za-z0-9_-]{20,}"
    rb"|sk-ant-[A-Za-z0-9_-]{24,}|sk-proj-[A-Za-z0-9_-]{24,}|xox[abprs]-[A-Za-z0-9-]{20,}|AIza[0-9A-Za-z_-]{35})"
)
_FAKE = re.compile(
    rb"(?i)example|sample|dummy|fake|placeholder|redacted|changeme|invalid|x{4}|0{4}|(.)\1{5}|12345|abcdef"
)
"""What nobody's real key has in it, and every documented or made-up one."""


class Hit(Struct, frozen=True, kw_only=True):
    """A value of the user's in some content. The value itself is not here."""

    line: int
    value: str
    """Names it: a hash."""
    certain: bool = True
    """False: short or a mere word, which may be there by chance."""


Detector = Callable[[bytes], tuple[Hit, ...]]


def nothing_known(_content: bytes) -> tuple[Hit, ...]:
    return ()


def key_line(content: bytes) -> int:
    """The line on which a private key block begins; 0: none."""
    found = _KEY.search(content)
    return line_of(content, found.start()) if found else 0


def token_lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Lines with something shaped like a provider's token, but for made-up ones; with the token, to compare."""
    for found in _TOKEN.finditer(content):
        if not _FAKE.search(found[0]):
            yield line_of(content, found.start()), found[0]


def new_shape(new: bytes, old: bytes) -> str:
    """A key or a token by its shape alone, which the old content did not have: perhaps one for a test. Empty: none."""
    if (line := key_line(new)) and not key_line(old):
        return f"line {line} holds a private key"
    had = {token for _, token in token_lines(old)}
    lines = [line for line, token in token_lines(new) if token not in had]
    return f"line {lines[0]} holds something like an access token" if lines else ""


def line_of(content: bytes, place: int) -> int:
    return content.count(b"\n", 0, place) + 1
