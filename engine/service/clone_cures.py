"""A clone that is not as green as the checkout: what could mend it is tried, and whatever helps was the cause."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from engine.core.clean import clean_line
from engine.core.model import CheckKind, Struct
from engine.perform.checks.presets import project_files as reading
from engine.perform.checks.presets.javascript import after_build
from engine.perform.checks.run.comparison import Difference, differences
from engine.perform.checks.run.measure import Measurement
from engine.perform.checks.run.moving_names import MOVES, Mask, settle
from engine.perform.checks.run.spec import CheckSpec
from engine.perform.rehearsal import Rehearsal
from engine.perform.workspace.checkout_copy import as_patterns
from engine.perform.workspace.secrets import named_like_a_secret
from engine.service.findings import Finding
from engine.service.native_builds import SECONDS, build_of, native

BUILT = (".so", ".pyd", ".js", ".cjs", ".mjs", ".css", ".map", ".d.ts")

Say = Callable[[str], None]


class Tried(Struct, frozen=True, kw_only=True):
    """A check that works in the checkout, and how it went in both places."""

    spec: CheckSpec
    here: Measurement
    there: Measurement
    differs: tuple[Difference, ...] = ()


async def cured(
    rehearsal: Rehearsal, tried: list[Tried], say: Say, *, act: bool
) -> tuple[list[Tried], tuple[str, ...], list[Finding]]:
    """Try what could make the clone like the checkout; keep what helps."""
    workspace = rehearsal.workspace
    tried, findings = await _by_luck(rehearsal, tried, say)
    if act:
        tried, built = await _build_first(rehearsal, tried, say)
        findings += built
    only_here = await asyncio.to_thread(rehearsal.only_here)
    secret = {path for path in only_here if named_like_a_secret(path.encode("utf-8", "surrogateescape"))}
    wanted = as_patterns(only_here - secret)
    copy: tuple[str, ...] = ()
    if wanted and any(one.differs for one in tried):
        say("with the ignored files that the checks read")
        before = workspace.copy
        workspace.copy = tuple(dict.fromkeys((*before, *wanted)))
        again = await _again(rehearsal, tried)
        if _left(again) < _left(tried):
            line = f"workspace.copy = [{', '.join(repr(path) for path in workspace.copy)}]".replace("'", '"')
            words = f"the checks need {_some(wanted)}: ignored, so no clone has it"
            stale = [path for path in only_here - secret if path.endswith(BUILT)]
            if stale:
                words += "; built files are copied as they are, so a change of their sources is not seen by the tests"
            findings.append(Finding(mark="ok" if act else "bad", what="copied", found=words, hint="" if act else line))
            tried, copy = again, wanted
            if act and (compiled := native(only_here - secret)):
                copy = as_patterns(only_here - secret - compiled)
                workspace.copy = tuple(dict.fromkeys((*before, *copy)))
                tried, done = await _build_native(rehearsal, tried, compiled, say)
                if done:
                    words = f"{_some(sorted(compiled))}: built in each room before the tests, from the sources there"
                    findings[-1:] = [Finding(mark="ok", what="built", found=words)]
                    if copy:
                        words = f"the checks need {_some(copy)}: ignored, so no clone has it"
                        findings.append(Finding(mark="ok", what="copied", found=words))
                else:
                    copy = wanted
                    workspace.copy = tuple(dict.fromkeys((*before, *copy)))
        else:
            workspace.copy = before
    tried, given = await _network(rehearsal, tried, say, act)
    findings += given
    findings += [_explained(one, secret) for one in tried if one.differs]
    return tried, copy, findings


async def _by_luck(rehearsal: Rehearsal, tried: list[Tried], say: Say) -> tuple[list[Tried], list[Finding]]:
    """What passes when nothing but the time changed was no difference, and whatever is tried next is not its cure."""
    say("once more in a clone")
    done, findings = [], []
    for one, again in zip(tried, await _again(rehearsal, tried), strict=True):
        masks = rehearsal.learn_names(one.spec, one.there, again.there)
        if not masks and again.differs:
            masks = rehearsal.learn_numbers(again.spec, again.here, again.there)
        if masks:
            one, again = _under(one, masks), _under(again, masks)
            moving = [case.id for case in again.there.report.cases if MOVES in case.id]
            words = f"{one.spec.name}: {_some(moving)}: another name in every run; held by what stays of it"
            findings.append(Finding(mark="note", what="names", found=words))
        still = {difference.id for difference in again.differs}
        lucky = [difference.id or one.spec.name for difference in one.differs if difference.id not in still]
        if lucky:
            words = f"{one.spec.name}: {_some(lucky)} failed in a clone and passes there now, with nothing changed"
            findings.append(Finding(mark="note", what="flaky", found=words))
            known = {difference.id for difference in one.differs}
            again = replace(again, differs=tuple(left for left in again.differs if left.id in known))
        done.append(again)
    return done, findings


def _under(one: Tried, masks: Sequence[Mask]) -> Tried:
    """With the names that stay."""
    here, there = settle(one.here, masks), settle(one.there, masks)
    return replace(one, here=here, there=there, differs=differences(one.spec, here, there))


async def _again(rehearsal: Rehearsal, tried: list[Tried]) -> list[Tried]:
    done = []
    for one in tried:
        if one.differs:
            (there,) = await rehearsal.in_clone([one.spec])
            one = replace(one, there=there, differs=differences(one.spec, one.here, there))
        done.append(one)
    return done


async def _build_first(rehearsal: Rehearsal, tried: list[Tried], say: Say) -> tuple[list[Tried], list[Finding]]:
    """Tests that read what was built in the checkout: built in the room, they see the change."""
    done, findings = [], []
    for one in tried:
        folder = rehearsal.workspace.checkout / one.spec.folder
        scripts = reading.table(reading.as_json(reading.text(folder / "package.json")), "scripts")
        if one.differs and scripts.get("build") and one.spec.kind is CheckKind.TESTS:
            spec = after_build(one.spec, ("npm run build",))
            say(f"{spec.name} after npm run build in a clone")
            (there,) = await rehearsal.in_clone([spec])
            differs = differences(spec, one.here, there)
            if len(differs) < len(one.differs):
                words = f"{spec.name} reads what npm run build makes: it is built before the tests"
                findings.append(Finding(mark="ok", what="built", found=words))
                one = replace(one, spec=spec, there=there, differs=differs)
        done.append(one)
    return done, findings


async def _build_native(
    rehearsal: Rehearsal, tried: list[Tried], built: frozenset[str], say: Say
) -> tuple[list[Tried], bool]:
    """Extension modules: built in the room instead of copied, if the tests are as green then."""
    done = []
    for one in tried:
        build = build_of(one.spec, rehearsal.workspace.checkout, built)
        if build:
            spec = replace(one.spec, build=build, timeout=max(one.spec.timeout, SECONDS))
            say(f"{spec.name} with its extension modules built in a clone")
            (there,) = await rehearsal.in_clone([spec])
            one = replace(one, spec=spec, there=there, differs=differences(spec, one.here, there))
        done.append(one)
    good = any(one.spec.build for one in done) and _left(done) <= _left(tried)
    return (done, True) if good else (tried, False)


async def _network(rehearsal: Rehearsal, tried: list[Tried], say: Say, act: bool) -> tuple[list[Tried], list[Finding]]:
    done, findings = [], []
    for one in tried:
        if one.differs and not one.spec.network:
            say(f"{one.spec.name} in a clone, with the network")
            spec = replace(one.spec, network=True)
            (there,) = await rehearsal.in_clone([spec])
            differs = differences(spec, one.here, there)
            if len(differs) < len(one.differs):
                words = f"{spec.name} needs the network ({one.differs[0].id or 'all of it'})"
                hint = "" if act else f'network = true   in [[checks.run]] of "{spec.name}"'
                findings.append(Finding(mark="note" if act else "bad", what="network", found=words, hint=hint))
                one = replace(one, spec=spec if act else one.spec, there=there, differs=differs)
        done.append(one)
    return done, findings


def _explained(one: Tried, secret: set[str]) -> Finding:
    first = one.differs[0]
    more = f" and {len(one.differs) - 1} more" if len(one.differs) > 1 else ""
    said = telling_line(first.text)
    words = f"{one.spec.name}: {first.id or 'the check'}{more} passes in your checkout, is {first.clone} in a clone"
    hint = f"look at: {said}" if said else "devteam doctor --run shows what differs once it is mended"
    if secret:
        names = ", ".join(sorted(secret)[:3])
        words += f"; the checks read {names}, which is not copied because of its name"
        hint = f'workspace.copy = ["{min(secret)}"]   if agents may see it'
    elif said:
        words += f": {said}"
        hint = _hint(first.text)
    return Finding(mark="bad", what="only in a clone", found=words, hint=hint)


def _hint(said: str) -> str:
    """What mends a test that is red in a clone only, by what it said there."""
    if missing := re.search(r"No module named '([\w.]+)'|Cannot find module '([^']+)'", said):
        return f"git add what provides {missing[1] or missing[2]}, or name it in workspace.copy"
    if missing := re.search(r"(?:No such file or directory|ENOENT)[^'\"]*['\"]([^'\"]+)['\"]", said):
        return f"git add {missing[1]}, or name it in workspace.copy"
    if "not a git repository" in said:
        return "let the tests make a repository of their own: a clean room has no .git"
    return "make the test independent of what is not committed, or name the file in workspace.copy"


def telling_line(text: str) -> str:
    """The line of an error that says most."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("npm notice")]
    lines = [line for line in lines if not re.match(r"at \S+.*:\d+:\d+\)?$", line)] or lines  # frames of JavaScript
    telling = [line for line in lines if re.search(r"Error|error|No such|not found|cannot|Cannot", line)]
    if maven := [line for line in lines if line.startswith("[ERROR] ")]:
        telling = maven[:1]  # the rest is where to read more
    return clean_line((telling or lines or [""])[-1]).removeprefix("E   ").strip()[:200]


def _left(tried: list[Tried]) -> int:
    return sum(len(one.differs) for one in tried)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
