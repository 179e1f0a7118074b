"""How the companion logs: a line of text for people, or a JSON object a line for programs; a secret in neither, and nothing
that steers a terminal or begins another line.

A JSON line has `time` (ISO 8601, UTC), `level`, `logger`, `message`, `fields` (what the code says beside the message, such as
the board), and `error` with the traceback where there is one.
"""

import json
import logging
import re
import sys
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
"""Characters of a message that are logged: a text from outside does not fill the disk."""

_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def without_secrets(text: str) -> str:
    """A text in which what looks like a password, a token or a key is hidden: no code should have put it there."""
    return _SECRETS.sub(HIDDEN, text)


def without_controls(text: str, kept: str = "") -> str:
    """A text in which control characters, and those that turn the direction of writing or end a line, are escaped as JSON
    escapes them, but those that are `kept`.
    """
    return _CONTROLS.sub(lambda found: found[0] if found[0] in kept else json.dumps(found[0])[1:-1], text)


class _Text(logging.Formatter):
    def formatMessage(self, record: logging.LogRecord) -> str:
        # Secrets first: an escape sequence before one would hide it from the search.
        record.message = without_controls(without_secrets(record.message)[:_LONGEST])
        return super().formatMessage(record)

    def formatException(self, ei: Any) -> str:
        return without_controls(without_secrets(super().formatException(ei)), kept="\n")

    def formatStack(self, stack_info: str) -> str:
        return without_controls(without_secrets(stack_info), kept="\n")


class JsonFormatter(logging.Formatter):
    """Makes one JSON object of a record."""

    def format(self, record: logging.LogRecord) -> str:
        """The object, without a line end."""
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
    """A field as JSON has it."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return without_secrets(str(value))[:_LONGEST]


def set_up(form: str, level: str, out: TextIO | None = None) -> None:
    """Log to stderr, or to `out`, from now on; `form` is one of FORMATS, `level` one of LEVELS."""
    handler = logging.StreamHandler(out or sys.stderr)
    pattern = "%(asctime)s %(levelname)s %(name)s: %(message)s"
    handler.setFormatter(JsonFormatter() if form == "json" else _Text(pattern))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
