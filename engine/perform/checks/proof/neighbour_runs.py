"""Proofs once more, among their neighbours and in another room: two runs of one file, bounded in number and time.

The room of these runs is in other clothes than all the others (`witness/disguise`, `room.live_in`): a test that is
green in one and red in the other is green because somebody looked where it is.
"""

from __future__ import annotations

import asyncio
import posixpath
import re
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from engine.core.grants import Rule
from engine.core.model import Proof, TaskSpec
from engine.perform.checks.proof import examples_javascript, neighbours, varied_javascript
from engine.perform.checks.proof.command_neighbours import command_faults
from engine.perform.checks.proof.examples import Example, at_home, examples
from engine.perform.checks.proof.faults import Fault, question
from engine.perform.checks.proof.kept_arguments import may_change
from engine.perform.checks.proof.owned import Owner
from engine.perform.checks.proof.scales import green
from engine.perform.checks.proof.source_text import JAVASCRIPT as JAVASCRIPT_FILES
from engine.perform.checks.proof.test_blocks import blocks_of
from engine.perform.checks.proof.trial import Ahead, Trial
from engine.perform.checks.proof.varied_tests import MOST_TESTS, Copy, Varied, varied
from engine.perform.checks.run import witness
from engine.perform.checks.run.execute import Ask
from engine.perform.checks.run.measure import BAD, PASSED, Case, Measurement
from engine.perform.checks.run.runners import runner_of
from engine.perform.checks.run.spec import CheckSpec

RUNNERS = frozenset({"pytest", "unittest"})
JAVASCRIPT = frozenset({"node", "jest", "vitest", "mocha"})
MOST_FILES = 2
SECONDS = 12.0
"""For one of the two runs; what was told until then counts."""
ELSEWHERE = "fails in a room that looks like a checkout at work (a terminal, a .git, another process id)"


async def neighbour_faults(
    trial: Trial, spec: CheckSpec, proofs: Sequence[Proof], task: TaskSpec | None = None
) -> list[Fault]:
    """What has to be asked about the proofs of one check."""
    mine = [proof for proof in proofs if proof.check == spec.name]
    if spec.runner in JAVASCRIPT:
        return await _in_javascript(trial, spec, mine, task)
    if spec.runner not in RUNNERS:
        return await _in_another_room(trial, spec, mine) or await command_faults(trial, spec, mine)
    mine = [proof for proof in mine if proof.path.endswith(".py")]
    found: list[Fault] = []
    told = _examples(trial, task)
    for path in tuple(dict.fromkeys(proof.path for proof in mine))[:MOST_FILES]:
        found += await _of_file(trial, spec, path, [proof for proof in mine if proof.path == path], told)
    return found


def _examples(trial: Trial, task: TaskSpec | None) -> list[Example]:
    """Those of the task's words, each with the module that has its function."""
    return at_home(examples(task), _program(trial))


def _program(trial: Trial) -> dict[str, bytes]:
    ground = trial.change.ground
    sources = {path: text for path, text in ground.sources.items() if not ground.is_test(path)}
    return sources | {one.path: one.after for one in trial.change.owned if one.owner is Owner.SUBJECT and one.after}


async def _in_javascript(trial: Trial, spec: CheckSpec, proofs: Sequence[Proof], task: TaskSpec | None) -> list[Fault]:
    """As in Python, for test files in which single tests can be found; the others have the other room."""
    found: list[Fault] = []
    left = list(proofs)
    observer = "\n".join(map(witness.script, ("near_observer", "told_examples")))
    rooms = trial.change.rooms
    told = examples_javascript.at_home(examples_javascript.examples(task), _program(trial))
    for path in tuple(dict.fromkeys(proof.path for proof in proofs if proof.path))[:MOST_FILES]:
        mine = [proof for proof in proofs if proof.path == path]
        source = await asyncio.to_thread(trial.trees.show, rooms.r2, path)
        ids = [proof.name for proof in mine]
        made = varied_javascript.varied(source, ids, observer, told, path) if source else None
        if made is None:
            continue
        text, names = made
        change = await _run(trial, spec, "neighbours", rooms.r2, path, text.text)
        if not any(neighbours.outcome(proof.name, change) for proof in mine):
            continue  # it could not be loaded with the copies in it
        left = [proof for proof in left if proof.path != path]
        by_name = {name: proof for name, id in names.items() for proof in mine if proof.name == id}
        found += await _elsewhere(trial, spec, path, mine, change)
        found += _unsteady(text, by_name, change)
        found += _contradicted(told, text, change, mine[0])
        more = bool(text.kept) or any(not told[_number(name)].sure for name in text.examples)
        if found or not (more or any(copy.slot >= 0 for copy in text.copies)):
            continue
        base = await _run(trial, spec, "neighbours R3", rooms.r3, path, text.on_base)
        found += _as_today(told, text, base, change, mine[0])
        found += _not_kept(text, base, change, mine[0], trial.change.ground.words)
        alone = await _no_files(trial, replace(text, copies=_alone(text, names, path, source or b"")))
        found += _special(trial, by_name, neighbours.doubts(alone, base, change))
    return found + await _in_another_room(trial, spec, left)


