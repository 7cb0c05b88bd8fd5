"""The words that name a permission, as patterns: what people write when they rename, delete, configure, document …"""

# ruff: noqa: E501, SIM905 (lists of words are read better in one piece)

from __future__ import annotations

import re

from engine.core.harmless import HarmlessKind

TOOLS = (
    "ruff", "mypy", "pyright", "pytest", "coverage", "flake8", "pylint", "bandit", "black", "isort", "eslint", "prettier",
    "typescript", "tsc", "jest", "vitest", "mocha", "golangci-lint", "clippy", "rustfmt", "pre-commit", "codespell",
)  # fmt: skip
SOURCE = (
    "py", "pyi", "pyx", "js", "jsx", "ts", "tsx", "mjs", "cjs", "go", "rs", "java", "kt", "c", "h", "cc", "cpp", "hpp",
    "rb", "php", "cs", "swift", "scala", "vue", "svelte",
)  # fmt: skip
PLAIN = ("md", "rst", "txt", "adoc")
DATA = tuple(
    "json yaml yml toml ini cfg csv tsv xml html snap golden lock sql sh bash mk env conf properties j2 jinja tmpl out "
    "expected approved stdout stderr want".split()
)
NAMED_FILES = r"go\.(?:mod|sum|work)|(?:GNUm|M|m)akefile|Dockerfile|Justfile|justfile|Jenkinsfile|Rakefile|Procfile"

CODE = r"`[^`\n]+`|\"[^\"\n]+\"|'[^'\n]+'"
WORD = r"(?:--?(?=\w))?[A-Za-z_$@][\w$@./:\\-]*(?:\(\))?"
NAME = rf"(?:{CODE}|{WORD})"
KIND = (
    r"(?:(?:the|a|an|our|its|old|public|private|internal|deprecated|unused|legacy|dead|obsolete|helper|test|top-level|"
    r"whole|entire|existing|top|level|python|node)\s+)*"
    r"(?:(?:function|method|class|module|variable|parameter|param|argument|arg|keyword|file|package|attribute|constant|"
    r"command|option|flag|field|property|helper|folder|directory|script|fixture|type|struct|interface|enum|key|setting|"
    r"subcommand|endpoint|decorator|exception|component|hook|util|utility|code|logic|implementation|definition|thing)s?\s+)?"
)
PATH = re.compile(
    rf"(?<![\w/.-])((?:[\w.@-]+/)+[\w.@*{{}},-]*[\w*}}]|[\w@-]+(?:\.[\w-]+)*\.[A-Za-z]\w{{0,9}}|{NAMED_FILES})(?![\w/-])"
)

