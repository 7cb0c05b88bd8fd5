"""`python -m tests.simulate [FIRST] [COUNT]`: seeds one after another; the failing ones are printed and counted.

The journals lie in memory where the machine has such a place. Every thousand seeds a line says how far it is.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.simulate.disk import place
from tests.simulate.simulation import simulate

EVERY = 1000


def main(first: int, count: int) -> int:
    outcomes: Counter[str] = Counter()
    failed: list[int] = []
    for seed in range(first, first + count):
        with tempfile.TemporaryDirectory(dir=place()) as folder:
            try:
                outcomes[simulate(seed, Path(folder)).outcome] += 1
            except AssertionError as error:
                failed.append(seed)
                print(f"seed {seed}: {str(error)[:600]}", flush=True)
        done = seed + 1 - first
        if done % EVERY == 0:
            each = 1000 * time.process_time() / done
            print(f"{done} of {count}: {len(failed)} failed, {each:.0f} ms of CPU a seed", flush=True)
    said = ", ".join(f"{n} {name}" for name, n in sorted(outcomes.items()))
    print(f"{count} seeds from {first} in {time.process_time():.0f} s of CPU: {said}; failed: {failed or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    sys.exit(main(*(given + [0, 1000][len(given) :])))