def _alone(made: Varied, names: Mapping[str, str], path: str, source: bytes) -> tuple[Copy, ...]:
    """Copies without those of an input that hangs together with what stands around its test: a route of its set-up."""
    blocks = {block.name: block.text for block in blocks_of(path, source)}
    text = source.decode("utf-8", "replace")

    def apart(copy: Copy) -> bool:
        own = blocks.get(names.get(copy.test, "").partition("::")[2], "")
        inner = copy.was.strip("\"'`")
        if copy.slot < 0 or not own:
            return True
        around = text.replace(own, " ")
        if any(re.search(rf"(?<![\w$.]){re.escape(name)}{_ALTERS}", own) for name in _MADE_OUTSIDE.findall(around)):
            return False  # one copy alters what the next one finds
        if len(inner) < MEANT:
            return True
        return not any(inner in one and inner != one for one in _TEXTS.findall(around))

    return tuple(copy for copy in made.copies if apart(copy))


async def _in_another_room(trial: Trial, spec: CheckSpec, proofs: Sequence[Proof]) -> list[Fault]:
    """Proofs of other runners and commands: there are no neighbours, but there is the other room."""
    if not proofs:
        return []
    tree = trial.change.rooms.r2
    files = tuple(dict.fromkeys(proof.path for proof in proofs if proof.path))[:MOST_FILES]
    if runner_of(spec).picks_files and files:
        ask = Ask(known=trial.known, helpers=trial.change.helpers, canaries=False, brief=True, disguise=True)
        runs = await trial.files("other room", tree, spec, files, ask)
        red = [proof for proof in proofs if neighbours.outcome(proof.name, runs) in BAD]
    else:
        runs = await trial.whole("other room", tree, [spec], disguise=True)
        red = [] if all(green(run) for run in runs) else list(proofs[:1])
    return [_asked(Rule.DETECTS_TESTS, f"{proof.name} {ELSEWHERE}", proof) for proof in red]


async def _of_file(
    trial: Trial, spec: CheckSpec, path: str, proofs: Sequence[Proof], told: Sequence[Example]
) -> list[Fault]:
    rooms = trial.change.rooms
    source = await asyncio.to_thread(trial.trees.show, rooms.r2, path)
    by_name = {name_in_file(proof.name, path): proof for proof in proofs}
    tried = trial.near.get(path, ())
    made = varied(source, tried if set(by_name) <= set(tried) else by_name, told) if source is not None else None
    if made is None:
        return []
    change = await _run(trial, spec, "neighbours", rooms.r2, path, made.text)
    _untried(trial, path, proofs, change)
    found = await _elsewhere(trial, spec, path, proofs, change) or _unsteady(made, by_name, change)
    found += _contradicted(told, made, change, proofs[0])
    more = bool(made.kept) or any(not told[_number(name)].sure for name in made.examples)
    if found or not (more or any(copy.slot >= 0 for copy in made.copies)):
        return found
    base = await _run(trial, spec, "neighbours R3", rooms.r3, path, made.on_base)
    found += _as_today(told, made, base, change, proofs[0])
    found += _not_kept(made, base, change, proofs[0], trial.change.ground.words)
    return found + _special(trial, by_name, neighbours.doubts(await _no_files(trial, made), base, change))


async def _no_files(trial: Trial, made: Varied) -> Varied:
    """Copies without those of a text that is the name of a file in the tree: there is none of a name beside it."""
    files = await asyncio.to_thread(trial.trees.files, trial.change.rooms.r2)
    names = {posixpath.basename(path) for path in files} | set(files)
    return replace(made, copies=tuple(copy for copy in made.copies if copy.was.strip("\"'`") not in names))


