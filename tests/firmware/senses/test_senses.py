"""Readings, and what is kept of them: names, refusals, rates, levels and folds, wrong clocks, restarts and a full flash."""

import random
from array import array

from engram import diag, files
from engram.errors import ArgumentError
from engram.senses import rings
from engram.senses.rings import HOUR_LEVEL, MINUTE_LEVEL
from engram.senses.values import scale, value_text
from sensing import NOW, START, Board, totals
from support import raises, rounds

DAYS = rounds(9, 3)


def _refused(board, name, value, unit=""):
    with raises(ArgumentError) as caught:
        board.observe(name, value, unit)
    return str(caught.error)


# --- values


def test_a_value_is_kept_with_its_decimals():
    for value, decimals, scaled in ((21.44, 1, 214), (-0.05, 2, -5), (3, 0, 3), (True, 1, 10), (1013.2, 1, 10132)):
        assert scale(value, decimals) == scaled
    shown = ((214, 1, "21.4"), (-5, 2, "-0.05"), (3, 0, "3"), (-10, 1, "-1.0"), (1007, 3, "1.007"))
    for scaled, decimals, text in shown:
        assert value_text(scaled, decimals) == text


def test_what_is_no_number_or_does_not_fit_is_refused():
    board = Board()
    for value in (float("nan"), float("inf"), -float("inf"), 1e30, 1 << 40, "21", None, [1]):
        assert "value: must be" in _refused(board, "room", value) or "too large" in _refused(board, "room", value)
    assert board.names() == []


# --- senses


def test_a_sense_is_found_by_its_name_however_it_is_written():
    board = Board()
    board.observe("Bedroom Temperature", 20, "°C")
    for name in ("bedroom temperature", "BEDROOM  temperature ", "Bedroom Temperature"):
        board.machine.later(1)
        assert board.observe(name, 21)
    board.observe("卧室温度", 3)
    assert board.names() == ["Bedroom Temperature", "卧室温度"]
    assert board.senses.find("卧室温度").number == 2
    assert board.senses.find("attic") is None


def test_numbers_stay_after_a_restart_and_that_of_a_removed_sense_is_not_given_again():
    board = Board()
    for name in ("a", "b", "c"):
        board.observe(name, 1)
    for name in ("B", "c"):
        board.senses.forget(board.senses.find(name))
    board.restart()
    board.observe("d", 1)
    board.observe("a", 2)
    assert [(name, board.senses.find(name).number) for name in board.names()] == [("a", 1), ("d", 4)]


# --- readings in RAM


def test_one_reading_a_second_is_kept():
    board = Board()
    assert board.observe("room", 1) and not board.observe("room", 2) and board.observe("door", 1)
    board.machine.later(1)
    assert board.observe("room", 3)
    assert (board.senses.find("room").last, board.senses.find("room").at) == (30, NOW + 1)


def test_without_a_clock_only_the_latest_reading_is_known():
    board = Board(now=0)
    for value in range(5):
        assert board.observe("room", value)
    board.work()
    assert (board.senses.find("room").last, board.senses.find("room").at) == (40, 0)
    board.machine.now = NOW
    board.minutes("room", [7, 7])
    board.senses.flush()
    assert [row[4] for _, row in board.range("room", MINUTE_LEVEL)] == [70, 70]


# --- levels


def _walk(board, days, senses=("room", "door")):
    """Readings of some days, one a minute; the values of each sense."""
    random.seed(11)
    given, values = {name: array("i", bytes(4 * days * 1440)) for name in senses}, [200] * len(senses)
    for minute in range(days * 1440):
        for at, name in enumerate(senses):
            values[at] += random.randrange(-3, 4)
            board.observe(name, values[at] / 10)
            given[name][minute] = values[at]
        board.machine.later(60)
        board.work()
    return given


def _each_minute(values):
    for minute, value in enumerate(values):
        yield NOW + 60 * minute, value


