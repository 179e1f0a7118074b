"""Time zones by a rule: their offsets, days and local times, and texts that are no rule."""

from engram.clock import Zone, day_number
from samples import Numbers
from support import raises

BERLIN = "CET-1CEST,M3.5.0,M10.5.0/3"
NEW_YORK = "EST5EDT,M3.2.0,M11.1.0"
SYDNEY = "AEST-10AEDT,M10.1.0,M4.1.0/3"
NUUK = "<-02>2<-01>,M3.5.0/-1,M10.5.0/0"


def _moment(day: str, hours: int, minutes: int = 0) -> int:
    """Unix seconds of a time in Greenwich."""
    return day_number(day) * 86400 + hours * 3600 + minutes * 60


def _assert_changes(rule: str, day: str, hours: int, before: int, after: int) -> None:
    """The offset changes at an hour of a day in Greenwich."""
    zone, at = Zone(rule), _moment(day, hours)
    assert (zone.offset_minutes(at - 1), zone.offset_minutes(at)) == (before, after), rule


def test_offsets_change_at_the_moments_of_the_rule():
    _assert_changes(BERLIN, "2026-03-29", 1, 60, 120)
    _assert_changes(BERLIN, "2026-10-25", 1, 120, 60)
    _assert_changes(NEW_YORK, "2026-03-08", 7, -300, -240)
    _assert_changes(NEW_YORK, "2026-11-01", 6, -240, -300)


def test_the_moments_before_change_no_offset():
    numbers = Numbers(3)
    for rule in (BERLIN, SYDNEY, NUUK, "XXX-12YYY,M1.1.0/-167,M12.5.6/167"):
        zone = Zone(rule)
        for _ in range(300):
            at = _moment("2026-01-01", 0) + numbers.below(5 * 366 * 24) * 3600
            assert zone.offset_minutes(at) == Zone(rule).offset_minutes(at), (rule, at)


def test_texts_that_are_no_rule_are_refused():
    for rule in (
        "", "CET", "C1", "CE-1", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M3.5.0,M10.5.0/3,", "CET-1CEST,M3.5.0,M10.5.0/3 ",
        "CET-1CEST,M0.5.0,M10.5.0", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.0.0,M10.5.0",
        "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,M3.5,M10.5.0", "CET-1CEST,J60,J300", "CET-1CEST,59,299",
        "CET-1CEST,M3.5.0/168,M10.5.0", "CET-1CEST,M3.5.0/2:60,M10.5.0", "CET-1CEST,,M10.5.0", "CET-25", "CET-1:60",
        "CET--1", "CET-+1", "CET-1:00:30", "<+0530-5:30", "<+05>", "<>5", "<+0>0", "CET14:01", "CET-15", "UTC+1", "GMT-2",
        "CET-1CEST-2X,M3.5.0,M10.5.0",
        "Europe/Berlin", "+01:00", ":Europe/Berlin", "ÇET-1", "CET-١", "CET-1CEST,M3.5.0;M10.5.0",
    ):  # fmt: skip
        with raises(ValueError):
            Zone(rule)