def _untried(trial: Trial, path: str, proofs: Sequence[Proof], change: Sequence[Measurement]) -> None:
    """A file that no longer runs with our copies in it asks nothing: the evidence says so, and why."""
    if any(neighbours.outcome(proof.name, change) for proof in proofs):
        return
    said = [f"{case.error}: {case.text}".strip(": ") for run in change for case in run.report.cases if case.text]
    said += [line for run in change for line in run.report.problems]
    why = (said or ["nothing was said"])[0][:200]
    trial.notes.append(f"{path} could not be run among its neighbours ({why}): nothing beside its own inputs was tried")


_TEXTS = re.compile(r"(?<=['\"`])[^'\"`\n]+(?=['\"`])")
MEANT = 3
"""Letters from which on a text is no accident inside of another one."""


def _special(trial: Trial, by_name: Mapping[str, Proof], doubts: Sequence[neighbours.Doubt]) -> list[Fault]:
    sources = {one.path: (trial.change.had(one), one.after) for one in trial.change.owned if one.owner is Owner.SUBJECT}
    return [
        _asked(Rule.SPECIAL_CASED, f"{by_name[doubt.test].name}: {doubt.text}", by_name[doubt.test])
        for doubt in neighbours.told_of(doubts, sources, trial.change.ground.words)
        if doubt.test in by_name
    ]


def _unsteady(made: Varied, by_name: Mapping[str, Proof], change: Sequence[Measurement]) -> list[Fault]:
    return [
        _asked(Rule.NEWLY_FLAKY, f"{proof.name} is now green, now red when it is repeated", proof)
        for name, proof in by_name.items()
        if neighbours.unsteady(made, name, change)
    ]


def _contradicted(told: Sequence[Example], made: Varied, change: Sequence[Measurement], proof: Proof) -> list[Fault]:
    """Examples in the task's own words that the change does not keep."""
    found = []
    for name in made.examples:
        example = told[_number(name)]
        seen = neighbours.cases(change, name)
        if example.sure and (_denied(seen) or _lacks(seen, example)):
            found.append(_asked(Rule.NOT_DONE, f"the task says that {example.words}: that does not hold", proof))
    return found


def _as_today(
    told: Sequence[Example], made: Varied, base: Sequence[Measurement], change: Sequence[Measurement], proof: Proof
) -> list[Fault]:
    """Examples of which the base tells what they are: how it is today, which must be over, or else what is wanted."""
    found = []
    for name in made.examples:
        example = told[_number(name)]
        was, now = neighbours.cases(base, name), neighbours.cases(change, name)
        if example.sure or not now:
            continue
        if was and was[0].outcome == PASSED:
            if example.symptom and now[0].outcome == PASSED:
                text = f"the task says that today {example.words}: it does so still"
                found.append(_asked(Rule.NOT_DONE, text, proof))
        elif _denied(now):
            found.append(_asked(Rule.NOT_DONE, f"the task says that {example.words}: that does not hold", proof))
    return found


def _not_kept(
    made: Varied, base: Sequence[Measurement], change: Sequence[Measurement], proof: Proof, words: str
) -> list[Fault]:
    """A call that answers and changes its arguments, where the base's did not."""
    for name in made.kept:
        was, now = neighbours.cases(base, name), neighbours.cases(change, name)
        if _denied(now) and not _denied(was) and not may_change(words):
            text = f"a call of {proof.name} changes the arguments it is given, and the task does not ask for that"
            return [_asked(Rule.OTHERWISE, text, proof)]
    return []


_NO_ATTRIBUTE = re.compile(r"object has no attribute '(\w+)'|\.(\w+) is not a function")


def _lacks(cases: Sequence[Case], example: Example) -> bool:
    """What the task calls on something is not there."""
    match = _NO_ATTRIBUTE.search(cases[0].text) if cases and cases[0].outcome in BAD else None
    return match is not None and f".{match[1] or match[2]}(" in example.call


def _denied(cases: Sequence[Case]) -> bool:
    return bool(cases) and cases[0].outcome in BAD and cases[0].error in ("AssertionError", "NotAsTold")


def _number(name: str) -> int:
    return int(name.rpartition("__e")[2])


