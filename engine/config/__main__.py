"""`python -m engine.config --write-docs` writes docs/config.md and the table of docs/agents.md; a FILE is checked."""

from __future__ import annotations

import sys
from pathlib import Path

from engine.config import ConfigRefused, load
from engine.config.docs import PAGE, write_docs


def main(arguments: list[str]) -> int:
    if arguments == ["--write-docs"]:
        write_docs()
        sys.stdout.write(f"{PAGE} written\n")
        return 0
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m engine.config --write-docs | FILE\n")
        return 4
    try:
        load(Path(arguments[0]))
    except ConfigRefused as refused:
        sys.stderr.write(f"{refused}\n")
        return 4
    sys.stdout.write(f"{arguments[0]} is sound\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
