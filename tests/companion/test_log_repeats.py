"""Log lines that repeat: counted, and written once a minute, whoever logs them."""

import io
import logging

import pytest

from engram_host.companion import logs
from engram_host.companion.logs import RepeatFilter, set_up


class Log:
    """A logger of its own behind a filter, with a clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = 0.0
        self.lines: list[str] = []
        self._filter = RepeatFilter(self._write, 60.0, lambda: self.now)

    def _write(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())

    def say(self, message: str, *values: object, level: int = logging.WARNING, **fields: object) -> None:
        shape = {"name": "engram.test", "msg": message, "args": values, "levelno": level, **fields}
        record = logging.makeLogRecord(shape)
        if self._filter.filter(record):
            self._write(record)

    def report(self) -> None:
        self._filter.report()

    def stop(self) -> None:
        self._filter.stop()


@pytest.fixture
def log():
    log = Log()
    yield log
    log.stop()


def test_a_line_that_repeats_is_written_once(log: Log):
    for _ in range(1000):
        log.say("%s is refused", "ann")
    assert log.lines == ["ann is refused"]


def test_after_a_minute_the_line_says_how_many_there_were(log: Log):
    for log.now in (0.0, 1.0, 2.0, 61.0):
        log.say("refused")
    assert log.lines == ["refused", "refused (2 more like it within 60 s)"]


def test_the_number_is_written_when_the_line_comes_no_more(log: Log):
    for _ in range(3):
        log.say("refused")
    log.now = 60.0
    log.report()
    assert log.lines == ["refused", "refused (2 more like it within 60 s)"]


def test_the_numbers_of_two_minutes_are_not_added_up(log: Log):
    for log.now in (0.0, 1.0, 61.0, 62.0, 122.0):
        log.say("refused")
    assert log.lines[1:] == ["refused (1 more like it within 60 s)"] * 2


def test_lines_with_other_names_are_other_lines(log: Log):
    for name in ("ann", "bob", "ann", "bob"):
        log.say("%s is refused", name)
    assert log.lines == ["ann is refused", "bob is refused"]


def test_code_says_what_lines_have_in_common(log: Log):
    for number in range(20):
        log.say("message %d of %s", number, "ann", repeat="ann")
    assert log.lines == ["message 0 of ann"]


def test_addresses_in_memory_and_numbers_of_tasks_make_no_other_line(log: Log):
    for number in range(20):
        log.say(f"failed: <Task name='Task-{number}' at 0x7f{number:04x}>")
    assert len(log.lines) == 1


def test_whoever_varies_a_name_fills_no_disk(log: Log, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(logs, "MOST_VARIANTS", 5)
    for number in range(1000):
        log.say("%s is refused", f"name-{number}")
    log.now = 60.0
    log.report()
    assert log.lines[-1] == "name-5 is refused (994 more like it within 60 s)" and len(log.lines) == 7


def test_the_lines_that_are_remembered_are_bounded(log: Log, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(logs, "MOST_LINES", 10)
    for number in range(1000):
        log.say(f"text {number}")
    assert len(log.lines) == 11 and len(log._filter._lines) == 11


def test_debugging_shows_every_line(log: Log):
    for _ in range(3):
        log.say("packet", level=logging.DEBUG)
    assert log.lines == ["packet"] * 3


def test_the_number_comes_without_the_traceback(log: Log):
    try:
        raise ValueError("broken")
    except ValueError as error:
        for _ in range(2):
            log.say("failed", exc_info=(type(error), error, error.__traceback__))
    (line,) = log._filter._lines.values()
    assert line.repeats == 1 and line.record.exc_info is None


def test_the_log_of_the_companion_counts_the_lines_of_all_loggers_and_writes_what_is_left_at_its_end():
    out = io.StringIO()
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers = []
    try:
        set_up("text", "info", out)
        for _ in range(500):
            logging.getLogger("asyncio").error("socket.accept() out of system resource")
        root.handlers[0].close()
    finally:
        root.handlers = handlers
        root.setLevel(level)
    assert [line.partition("resource")[2] for line in out.getvalue().splitlines()] == [
        "",
        " (499 more like it within 60 s)",
    ]