def _asked(rule: Rule, text: str, proof: Proof) -> Fault:
    case = Case(id=proof.name, outcome=PASSED, path=proof.path)
    return question(rule, text, f"accept {rule} in {proof.name}", case, proof.check)


async def _elsewhere(
    trial: Trial, spec: CheckSpec, path: str, proofs: Sequence[Proof], change: Sequence[Measurement]
) -> list[Fault]:
    """The proofs themselves, in the other room."""
    red = [proof for proof in proofs if neighbours.outcome(proof.name, change) in BAD]
    alone = await _run(trial, spec, "other room", trial.change.rooms.r2, path, None) if red else []
    found = []
    for proof in red:
        if neighbours.outcome(proof.name, alone) in BAD:
            why = ELSEWHERE
        elif await asyncio.to_thread(_shares, trial, path, proof.name):
            continue  # the copies, and not the code, have changed what it is asked about
        else:
            why = "fails after other calls of the same code in one process"
        found.append(_asked(Rule.DETECTS_TESTS, f"{proof.name} {why}", proof))
    return found


_MADE_OUTSIDE = re.compile(
    r"\b(?:const|let|var)\s+(\w+)\s*=(?!=)(?!\s*(?:await\s+)?(?:require|import)\b)"
    r"(?!\s*(?:async\s*)?(?:\([^()\n]*\)|\w+)\s*=>)"
)
_ALTERS = r"\.(?:set|add|push|put|define|delete|insert|append|update|write|register|remove|clear|on)\w*\("


def _shares(trial: Trial, path: str, id: str) -> bool:
    """A test in JavaScript that uses something made once for several tests of its file."""
    source = trial.trees.show(trial.change.rooms.r2, path) if path.endswith(JAVASCRIPT_FILES) else None
    own = next(
        (one.text for one in blocks_of(path, source or b"") if one.name == id.partition("::")[2].rstrip("'")), ""
    )
    text = (source or b"").decode("utf-8", "replace").replace(own, " ") if own else ""
    return any(re.search(rf"(?<![\w$.]){re.escape(name)}\b", own) for name in _MADE_OUTSIDE.findall(text))


async def _run(trial: Trial, spec: CheckSpec, name: str, tree: str, path: str, text: bytes | None) -> list[Measurement]:
    run = await _planned(trial, tree, path, text)
    return await trial.files(name, run.tree, spec, run.files, run.ask)


async def _planned(trial: Trial, tree: str, path: str, text: bytes | None) -> Ahead:
    edited = await asyncio.to_thread(trial.trees.edit, tree, {path: text}) if text is not None else tree
    ask = Ask(
        known=trial.known, helpers=trial.change.helpers, canaries=False, brief=True, disguise=True, timeout=SECONDS
    )
    return Ahead(tree=edited, files=(path,), ask=ask)


async def neighbours_ahead(
    trial: Trial, spec: CheckSpec, tests: Mapping[str, Sequence[str]], task: TaskSpec | None, *trees: str
) -> list[Ahead]:
    """The neighbours of tests (ids by file) over each of the trees in turn, as they will be asked for.

    Also of tests that turn out to be no proof, where they are few enough for one file.
    """
    if spec.runner not in RUNNERS:
        return []
    found = []
    for path, ids in [(path, ids) for path, ids in tests.items() if path.endswith(".py")][:MOST_FILES]:
        names = tuple(dict.fromkeys(name_in_file(id, path) for id in ids))
        names = known if set(names) <= set(known := trial.near.get(path, ())) else names
        source = await asyncio.to_thread(trial.trees.show, trial.change.rooms.r2, path)
        if source is None or len({name.partition("[")[0] for name in names}) > MOST_TESTS:
            continue
        made = varied(source, names, _examples(trial, task))
        if made is not None and any(copy.slot >= 0 for copy in made.copies):
            trial.near[path] = names
            for tree in trees:
                text = made.on_base if tree == trial.change.rooms.r3 else made.text
                found.append(await _planned(trial, tree, path, text))
    return found


def name_in_file(id: str, path: str) -> str:
    """`Class::name` of a test's id, as pytest and unittest write them; parameters left out."""
    bare = id.partition("[")[0]
    if "::" in bare:
        return bare.partition("::")[2]
    module = path.removesuffix(".py").replace("/", ".")
    inside = bare.partition(module + ".")[2] or ".".join(bare.split(".")[-2:])
    return inside.replace(".", "::")
