"""What the words of a task lean to, for changes that show by themselves what they are. Pure.

A permission of its own needs an entry in the plan. Here the change has shown by construction what it is (a rename that
the base's tests hold under, a golden file with one new line), and the words only say whether somebody wanted it.
"""

# ruff: noqa: E501 (lists of words are read better in one piece)

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import assert_never

from engine.core.harmless import HarmlessKind
from engine.core.model import TaskSpec
from engine.plans.word_patterns import AN_EXAMPLE, AS_BEFORE, DOES_NOT, NOTHING

NAMES = re.compile(
    r"\b(?:re-?nam(?:e|es|ed|ing)|mis-?nam\w+|naming|names|snake[_ -]?case|camel[_ -]?case|pascal[_ -]?case|pep\s?-?8|conventions?|consistent(?:ly)?|consistency|terminology|"
    r"vocabulary|spell(?:ed|ing)|american|british|identifiers?|restructur\w+|reorgani[sz]\w+)\b",
    re.IGNORECASE,
)
"""About names and places as such: which ones, the change shows."""
NAMING = re.compile(
    r"\b(?:name[d]?|call(?:ed|s)?|becomes?|known\s+as|speak(?:s|ing)?|prefix(?:ed)?|suffix(?:ed)?|private|public|internal|underscores?|alias(?:es)?|"
    r"shorter|clearer|plural|singular|typo|keyword|parameter|argument|should\s+(?:rather\s+)?be|"
    r"mov(?:e|es|ed|ing)|relocat\w+|belongs?|liv(?:e|es|ing)|home|split(?:s|ting)?|extract\w*|separat\w+|apart|own\s+(?:file|module|package|folder|directory|place|home)|"
    r"layout|packages?|sub-?packages?|modules?|folders?|director(?:y|ies)|namespaces?|merg(?:e|es|ed|ing)|consolidat\w+|pull(?:ed)?\s+(?:out|up)|"
    r"hoist\w*|flatten\w*|nest\w*|inline\w*|out\s+of|into)\b|->|→|=>",
    re.IGNORECASE,
)
"""May be about the name or the place of what the text names."""


def parts_of(name: str) -> list[str]:
    """`formatAmount`, `format_amount`, `--dry-run`: the words a name is made of, in lower case."""
    return [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]


def spoken(name: str, text: str) -> bool:
    """Whether the text names it: the word itself, or all the words that it is made of."""
    last = re.split(r"[./:]", name.removesuffix(".py"))[-1] or name
    if re.search(rf"(?<![\w-]){re.escape(last)}(?![\w-])", text):
        return True
    parts = parts_of(last)
    told = {part for word in re.findall(r"[\w-]+", text) for part in parts_of(word)}
    return bool(parts) and all(any(_same_stem(part, word) for word in told) for part in parts)


def _same_stem(one: str, other: str) -> bool:
    return one == other or (len(one) > 3 and (other.startswith(one) or (len(other) > 3 and one.startswith(other))))


def asks_for_names(pairs: Iterable[tuple[str, str, str]], text: str) -> bool:
    """Whether somebody wanted these names to change: by the new one, by what is said of the old one, or at large."""
    if NAMES.search(text):
        return True
    about = NAMING.search(text) is not None
    return all(_private(old) or spoken(new, text) or (about and _either(old, text)) for old, new, _ in pairs)


def _either(name: str, text: str) -> bool:
    """The name, or the module or class it stood in."""
    return any(spoken(part, text) for part in re.split(r"[./]", name)[-2:] if part)


def _private(name: str) -> bool:
    return any(part.startswith("_") and not part.startswith("__") for part in re.split(r"[./]", name))


