"""temporary"""

from engine.core.model import Rung, Struct, TaskSpec


class Measured(Struct, frozen=True, kw_only=True):
    score: int


def assess(spec: TaskSpec) -> Measured:
    return Measured(score=spec.complexity if spec.complexity is not None else 6)


def start_rung(spec: TaskSpec, measured: Measured, rungs: tuple[Rung, ...]) -> tuple[int, str]:
    for i, r in enumerate(rungs):
        if r.name == spec.agent:
            return i, "named"
    n = len(rungs)
    i = 0 if measured.score <= 4 else (n - 1 if measured.score >= 9 else min(1, n - 1))
    return i, f"complexity {measured.score}"
