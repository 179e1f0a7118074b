"""Log lines that repeat: counted, and written once a minute, whoever logs them."""

import logging

import pytest

from engram_host.companion import logs
from engram_host.companion.logs import RepeatFilter


class Log:
    """A logger of its own behind a filter, with a clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = 0.0
        self.lines: list[str] = []
        self._filter = RepeatFilter(60.0, lambda: self.now)

    def say(self, message: str, *values: object, level: int = logging.WARNING, **fields: object) -> None:
        shape = {"name": "engram.test", "msg": message, "args": values, "levelno": level, **fields}
        record = logging.makeLogRecord(shape)
        if self._filter.filter(record):
            self.lines.append(record.getMessage())


@pytest.fixture
def log():
    return Log()


def test_a_line_that_repeats_is_written_once(log: Log):
    for _ in range(1000):
        log.say("%s is refused", "ann")
    assert log.lines == ["ann is refused"]


def test_after_a_minute_the_line_says_how_many_there_were(log: Log):
    for log.now in (0.0, 1.0, 2.0, 61.0):
        log.say("refused")
    assert log.lines == ["refused", "refused (2 more like it within 60 s)"]


def test_code_says_what_lines_have_in_common(log: Log):
    for number in range(20):
        log.say("message %d of %s", number, "ann", repeat="ann")
    assert log.lines == ["message 0 of ann"]


def test_whoever_varies_a_name_fills_no_disk(log: Log, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(logs, "MOST_VARIANTS", 5)
    for number in range(1000):
        log.say("%s is refused", f"name-{number}")
    assert log.lines[-1] == "name-5 is refused" and len(log.lines) == 6


def test_the_lines_that_are_remembered_are_bounded(log: Log, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(logs, "MOST_LINES", 10)
    for number in range(1000):
        log.say(f"text {number}")
    assert len(log.lines) == 11 and len(log._filter._lines) == 11
