"""Options and parameters that nothing reads are asked about; read, kept, handed on or prescribed ones are not."""

# ruff: noqa: E501 (programs are read better in one piece)

from __future__ import annotations

import pytest

from engine.perform.checks.proof.idle_parameters import idle

CLI = """import argparse
from app import show

def main(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    args = parser.parse_args(argv)
    return show(args.file)
"""
SHOW = "def show(file):\n    return file.upper()\n"
OPTION = '    parser.add_argument("--top-n", type=int, help="only the first TOP_N")\n    args = '
ADDED = CLI.replace("    args = ", OPTION)


def asked(before: dict[str, str], after: dict[str, str], others: dict[str, str] | None = None) -> list[str]:
    changed = [
        (path, before[path].encode() if path in before else None, after[path].encode())
        for path in after
        if before.get(path) != after[path]
    ]
    rest = {path: text.encode() for path, text in {**before, **(others or {})}.items() if path not in after}
    return [f"{one.path}:{one.line} {one.what}" for one in idle(changed, rest)]


@pytest.mark.parametrize(
    ("used", "told"),
    [
        pytest.param("show(args.file)", ["cli.py:7 the option 'top_n' is taken and never read"], id="nowhere"),
        pytest.param("show(args.file)[: args.top_n]", [], id="an attribute"),
        pytest.param('show(args.file)[: getattr(args, "top_n")]', [], id="by its name"),
        pytest.param(
            "show(**vars(args))  # top_n", ["cli.py:7 the option 'top_n' is taken and never read"], id="apart"
        ),
        pytest.param("(lambda file, top_n: show(file)[:top_n])(**vars(args))", [], id="taken apart"),
        pytest.param("print(vars(args))", [], id="as a whole"),
    ],
)
def test_an_option_is_read(used: str, told: list[str]) -> None:
    after = ADDED.replace("show(args.file)", used)
    assert asked({"cli.py": CLI, "app.py": SHOW}, {"cli.py": after}) == told


def test_an_attribute_of_something_else_is_not_the_option() -> None:
    other = {"rest.py": "def cut(league, rows):\n    return rows[:league.top_n], 'top_n'\n"}
    assert asked({"cli.py": CLI}, {"cli.py": ADDED}, other) == ["cli.py:7 the option 'top_n' is taken and never read"]
    apart = {"rest.py": other["rest.py"] + "\n\ndef named(args):\n    return getattr(args, NAMES[0])\n"}
    assert asked({"cli.py": CLI}, {"cli.py": ADDED}, apart) == []


def test_an_option_may_be_read_elsewhere() -> None:
    read = {"rest.py": "def cut(args, rows):\n    return rows[:args.top_n]\n"}
    assert asked({"cli.py": CLI}, {"cli.py": ADDED}, read) == []


@pytest.mark.parametrize("option", ['"-n", dest="top_n"', '"--top-n", "-n"', '"-n", "--top-n", action="store_true"'])
def test_options_by_the_name_of_their_value(option: str) -> None:
    after = ADDED.replace('"--top-n", type=int', option)
    assert asked({"cli.py": CLI}, {"cli.py": after}) == ["cli.py:7 the option 'top_n' is taken and never read"]
    assert asked({"cli.py": CLI}, {"cli.py": after.replace("args.file", "args.file, args.top_n")}) == []


def test_what_the_parser_does_itself_nobody_reads() -> None:
    option = '    parser.add_argument("--version", action="version", version="1")\n    args = '
    assert asked({"cli.py": CLI}, {"cli.py": CLI.replace("    args = ", option)}) == []


@pytest.mark.parametrize(
    ("after", "told"),
    [
        ("def show(file, sort=''):\n    return file.upper()\n", True),
        ("def show(file, sort=''):\n    return sorted(file, key=sort)\n", False),
        ("def show(file, sort=''):\n    return locals()\n", False),
        ("def show(file, _sort=''):\n    return file.upper()\n", False),
        ("@hook\ndef show(file, sort=''):\n    return file.upper()\n", False),
        ("def show(file, sort=''):\n    raise NotImplementedError\n", False),
        (
            "def show(file, sort=''):\n    return inner(file, sort)\n\ndef inner(file, sort=''):\n    return file\n",
            False,
        ),
    ],
)
def test_a_parameter_is_looked_at(after: str, told: bool) -> None:
    assert bool(asked({"app.py": SHOW}, {"app.py": after})) is told


def test_who_hands_it_on_to_somebody_who_drops_it_does_not_look_at_it() -> None:
    before = f"{SHOW}\ndef page(file):\n    return show(file)\n"
    after = "def show(file, sort=0):\n    return file.upper()\n\ndef page(file, sort=0):\n    return show(file, sort=sort)\n"
    assert asked({"app.py": before}, {"app.py": after}) == ["app.py:4 page() takes 'sort' and never looks at it"]
    assert asked({"app.py": before}, {"app.py": after.replace("file.upper()", "file.upper()[sort:]")}) == []


def test_a_method_that_a_base_may_prescribe_is_left_alone() -> None:
    before = "class A(Base):\n    def show(self, file):\n        return file\n"
    assert asked({"a.py": before}, {"a.py": before.replace("file):", "file, sort):")}) == []
    own = before.replace("(Base)", "")
    assert asked({"a.py": own}, {"a.py": own.replace("file):", "file, sort):")}) != []


def test_what_is_kept_is_read_if_somebody_asks_the_object() -> None:
    before = "class A:\n    def __init__(self, file):\n        self.file = file\n"
    after = "class A:\n    def __init__(self, file, sort=0):\n        self.file = file\n        self.sort = sort\n"
    assert asked({"a.py": before}, {"a.py": after}) == ["a.py:2 __init__() takes 'sort' and never looks at it"]
    assert asked({"a.py": before}, {"a.py": after}, {"tests/test_a.py": "assert A(1, 2).sort == 2\n"}) == []


TABLE = 'import { parseArgs } from "node:util";\nconst { values } = parseArgs({ options: {\n  file: { type: "string" },\n} });\nrun(values.file);\n'


def test_a_table_of_options() -> None:
    after = TABLE.replace("} });", '  top: { type: "string", short: "t" },\n} });\nconst usage = "--top N";')
    assert asked({"cli.mjs": TABLE}, {"cli.mjs": after}) == ["cli.mjs:4 the option 'top' is taken and never read"]
    assert asked({"cli.mjs": TABLE}, {"cli.mjs": after.replace("values.file", "values.file, values.top")}) == []
