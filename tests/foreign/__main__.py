"""`make test-foreign`: the chosen projects side by side, and at the end one table of them all.

`--more` takes every project and shape that is known here, `--workers=N` so many at a time (2), `--table=FILE` writes
the table as Markdown; anything else is given to pytest.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.foreign.serving import Row

ROOT = Path(__file__).parents[2]
MOST_ASKED = 0.1
HEAD = "| project | what | checks found | honest | wrong | own tests after landing | paid before a refusal | CPU |"


def counted(outcomes: list[str]) -> str:
    return ", ".join(f"{number} {how}" for how, number in sorted(Counter(outcomes).items())) or "–"


def line(row: Row) -> str:
    cells = (row.version or row.project, row.what, row.init, counted(row.honest), counted(row.wrong), counted(row.own))
    return f"| {' | '.join(cells)} | {row.paid} | {row.ratio()} |"


def table(rows: list[Row]) -> str:
    honest, wrong = ([how for row in rows for how in getattr(row, name)] for name in ("honest", "wrong"))
    said = f"{len(rows)} projects. {len(honest)} honest changes: {counted(honest)}. "
    said += f"{len(wrong)} wrong ones: {counted(wrong)}."
    paid = f"Calls paid before a refusal by the environment: {sum(row.paid for row in rows)}."
    odd = [f"- {row.project}: {words}" for row in rows for words in row.odd]
    return "\n".join((HEAD, "|---" * 8 + "|", *map(line, rows), "", said, paid, *odd, ""))


def main(words: list[str]) -> int:
    own = {word.partition("=")[0]: word.partition("=")[2] for word in words}
    rest = [word for word in words if not word.startswith(("--more", "--workers", "--table"))]
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "rows"
        env = {**os.environ, "DEVTEAM_FOREIGN_ROWS": str(found)}
        if "--more" in own:
            env["DEVTEAM_FOREIGN_MORE"] = "1"
        argv = [sys.executable, "-m", "pytest", "-m", "foreign", "--timeout", "3600", "-rs", "-p", "no:cacheprovider"]
        argv += ["-n", own.get("--workers") or "2", "--dist", "worksteal"]
        code = subprocess.run([*argv, *(rest or ["tests/foreign", "tests/checks"])], cwd=ROOT, env=env).returncode
        rows = [Row(**json.loads(text)) for text in found.read_text().splitlines()] if found.exists() else []
    said = table(sorted(rows, key=lambda row: row.project))
    sys.stdout.write(f"\n{said}")
    if "--table" in own:
        Path(own["--table"]).write_text(said, "utf-8")
    honest = [how for row in rows for how in row.honest]
    if honest.count("asked") > MOST_ASKED * len(honest):
        sys.stdout.write(f"more than one in ten honest changes was asked about: {honest.count('asked')}\n")
        return code or 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
