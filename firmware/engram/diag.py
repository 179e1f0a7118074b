"""Diagnostics: a short ring of log lines for /stats, and the one module that prints. Messages never hold
a secret or a person's text.
"""

from engram.compat import print_trace

_KEPT = const(24)  # lines in the ring: what /stats can show, about 2 KB of heap
_LONGEST = const(200)  # characters of a line: an error text of a peer may be long

DEBUG = const(0)
INFO = const(1)
WARNING = const(2)
ERROR = const(3)
NAMES = ("debug", "info", "warning", "error")

level = WARNING
"""Lowest level that is printed; all messages are kept."""

errors = 0

_ring = []


def _add(severity: int, source: str, message: str) -> None:
    line = NAMES[severity] + " " + source + ": " + message[:_LONGEST]
    if len(_ring) >= _KEPT:
        _ring.pop(0)
    _ring.append(line)
    if severity >= level:
        print("[" + line + "]")


def info(source: str, message: str) -> None:
    """Log a usual event."""
    _add(INFO, source, message)


def warning(source: str, message: str) -> None:
    _add(WARNING, source, message)


def error(source: str, message: str) -> None:
    global errors
    errors += 1
    _add(ERROR, source, message)


def lines():
    yield from _ring


def failure(source: str, problem, consequence: str) -> None:
    """Log an unexpected error, with its traceback at level DEBUG."""
    error(source, type(problem).__name__ + ": " + str(problem) + "; " + consequence)
    if level == DEBUG:
        print_trace(problem)
