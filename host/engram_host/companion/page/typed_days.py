"""Days typed into filters."""

from datetime import date

from starlette.exceptions import HTTPException

from engram.clock import days_from_civil
from engram_host.time_zones import BoardZone


def day_seconds(day: str, zone: BoardZone, days_after: int = 0) -> int:
    """Return Unix seconds of a day's start, `days_after` later; 0 for none; raises HTTPException."""
    if not day:
        return 0
    try:
        begin = date.fromisoformat(day)
    except ValueError:
        raise HTTPException(422, f"there is no day {day}") from None
    return max(1, zone.start_of(days_from_civil(begin.year, begin.month, begin.day) + days_after))
