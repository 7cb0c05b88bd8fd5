"""The index ladder beside 2/2/3, both through `decide`, on recorded results (../shared; skipped where it is absent)."""

from __future__ import annotations

from typing import Any

from tests.core.ladder_replay import MATRIX, compare, recorded


def run() -> dict[str, Any]:
    if MATRIX is None:
        return {"skipped": "the recorded matrix is not here"}
    found: dict[str, Any] = {}
    for name in ("A", "C", "E"):
        for value in (3.0, 20.0):
            usual, index = compare(recorded(name), value)
            found[f"{name}, a task is worth ${value:g}"] = {
                "2/2/3": f"{usual.rate:.1%} at ${usual.usd / usual.tasks:.3f} a task",
                "index": f"{index.rate:.1%} at ${index.usd / index.tasks:.3f} a task",
                "ratio (hold 0.4 to 0.9 at $20)": round(index.usd / usual.usd, 2),
            }
    return found


if __name__ == "__main__":
    for name, row in run().items():
        print(name, row)
