"""make bench: every benchmark, beside what the design holds. Ratios and CPU counts; it never fails on a time."""

from __future__ import annotations

import importlib
import json
import time
from pathlib import Path

NAMES = (
    "bench_engine",
    "bench_lanes",
    "bench_viewers",
    "bench_ladder",
    "bench_journal",
    "bench_workspace",
    "bench_checks",
    "bench_faults",
    "bench_growth",
    "bench_output",
    "bench_curves",
    "bench_tui",
)


def main() -> None:
    results = {}
    for name in NAMES:
        module = importlib.import_module(f"tests.benchmarks.{name}")
        print(f"── {name}", flush=True)
        results[name] = module.run()
        print(json.dumps(results[name], indent=2), flush=True)
    folder = Path("bench-results")
    folder.mkdir(exist_ok=True)
    path = folder / f"{time.strftime('%Y%m%d-%H%M%S')}.json"
    path.write_text(json.dumps(results, indent=2))
    print(f"written to {path}")


if __name__ == "__main__":
    main()
