"""The environment of agents and checks: what is on the list, and nothing else."""

import pytest

from engine.perform.process.environment import NETWORK, scrubbed

USER = {
    "PATH": "/bin",
    "HOME": "/home/u",
    "LANG": "C.UTF-8",
    "LC_ALL": "C",
    "TERM": "xterm",
    "TZ": "UTC",
    "PYENV_ROOT": "/home/u/.pyenv",
    "ANTHROPIC_API_KEY": "sk-ant-1",
    "OPENAI_API_KEY": "sk-2",
    "AWS_SECRET_ACCESS_KEY": "3",
    "GITHUB_TOKEN": "4",
    "GIT_DIR": "/elsewhere",
    "GIT_CONFIG_COUNT": "1",
    "SSH_AUTH_SOCK": "/run/agent",
    "LD_PRELOAD": "/evil.so",
    "HTTPS_PROXY": "http://u:p@proxy",
    "DEVTEAM_RUN_ID": "outer",
    "UNKNOWN": "x",
}


def test_a_check_gets_places_and_language_only() -> None:
    assert set(scrubbed(USER)) == {"PATH", "HOME", "LANG", "LC_ALL", "TERM", "TZ", "PYENV_ROOT"}


def test_an_agent_gets_its_own_key_and_the_network() -> None:
    env = scrubbed(USER, ("ANTHROPIC_*", *NETWORK))
    assert env["ANTHROPIC_API_KEY"] == "sk-ant-1" and env["HTTPS_PROXY"]
    assert not {"OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN"} & set(env)


@pytest.mark.parametrize("name", ["GIT_DIR", "GIT_CONFIG_COUNT", "SSH_AUTH_SOCK", "LD_PRELOAD", "DEVTEAM_RUN_ID"])
def test_never_even_when_asked_for(name: str) -> None:
    assert name not in scrubbed(USER, (name, "*"))


def test_extra_comes_last_and_as_it_is() -> None:
    env = scrubbed(USER, (), {"HOME": "/private", "GIT_TERMINAL_PROMPT": "0"})
    assert env["HOME"] == "/private" and env["GIT_TERMINAL_PROMPT"] == "0"
    assert USER["HOME"] == "/home/u"
