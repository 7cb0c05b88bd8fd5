"""How numbers, times and money are written on screen."""

from __future__ import annotations

import datetime
import math


def duration(seconds: float) -> str:
    """0:42, 12:41, 3:04:10; days where it takes days."""
    if not math.isfinite(seconds) or seconds < 0:
        return "0:00"
    whole = int(seconds)
    days, rest = divmod(whole, 86400)
    hours, rest = divmod(rest, 3600)
    minutes, secs = divmod(rest, 60)
    if days:
        return f"{days}d {hours}:{minutes:02}"
    if hours:
        return f"{hours}:{minutes:02}:{secs:02}"
    return f"{minutes}:{secs:02}"


def money(usd: float) -> str:
    if not math.isfinite(usd):
        return "$?"
    return f"${usd:,.2f}"


def count(number: int) -> str:
    """950, 12.4k, 3.1M."""
    if abs(number) < 1000:
        return str(number)
    if abs(number) < 1_000_000:
        return f"{number / 1000:.1f}k"
    return f"{number / 1_000_000:.1f}M"


def seat_name(seat: str) -> str:
    """root-cause-analyst is the root-cause analyst."""
    return " ".join(part for part in seat.rpartition("-")[::2] if part)


def clock_time(at: float, utc_offset: float) -> str:
    """Wall time where the run's engine lives."""
    zone = datetime.timezone(datetime.timedelta(seconds=utc_offset))
    return datetime.datetime.fromtimestamp(at, zone).strftime("%H:%M:%S")


def day_of(at: float, utc_offset: float) -> str:
    zone = datetime.timezone(datetime.timedelta(seconds=utc_offset))
    return datetime.datetime.fromtimestamp(at, zone).strftime("%Y-%m-%d")


def share(part: float, whole: float) -> float:
    """0 to 1, also for budgets of nothing and numbers that are none."""
    if not math.isfinite(part) or not math.isfinite(whole) or whole <= 0:
        return 0.0
    return min(1.0, max(0.0, part / whole))


def short_hash(value: str) -> str:
    return value[:8]


def short_sprint(name: str) -> str:
    """003 of 003-add-login, for an axis."""
    number, dash, _ = name.partition("-")
    return number if dash and number.isdigit() else name[:8]


def day_and_time(at: float, utc_offset: float) -> str:
    """17 Nov 14:02, of a sprint in a list."""
    zone = datetime.timezone(datetime.timedelta(seconds=utc_offset))
    return datetime.datetime.fromtimestamp(at, zone).strftime("%d %b %H:%M").lstrip("0") if at > 0 else ""
