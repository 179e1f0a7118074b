"""Days and times in plain integers."""

from engram import clock as clock_module
from engram.clock import Clock, Moment, Timeout, civil, day_number, days_from_civil, zone_minutes
from support import raises

KNOWN = 1790000000  # a moment in 2026


def test_every_day_of_four_centuries_survives_the_way_there_and_back():
    for days in range(-1000, 146097, 97):
        assert days_from_civil(*civil(days)) == days


def test_a_day_is_one_of_the_configured_time_zone():
    clock = Clock(zone_minutes=600, source=lambda: KNOWN)
    assert clock.day(day_number("2026-03-01") * 86400 - 600 * 60) == "2026-03-01"
    assert clock.day(day_number("2026-03-01") * 86400 - 600 * 60 - 1) == "2026-02-28"


def test_names_that_are_no_day_are_refused():
    for name in ("2026-02-30", "2026-13-01", "26-01-01", "2026-1-01", "2026/01/01", "", "2026-01-0x", "../../etc/1"):
        with raises(ValueError):
            day_number(name)


def test_an_unset_clock_is_not_known_and_goes_on_from_the_latest_moment():
    clock = Clock(source=lambda: 1000)
    assert not clock.known
    clock.not_before(KNOWN)
    assert KNOWN <= clock.now() <= KNOWN + 2


def test_a_clock_that_is_set_is_believed_even_if_flash_has_a_later_moment():
    clock = Clock(source=lambda: KNOWN)
    clock.not_before(KNOWN + 1000)
    assert clock.known and clock.now() == KNOWN


class Run:
    """A run of a board whose clock is set after some seconds; `clock` is its Clock."""

    def __init__(self):
        self.seconds, self.reading = 0, 1000
        self.clock = Clock(source=lambda: self.reading)
        self._before, clock_module.ticks_ms = clock_module.ticks_ms, lambda: self.seconds * 1000
        self.clock._floor_ticks = 0

    def advance(self, seconds, reading=0):
        """Let time pass, at the end of which the clock reads this, 1000 if it is not set."""
        self.seconds += seconds
        self.reading = reading or 1000

    def end(self):
        clock_module.ticks_ms = self._before


def test_a_moment_before_the_clock_was_set_has_an_age_and_then_its_right_day():
    run = Run()
    try:
        moment = Moment(run.clock)
        run.advance(600)
        assert (moment.age, moment.since()) == (600, "for 10 min")
        run.advance(1200, KNOWN)
        shown = run.clock.minute(KNOWN - 1800)
        assert (moment.age, moment.since()) == (1800, "since " + shown)
        run.advance(60, KNOWN + 60)
        assert moment.age == 1860 and moment.since() == "since " + shown
    finally:
        run.end()


def test_a_timeout_stays_over_when_the_counter_of_ticks_begins_again():
    run, timeout = Run(), Timeout()
    try:
        timeout.begin(1000)
        assert not timeout.is_over and timeout.left_ms == 1000
        run.advance(1)
        assert timeout.is_over
        run.advance(-1)
        assert timeout.is_over and timeout.left_ms == 0
    finally:
        run.end()


def test_texts_that_are_no_time_zone_are_refused():
    for zone in ("UTC", "+5:30", "05:30", "+05:60", "+15:00", "+0x:00", ""):
        with raises(ValueError):
            zone_minutes(zone)
