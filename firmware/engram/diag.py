"""Diagnostics: a short ring of log lines, shown by /stats, and printed where wanted.

The one module that prints. Messages never hold a secret or a person's text.
"""

from engram.compat import const, print_trace

_KEPT = const(24)  # lines in the ring: what /stats can show, about 2 KB of heap
_LONGEST = const(200)  # characters of a line: an error text of a peer may be long

DEBUG = const(0)
INFO = const(1)
WARNING = const(2)
ERROR = const(3)
NAMES = ("debug", "info", "warning", "error")

level = WARNING
"""Messages below this level are kept but not printed."""

errors = 0
"""Messages of the level ERROR since the start."""

_ring = []
_dropped = 0


def _add(severity: int, source: str, message: str) -> None:
    global _dropped
    line = NAMES[severity] + " " + source + ": " + message[:_LONGEST]
    if len(_ring) >= _KEPT:
        _ring.pop(0)
        _dropped += 1
    _ring.append(line)
    if severity >= level:
        print("[" + line + "]")


def info(source: str, message: str) -> None:
    """Tell that something usual happened."""
    _add(INFO, source, message)


def warning(source: str, message: str) -> None:
    """Tell that something was not as it should be, and how it went on."""
    _add(WARNING, source, message)


def error(source: str, message: str) -> None:
    """Tell that something was lost or refused."""
    global errors
    errors += 1
    _add(ERROR, source, message)


def lines():
    """Yield the kept lines, oldest first."""
    if _dropped:
        yield str(_dropped) + " older lines were dropped"
    for line in _ring:
        yield line


def failure(source: str, problem, consequence: str) -> None:
    """Tell of an error that nobody had foreseen; where it happened is shown if `level` is DEBUG."""
    error(source, type(problem).__name__ + ": " + str(problem) + "; " + consequence)
    if level == DEBUG:
        print_trace(problem)
