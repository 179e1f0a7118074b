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
from collections.abc import Callable
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

_Key = tuple[str, int, str]


class RepeatFilter(logging.Filter):
    """Passes a line once within some seconds; the next one after these says how many were left out."""

    def __init__(self, seconds: float = REPEAT_SECONDS, clock: Callable[[], float] = time.monotonic):
        super().__init__()
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        # By line and by kind of lines: the end of its counting, and the repeats or the variants.
        self._lines: dict[_Key, tuple[float, int]] = {}
        self._variants: dict[_Key, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """True if the line is to be written; adds the count of suppressed ones."""
        if record.levelno < logging.INFO:
            return True
        with self._lock:
            now = self._clock()
            key = self._key(record, now)
            until, repeats = self._lines.get(key, (now, 0))
            if now < until:
                self._lines[key] = until, repeats + 1
                return False
            self._lines[key] = now + self._seconds, 0
        _say_repeats(record, repeats, self._seconds)
        return True

    def _key(self, record: logging.LogRecord, now: float) -> _Key:
        common, kind = getattr(record, "repeat", None), _kind(record)
        text = _VARYING.sub("", record.getMessage()) if common is None else f"{kind[2]} {common}"
        key = record.name, record.levelno, text
        if key in self._lines:
            return key
        until, variants = self._variants.get(kind, (now, 0))
        if now >= until:
            until, variants = now + self._seconds, 0
        if variants >= MOST_VARIANTS:
            return kind
        if len(self._lines) >= MOST_LINES:
            self._lines = {each: held for each, held in self._lines.items() if held[0] > now}
            self._variants = {each: held for each, held in self._variants.items() if held[0] > now}
        if len(self._lines) >= MOST_LINES:
            return "", record.levelno, ""
        self._variants[kind] = until, variants + 1
        return key


def _kind(record: logging.LogRecord) -> _Key:
    """Return a key for lines that differ only in their arguments, or in the text of the first."""
    pattern = str(record.msg)
    return record.name, record.levelno, pattern if record.args else pattern.partition("\n")[0]


def _say_repeats(record: logging.LogRecord, repeats: int, seconds: float) -> None:
    if repeats:
        text = record.getMessage()[: _LONGEST - 100]
        record.msg = f"{text} ({repeats} more like it within {seconds:.0f} s)"
        record.args = ()
        record.repeats = repeats


def set_up(form: str, level: str, out: TextIO | None = None) -> None:
    """Log to `out` (default stderr); `form` is one of FORMATS, `level` one of LEVELS."""
    handler = logging.StreamHandler(out or sys.stderr)
    handler.addFilter(RepeatFilter())
    pattern = "%(asctime)s %(levelname)s %(name)s: %(message)s"
    handler.setFormatter(JsonFormatter() if form == "json" else _Text(pattern))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
