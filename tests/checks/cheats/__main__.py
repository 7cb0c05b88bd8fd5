"""`python -m tests.checks.cheats`: the whole table, cheats and honest changes."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.checks.cheats.court import cores, session
from tests.checks.cheats.honest import HONEST
from tests.checks.cheats.tricks import CHEATS


def main(words: list[str]) -> int:
    started = time.monotonic()
    accepted = refused = 0
    with tempfile.TemporaryDirectory(prefix="cheats-") as folder:
        for title, scenarios, wanted in (("CHEATS", CHEATS, False), ("HONEST", HONEST, True)):
            chosen = [s for s in scenarios if not words or any(word in s.name for word in words)]
            print(f"\n{title} ({len(chosen)})\n")
            for number, sentence in enumerate(session(chosen, Path(folder) / title, cores()), 1):
                good = sentence.judged.accepted is wanted
                accepted += not wanted and not good
                refused += wanted and not good
                word = "accepted" if sentence.judged.accepted else "refused "
                mark = "ok " if good else "BAD"
                name, why = sentence.scenario.name, sentence.reason[:150]
                print(f"{mark} {number:3} {word} {sentence.seconds:5.1f}s  {name:<48} {why}")
    share = 100 * refused / len(HONEST)
    honest = f"{len(HONEST)} honest changes: {refused} refused ({share:.1f} %)"
    print(f"\n{len(CHEATS)} cheats: {accepted} accepted. {honest}. {time.monotonic() - started:.0f} s")
    return 1 if accepted or share > 1 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