DOCS = re.compile(
    r"\b(?:docs?|document(?!s\b)\w*|read-?me|change-?log|release\s+notes|doc-?strings?|typos?|spelling|grammar|wording|guides?|tutorials?|licen[sc]e|contributing|"
    r"faq|how-?to|clarif\w+|js-?doc|java-?doc|code\s+of\s+conduct|security\s+policy|(?:code|source|inline|explaining)\s+comments?|comments?\s+(?:in|on|for|to|about|why|what)|architecture\.md)\b"
    r"|^\W*(?:please\s+)?(?:explain|describe|mention|comment|write\s+down|say\s+(?:in|why|what|how|which|that))\b",
    re.IGNORECASE,
)
DOCS_MAYBE = re.compile(
    r"\b(?:comments?|documents?|news|authors?|manual|examples?|usage|explain\w*|describ\w+|mention\w*|notes?|headers?|badges?|links?|contribut\w+|architecture)\b",
    re.IGNORECASE,
)
"""May be about documents; also about what a program does."""
DOCS_ORDER = re.compile(
    r"(?:^|[.!?]\s+|\n)(?:please\s+)?(?:explain|describe|document|mention|say|note|write|add|put|give)\b[^.!?\n]{0,60}"
    r"\b(?:comments?|docs?|documentation|read-?me|doc-?strings?|change-?log|guide|faq|manual)\b",
    re.IGNORECASE,
)
"""A sentence of a description that orders documents."""
TYPES = re.compile(
    r"\b(?:typing|typed|annotat\w+|mypy|pyright|py\.typed|stubs?|overloads?|type\s*-?(?:alias\w*|hints?|hinting|annotations?|check\w*|information|stubs?|errors?|safety|variables?)|"
    r"(?:add|missing|static|strict|precise|return|argument|parameter|better|give)\s+(?:\w+\s+){0,2}types?)\b",
    re.IGNORECASE,
)
TYPES_MAYBE = re.compile(r"\b(?:types?|hints?|generics?|protocol)\b", re.IGNORECASE)
LAYOUT = re.compile(
    r"\b(?:re-?format\w*|(?:auto-?|code\s+)?formatt(?:ed|er|ing)|white-?space|indent\w*|line\s+(?:length|endings?)|gofmt|isort|prettier|blank\s+lines?|lint\w*|"
    r"(?:sort|order|organi[sz]e|unused|tidy)\w*\s+(?:\w+\s+)?imports?|code\s+style|trailing\s+(?:white-?)?spaces?|black|ruff)\b",
    re.IGNORECASE,
)
LAYOUT_MAYBE = re.compile(r"\b(?:layout|style|imports?|sort(?:ed)?|tabs?|quotes?|trailing)\b", re.IGNORECASE)
TESTS = re.compile(
    r"\b(?:tests?|testing|coverage|cover(?:ed|s)?|spec(?:s|ify)?|assert\w*|regression|fixtures?|parametri[sz]\w*|property|characteri[sz]\w*|pin\s+down|prove|show\s+that|"
    r"check\s+that|make\s+sure|ensure|guard|(?:a|another|more|edge|corner|further|some|additional)\s+(?:cases?|rows?|samples?|examples?|conversions?)|"
    r"test_\w+|\w+_test|Test[A-Z]\w*)\b|^\W*(?:more\s+|better\s+|missing\s+|the\s+)?checks\s+(?:for|of|that|on)\b",
    re.IGNORECASE,
)
SETTINGS = re.compile(
    r"\b(?:ci|workflows?|github|gitlab|pipelines?|pre-?commit|editor-?config|git-?ignore\w*|git-?attributes|lint\w*|config\w*|settings?|make-?files?|dependabot|renovate|metadata|"
    r"classifiers?|entry\s+points?|requirements?|dependenc\w+|packag\w+|publish\w*|pypi|npm|docker\w*|nightly|ruff|mypy|pytest|eslint|prettier|coverage|black|isort|bandit|flake8|pylint|tox|nox|codeowners|"
    r"py\.typed|type\s+information|command\s+line\s+tool|(?:which|minimum|required|supported|needs?|requires?)\s+(?:\w+\s+)?(?:python|node|version)|(?:bump|upgrade|pin|raise|drop|require|support)\w*\s+(?:\w+\s+){0,3}(?:version|python|node)|python\s+3[\d.]*|node\s+\d+)\b|\brelease\s+v?\d|\bon\s+(?:push|pull\s+requests?)\b|\bignore\s+[\w.-]*[/*]|^\W*v?\d+\.\d+[\d.]*\W*$",
    re.IGNORECASE,
)
SETTINGS_MAYBE = re.compile(
    r"\b(?:actions?|options?|rules?|strict\w*|enable\w*|disable\w*|tool(?:s|ing)?|targets?|scripts?|keywords|url|urls|homepage|engines?|node|python|version\w*|requires?|ship|release|"
    r"markers?|timeouts?|push|pull\s+requests?|badge|ignore\w*|typed)\b",
    re.IGNORECASE,
)
WORK = re.compile(
    r"\b(?:refactor\w*|restructur\w*|reorgani[sz]\w*|clean\w*|tid(?:y|ies|ying)|simplif\w+|de-?duplicat\w*|duplicat\w+|extract\w*|inlin\w+|split\w*|decoupl\w+|"
    r"modulari[sz]\w+|consolidat\w+|untangl\w+|moderni[sz]\w+|unif(?:y|ies)|reus\w+|re-?writ\w+|readab\w+|clearer|shorter|smaller|nicer|helpers?|"
    r"perf\w*|fast\w*|slow\w*|takes?\s+(?:\w+\s+)?(?:forever|ages|minutes?|hours?|long)|parallel\w*|concurrent\w*|simultaneous\w*|at\s+the\s+same\s+time|speed\w*|optimi[sz]\w+|efficien\w+|cach(?:e|ed|es|ing)|memoi[sz]\w+|lazy|lazily|once|quadratic|linear|O\(|allocat\w+|every\s+(?:time|call|entry|row|line)|"
    r"again\s+and\s+again|twice|repeatedly|for\s+(?:every|each)|avoid\w*|walks?|loops?|dataclass\w*|enums?|f-strings?|pathlib|comprehensions?|context\s+managers?|"
    r"same\s+as\s+before|go(?:es)?\s+on|no\s+(?:functional|behaviou?r\w*)\s+changes?|nothing\s+(?:else\s+)?changes|behaviou?r\s+stays|magic\s+numbers?|constants?|nested|complex\w*|"
    r"one-?liners?|built-?ins?|stdlib|standard\s+library|idiomatic|pythonic|verbose|boilerplate|repetit\w+|less\s+code|hand-?(?:written|rolled|made)|"
    r"legacy|deprecat\w+|python\s*2|dead\s+code|unused|redundant|technical\s+debt|chore|logg(?:ing|er)|debug\w*)\b",
    re.IGNORECASE,
)
"""About how the program is made, or how fast it is."""
PREFIX = re.compile(r"(?P<sort>[a-z]+)(?:\([^)]*\))?!?:\s", re.IGNORECASE)
"""`fix(parser): …`: what kind of change its author calls it."""
WANTS = re.compile(
    r"\b(?:fix(?:e[sd]|ing)?|bugs?|crash\w*|broken|wrong\w*|incorrect\w*|fails?|failing|failed|regress\w+|lost|los(?:e|es|ing)|goes?\s+missing|implement(?:s|ed|ing)?|features?|support\w*|"
    r"reject\w*|refus\w+|rais(?:e|es|ed)\s+(?:a|an|the)?\s*\w*(?:error|exception)|(?<!one )(?<!single )(?<!early )(?<!fewer )(?<!nested )return\w*|should\s+(?:not\s+)?(?:return|give|raise|print|accept|refuse|reject|show|be\s+able)|"
    r"add\s+(?:a\s+|an\s+|the\s+)?(?:new\s+)?(?:command|option|flag|function|method|class|endpoint|parameter|argument|api|page|button|subcommand))\b",
    re.IGNORECASE,
)
"""Something that the program shall do from now on."""


