"""Numbers, sizes, times and lists as a person reads them."""

from datetime import datetime
from typing import Any


def counted(number: int, one: str, many: str) -> str:
    """A number of things for a person: `1 entry`, `2 entries`."""
    return f"{number} {one if number == 1 else many}"


def listed(things: list[str]) -> str:
    """Things as a person lists them: a, b and c."""
    return ", ".join(things[:-1]) + " and " + things[-1] if len(things) > 1 else "".join(things)


def kilobytes(size: int) -> str:
    """A number of bytes for a person."""
    return f"{size} bytes" if size < 1024 else f"{(size + 512) // 1024:,} KB"


def format_time(seconds: Any) -> str:
    """A time in Unix seconds as a person reads it, in the time zone of this computer; "" for none."""
    if not isinstance(seconds, (int, float)) or seconds <= 0:
        return ""
    try:
        return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, OSError, ValueError):
        return ""


def format_size(count: float | None) -> str:
    """A number of bytes as a person reads it."""
    if count is None:
        return ""
    for unit in ("bytes", "KB", "MB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} GB"