RENAME = [
    re.compile(rf"\brenam(?:e|es|ed|ing)\s+{KIND}(?P<old>{NAME})\s+(?:is\s+)?(?:to|into|as|→|->|=>)\s+{KIND}(?P<new>{NAME})", re.I),
    re.compile(rf"\bchange\s+the\s+name\s+of\s+{KIND}(?P<old>{NAME})\s+to\s+{KIND}(?P<new>{NAME})", re.I),
    re.compile(rf"(?P<old>{CODE})\s+(?:is|was|gets|should\s+be|shall\s+be|must\s+be|will\s+be)\s+(?:renamed|called|named)\s+(?:to\s+)?(?P<new>{CODE})", re.I),
    re.compile(rf"^(?:{KIND})(?P<old>{WORD})\s+(?:should|shall|must|will|could)\s+(?:rather\s+|better\s+)?be\s+(?:renamed|called|named)\s+(?:to\s+)?(?P<new>{WORD})[.!]?$", re.I),
    re.compile(rf"^(?P<old>{WORD})\s+(?:is|gets)\s+renamed\s+(?:to\s+)?(?P<new>{WORD})\b", re.I),
    re.compile(rf"^(?P<old>{WORD})\b[^.;,\n]{{3,60}},\s*(?:please\s+|so\s+)?call\s+it\s+(?P<new>{WORD})[.!]?$", re.I),
    re.compile(r"^call\s+(?P<old>\w+)\s+(?P<new>\w+)(?:,|\s+instead|[.!]?$)", re.I),
    re.compile(rf"^call\s+{KIND}(?P<old>{WORD})\s+what\s+it\s+is:\s+(?P<new>{WORD})", re.I),
    re.compile(r"\b(?P<old>\w[\w.]*)\s+becomes\s+(?P<new>\w*_\w+|[a-z]+[A-Z]\w*)(?![\w./])", re.I),
    re.compile(r"\b(?P<old>\w+_\w+|[a-z]+[A-Z]\w*)\s+becomes\s+(?P<new>\w+)(?![\w./])"),
    re.compile(rf"\bcall\s+{KIND}(?P<old>{CODE})\s+(?P<new>{CODE})\s+instead", re.I),
    re.compile(rf"\brename\s+{KIND}(?P<old>{NAME})\s*(?:→|->|=>)\s*(?P<new>{NAME})", re.I),
]  # fmt: skip
MOVE = [
    re.compile(r"(?P<what>)(?P<old>[\w-]+(?:[./][\w-]+)+)\s+(?:becomes|is\s+now|moves\s+to|goes\s+to|→|->)\s+(?P<where>)(?P<new>[\w-]+(?:[./][\w-]+)+)"),
    re.compile(
        rf"\b(?:move|relocate|migrate|extract|pull|shift|transfer)\s+(?P<what>{KIND})(?P<old>{NAME})\s+(?:out\s+)?from\s+{KIND}(?P<place>{NAME})\s+"
        rf"(?:to|into|under)\s+(?P<where>{KIND})(?P<new>{NAME})", re.I),
    re.compile(
        rf"\b(?:move|relocate|migrate|extract|pull|shift|transfer|mov(?:ed|ing))\s+(?P<what>{KIND})(?P<old>{NAME})\s+(?:out\s+)?(?:to|into|under|→|->)\s+"
        rf"(?:(?:an?\s+)?(?:new\s+|separate\s+)?(?:module|file|package)\s+of\s+(?:its|their)\s+own[,:]?\s+(?:called\s+|named\s+)?|(?:its|their)\s+own\s+)?"
        rf"(?P<where>{KIND})(?!(?:of|where|that|which|in|for|so|and|with)\s)(?P<new>{NAME})", re.I),
]  # fmt: skip
DELETE = re.compile(
    rf"\b(?:delet(?:e|es|ing)|remov(?:e|es|ing)|drop(?:s|ping)?|get\s+rid\s+of|retire|kill|rip\s+out|strip\s+out|throw\s+(?:away|out))\s+"
    rf"(?P<what>{KIND})(?P<old>{NAME})(?P<more>(?:\s*(?:,|and|&)\s*{KIND}(?:{NAME}))*)", re.I,
)  # fmt: skip
A_VALUE = r"(?:\"[^\"\n]+\"|(?<!\w)'[^'\n]+'|`[^`\n]*[^\w.`/][^`\n]*`|(?<![\w.])-?\d\S*)"
"""No name of code: those become each other in renames."""
BEHAVIOUR = re.compile(
    r"\binstead\b|\brather\s+than\b|\bno\s+longer\b|\bin\s+place\s+of\b|\bchange[sd]?\s+(?:the\s+|how\s+|what\s+|its\s+|default|behaviou?r|output|"
    r"return)|\bnow\s+(?:returns?|raises?|prints?|takes?|uses?|accepts?|emits?|gives?|throws?|yields?|rejects?|rounds?|"
    r"sorts?|includes?|defaults?|shows?)\b|\bshould\s+now\b|\bmust\s+now\b|\breplace\s+.+\s+(?:with|by)\b|\bswitch\s+.+\s+to\b|"
    r"\b(?:raise|lower|increase|decrease|double|halve|extend|reduce|tighten|loosen)\s+the\s+(?:\w+\s+){0,2}(?:limit|default|timeout|threshold|"
    r"maximum|minimum|number|size|precision)\b|\bby\s+default\b|\bmake\s+.+\s+(?:default|optional|required|mandatory|case-insensitive|"
    r"case-sensitive|strict|inclusive|exclusive)\b|\bfrom\s+\S+\s+to\s+\S+|\bshow[s]?\s+(?!that\b).+\s+with\b|\breturn[s]?\s+.+\s+(?:(?<!such )as|with)\b|"
    r"\bformat\s+.+\s+(?:as|with|in)\b|\bchange\s+.+\s+to\b|\bbump\s+(?:the\s+)?version\b|"
    r"^(?:change|translate|set|raise|lower|increase|decrease|double|halve)\s+\S+.*\b(?:to|text|message|greeting|wording|default|format|limit)\b|"
    r"\b(?:default|limit|timeout|message|label|prefix|suffix|separator)\b.*\b(?:becomes?|is\s+now|to)\b|\bgreets?\s+with\b|"
    rf"{A_VALUE}\s+(?:becomes?|turns?\s+into|→|->|=>)\s+{A_VALUE}|"
    rf"(?<!\bcall )(?:\"[^\"\n]+\"|“[^”\n]+”)\s+(?:should|must|has\s+to|ought\s+to)\s+(?!not\b|stay|keep|remain|still)\w|"
    r"\bwith\s+(?:only\s+)?(?:one|two|three|four|no|\d+)\s+(?:decimals?|digits?|decimal\s+places?|places?)\b|"
    r"^(?:better|clearer|nicer|friendlier|shorter|longer|improved?|reword|rephrase)\b.*\b(?:errors?|messages?|texts?|wording|output|help|usage)\b",
    re.I,
)  # fmt: skip
SAYS_TODAY = re.compile(
    rf"\b(?:says|prints|shows|writes|reports|reads|gives|returns|ends\s+with|answers)\s+(?:only\s+|just\s+)?(?:{CODE}|“[^”\n]+”)",
    re.I,
)
SHALL_SAY = re.compile(
    rf"\b(?:should|must|has\s+to|shall|ought\s+to)\s+(?:rather\s+)?(?:say|print|show|write|report|read|give|return|end\s+with|answer|be)\s+"
    rf"(?:{CODE}|“[^”\n]+”)", re.I,
)  # fmt: skip
"""What comes out today, and what should: both quoted."""
ADDED = re.compile(
    r"(?:add|introduce|implement|create|provide|offer)\s+(?:an?\s+|the\s+|new\s+|function\s+|method\s+|helper\s+|class\s+)*"
    r"`?(?P<name>[A-Za-z][\w.]*[._]\w+|\w+(?=[(`]))", re.I,
)  # fmt: skip
"""A title that names the code it wants."""
TESTS_FOLLOW = re.compile(
    r"\b(?:adapt|adjust|update|change)\s+(?:the\s+|all\s+)?(?:old\s+|existing\s+|affected\s+|other\s+|present\s+)?tests\b(?!\s+for\b)|"
    r"\b(?:the|its|their)\s+tests?\s+(?:follows?|changes?\s+(?:with|along)|(?:is|are|was|were)\s+(?:adapted|adjusted|updated|changed))\b|"
    r"\b(?:old|existing|affected|other|present|those|these|some|few)\s+tests?\b[^.;\n]{0,40}\b(?:follow|change|be\s+(?:adapted|updated|adjusted|changed)|(?:need|want)s?\s+(?:it|the|a|an|to))\b", re.I,
)  # fmt: skip
"""The task knows that old tests say otherwise: they may follow, in constants and arguments."""
TEST_FILE = re.compile(
    r"(?:^|/)(?:tests?|spec|__tests__)/|(?:^|/)test_[^/]*$|_test\.\w+$|\.(?:test|spec)\.\w+$|Test\.java$"
)
TEST_NAME = re.compile(r"(?:[\w./-]+::)?(?:\w+::)*test_\w+(?:\[[^\]]*\])?$")
EDIT_VERB = re.compile(
    r"\b(?:edit|update|change|regenerate|re-generate|refresh|adjust|extend|rewrite|add|modify|amend|overwrite|record|re-record|correct|replace|bump|"
    r"append|set|insert|put|include|register|list|fix|remove|delete|drop|create|write|generate|tweak|rework|configure|move|adapt|declare|"
    r"mention|document|rebuild|upgrade|pin|enable|disable|teach|switch|clean|sort|format|reformat)\b", re.I,
)  # fmt: skip
NOT = re.compile(
    r"\b(?:do\s+not|don't|never|without|must\s+not|mustn't|should\s+not|shouldn't|not\s+to|leave|keep|cannot|can't|unchanged|untouched|"
    r"except|unlike|reads?|see|as\s+in|like\s+in|according\s+to|described\s+in|loaded\s+from|parse[sd]?)\b", re.I,
)  # fmt: skip
CODES = re.compile(
    r"\b([A-Z]{1,4}\d{3,4}|TS\d{4}|no-[a-z]+(?:-[a-z]+)*|react-hooks/[a-z-]+|attr-defined|import-untyped|import-not-found|arg-type)\b"
)
SILENCE = re.compile(r"\b(?:suppress|silence|ignore|noqa|type:\s*ignore|disable|allow|nosec|eslint-disable)\b", re.I)
DEPENDENCIES = re.compile(
    r"\b(?:depend\s+on|dependenc(?:y|ies)|requirements(?:\.txt)?|lock\s?files?|package-lock|poetry\.lock|uv\.lock|pinned\s+versions?)\b",
    re.I,
)
BUMP = re.compile(
    rf"\b(?:bump|upgrade|pin|unpin|downgrade|update)\s+(?:the\s+)?(?!the\b|version\b)(?:{NAME})\s+(?:version\s+)?(?:to|from|>=|==|~=|\^)\s*v?[\d.]",
    re.I,
)
CONFIG_WORD = re.compile(
    r"\b(?:rules?|config(?:ure|uration)?|settings?|options?|plugins?|strict(?:ness)?|enable|disable|turn\s+(?:on|off)|line[ -]length|target|"
    r"markers?|threshold|select|extend-select|per-file-ignores?|flags?|mode|set\s+up|setup|switch\s+on|adopt|introduce|preset|checks?)\b", re.I,
)  # fmt: skip
SNAPSHOT = re.compile(r"\b(?:regenerate|re-?generate|update|refresh|re-?record|renew)\b.{0,40}\bsnapshots?\b", re.I)

