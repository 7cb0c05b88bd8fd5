"""The environment given to agents and checks: what is on the list, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

BASE = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE", "LC_*"),
    *("TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "CI", "SOURCE_DATE_EPOCH"),
)
"""For everybody: places, language, terminal."""

TOOLS = (
    *(
        "VIRTUAL_ENV",
        "PYENV_ROOT",
        "PYENV_VERSION",
        "CONDA_PREFIX",
        "UV_PYTHON_INSTALL_DIR",
        "NVM_DIR",
        "NVM_BIN",
        "VOLTA_HOME",
    ),
    *(
        "FNM_DIR",
        "BUN_INSTALL",
        "DENO_DIR",
        "PNPM_HOME",
        "CARGO_HOME",
        "RUSTUP_HOME",
        "RUSTUP_TOOLCHAIN",
        "GOPATH",
        "GOROOT",
    ),
    *(
        "GOFLAGS",
        "JAVA_HOME",
        "M2_HOME",
        "MAVEN_HOME",
        "GRADLE_HOME",
        "GRADLE_USER_HOME",
        "ANDROID_HOME",
        "RBENV_ROOT",
        "ASDF_DIR",
        "ASDF_DATA_DIR",
    ),
)
"""Where tools are installed: without these the shims of version managers fail."""

NETWORK = (
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
)
"""For agents, who need the network; a proxy's address may hold a password, so never for checks."""

NEVER = (
    *(
        "GIT_*",
        "SSH_*",
        "GPG_*",
        "GNUPGHOME",
        "DBUS_*",
        "XAUTHORITY",
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "XDG_RUNTIME_DIR",
        "DOCKER_*",
    ),
    *(
        "LD_*",
        "DYLD_*",
        "BASH_ENV",
        "ENV",
        "PROMPT_COMMAND",
        "PYTHONSTARTUP",
        "DEVTEAM_*",
        "SUDO_*",
        "KUBECONFIG",
        "TMUX*",
    ),
)
"""Not even when a list of the user names them: they steer git, reach sockets or load code."""


def scrubbed(
    base: Mapping[str, str], allow: Sequence[str] = (), extra: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The part of `base` on the lists BASE, TOOLS and `allow` (names, or patterns with *), then `extra` as it is.

    For an agent `allow` is NETWORK and the variables of its provider; for a check it is empty.
    """
    listed = (*BASE, *TOOLS, *allow)
    kept = {
        name: value
        for name, value in base.items()
        if _matches(name, listed) and not _matches(name, NEVER) and "\0" not in value
    }
    return {**kept, **(extra or {})}


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
