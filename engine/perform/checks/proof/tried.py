"""Sorts of input that the task names in words, and no proof tries: "zero and negative counts", "from 65 on". Pure.

`not_shown` asks for what is quoted. Here the words name a sort of value, or say that something stays as it was when an
error is raised; half a fix brings a test for the other half. Any language: it reads the literals of the new lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.core.model import TaskSpec
from engine.perform.checks.proof.not_shown import sentences
from engine.perform.checks.proof.tried_sorts import untried_sorts

_LITERAL = r"(?:\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\\n]|\\.)*`)"
_PADDED_START, _PADDED_END = r"[\"'`](?:[ \t]|\\[tnr])", r"(?:[ \t]|\\[tnr])[\"'`]"
_SORTS: tuple[tuple[str, str, str], ...] = (
    (
        "negative numbers",
        r"(?i)\bnegative\s+(?!look|match|lookahead)\w+|\bbelow\s+(?:zero|0)\b|\bless\s+than\s+(?:zero|0)\b",
        r"(?<![\w)\].\"'-])-\s?(?:\d|[a-z_]\w*\b|\()|\bneg\w*",
    ),
    (
        "zero",
        r"(?i)(?<!below )(?<!by )(?<!than )(?<!non-)(?<!leading )(?<!above )(?<!to )(?<!the )\bzero\b"
        r"(?!\s*-?\s*(?:padd|fill|based|width|or more|division))",
        r"(?<![\w.])0(?:\.0+)?(?![\w.]*\d)|\bzero\b",
    ),
    (
        "an empty text or list",
        r"(?i)\b(?:the|an)\s+empty\s+(?:string|text|list|array|name|title|input|word|sequence|dict\w*|mapping|slice)s?\b",
        r"\"\"|''|``|\[\s*\]|\{\s*\}|\(\s*\)|\bempty\w*|\bnil\b|\bnull\b",
    ),
    ("None", r"(?<![|\[] )\bNone\b(?!\s+of)", r"\bNone\b|\bNothing\b|is_none|assertIsNone"),
    (
        "blanks at the ends",
        r"(?i)\b(?:leading|trailing|surrounding)\s+(?:and\s+(?:leading|trailing)\s+)?(?:blanks?|spaces?|white-?space)"
        r"|(?<!\bno )\b(?:blanks?|spaces?|white-?space)\s+"
        # around the value, not around a sign inside of it
        r"(?:around(?=\s+(?:(?:the|an?|its|each|every)\s+)?(?:it\b|names?|values?|texts?|words?|strings?|inputs?|lines?|keys?|"
        r"fields?|cells?|arguments?|titles?|items?|entr(?:y|ies)|numbers?|labels?|tags?|parts?))"
        r"|at\s+(?:the|both|either|its)\s+(?:ends?|start|beginning))",
        rf"(?m:^{_PADDED_START}|{_PADDED_END}$)",
    ),
    (
        "letters beyond ASCII",
        r"(?i)\b(?:unicode|umlauts?|accent\w*|non-?ascii|emojis?|diacritic\w*)\b",
        r"[^\x00-\x7f]|\\u[0-9a-fA-F{]|\\x[0-9a-fA-F]{2}|\\N\{|\bchr\(|fromCharCode|fromCodePoint",
    ),
)
"""(what it is, how a task speaks of it, how a test that tries it looks)."""
_LIMIT = re.compile(
    r"\bfrom\s+(\d+(?:\.\d+)?)\s+on(?:wards?)?\b"
    r"|\b(?:at\s+least|at\s+most|up\s+to|not?\s+more\s+than|not?\s+less\s+than)\s+(\d+(?:\.\d+)?)\b(?!\s*(?:%|per\b))"
    r"|\b(\d+(?:\.\d+)?)\s+(?:or|and)\s+(?:more|above|over|up|older|less|fewer|below|under)\b",
    re.IGNORECASE,
)
"""A limit that belongs to what is said of it: the limit itself is the input to try."""
_OUTCOME = re.compile(
    r"\b(?:has|have|had|having|gives?|gave|returns?|returned|shows?|prints?|becomes?|comes?\s+out(?:\s+as)?|gets?|yields?"
    r"|ends?\s+up|turns?|go(?:es)?|drops?|falls?|sinks?|is|are|was|were)\s+(?:an?\s+)?(?:negative|below\s+zero)(?:\s+(?:number|value|result|hour)s?)?",
    re.IGNORECASE,
)
"""What comes out, and not what is put in."""
_AS_EVER = re.compile(
    r"\b(?:stays?|remains?|unchanged|as\s+(?:it|they|before)|still|already|like\s+today|keeps?)\b", re.IGNORECASE
)
_ELSE = re.compile(
    r"\b(?:else|otherwise)\s*,?\s+(?:it\s+(?:is|gives|returns)\s+)?`?(true|false|none|null|undefined|nil|-1)\b", re.I
)
"""What comes out in the other case, said in one word."""
_CODE = re.compile(r"`[^`\n]*`|" + _LITERAL)
_STAYS = re.compile(
    r"\b(?:leav(?:e|es|ing)\b[^.;]{0,40}\b(?:alone|as\s+(?:it|they)\s+(?:is|was|are|were)|unchanged|untouched|intact)"
    r"|(?:stays?|remains?|keeps?|is\s+(?:left|kept))\s+(?:as\s+(?:it|they)\s+(?:is|was|are|were)|unchanged|untouched|intact|there|in\s+place)"
    r"|nothing\s+(?:is|was|gets)\s+\w+\s+(?:then|in\s+that\s+case)"
    r"|(?:without\s+chang|nothing\s+(?:is|was)\s+chang|unchanged\s+(?:then|in\s+that\s+case)|does\s+not\s+change\s+the)\w*"
    r"|the\s+(?:old|first|other|existing)\s+\w+\s+(?:stays?|remains?|is\s+kept))",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\b(?:rais\w+|throw\w*|refus\w+|reject\w*|\w*Error|\w*Exception|an\s+error|fails?|is\s+an\s+error|ValueError)\b"
)
REFUSED = re.compile(r"raises|assertRaises|throws|rejects|toThrow|ExitCode|\bexcept\b|\bcatch\b|err\s*[!=]=\s*nil|\$\?")
"""How a test provokes an error."""
_OF_ERROR = re.compile(r"\.exception\b|\bexc_?info\b|\bcaught\b|\braised\b|\b(?:error|err)\.\w")
"""What the error itself says."""
_LOOKED = re.compile(r"\bassert|\bexpect\(|\bt\.(?:Fatal|Error)|\bequal\(|\bok\(|!=|==|\btest\b|\bcmp\b|\bdiff\b|\[ ")
_SHOWS = {
    "false": r"\bfalse\b|\bnot\s|notOk|!\w|!\(",
    "true": r"\btrue\b|assert\s+\w|ok\(|assert\(",
    "none": r"\bnone\b",
    "null": r"\bnull\b",
    "undefined": r"\bundefined\b",
    "nil": r"\bnil\b",
}
_TEST = re.compile(
    r"^\s*(?:async\s+)?(?:def\s+test|func\s+Test|(?:test|it|describe)(?:\.\w+)?\(|fn\s+\w+|public\s+void\s)",
    re.MULTILINE,
)


def untried(task: TaskSpec | None, fresh: str, proofs: str) -> Iterator[str]:
    """What the task names and the proving tests do not try, in words for their author.

    `fresh`: the new lines of the tests (all, where an old test proves it). `proofs`: their whole files.
    """
    if task is None or not fresh.strip():
        return
    told = list(sentences(task))
    bare = [_CODE.sub(" ", one) for one in told]
    wanted = [_OUTCOME.sub(" ", one) for one in bare if not _AS_EVER.search(one) or _refused_and_kept(one)]
    literals = "\n".join(re.findall(_LITERAL, fresh))
    for what, spoken, tried in _SORTS:
        where = literals if what == "blanks at the ends" else proofs if what == "zero" else fresh
        if any(re.search(spoken, one) for one in wanted) and not re.search(tried, where):
            yield what
    yield from untried_sorts(wanted, fresh, proofs)
    for one in wanted:
        for match in _LIMIT.finditer(one):
            number = next(group for group in match.groups() if group)
            if not re.search(rf"(?<![\w.]){re.escape(number)}(?![\w.]*\d)", proofs):
                yield f"{match[0].strip()}: {number} itself"
    for match in (match for one in told for match in _ELSE.finditer(one)):
        if not re.search(_SHOWS.get(match[1].lower(), re.escape(match[1])), fresh, re.IGNORECASE):
            yield f"“{match[0]}”"
    kept = any(_STAYS.search(one) for one in told) and any(_REFUSAL.search(one) for one in told)
    if kept and REFUSED.search(fresh) and not _looks_after(fresh):
        yield "what stays as it was when it is refused"


def _refused_and_kept(told: str) -> bool:
    """ "0 is an error and leaves the count as it was": what stays is what the error leaves, and the error is new."""
    return _STAYS.search(told) is not None and _REFUSAL.search(told) is not None


def _looks_after(fresh: str) -> bool:
    """In one of the tests an assertion follows the error."""
    starts = [match.start() for match in _TEST.finditer(fresh)] or [0]
    parts = [fresh[start:end] for start, end in zip(starts, [*starts[1:], len(fresh)], strict=True)]
    for part in parts:
        refused = list(REFUSED.finditer(part))
        if not refused:
            continue
        rest = part[refused[0].end() :]
        lines = [line for line in rest.splitlines()[1:] if not REFUSED.search(line) and not _OF_ERROR.search(line)]
        if any(_LOOKED.search(line) for line in lines):
            return True
    return False