GOLDEN = re.compile(
    r"\b(?:update|regenerate|re-?generate|refresh|re-?record|renew|adjust|adapt)\b[^.;\n]{0,40}\b(?P<what>golden|expected|approved)\b",
    re.I,
)
"""Files of expected data by the word that folders and endings have, too."""
A_GOLDEN = re.compile(
    r"(?P<before>[\w./-]+\.\w+)`?\s+(?:golden|snapshot|approved|expected\s+output)\b|"
    r"\b(?:golden|snapshot|approved|expected)(?:\s+(?:file|output|data))?\s+`?(?P<behind>[\w./-]+\.\w+)", re.I,
)  # fmt: skip

FREE = frozenset({HarmlessKind.MOVE, HarmlessKind.REFACTORING, HarmlessKind.SETTINGS})
"""Kinds that the change itself cannot be held to."""
ORDER = re.compile(
    r"(?:please\s+)?(?:refactor(?:ing)?|restructure|reorgani[sz]e|clean(?:\s|-)?up|cleanup|tidy|simplify|de-?duplicate|inline|decouple|modulari[sz]e|"
    r"untangle|moderni[sz]e|rewrite\s+internals|rename|renaming|"
    r"(?:turn|switch)\s+o(?:n|ff)|enable|disable|configure|set\s+up|adopt|silence|suppress|"
    r"(?:add|update|change|extend|edit|improve|use|run|make|put|fix|drop|remove|pin)\b.*\b(?:ci|workflow|github\s+actions?|pipeline|"
    r"pre-commit|editorconfig|gitignore|lint\w*|config(?:uration)?|noqa|rules?|settings?|strict\w*))\b", re.I,
)  # fmt: skip
ORDER_ABOUT_CODE = re.compile(
    r"(?:please\s+)?(?:split|move|moving|relocate|migrate|extract|consolidate|unify|reuse|reorder|use|convert|turn|switch|put|pull|change\s+the\s+name|rewrite|"
    r"make\s+\S+\s+(?:a|an)\s+(?:frozen\s+|plain\s+)?(?:dataclass|enum|namedtuple|comprehension))\b",
    re.I,
)
ORDER_FOR_TESTS = re.compile(
    r"(?:please\s+)?(?:(?:add|write|extend|give)\s+)?(?:an?\s+|some\s+|more\s+|the\s+|it\s+)?(?:\w+\s+)?tests?\b(?!\s+(?:is|are|fails?|expects?))",
    re.I,
)
ABOUT_CODE = re.compile(
    r"`|\w[_./]\w|\w\(\)|\b(?:functions?|methods?|class(?:es)?|modules?|files?|packages?|helpers?|code|internals?|imports?|constants?|folders?|"
    r"f-strings?|pathlib|dataclass(?:es)?|enums?|comprehensions?|pytest|tests?|script|library|component|[A-Za-z]+[A-Z]\w*)\b"
)
WISH = re.compile(
    r"\b(?:should|must|shall|has\s+to|have\s+to)\s+(?!not\b|still\b|stay|keep|remain|go\s+on|continue|work\b|behave|pass\b|all\b|be\s+(?:the\s+same|unchanged|kept|moved|renamed|called))\w+",
    re.I,
)
"""Something that the program shall do, in a description."""
NOTHING_TO_SHOW = {
    HarmlessKind.DOCS: r"\b(?:docs?|document|documentation|readme|changelog|docstrings?|comments?|typos?|spelling|wording|guide|tutorial|license|licence|"
    r"contributing|release\s+notes|code\s+of\s+conduct|grammar|broken\s+links?|badges?|jsdoc|javadoc|godoc|rustdoc|doc\s?blocks?|faq|manual)\b",
    HarmlessKind.REFACTORING: r"\b(?:refactor(?:s|ing)?|restructure|reorgani[sz]e|clean(?:\s|-)?up|cleanup|tidy|simplify|de-?duplicate|extract|inline|split|"
    r"decouple|modulari[sz]e|consolidate|untangle|modernise|modernize|rewrite\s+internals|unify|reuse|reorder\s+(?:the\s+)?(?:functions|methods|classes|sections))\b|"
    r"\b(?:use|convert\s+.+\s+to|turn\s+.+\s+into|switch\s+to)\s+(?:a\s+|an\s+)?(?:f-strings?|pathlib|dataclass(?:es)?|enums?|comprehensions?|pytest|"
    r"context\s+managers?|async\s*/\s*await|arrow\s+functions?|const)\b|"
    r"\b(?:make|turn)\s+\S+\s+(?:into\s+)?(?:a|an)\s+(?:frozen\s+|plain\s+)?(?:dataclass|enum|namedtuple|comprehension)\b",
    HarmlessKind.MOVE: r"\b(?:rename|move|relocate|renaming|moving|change\s+the\s+name)\b",
    HarmlessKind.REMOVAL: r"\b(?:dead\s+code|unused|obsolete|delete|remove|retire|get\s+rid\s+of|drop)\b",
    HarmlessKind.LAYOUT: r"\b(?:reformat|format\s+(?:the\s+)?(?:code|source|files?)|formatting|code\s+style|whitespace|sort\s+(?:the\s+)?imports?|import\s+order|"
    r"black|prettier|gofmt|isort|line\s+endings?|indentation)\b",
    HarmlessKind.TYPES: r"\b(?:type\s+(?:hints?|annotations?)|annotate|annotations?|typing|py\.typed|mypy|pyright|typescript\s+types|typed)\b",
    HarmlessKind.DEPENDENCIES: r"^release\s+v?\d|^depend\s+on\b|\b(?:bump|upgrade|dependenc(?:y|ies)|lock\s?file|pin|unpin|dependabot|renovate)\b",
    HarmlessKind.SETTINGS: rf"\b(?:ci|workflow|github\s+actions?|pipeline|pre-commit|editorconfig|gitignore|lint(?:er|ing)?|config(?:uration)?|noqa|silence|suppress|"
    rf"{'|'.join(TOOLS)})\b",
    HarmlessKind.GENERATED: r"\b(?:regenerate|re-?generated?|snapshots?|golden|generated\s+(?:files?|code))\b",
    HarmlessKind.TESTS: r"\b(?:add|write|extend|improve|more|missing|stronger|increase)\b.{0,30}\b(?:tests?|coverage)\b|\btest\s+coverage\b|^tests?\b|"
    r"^(?:show|prove|check)\s+that\b|^(?:the\s+)?(?:group|mark|sort|tidy|check|split|order|name)?\b.{0,30}\btests?\b|"
    r"\b(?:stricter|tighten|strengthen|parametri[sz]e|speed\s+up)\b.*\b(?:tests?|assertions?)\b|\b(?:tests?|assertions?)\b.*\bstricter\b",
}  # fmt: skip
NOTHING = {
    name: re.compile(pattern, re.I) for name, pattern in sorted(NOTHING_TO_SHOW.items(), key=lambda one: one[0] in FREE)
}
"""The kinds that a change can be held to come first."""
NO_CHANGE = re.compile(
    r"\b(?:nothing|no\s+behaviou?r|no\s+public\s+\w+)\b.{0,40}\bchang(?:e|es|ed|ing)\b|\bbehaviou?r\s+(?:stays|remains|is\s+unchanged|does\s+not\s+change)\b|"
    r"\bno\s+(?:functional\s+|visible\s+)?changes?\s+(?:in|of|to|for)\b|\b(?:output|results?|api)\s+(?:must\s+|should\s+|has\s+to\s+)?(?:stays?|remains?|is|are|be)\s+(?:byte\s+for\s+byte\s+|exactly\s+)?(?:the\s+same|identical|unchanged)\b|"
    r"\bsame\s+(?:output|results?|behaviou?r)\b|\bwithout\s+(?:any\s+)?(?:change|changing)\b.{0,20}\b(?:behaviou?r|results?|output)\b|\bpure\s+refactoring\b", re.I,
)  # fmt: skip
ONLY_THERE = re.compile(
    r"\b(?:without\s+(?:it|them|that|one|an?\b|the\b)|default|otherwise|unless|if|when|where|else|omitted|unset|not\s+(?:given|set|passed|named)|"
    r"others?|existing\s+(?:callers?|users?|calls?|code))\b", re.I,
)  # fmt: skip
"""Nothing changes in one case, so something does in another."""
AN_EXAMPLE = re.compile(
    r"(?:`[^`\n]*[ (][^`\n]*`|\b\w+\([^()\n]*\))\s+(?:is|gives?|should\s+\w+|must\s+\w+|prints?|shows?|returns?|becomes?|→)\s+[\"'`“\d\[({<-]"
)
"""What comes out for what goes in."""
AS_BEFORE = re.compile(r"\b(?:still|as\s+before|keeps?|stays?|remains?|unchanged|same|today|currently|now)\b", re.I)
DOES_NOT = re.compile(
    r"\b(?:does|do)(?:\s+not|n['’]t)\s+(?!(?:mention|say|explain|describe|list|cover|document|build|name|tell|link|render|compile|"
    r"pass|have|use|need)\b)\w+", re.I,
)  # fmt: skip
"""A title that says what the program does wrong, whatever it compares it with."""
OWN_WORK = re.compile(r"(?:refactor|perf|style|cleanup)(?:\([^)]*\))?!?:\s", re.I)
"""The author of the task calls it work that changes nothing anybody sees."""
UNSTEADY_TEST = re.compile(
    r"\b(?P<test>test_\w+)\b.*\b(?:now\s+and\s+then|sometimes|flaky|unstable|stable|deterministic|marker|slow|rewrite|rework|update)\b|"
    r"\b(?:rewrite|rework|update|stabili[sz]e|mark|de-?flake|fix\s+the\s+flaky)\b.*\b(?P<after>test_\w+)\b", re.I,
)  # fmt: skip
CHANGES_ALONG = re.compile(
    r"^\S*(?:(?:,|,?\s+and)\s+\S+){0,4}?\s+(?:changes?|grows?|follows?|ha(?:s|ve)\s+to\s+(?:change|follow|be\s+(?:adapted|adjusted|changed|updated|regenerated))|must\s+(?:change|follow)|needs?\s+(?:updating|an?\s+update|the)|gets?|"
    r"is\s+(?:updated|regenerated|adapted|extended)|should\s+(?:change|follow|have|show|contain|be\s+(?:updated|regenerated|adapted)))\b", re.I,
)  # fmt: skip
SOMETHING = re.compile(
    r"\b(?:fix(?:e[sd]|ing)?|bugs?|crash(?:es)?|implement|support|features?|handle[sd]?|validate|reject|allow|return[s]?|raise[s]?|introduce|"
    r"correct|wrong|red|green|lost?|los(?:e|es|ing)|missing|fail(?:s|ed|ing|ure)?|error|broken|accept[s]?|compute|calculate|parse|detect|prevent|retry|cache|speed\s+up|"
    r"add\s+(?:a\s+|an\s+|the\s+)?(?:new\s+)?(?:command|option|flag|function|method|class|endpoint|parameter|argument|api|module|page|button|field|subcommand))\b", re.I,
)  # fmt: skip
STRONG = re.compile(
    r"\bfix(?:e[sd])?\s+(?:the\s+|a\s+)?(?:bug|crash|error|regression)|\bnew\s+feature|\badd\s+support\b|\bmust\s+now\b|\bimplement\b",
    re.I,
)
OF_DOCS = re.compile(
    r"\b(?:typos?|spelling|docs?|documentation|readme|links?|docstrings?|comments?|grammar|wording|changelog|example|badge|type\s+hints?|annotations?|lint\w*|warnings?|import\s+order|broken\s+links?)\b",
    re.I,
)


ORDINARY = frozenset(
    ["a", "an", "the", "it", "its", "this", "that", "these", "those", "all", "any", "some", "everything", "anything", "something", "nothing", "them", "they", "into", "onto", "to", "from", "trailing", "leading", "extra", "duplicate", "duplicates", "whitespace", "support", "python", "node", "limit", "check", "checks", "code", "logic", "output", "input", "line", "lines", "error", "errors", "warning", "warnings", "message", "messages", "debug", "test", "tests", "file", "files", "function", "functions", "value", "values", "name", "names", "argument", "arguments", "itself", "completely", "entirely"]
)  # fmt: skip
