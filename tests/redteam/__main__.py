"""`python -m tests.redteam`: wrong and honest changes by the real command line, with tables."""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.redteam.case import Case, cases
from tests.redteam.inside import Court
from tests.redteam.outside import Ground, Outcome

ANSWERS = ("accepted", "asked", "unproven", "refused", "error")


def run(chosen: Sequence[Case], folder: Path, width: int, inside: bool, quick: bool = False) -> Iterable[Outcome]:
    """Every case; one repository after another in each of `width` workers."""
    by_repo: dict[str, list[Case]] = {}
    for case in chosen:
        by_repo.setdefault(case.repo, []).append(case)

    def group(repo: str) -> list[Outcome]:
        ground = Court(repo, folder, quick) if inside else Ground(repo, folder)
        out = []
        for case in by_repo[repo]:
            outcome = ground.run(case)
            print(line(outcome), flush=True)
            out.append(outcome)
        return out

    with concurrent.futures.ThreadPoolExecutor(width) as pool:
        for outcomes in pool.map(group, sorted(by_repo, key=lambda repo: -len(by_repo[repo]))):
            yield from outcomes


def line(outcome: Outcome) -> str:
    case = outcome.case
    mark = "BAD" if outcome.bad else "ok "
    red = " (own tests red)" if outcome.green is False else ""
    sort = "wrong " if case.wrong else "honest"
    why = outcome.why.replace("\n", " ")[:170]
    return f"{mark} {sort} {outcome.answer:<9}{red} {outcome.seconds:5.1f}s {case.repo:<8} {case.name:<46} {why}"


def table(outcomes: Sequence[Outcome]) -> str:
    """Counts by class, and the two lists that matter."""
    out = []
    for held in (False, True):
        for wrong in (True, False):
            some = [o for o in outcomes if o.case.held_out is held and o.case.wrong is wrong]
            if not some:
                continue
            where = "held out" if held else "in sample"
            count = Counter(o.answer for o in some)
            shares = "  ".join(f"{answer} {count[answer]}" for answer in ANSWERS if count[answer])
            red = sum(o.green is False for o in some)
            out.append(
                f"{'wrong' if wrong else 'honest'} changes, {where}: {len(some)}: {shares}; own tests red after {red}"
            )
    out.append("")
    kinds = sorted({(o.case.wrong, o.case.kind) for o in outcomes}, reverse=True)
    for wrong, kind in kinds:
        some = [o for o in outcomes if o.case.kind == kind and o.case.wrong is wrong]
        count = Counter(o.answer for o in some)
        row = " ".join(f"{count[answer]:>9}" for answer in ANSWERS)
        out.append(f"{'wrong ' if wrong else 'honest'} {kind:<34} {row}")
    out.insert(len(out) - len(kinds), f"{'':41} {' '.join(f'{answer:>9}' for answer in ANSWERS)}")
    for words, chosen in (
        ("WRONG, ACCEPTED", [o for o in outcomes if o.case.wrong and o.answer == "accepted"]),
        ("HONEST, REFUSED", [o for o in outcomes if not o.case.wrong and o.answer in ("refused", "error")]),
        ("HONEST, ASKED OR UNPROVEN", [o for o in outcomes if not o.case.wrong and o.answer in ("asked", "unproven")]),
    ):
        out += ["", f"{words} ({len(chosen)})", *(f"  {line(o)}" for o in chosen)]
    return "\n".join(out)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.redteam", description=__doc__)
    parser.add_argument("words", nargs="*", help="only cases whose name, kind or repository has one of these")
    parser.add_argument("--held-out", type=Path, action="append", default=[], help="a folder with further cases")
    parser.add_argument("--only", choices=("wrong", "honest", "in-sample", "held-out"), action="append", default=[])
    parser.add_argument("--width", type=int, default=2, help="repositories at once")
    parser.add_argument("--every", type=int, default=1, help="only each n-th case")
    parser.add_argument("--json", type=Path, help="write the outcomes here")
    parser.add_argument("--inside", action="store_true", help="the judge alone, without the command line: cheaper")
    parser.add_argument("--quick", action="store_true", help="with --inside: no mutants of changed lines")
    args = parser.parse_args(argv)
    chosen = [
        case
        for case in cases(*args.held_out)
        if not args.words or any(word in f"{case.repo} {case.name} {case.kind}" for word in args.words)
    ]
    for only in args.only:
        chosen = [
            case
            for case in chosen
            if {"wrong": case.wrong, "honest": not case.wrong, "held-out": case.held_out}.get(only, not case.held_out)
        ]
    if args.inside:
        chosen = [case for case in chosen if not case.sandboxed]
    chosen = chosen[:: args.every]
    with tempfile.TemporaryDirectory(prefix="redteam-", ignore_cleanup_errors=True) as folder:
        outcomes = list(run(chosen, Path(folder).resolve(), args.width, args.inside, args.quick))
    print("\n" + table(outcomes))
    if args.json:
        rows = [
            [
                o.case.name,
                o.case.repo,
                o.case.wrong,
                o.case.held_out,
                o.case.kind,
                o.answer,
                o.proof,
                o.green,
                o.why,
                o.seconds,
            ]
            for o in outcomes
        ]
        args.json.write_text(json.dumps(rows, indent=0))
    return 1 if any(o.bad for o in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
