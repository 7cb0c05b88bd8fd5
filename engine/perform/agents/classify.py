"""From what a program reports to a ResultKind, most reliable first: HTTP status, error word, then message.

Messages are looked at only in what the program itself marks as an error, never in what a model wrote.
"""

from __future__ import annotations

import re
from typing import assert_never

from engine.agent_records import record
from engine.core.model import ResultKind

_STATUS = {
    401: ResultKind.AUTH,
    402: ResultKind.BILLING,
    403: ResultKind.AUTH,
    404: ResultKind.MODEL,
    408: ResultKind.NETWORK,
    413: ResultKind.CONTEXT,
    429: ResultKind.RATE,
    529: ResultKind.OVERLOADED,
}

_WORDS = {
    "usage_limit_reached": ResultKind.LIMIT,
    "terminalquotaerror": ResultKind.LIMIT,
    "rate_limit": ResultKind.RATE,
    "rate_limit_error": ResultKind.RATE,
    "rate_limit_exceeded": ResultKind.RATE,
    "resource_exhausted": ResultKind.RATE,
    "retryablequotaerror": ResultKind.RATE,
    "too_many_requests": ResultKind.RATE,
    "overloaded": ResultKind.OVERLOADED,
    "overloaded_error": ResultKind.OVERLOADED,
    "server_error": ResultKind.OVERLOADED,
    "api_error": ResultKind.OVERLOADED,
    "internal": ResultKind.OVERLOADED,
    "unavailable": ResultKind.OVERLOADED,
    "authentication_failed": ResultKind.AUTH,
    "authentication_error": ResultKind.AUTH,
    "auth_required": ResultKind.AUTH,
    "permission_error": ResultKind.AUTH,
    "permission_denied": ResultKind.AUTH,
    "unauthenticated": ResultKind.AUTH,
    "invalid_api_key": ResultKind.AUTH,
    "providerautherror": ResultKind.AUTH,
    "fatalauthenticationerror": ResultKind.AUTH,
    "billing_error": ResultKind.BILLING,
    "insufficient_quota": ResultKind.BILLING,
    "model_not_found": ResultKind.MODEL,
    "modelnotfounderror": ResultKind.MODEL,
    "providermodelnotfounderror": ResultKind.MODEL,
    "not_found_error": ResultKind.MODEL,
    "not_found": ResultKind.MODEL,
    "context_length_exceeded": ResultKind.CONTEXT,
    "contextoverflowerror": ResultKind.CONTEXT,
    "prompt_too_long": ResultKind.CONTEXT,
    "request_too_large": ResultKind.CONTEXT,
    "connection_failed": ResultKind.NETWORK,
    "timeout": ResultKind.NETWORK,
    "refusal": ResultKind.REFUSAL,
}

_MESSAGES: tuple[tuple[ResultKind, str], ...] = (
    (ResultKind.CONTEXT, r"context_length_exceeded|prompt is too long|ran out of room in the model.s context"),
    (ResultKind.CONTEXT, r"exceeds? the (maximum number of tokens|context window)|context window of this model"),
    (ResultKind.LIMIT, r"hit your (usage|\S+) limit|usage limit reached\|\d{10}|exhausted your daily quota"),
    (ResultKind.BILLING, r"credit balance is too low|quota exceeded\. check your plan|insufficient_quota"),
    (ResultKind.AUTH, r"not logged in|invalid api key|incorrect api key|status 40[13]\b|\b401 unauthorized"),
    (ResultKind.AUTH, r"missing environment variable|failed to authenticate|please run /login|invalid auth method"),
    (ResultKind.AUTH, r"authentication required|set an auth method|api key not valid"),
    (ResultKind.RATE, r"status(:| code)? ?429|\b429 too many requests|rate limit (exceeded|reached)"),
    (ResultKind.OVERLOADED, r"status(:| code)? ?5\d\d\b|experiencing high demand|\boverloaded\b"),
    (ResultKind.MODEL, r"\bmodel\b.{0,80}(does not exist|not found|not supported)|issue with the selected model"),
    (ResultKind.MODEL, r"models?/\S+ is not found"),
    (ResultKind.NETWORK, r"stream disconnected|connection (refused|dropped|reset|failed|error)|econn|fetch failed"),
    (
        ResultKind.NETWORK,
        r"cannot connect to|request timed out|enotfound|does not resolve|network error|socket hang up",
    ),
    (ResultKind.TURNS, r"max(imum)? (number of |session )?turns"),
)
_PATTERNS = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _MESSAGES)


def by_status(status: int) -> ResultKind | None:
    """400 and its like say nothing by themselves; the error word does."""
    if status >= 500:
        return _STATUS.get(status, ResultKind.OVERLOADED)
    return _STATUS.get(status)


def by_word(*words: str) -> ResultKind | None:
    """The first known error word; give the most specific field first."""
    for word in words:
        if kind := _WORDS.get(word.strip().lower()):
            return kind
    return None


def by_message(message: str) -> ResultKind | None:
    """Only for text that the program itself marked as its error."""
    head = message[:4_000]
    for kind, pattern in _PATTERNS:
        if pattern.search(head):
            return kind
    return None


def login_hint(agent: str) -> str:
    """How to log in with an agent, as the user may type it."""
    known = record(agent)
    return (known.login_hint if known else "") or f"Log in with `{agent}` once in this terminal, then `devteam run`."


def hint(agent: str, kind: ResultKind, *, model: str = "", denials: tuple[str, ...] = ()) -> str:
    """What the user may type to mend it; empty where waiting or retrying is all there is."""
    match kind:
        case ResultKind.AUTH:
            return login_hint(agent)
        case ResultKind.BILLING:
            known = record(agent)
            plain = f"Check plan and billing of the account `{agent}` uses, then `devteam run`."
            return (known.billing_hint if known else "") or plain
        case ResultKind.MODEL:
            named = f"model {model!r}" if model else "the model"
            return f"Change {named} of agent {agent} in [[ladder.rungs]] of .devteam/config.toml, then `devteam run`."
        case ResultKind.NOT_STARTED:
            return (
                f"Install `{agent}`, or name its program under [agents.{agent}] (devteam agents), then `devteam run`."
            )
        case ResultKind.DENIED:
            wanted = ", ".join(f'"{name}"' for name in denials) or '"…"'
            return (
                f"Install bubblewrap, or grant it: `allow = [{wanted}]` under [agents.{agent}] "
                "in .devteam/config.toml, then `devteam run`."
            )
        case (
            ResultKind.OK
            | ResultKind.LIMIT
            | ResultKind.RATE
            | ResultKind.OVERLOADED
            | ResultKind.CONTEXT
            | ResultKind.NETWORK
            | ResultKind.TURNS
            | ResultKind.BUDGET
            | ResultKind.REFUSAL
            | ResultKind.CANCELLED
            | ResultKind.TIMEOUT
            | ResultKind.CRASH
            | ResultKind.NO_RESULT
        ):
            return ""
        case _:
            assert_never(kind)