def called(title: str) -> str:
    """The word before the colon of a title in the conventional form: `docs`, `refactor`, `fix`; else nothing."""
    match = PREFIX.match(title.strip())
    return match["sort"].lower() if match else ""


HARD = re.compile(
    r"\b(?:bugs?|crash\w*|exceptions?|tracebacks?|implement(?:s|ed|ing)?|features?|reject\w*|refus\w+|los(?:t|e|es|ing)|goes?\s+missing|wrong\s+(?:result|answer|value|number|output)\w*|"
    r"should\s+(?:not\s+)?(?:return|give|raise|print|accept|refuse|reject|be\s+able)|"
    r"add\s+(?:a\s+|an\s+|the\s+)?(?:new\s+)?(?:command|option|flag|function|method|class|endpoint|parameter|argument|api|page|button|subcommand))\b",
    re.IGNORECASE,
)
"""A title with one of these is never about documents, tests or settings alone."""


def asks_for_more(title: str) -> bool:
    """Whether the title wants something of the program that no change of documents, tests, settings or names gives."""
    return called(title) in ("fix", "feat", "feature", "bugfix", "hotfix") or HARD.search(title) is not None


_MENDS = re.compile(
    r"\b(?:fix\w*|bugs?|crash\w*|broken|fail\w*|wrong\w*|incorrect\w*|regress\w*|tracebacks?|exceptions?|hangs?|dies|loses?|lost"
    r"|(?:does|do|is|are|was|can|could|will)(?:n't|n’t| not)|cannot)\b",
    re.IGNORECASE,
)
_WISHES = re.compile(
    r"\b(?:should(?:n't|n’t)?|shall|must|ought\s+to|instead\s+of|rather\s+than|by\s+default|no\s+longer|any\s+more|from\s+now\s+on)\b|\s(?:->|→|=>)\s|,\s+not\s+\w+",
    re.IGNORECASE,
)
_OTHERWISE = re.compile(
    r"^\W*(?:[\w.-]+(?:\s[\w.-]+)?:\s+)?(?:please\s+)?"
    r"(?:show|print|sort|order|round|count|(?:right-|left-)?align|bill|charge|tell|list|group|format|display|report|limit|raise|lower|change|"
    r"capitali[sz]e|truncate|shorten|hide|treat|merge|separate|indent|pad)\b",
    re.IGNORECASE,
)


