"""Logs text lines for people or JSON lines for programs, without secrets and control characters.

A JSON line has `time` (ISO 8601, UTC), `level`, `logger`, `message`, `fields` (such as the board),
and `error` with a traceback. RepeatFilter counts repeated lines of all loggers.
"""

import json
import logging
import re
import sys
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TextIO

FORMATS = ("text", "json")
LEVELS = ("debug", "info", "warning", "error")

HIDDEN = "(hidden)"

_SECRETS = re.compile(
    r"(?P<url>(?<=://)[^\s/@:]*:[^\s@]*(?=@))"  # user:password of a URL
    r"|(?P<header>(?i:\b(?:bearer|basic)\s+)[\w.~+/=-]{8,})"
    r"|(?P<token>(?<![\w-])[\w-]{43}(?![\w-]))"  # a device's or the operator's
    r"|(?P<key>\bsk-[\w-]{16,})"
)
_CONTROLS = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_LONGEST = 4000
"""Characters of a logged message: outside text must not fill the disk."""

_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "repeat"}


def without_secrets(text: str) -> str:
    """Mask passwords, tokens and keys, as a second line of defence."""
    return _SECRETS.sub(HIDDEN, text)


def without_controls(text: str, kept: str = "") -> str:
    """Escape control, bidirectional and line-end characters, but those in `kept`."""
    return _CONTROLS.sub(lambda found: found[0] if found[0] in kept else json.dumps(found[0])[1:-1], text)


class _Text(logging.Formatter):
    def formatMessage(self, record: logging.LogRecord) -> str:
        # Secrets first: an escape sequence before one would hide it.
        record.message = without_controls(without_secrets(record.message)[:_LONGEST])
        return super().formatMessage(record)

    def formatException(self, ei: Any) -> str:
        return without_controls(without_secrets(super().formatException(ei)), kept="\n")

    def formatStack(self, stack_info: str) -> str:
        return without_controls(without_secrets(stack_info), kept="\n")


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = {name: _plain(value) for name, value in vars(record).items() if name not in _OWN}
        document = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": without_secrets(record.getMessage())[:_LONGEST],
            "fields": fields,
        }
        if record.exc_info:
            document["error"] = without_secrets(self.formatException(record.exc_info))
        return without_controls(json.dumps(document, ensure_ascii=False))


def _plain(value: object) -> object:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return without_secrets(str(value))[:_LONGEST]


# --- repeats


REPEAT_SECONDS = 60.0

MOST_LINES = 2048
"""Lines with counted repeats, to bound the memory; further ones are counted together."""

MOST_VARIANTS = 60
"""Variants of a line per REPEAT_SECONDS; further ones are counted together to save the disk."""

_VARYING = re.compile(r"0x[0-9a-fA-F]+|\bTask-\d+|\bfd=\d+|\bport \d+")


@dataclass
class _Line:
    record: logging.LogRecord
    kind: tuple[str, int, str]
    until: float
    repeats: int = 0


class RepeatFilter(logging.Filter):
    def __init__(
        self,
        write: Callable[[logging.LogRecord], None],
        seconds: float = REPEAT_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ):
        super().__init__()
        self._write = write
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._lines: OrderedDict[tuple[str, int, str], _Line] = OrderedDict()
        self._variants: Counter[tuple[str, int, str]] = Counter()
        self._timer: threading.Timer | None = None

    def filter(self, record: logging.LogRecord) -> bool:
        """True if the line is to be written; adds the count of suppressed ones."""
        if record.levelno < logging.INFO:
            return True
        with self._lock:
            now = self._clock()
            kind = _kind(record)
            key = self._key(record, kind)
            line = self._lines.get(key)
            if line and now < line.until:
                line.repeats += 1
                self._report_later()
                return False
            self._lines[key] = _Line(_copy(record), kind, now + self._seconds)
            self._lines.move_to_end(key)
            if line:
                _say_repeats(record, line.repeats, self._seconds)
            else:
                self._variants[kind] += 1
            ended = self._remove_ended(now)
        self._report(ended)
        return True

    def report(self) -> None:
        with self._lock:
            self._timer = None
            ended = self._remove_ended(self._clock())
            if any(line.repeats for line in self._lines.values()):
                self._report_later()
        self._report(ended)

    def stop(self) -> None:
        with self._lock:
            if self._timer:
                self._timer.cancel()
            ended = self._remove_ended(float("inf"))
        self._report(ended)

    def _key(self, record: logging.LogRecord, kind: tuple[str, int, str]) -> tuple[str, int, str]:
        common = getattr(record, "repeat", None)
        text = _VARYING.sub("", record.getMessage()) if common is None else f"{kind[2]} {common}"
        key = record.name, record.levelno, text
        if key in self._lines:
            return key
        if self._variants[kind] >= MOST_VARIANTS:
            return kind
        return key if len(self._lines) < MOST_LINES else ("", record.levelno, "")

    def _remove_ended(self, now: float) -> list[_Line]:
        ended: list[_Line] = []
        while self._lines and (oldest := next(iter(self._lines.items())))[1].until <= now:
            ended.append(oldest[1])
            self._remove(oldest[0])
        return ended

    def _remove(self, key: tuple[str, int, str]) -> None:
        kind = self._lines.pop(key).kind
        self._variants[kind] -= 1
        if not self._variants[kind]:
            del self._variants[kind]

    def _report(self, ended: list[_Line]) -> None:
        for line in ended:
            if line.repeats:
                _say_repeats(line.record, line.repeats, self._seconds)
                line.record.created = time.time()
                self._write(line.record)

    def _report_later(self) -> None:
        if not self._timer:
            self._timer = threading.Timer(self._seconds, self.report)
            self._timer.daemon = True
            self._timer.start()


def _kind(record: logging.LogRecord) -> tuple[str, int, str]:
    """Return a key for lines that differ only in their arguments, or in the text of the first."""
    pattern = str(record.msg)
    return record.name, record.levelno, pattern if record.args else pattern.partition("\n")[0]


def _copy(record: logging.LogRecord) -> logging.LogRecord:
    return logging.makeLogRecord(vars(record) | {"exc_info": None, "exc_text": None, "stack_info": None})


def _say_repeats(record: logging.LogRecord, repeats: int, seconds: float) -> None:
    if repeats:
        text = record.getMessage()[: _LONGEST - 100]
        record.msg = f"{text} ({repeats} more like it within {seconds:.0f} s)"
        record.args = ()
        record.repeats = repeats


class _Handler(logging.StreamHandler[TextIO]):
    def __init__(self, out: TextIO):
        super().__init__(out)
        self._repeats = RepeatFilter(self._write_count)
        self.addFilter(self._repeats)

    def _write_count(self, record: logging.LogRecord) -> None:
        self.acquire()
        try:
            self.emit(record)
        finally:
            self.release()

    def close(self) -> None:
        self._repeats.stop()
        super().close()


def set_up(form: str, level: str, out: TextIO | None = None) -> None:
    """Log to `out` (default stderr); `form` is one of FORMATS, `level` one of LEVELS."""
    handler = _Handler(out or sys.stderr)
    pattern = "%(asctime)s %(levelname)s %(name)s: %(message)s"
    handler.setFormatter(JsonFormatter() if form == "json" else _Text(pattern))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