def test_all_levels_are_those_of_a_plain_model():
    board = Board(most_bytes=32768)
    given = _walk(board, DAYS)
    board.work()
    assert board.senses.history.hours.until > 0
    for name in given:
        for slot, aggregate in board.range(name, MINUTE_LEVEL):
            value = given[name][slot - START]
            assert aggregate == (1, value, value, value, value)
        wanted = totals(_each_minute(given[name]), lambda at: at // 3600)
        found = dict(board.range(name, HOUR_LEVEL))
        assert sorted(found) == sorted(wanted)[-len(found) :] and len(found) > 40
        for slot in sorted(found)[1:]:
            count, low, high, mean, last = found[slot]
            assert (count, low, high, last) == wanted[slot][:3] + wanted[slot][4:]
            assert abs(mean - wanted[slot][3]) <= 1, "an hour rounds it once more"


def test_a_range_gives_the_slots_that_were_asked_for():
    board = Board()
    board.minutes("room", range(300))
    for level, size in ((MINUTE_LEVEL, 1), (HOUR_LEVEL, 60)):
        first, last = (START + 70) // size, (START + 190) // size
        whole = board.range("room", level)
        assert board.range("room", level, first, last) == [row for row in whole if first <= row[0] <= last]
    assert board.range("room", HOUR_LEVEL, 5, 6) == [] == board.range("room", MINUTE_LEVEL, START + 9000, START + 9001)


def _cut(number):
    """The power fails before a file is removed."""
    raise KeyboardInterrupt


def test_minutes_become_hours_in_slices():
    board = Board(most_bytes=32768)
    while not board.senses.history._folding:
        board.observe("room", 1)
        board.machine.later(60)
        board.senses.tick()
    hours, slices = board.range("room", HOUR_LEVEL), 1
    while board.senses.tick():
        slices += 1
    assert slices > 3 and board.range("room", HOUR_LEVEL) == hours


def test_a_fold_that_the_power_cut_off_counts_once():
    board = Board(most_bytes=32768)
    board.minutes("room", [at % 2 for at in range(3000)])
    board.senses.flush()
    history = board.senses.history
    hours, number = board.range("room", HOUR_LEVEL), min(history.minutes.sizes)
    history.minutes.remove = _cut
    with raises(KeyboardInterrupt):
        list(history._fold(number))
    board.restart()
    assert number not in board.senses.history.minutes.sizes
    assert board.range("room", HOUR_LEVEL) == hours


def test_the_caps_hold_and_what_leaves_the_minutes_is_in_the_hours():
    board = Board(most_bytes=65536, write_minutes=30)
    random.seed(4)
    given = array("i", bytes(4 * rounds(12000, 6000)))
    for minute in range(len(given)):
        given[minute] = random.randrange(-100000000, 100000000)
        board.observe("noise", given[minute])
        board.machine.later(60)
        board.work()
    board.senses.flush()
    history = board.senses.history
    assert sum(len(ring.sizes) for ring in history.rings) * history.file_bytes <= 65536
    counts = {}
    for at, _ in _each_minute(given):
        counts[at // 3600] = counts.get(at // 3600, 0) + 1
    assert [(slot, row[0]) for slot, row in board.range("noise", HOUR_LEVEL)] == sorted(counts.items())


# --- time


def test_a_restart_loses_the_minutes_since_the_last_write_and_no_more():
    board = Board()
    board.minutes("room", range(200))
    written = [slot for slot, _ in board.restart().range("room", MINUTE_LEVEL)]
    assert written == list(range(START, START + len(written))) and 200 - len(written) <= 61
    board.minutes("room", range(100))
    board.senses.flush()
    slots = [slot for slot, _ in board.restart().range("room", MINUTE_LEVEL)]
    assert slots == written + list(range(START + 200, START + 300))


def test_a_clock_that_is_set_back_doubles_nothing_and_loses_nothing():
    board = Board()
    board.minutes("room", [1] * 600)
    board.machine.now -= 300 * 60
    board.minutes("room", [3] * 600)
    board.senses.flush()
    rows = dict(board.range("room", MINUTE_LEVEL))
    assert len(rows) == 900 and sum(row[0] for row in rows.values()) == 1200
    some = [rows[START + at] for at in (10, 400, 700)]
    assert some == [(1, 10, 10, 10, 10), (2, 10, 30, 20, 30), (1, 30, 30, 30, 30)]
    assert sum(row[0] for _, row in board.range("room", HOUR_LEVEL)) == 1200
    assert sum(row[0] for _, row in board.restart().range("room", HOUR_LEVEL)) == 1200


# --- the flash


def _refuse(is_refused):
    """Let the flash refuse all appends, or none."""

    def refusing(path, mode):
        if "a" in mode:
            raise OSError(files.ENOSPC, "full")
        return open(path, mode)

    if is_refused:
        rings.open = refusing  # pyright: ignore[reportAttributeAccessIssue]
    else:
        del rings.open  # pyright: ignore[reportAttributeAccessIssue]


def test_a_full_flash_is_told_once_and_what_waited_is_written_when_there_is_room():
    board = Board()
    board.minutes("room", range(100))
    before = len([line for line in diag.lines() if "readings wait in RAM" in line])
    _refuse(True)
    try:
        board.minutes("room", range(100, 300))
    finally:
        _refuse(False)
    assert len([line for line in diag.lines() if "readings wait in RAM" in line]) == before + 1
    board.minutes("room", range(300, 400))
    board.senses.flush()
    assert [row[3] // 10 for _, row in board.range("room", MINUTE_LEVEL)] == list(range(400))


def test_a_flash_that_stays_full_lets_the_oldest_minutes_leave():
    board = Board()
    board.minutes("room", range(100))
    _refuse(True)
    try:
        board.minutes("room", range(100, 4000))
    finally:
        _refuse(False)
    board.minutes("room", range(4000, 4100))
    board.senses.flush()
    kept = [row[3] // 10 for _, row in board.range("room", MINUTE_LEVEL)]
    assert kept[-1] == 4099 and kept[:40] == list(range(40)) and 100 < len(kept) < 4100
    assert "lost" in "".join(diag.lines())