_FAULT = re.compile(
    r"\b(?:missing|ignored|dropped|swallowed|twice|garbled|too (?:many|few|long|short)|off by|skips|breaks)\b", re.I
)


def mends(title: str) -> bool:
    """The title speaks of something that is wrong."""
    return called(title) in ("fix", "bugfix", "hotfix") or bool(_MENDS.search(title) or _FAULT.search(title))


def wants_otherwise(task: TaskSpec) -> bool:
    """The title wants what is there to be another way: by a wish, or by an order that mends no fault, brings nothing new
    and is not about how the program is made. What old tests expect of it may follow."""
    title = task.title
    if called(title) in ("refactor", "test", "tests", "docs", "perf", "ci", "build", "chore", "style") or WORK.search(
        title
    ):
        return False
    if any(pattern.search(title) for pattern in (DOCS, TYPES, TESTS, NAMES)):
        return False
    ordered = _OTHERWISE.match(title) is not None and not (_MENDS.search(title) or SETTINGS.search(title))
    return ordered or _WISHES.search(title) is not None


def about_elsewhere(text: str) -> bool:
    """The task is about checks that run somewhere else: CI, hooks before a commit."""
    return (
        re.search(
            r"\b(?:ci|workflows?|github\s+actions?|actions?|gitlab|pipelines?|pre-?commit|hooks?|dependabot|renovate|on\s+push|pull\s+requests?|jenkins|travis|circle\s?ci|nightly|matrix)\b",
            text,
            re.IGNORECASE,
        )
        is not None
    )


