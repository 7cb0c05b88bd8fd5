"""`python -m tests.simulate [FIRST] [COUNT]`: seeds one after another; the failing ones are printed and counted."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.simulate.simulation import simulate


def main(first: int, count: int) -> int:
    outcomes: Counter[str] = Counter()
    for seed in range(first, first + count):
        with tempfile.TemporaryDirectory() as folder:
            try:
                outcomes[simulate(seed, Path(folder)).outcome] += 1
            except AssertionError as error:
                outcomes["FAILED"] += 1
                print(f"seed {seed}: {str(error)[:600]}", flush=True)
    print(f"{count} seeds from {first}: " + ", ".join(f"{n} {name}" for name, n in sorted(outcomes.items())))
    return 1 if outcomes["FAILED"] else 0


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    sys.exit(main(*(given + [0, 1000][len(given) :])))
