"""Lines of shell with one word another."""

from __future__ import annotations

import subprocess

import pytest

from engine.perform.checks.proof.varied_shell import Near, doubts, slots_of, told, varied


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("check abc caesar 3 xyz", ["abc", "caesar", "3", "xyz"]),
        ('is "$(bin/chime 12:00)" "12:00 pm"', ["12:00", "12:00 pm"]),
        ('is "$(bin/join , a b)" "$want"', [",", "a", "b"]),
        ("out=$(./cable caesar x hello 2>/dev/null)", ["caesar", "x", "hello"]),
        ("grep -q word file.txt # a note", ["word"]),
        ("run --format json 1", ["json"]),
    ],
)
def test_the_words_that_go_somewhere(line: str, words: list[str]) -> None:
    assert [slot.was for slot in slots_of(line)] == words


SCRIPT = """set -e
is() {
    [ "$1" = "$2" ] || { echo "got $1"; exit 1; }
}
cat <<END
is one two
END
is "$(echo word5)" word5
for one in a b; do
    is "$one" "$one"
done
echo end
"""


def test_a_script_with_copies_still_comes_to_its_end() -> None:
    made = varied(SCRIPT.encode(), range(4, 20))
    assert made is not None
    text, copies = made
    assert {one.line for one in copies} == {8}, "no line of a text, no part of a statement"
    done = subprocess.run(["sh", "-c", text.decode()], capture_output=True, text=True, check=True)
    said = told(done.stdout)
    assert len(said) == len(copies) and done.stdout.rstrip().endswith("end")
    zero = said[0]
    # what is only wanted to be heard does not change what was got; what is asked for does
    by_slot = {slot: {said[at] == zero for at, one in enumerate(copies) if one.slot == slot} for slot in (0, 1)}
    assert by_slot == {0: {False}, 1: {False}}, "both are in the trace: it says what was got, and what was wanted"


def near(*slots: int) -> list[Near]:
    return [Near(line=1, slot=-1), *(Near(line=1, slot=slot, was=f"w{slot}", now="x") for slot in slots)]


@pytest.mark.parametrize(
    ("base", "change", "found"),
    [
        pytest.param("a bbbb", "c bbbb", [("w0",)], id="only for the tested one"),
        pytest.param("a bbbb", "c bbbd", [], id="for another one too"),
        pytest.param("a bbbb", "a bbbb", [], id="the line does not tell them apart"),
        pytest.param("a aaaa", "c cccc", [], id="nobody asks about that word"),
        pytest.param("a bb", "c bb", [], id="too few"),
    ],
)
def test_what_the_copies_say(base: str, change: str, found: list[tuple[str, ...]]) -> None:
    seen = [dict(enumerate(one.replace(" ", ""))) for one in (base, change)]
    assert [one.words for one in doubts(near(*[0] * (len(base) - 2)), *seen)] == found