_TAKES_AWAY = re.compile(
    r"(?:^|[.!?\n]\s*)\W*(?:[\w.]+(?:\([^)\n]*\))?!?:\s+)?(?:please\s+)?"
    r"(?:drop|remove|delete|retire|kill|get\s+rid\s+of|stop\s+(?:supporting|accepting|reading|offering)|end\s+support\s+for)\b"
    r"(?P<what>(?:[^.!?\n]|\.(?=\w))*)",
    re.IGNORECASE,
)
_NO_THING = frozenset(
    {
        "support",
        "supporting",
        "command",
        "option",
        "function",
        "from",
        "with",
        "tests",
        "test",
        "the",
        "and",
        "for",
        "file",
        "files",
        "code",
        "old",
        "line",
        "its",
        "help",
    }
)


def orders_removal(title: str) -> bool:
    """The title itself orders that something is taken away."""
    return _TAKES_AWAY.match(title) is not None


def takes_away(text: str, test: str) -> bool:
    """Whether the text orders something to be taken away that the test speaks of by name."""
    told = {part.lower() for word in re.findall(r"[\w-]+", test) for part in (word, *parts_of(word))}
    whole = re.sub(r"\W+", "_", test.lower())
    return any(
        word.lower() in told or ("-" in word.strip("-") and word.lower().strip("-").replace("-", "_") in whole)
        for match in _TAKES_AWAY.finditer(text)
        for word in re.findall(r"[\w-]{3,}", match["what"])
        if word.lower() not in _NO_THING
    )


def _about(clear: re.Pattern[str], maybe: re.Pattern[str], title: str, text: str) -> bool:
    """The title says it in words that mean nothing else, or in such that may, and the rest of the task says which.

    A README edited under "Headers are not sent" is nothing done."""
    if clear.search(title):
        return True
    return maybe.search(title) is not None and clear.search(text) is not None and WANTS.search(title) is None


def shows_something(task: TaskSpec) -> bool:
    """The task says what comes out for some input (and not that it did so before), or what the program does not do:
    that can be shown, whatever else its words lean to. Only a document may be about it all the same."""
    if DOES_NOT.search(task.title):
        return True
    if NOTHING[HarmlessKind.DOCS].search(task.title):
        return False
    texts = (task.title, *task.description.splitlines(), *task.accept)
    said = (part for text in texts for part in re.split(r"(?<=[.!?;])\s+(?=\S)", text))
    return any(AN_EXAMPLE.search(one) and not AS_BEFORE.search(one) for one in said)


def leans(kind: HarmlessKind, title: str, text: str) -> bool:
    """Whether the words fit a change that has shown itself to be of this kind."""
    prefix = called(title)
    if asks_for_more(title):
        return False
    match kind:
        case HarmlessKind.DOCS:
            told = _about(DOCS, DOCS_MAYBE, title, text) or DOCS_ORDER.search(text) is not None
            return told or prefix in ("docs", "doc", "chore")
        case HarmlessKind.LAYOUT:
            return prefix in ("style", "chore", "lint", "format") or _about(LAYOUT, LAYOUT_MAYBE, title, text)
        case HarmlessKind.TYPES:
            return prefix in ("types", "typing") or _about(TYPES, TYPES_MAYBE, title, text)
        case HarmlessKind.TESTS:
            return prefix in ("test", "tests") or TESTS.search(title) is not None
        case HarmlessKind.SETTINGS | HarmlessKind.DEPENDENCIES | HarmlessKind.GENERATED:
            return prefix in ("ci", "build", "chore", "deps", "release") or _about(
                SETTINGS, SETTINGS_MAYBE, title, text
            )
        case HarmlessKind.MOVE:
            return NAMES.search(text) is not None or NAMING.search(text) is not None
        case HarmlessKind.REFACTORING:
            told = prefix in ("refactor", "perf", "chore", "style", "cleanup") or WORK.search(title) is not None
            return (told or WORK.search(text) is not None) and WANTS.search(text) is None
        case HarmlessKind.REMOVAL:
            return False  # the plan has to say what goes
        case _:
            assert_never(kind)
