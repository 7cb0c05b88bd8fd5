"""Coverage reports: coverage.py JSON and Cobertura XML, as a percentage and line numbers per file."""

from __future__ import annotations

from engine.perform.checks.run.limits import MAX_ITEMS, UnreadableError, dict_of, int_of, list_of, load_json, text_of
from engine.perform.checks.run.measure import FileCoverage


def _percent(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
        return None
    return float(value)


def parse_coverage_json(data: bytes) -> tuple[float | None, dict[str, FileCoverage]]:
    report = dict_of(load_json(data, "the coverage report"))
    lines: dict[str, FileCoverage] = {}
    for path, entry in list(dict_of(report.get("files")).items())[:MAX_ITEMS]:
        entry = dict_of(entry)
        lines[text_of(path).replace("\\", "/")] = FileCoverage(
            executed=tuple(int_of(n) for n in list_of(entry.get("executed_lines"))),
            missing=tuple(int_of(n) for n in list_of(entry.get("missing_lines"))),
        )
    return _percent(dict_of(report.get("totals")).get("percent_covered")), lines


def parse_cobertura(data: bytes) -> tuple[float | None, dict[str, FileCoverage]]:
    from engine.perform.checks.parse.junit import xml_root

    root = xml_root(data)
    if root.tag != "coverage":
        raise UnreadableError(f"the coverage report begins with <{root.tag[:40]}>")
    hits: dict[str, dict[int, bool]] = {}
    for item in root.iter("class"):
        seen = hits.setdefault(text_of(item.get("filename")), {})
        for line in item.iter("line"):
            number, count = line.get("number", ""), line.get("hits", "")
            if number.isdigit() and count.isdigit():
                seen[int(number)] = seen.get(int(number), False) or int(count) > 0
    lines = {
        path: FileCoverage(
            executed=tuple(n for n, hit in seen.items() if hit), missing=tuple(n for n, hit in seen.items() if not hit)
        )
        for path, seen in hits.items()
    }
    try:
        rate = float(root.get("line-rate", ""))
    except ValueError:
        rate = -1.0
    return _percent(rate * 100), lines
