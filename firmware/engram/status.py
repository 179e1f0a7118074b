"""Figures of a board, for /stats and for a companion (see docs/reference/messages.md)."""

import os

from engram import __version__, diag, files, text
from engram.compat import const, heap_free, heap_used

_DRIFT = const(65536)  # bytes that the logs may change by until the flash in use is counted again
_NAME_LONGEST = const(64)  # characters of a model's name
_PROBLEM_LONGEST = const(200)  # of a sentence
_CAUSES = ("PWRON_RESET power", "HARD_RESET reset", "WDT_RESET watchdog", "DEEPSLEEP_RESET sleep", "SOFT_RESET soft")


def find_status(board) -> dict:
    """Return the figures of the message `status`; counts are since the start."""
    used, size = flash_use(board)
    records, agent, model = board.records, board.agent, board.model
    found = {
        "firmware": __version__,
        "mode": board.config.get("mode"),
        "flash": used,
        "flash_size": size,
        "records_bytes": records.entries.bytes,
        "records_cap": board.config.get("records.bytes"),
        "memories": records.entries.count(),
        "kept_turns": board.journal.entries.count(),
        "turns": agent.turns,
        "failed": agent.failed,
        "searches": board.searches[0],
        "searches_empty": board.searches[1],
        "errors": diag.errors,
        "model": "",
    }
    if heap_free() >= 0:
        found["heap"] = heap_free()
        found["heap_size"] = heap_free() + heap_used()
    if model:
        found["model"] = text.cut(model.name, _NAME_LONGEST)
        found["calls"] = model.calls
        found["tokens"] = model.tokens
        found["model_problem"] = _sentence(model.problem)
    if board.pins:
        found["pins"] = board.pins.values()
    cause = reset_cause()
    if cause:
        found["reset"] = cause
    found["telegram"], found["telegram_problem"] = _telegram(board)
    return found


def flash_use(board) -> tuple:
    """Return (bytes used, bytes in all): the latest walk plus the logs' changes."""
    if not board.flash_walk:
        walk_flash(board)
    used, size, logs = board.flash_walk
    return max(0, used + log_bytes(board) - logs), size


def log_bytes(board) -> int:
    return board.records.entries.bytes + board.journal.entries.bytes


def walk_flash(board) -> None:
    """Count used blocks, unless little changed: it blocks for seconds."""
    if board.flash_walk and abs(log_bytes(board) - board.flash_walk[2]) < _DRIFT:
        return
    try:
        found = os.statvfs(board.folder or "/")
    except OSError as error:
        raise files.failure(error, board.folder) from None
    board.flash_walk = found[1] * (found[2] - found[3]), found[1] * found[2], log_bytes(board)


def reset_cause() -> str:
    """Return a chip's reset cause in a word, "" elsewhere."""
    try:
        import machine  # of the chip only
    except ImportError:
        return ""
    # The unix port has a module of this name, too.
    cause = machine.reset_cause() if hasattr(machine, "reset_cause") else None
    for each in _CAUSES:
        name, _, word = each.partition(" ")
        if cause is not None and getattr(machine, name, None) == cause:
            return word
    return ""


def _telegram(board) -> tuple:
    if board.telegram is None:
        return "off", ""
    poller = board.telegram.poller
    if not poller.problem:
        return "on", ""
    return ("stopped" if poller.is_stopped else "away"), _sentence(poller.problem)


def _sentence(problem: str) -> str:
    return text.cut(text.printable(problem), _PROBLEM_LONGEST)
