"""Formats numbers, sizes, times and lists for people."""

from datetime import datetime
from typing import Any


def counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def listed(things: list[str]) -> str:
    return ", ".join(things[:-1]) + " and " + things[-1] if len(things) > 1 else "".join(things)


def kilobytes(size: int) -> str:
    return f"{size} bytes" if size < 1024 else f"{(size + 512) // 1024:,} KB"


def format_time(seconds: Any) -> str:
    """Format Unix seconds in this computer's time zone; "" for none."""
    if not isinstance(seconds, (int, float)) or seconds <= 0:
        return ""
    try:
        return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, OSError, ValueError):
        return ""


def format_day(seconds: Any) -> str:
    return format_time(seconds)[:10]


def format_size(count: float | None) -> str:
    if count is None:
        return ""
    for unit in ("bytes", "KB", "MB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} GB"
