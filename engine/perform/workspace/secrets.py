"""What looks like a secret: by its name, or by what is in it."""

from __future__ import annotations

import re

from engine.perform.workspace.globs import matcher

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


def holds_key(content: bytes) -> bool:
    """A private key block."""
    return _KEY.search(content) is not None


def holds_token(content: bytes) -> bool:
    """Something shaped like a provider's token."""
    return _TOKEN.search(content) is not None
