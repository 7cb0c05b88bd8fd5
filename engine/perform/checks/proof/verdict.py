"""From what the runs saw to the verdict. Pure: faults and proofs in, one word and one sentence out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.core.model import Proof, ProofVerdict, Struct
from engine.perform.checks.proof.faults import Fault


class Outcome(Struct, frozen=True, kw_only=True):
    """What a change is, in one word and one sentence."""

    verdict: ProofVerdict
    reason: str


def conclude(
    faults: Sequence[Fault], proofs: Sequence[Proof], *, nothing_to_show: bool, changed: bool, ran: Mapping[str, int]
) -> Outcome:
    """FAIL before ERROR before QUESTION; then what was shown. `ran`: tests that passed, by check that counts them."""
    for verdict in (ProofVerdict.FAIL, ProofVerdict.ERROR, ProofVerdict.QUESTION, ProofVerdict.UNPROVEN):
        found = [fault for fault in faults if fault.verdict is verdict]
        if found:
            more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            return Outcome(verdict=verdict, reason=f"{found[0].text}{more}")
    if not changed:
        return Outcome(verdict=ProofVerdict.UNPROVEN, reason="nothing was changed: the tree is the one of the base")
    if proofs:
        first = proofs[0]
        more = f" and {len(proofs) - 1} more" if len(proofs) > 1 else ""
        return Outcome(verdict=ProofVerdict.PROVEN, reason=f"red → green: {first.name}{more}")
    if ran and not any(ran.values()):
        return Outcome(verdict=ProofVerdict.UNPROVEN, reason=f"no test passed in {', '.join(ran)}: nothing was shown")
    if nothing_to_show:
        return Outcome(
            verdict=ProofVerdict.HARMLESS, reason="nothing broke; the plan says that there is nothing to show"
        )
    return Outcome(
        verdict=ProofVerdict.UNPROVEN,
        reason="nothing broke, but nothing was shown: no test or verify command was red on the base and is green now",
    )


WHAT_WOULD_PROVE = (
    "To prove the change, one of these must be red without it and green with it: a test that you add (it has to "
    "fail on the old code for the reason the task names), a test that is red today, or the task's verify command."
)
