"""Themes: enough contrast everywhere, problems named by file and key, hot reload that never breaks the screen."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.theme import Theme

from tests.tui.driving import app_on, running, settle
from tests.tui.links import live
from tui.app.theme import (
    COLORS,
    PACKAGED,
    VARIABLES,
    ThemeProblem,
    contrast,
    first_faint,
    load_all,
    load_folder,
    load_theme,
)
from tui.app.theme_watch import reload

FILES = sorted(PACKAGED.glob("*.toml"))
GOOD = (PACKAGED / "night-shift.toml").read_text(encoding="utf-8")


def values(path: Path) -> dict[str, str]:
    theme = load_theme(path)
    assert isinstance(theme, Theme), theme
    return {**{name: getattr(theme, name) for name in COLORS}, **theme.variables}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_contrast_of_every_text_token(path: Path) -> None:
    assert first_faint(values(path)) is None


def test_the_high_contrast_theme_is_that() -> None:
    assert first_faint(values(PACKAGED / "high-contrast.toml"), 7.0) is None


def test_there_are_enough_themes_of_each_kind() -> None:
    themes, problems = load_folder(PACKAGED)
    assert problems == []
    assert len(themes) >= 6
    assert sum(not theme.dark for theme in themes) >= 1
    assert sum(theme.name.startswith("signal-") for theme in themes) >= 2


@pytest.mark.parametrize("name", ["signal-dark", "signal-light"])
def test_colour_blind_safe_states_differ_without_red_and_green(name: str) -> None:
    """Good and bad differ in blue against orange, which every kind of colour blindness keeps apart."""
    from textual.color import Color

    found = values(PACKAGED / f"{name}.toml")
    good, bad = Color.parse(found["success"]), Color.parse(found["error"])
    assert good.b > good.r
    assert bad.r > bad.b
    assert abs(good.b - bad.b) > 80


def test_contrast_is_the_known_measure() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        pytest.param("name = ", "", id="no-toml"),
        pytest.param(GOOD.replace('name = "night-shift"', 'name = ""'), "name", id="no-name"),
        pytest.param(GOOD.replace("dark = true", 'dark = "yes"'), "dark", id="dark-is-no-bool"),
        pytest.param(GOOD.replace('primary = "#6cb6ff"\n', ""), "colors.primary", id="missing"),
        pytest.param(GOOD.replace('muted = "#8f9bad"', 'muted = "greyish"'), "variables.muted", id="no-colour"),
        pytest.param(GOOD.replace("[variables]", '[variables]\nmutedd = "#fff"'), "variables.mutedd", id="unknown"),
        pytest.param(GOOD.replace('muted = "#8f9bad"', 'muted = "#30353c"'), "muted", id="too-faint"),
        pytest.param("shade = 1\n" + GOOD, "shade", id="unknown-top"),
    ],
)
def test_a_bad_file_names_the_key(tmp_path: Path, text: str, key: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    problem = load_theme(path)
    assert isinstance(problem, ThemeProblem)
    assert problem.key == key
    assert "mine.toml" in str(problem)


def test_the_users_theme_wins_by_name(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(GOOD.replace('accent = "#6cb6ff"', 'accent = "#ffffff"'), encoding="utf-8")
    themes, problems = load_all(tmp_path)
    assert problems == []
    assert themes["night-shift"].accent == "#ffffff"


async def test_hot_reload_and_a_bad_file_keeps_the_old_theme(tmp_path: Path) -> None:
    async with running("parallel", user_themes=tmp_path, theme="night-shift") as (app, pilot, _link):
        path = tmp_path / "mine.toml"
        path.write_text(GOOD.replace('accent = "#6cb6ff"', 'accent = "#ffffff"'), encoding="utf-8")
        reload(app, tmp_path)
        await settle(pilot)
        assert app.current_theme.accent == "#ffffff"
        assert app.get_css_variables()["accent"].lower() == "#ffffff"
        bad = GOOD.replace('muted = "#8f9bad"', 'muted = "nope"')
        path.write_text(bad.replace("#6cb6ff", "#ff0000"), encoding="utf-8")
        reload(app, tmp_path)
        await settle(pilot)
        assert app.current_theme.accent == "#ffffff"
        assert any("variables.muted" in toast.message for toast in app._notifications)


async def test_the_watcher_sees_a_new_file(tmp_path: Path) -> None:
    link = live("parallel")
    app = app_on(link, user_themes=tmp_path, watch=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.pause(0.3)
        (tmp_path / "own.toml").write_text(GOOD.replace("night-shift", "own"), encoding="utf-8")
        for _ in range(100):
            await pilot.pause(0.05)
            if "own" in app.themes:
                break
        assert "own" in app.themes


async def test_every_theme_can_be_worn() -> None:
    async with running("fix_gate", size=(80, 24)) as (app, pilot, _link):
        for name in app.themes:
            app.set_theme(name)
            await pilot.pause()
            assert app.theme == name


async def test_an_unknown_theme_falls_back_and_says_so() -> None:
    async with running("parallel", size=(80, 24), theme="nope") as (app, _pilot, _link):
        assert app.theme == "night-shift"
        assert any("nope" in toast.message for toast in app._notifications)


def test_every_variable_is_used_or_named() -> None:
    """A token in the theme files that nothing draws with would be a promise nobody keeps."""
    root = Path(__file__).parents[2] / "tui"
    files = [path for suffix in ("py", "tcss") for path in root.rglob(f"*.{suffix}") if path.name != "theme.py"]
    source = "\n".join(path.read_text(encoding="utf-8") for path in files)
    for token in VARIABLES:
        stem = token.rstrip("1234")
        assert stem in source, token
