"""What is learned as usual for a sense: when something begins to be unusual, when it ends, and what is kept of it."""

from engram.senses.events import baseline_file
from engram.senses.events.baseline import DAY, GAP, REST, SIZE, Baseline
from samples import Numbers
from support import folder, rounds

QUARTERS = 96
LEARNED = 30
DAILY = (0, 1, 2, 3, 5, 8, 12, 16, 20, 23, 26, 28, 30, 30, 29, 27, 24, 20, 16, 12, 9, 6, 4, 2)
"""How far above 200 a reading is at each hour of the day."""


class Year:
    """A sense whose readings follow the hours of the day, with noise, and what a baseline says of it."""

    def __init__(self, factor=1, noise=6, daily=DAILY):
        self.baseline = Baseline()
        self.quarter = 0
        self.found = []
        self._numbers = Numbers(3)
        self._factor = factor
        self._noise = noise
        self._daily = daily

    def days(self, count, more=lambda quarter: 0):
        """Let some days pass, with `more` added to each reading; what was found in them."""
        self.found = []
        for _ in range(int(count * QUARTERS)):
            if self.quarter and self.quarter % QUARTERS == 0:
                self._note(self.baseline.end_day())
            noise = self._numbers.below(2 * self._noise + 1) - self._noise
            value = 200 + self._daily[self.quarter // 4 % 24] + noise + more(self.quarter)
            self._note(self.baseline.add(self.quarter, 15 * value * self._factor, 15))
            self.quarter += 1
        return self.found

    def _note(self, found):
        if found is not None:
            self.found.append(found)


def test_nothing_is_unusual_before_a_sense_is_known_for_two_weeks():
    year = Year()
    assert year.days(13, lambda quarter: 500 if quarter % 300 < 20 else 0) == []
    assert not year.baseline.is_learned


def test_what_follows_the_hours_of_the_day_with_noise_is_usual():
    year = Year()
    assert year.days(rounds(200, 60)) == []
    assert year.baseline.is_learned


def test_some_hours_off_are_one_anomaly_that_ends():
    for sign in (1, -1):
        year = Year()
        year.days(LEARNED)
        first = year.quarter + 40
        found = year.days(2, lambda quarter, first=first, sign=sign: sign * 60 if first <= quarter < first + 16 else 0)
        assert len(found) == 2 and found[0] is not False and found[1] is False
        low, high = year.baseline.usual
        assert 190 < low < high < 240


def test_what_is_usual_at_noon_is_unusual_at_night():
    year = Year()
    year.days(LEARNED)
    assert year.days(1) == []
    midnight = year.quarter
    assert year.days(1, lambda quarter: 30 if midnight <= quarter < midnight + 16 else 0)[:1] != []


def test_a_level_that_stays_for_a_day_is_told_once_and_is_usual_then():
    year = Year()
    year.days(LEARNED)
    found = year.days(20, lambda quarter: 80)
    assert len(found) == 2 and found[0] is not False and found[1] is False
    found = year.days(5)
    assert len(found) == 2, "its end is a change of level, too"


def test_a_slow_drift_is_found_by_its_days():
    year = Year()
    year.days(LEARNED)
    begin = year.quarter
    assert DAY in year.days(20, lambda quarter: (quarter - begin) // 24)


def test_the_seasons_are_no_anomaly():
    year = Year()
    assert year.days(rounds(150, 60), lambda quarter: quarter // 96 // 2) == []


def test_a_rare_peak_that_is_usual_widens_the_limit():
    year = Year()
    peaks = Numbers(5)
    times = set()
    for day in range(200):
        times.add(day * QUARTERS + peaks.below(QUARTERS))
    begun = [len(year.days(10, lambda quarter: 300 if quarter in times else 0)) // 2 for _ in range(rounds(18, 10))]
    assert sum(begun[6:]) <= len(begun[6:]), begun


def test_large_readings_are_as_good_as_small_ones():
    for factor in (1, 1000, 1000000):
        year = Year(factor)
        year.days(LEARNED)
        first = year.quarter + 40
        found = year.days(2, lambda quarter, first=first: 60 if first <= quarter < first + 16 else 0)
        assert len(found) == 2, factor
        low, high = year.baseline.usual
        assert 150 * factor < low < high < 260 * factor


def test_one_large_reading_rescales_what_was_learned():
    year = Year()
    year.days(LEARNED)
    year.baseline.add(year.quarter, 1 << 30, 1)
    year.quarter += 1
    year.days(1.5)
    assert abs(year.baseline.mean - 210) < 40


def test_a_clock_that_goes_back_a_little_teaches_nothing():
    year = Year()
    year.days(LEARNED)
    before = bytes(year.baseline.numbers)
    year.baseline.add(year.quarter - 50, 15 * 900, 15)
    assert bytes(year.baseline.numbers) == before


def test_a_clock_that_was_a_year_ahead_for_an_hour_hinders_nothing():
    year = Year()
    year.days(LEARNED)
    for ahead in range(4):
        year.baseline.add(year.quarter + 35040 + ahead, 15 * 205, 15)
    assert year.days(1) == []
    first = year.quarter + 20
    assert len(year.days(1, lambda quarter: 60 if first <= quarter < first + 16 else 0)) == 2


def test_after_days_without_readings_the_level_is_looked_for_again():
    year = Year()
    year.days(LEARNED)
    year.quarter += 3 * QUARTERS
    assert year.days(1.5, lambda quarter: 90) == []


def test_the_file_gives_back_what_was_learned():
    year = Year()
    year.days(10)
    year.baseline.numbers[GAP], year.baseline.numbers[REST] = 3, 40
    path = folder() + "/baseline.bin"
    assert baseline_file.load(path) == {}
    baseline_file.save(path, [(2, year.baseline), (9, Baseline())])
    found = baseline_file.load(path)
    assert sorted(found) == [2, 9]
    assert bytes(found[2].numbers) == bytes(year.baseline.numbers) and len(found[2].numbers) == SIZE
    assert found[2].days == 9


def test_a_damaged_file_is_as_good_as_none():
    path = folder() + "/baseline.bin"
    baseline_file.save(path, [(2, Baseline())])
    with open(path, "rb") as file:
        data = file.read()
    for damaged in (
        data[:-1],
        b"",
        b"x",
        data[:50],
        bytes((data[0] ^ 1,)) + data[1:],
        data[:90] + b"?" + data[91:],
        data * 40,
    ):
        with open(path, "wb") as file:
            file.write(damaged)
        assert baseline_file.load(path) == {}


def test_what_was_unusual_before_days_without_readings_is_over_after_them():
    year = Year()
    year.days(LEARNED)
    assert year.days(0.5, lambda quarter: 90)[-1] is not False
    year.quarter += 3 * QUARTERS
    assert year.days(0.5, lambda quarter: 90) == [False]
    assert not year.baseline.is_unusual
