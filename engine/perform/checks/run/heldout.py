"""Held-out commands: kept outside the repository, run at completion. The agent is told how many, never which."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from engine.core.model import CheckKind, CheckResult, Verdict
from engine.perform.checks.proof.check_result import check_result
from engine.perform.checks.run.execute import Tools, run_check
from engine.perform.checks.run.measure import Measurement
from engine.perform.checks.run.spec import CheckSpec, HeldOut
from engine.perform.process.spawning import Mount


async def run_held_out(tools: Tools, held: HeldOut, room: Path) -> tuple[CheckResult, Measurement]:
    """Strict: nothing was broken before in a test nobody has seen."""
    spec = CheckSpec(
        name=held.name,
        kind=CheckKind.OWN,
        command=tuple(part.replace("{folder}", str(held.folder)) for part in held.command),
        parser=held.parser,
        report=held.report,
        runner=held.runner,
        timeout=held.timeout,
        strict=True,
        env=held.env,
    )
    measured = await run_check(tools, spec, room, mounts=(Mount(source=held.folder, dest=held.folder),))
    result = check_result(spec, measured)
    counts = result.counts
    told = f"{counts.passed} of {counts.total} passed" if counts else f"verdict {result.verdict.value}"
    if result.verdict not in (Verdict.PASS, Verdict.FAIL):
        told = f"could not be measured ({told})"
    hidden = replace(
        result,
        reason=f"held out: {told}",
        failing=(),
        findings=(),
        output="",
        command="(held out)",
        errors=counts.failed if counts else result.errors,
    )
    return hidden, measured
