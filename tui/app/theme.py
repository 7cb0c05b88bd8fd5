"""Themes: TOML files become Textual themes, or a problem that names the file and the key. Nothing half-read shows."""

from __future__ import annotations

import tomllib
from pathlib import Path

from textual.color import Color, ColorParseError
from textual.theme import Theme

from engine.core.model import Struct

DEFAULT = "night-shift"
MINIMUM = 4.5
"""Contrast that text must have (WCAG AA)."""

COLORS = (
    "primary",
    "secondary",
    "accent",
    "foreground",
    "background",
    "surface",
    "panel",
    "success",
    "warning",
    "error",
)
"""Textual's own names; all are required, so that no theme inherits half of another."""

TEXT_TOKENS = ("muted", "gate", "rung-1", "rung-2", "rung-3", "rung-4", "added", "removed")
SYNTAX_TOKENS = ("code-keyword", "code-string", "code-comment", "code-number", "code-name")
GROUNDS = ("added-ground", "removed-ground", "selected")
DECORATION = ("line",)
"""Borders and rules: never words."""

VARIABLES = TEXT_TOKENS + SYNTAX_TOKENS + GROUNDS + DECORATION

PACKAGED = Path(__file__).resolve().parents[2] / "themes"


class ThemeProblem(Struct, frozen=True, kw_only=True):
    """Why a theme file is not used."""

    file: str
    key: str
    reason: str

    def __str__(self) -> str:
        place = f"{self.file}: {self.key}" if self.key else self.file
        return f"{place}: {self.reason}"


def contrast(first: str, second: str) -> float:
    """WCAG contrast ratio of two colours, 1 to 21."""
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(value: str) -> float:
    red, green, blue = Color.parse(value).rgb
    parts = [channel / 255 for channel in (red, green, blue)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def load_theme(path: Path) -> Theme | ThemeProblem:
    """Read and check one file. Every way it can be wrong ends in a ThemeProblem."""
    name = path.name
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        return ThemeProblem(file=name, key="", reason=f"not valid TOML: {error}")
    except (OSError, UnicodeDecodeError) as error:
        return ThemeProblem(file=name, key="", reason=f"cannot be read: {error}")
    for key in raw:
        if key not in ("name", "dark", "colors", "variables", "description"):
            return ThemeProblem(
                file=name, key=key, reason="unknown key; use name, dark, description, [colors], [variables]"
            )
    title, dark = raw.get("name"), raw.get("dark", True)
    if not isinstance(title, str) or not title or not title.replace("-", "").isalnum():
        return ThemeProblem(file=name, key="name", reason="a name of letters, digits and dashes is needed")
    if not isinstance(dark, bool):
        return ThemeProblem(file=name, key="dark", reason="true or false is needed")
    values: dict[str, str] = {}
    for section, known in (("colors", COLORS), ("variables", VARIABLES)):
        table = raw.get(section, {})
        if not isinstance(table, dict):
            return ThemeProblem(file=name, key=section, reason="a table is needed")
        for key, value in table.items():
            if key not in known:
                return ThemeProblem(file=name, key=f"{section}.{key}", reason=f"unknown; known are {', '.join(known)}")
            if not isinstance(value, str) or not _is_color(value):
                return ThemeProblem(file=name, key=f"{section}.{key}", reason=f"{value!r} is not a colour")
            values[key] = value
        for key in known:
            if key not in values:
                return ThemeProblem(file=name, key=f"{section}.{key}", reason="missing")
    faint = first_faint(values)
    if faint is not None:
        token, ground, ratio = faint
        return ThemeProblem(
            file=name,
            key=token,
            reason=f"contrast {ratio:.1f}:1 on {ground} is under {MINIMUM}:1; text would be hard to read",
        )
    return Theme(
        name=title,
        dark=dark,
        primary=values["primary"],
        secondary=values["secondary"],
        accent=values["accent"],
        foreground=values["foreground"],
        background=values["background"],
        surface=values["surface"],
        panel=values["panel"],
        success=values["success"],
        warning=values["warning"],
        error=values["error"],
        variables={key: values[key] for key in VARIABLES},
        text_alpha=1.0,
    )


def _is_color(value: str) -> bool:
    try:
        color = Color.parse(value)
    except ColorParseError:
        return False
    return color.a == 1 and color.ansi is None


def first_faint(values: dict[str, str], minimum: float = MINIMUM) -> tuple[str, str, float] | None:
    """The first text colour without enough contrast: token, ground, ratio."""
    pairs: list[tuple[str, str]] = []
    words = ("foreground", "accent", "primary", "success", "warning", "error", *TEXT_TOKENS)
    pairs += [(token, ground) for token in words for ground in ("background", "surface", "panel", "selected")]
    diff = ("foreground", *SYNTAX_TOKENS)
    pairs += [(token, ground) for token in diff for ground in ("background", "added-ground", "removed-ground")]
    pairs += [("added", "added-ground"), ("removed", "removed-ground")]
    for token, ground in pairs:
        ratio = contrast(values[token], values[ground])
        if ratio < minimum:
            return token, ground, ratio
    return None


def load_folder(folder: Path) -> tuple[list[Theme], list[ThemeProblem]]:
    """Every *.toml of a folder; a folder that is not there holds none."""
    themes: list[Theme] = []
    problems: list[ThemeProblem] = []
    if not folder.is_dir():
        return themes, problems
    for path in sorted(folder.glob("*.toml")):
        loaded = load_theme(path)
        if isinstance(loaded, Theme):
            themes.append(loaded)
        else:
            problems.append(loaded)
    return themes, problems


def load_all(user_folder: Path | None) -> tuple[dict[str, Theme], list[ThemeProblem]]:
    """Packaged themes and the user's; the user's win by name."""
    packaged, problems = load_folder(PACKAGED)
    themes = {theme.name: theme for theme in packaged}
    if user_folder is not None:
        own, wrong = load_folder(user_folder)
        themes.update({theme.name: theme for theme in own})
        problems = [*problems, *wrong]
    return themes, problems
