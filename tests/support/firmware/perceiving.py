"""A house with senses over three days, on the clock of a test's board.

It is Wednesday, 2026-09-23, 09:30. Readings have come every ten minutes since Monday 00:00. The bedroom is coldest at 03:00.
"""

from board import Board, Script

MONDAY = 1789948800  # 2026-09-21 00:00
NOW = MONDAY + 2 * 86400 + 9 * 3600 + 1800
STEP = 600


def bedroom(minute):
    """Tenths of a degree, by the minute of the day: 16.0 at 03:00, 22.0 at 15:00."""
    away = abs((minute - 180 + 720) % 1440 - 720)
    return 160 + away * 60 // 720


DOOR = ((7, 58, 1), (8, 1, 0), (12, 10, 1), (12, 12, 0), (18, 30, 1), (18, 31, 0))
"""On Tuesday: hour, minute, state."""


def house(*steps, **settings):
    """A board with the bedroom's temperature and humidity, the outside, and a door; with steps, a model that plays them."""
    board = Board(**settings)
    board.serve(Script(*steps) if steps else None, **settings)
    fill(board)
    return board


def fill(board):
    """Let the senses of a board perceive the three days."""
    openings = {86400 + hour * 3600 + minute * 60: state for hour, minute, state in DOOR}
    seconds = list(range(0, NOW - MONDAY + 1, STEP)) + list(openings)
    board.now = MONDAY
    senses = board.find_senses()
    senses.observe("door", 0)
    for passed in sorted(set(seconds)):
        board.now = MONDAY + passed
        if passed in openings:
            senses.observe("door", openings[passed])
        if passed % STEP == 0:
            minute = passed // 60 % 1440
            senses.observe("bedroom temperature", bedroom(minute) / 10, "°C")
            senses.observe("outside", (bedroom(minute) - 100) / 10, "°C")
            senses.observe("bedroom humidity", 40 + minute // 144, "%")
        senses.tick()
    board.now = NOW
