"""Status messages of boards, which may be hostile; figures are kept within bounds."""

import json
from dataclasses import fields
from typing import Any

from engram import text
from engram_host.companion.errors import Refused
from engram_host.companion.replication.messages import UPDATE_SECONDS, StatusHead
from engram_host.companion.store.boards.status import TELEGRAM_STATES, BoardStatus

MOST = (1 << 53) - 1
"""Highest figure: exact in every JSON parser."""

_LONGEST = {"firmware": 32, "mode": 16, "reset": 16, "model": 64, "telegram": 16}

_LONGEST_SENTENCE = 200
_MOST_PINS, _LONGEST_PIN = 24, 32

_KINDS = {field.name: type(field.default) for field in fields(BoardStatus)}


def read_status(head: StatusHead) -> BoardStatus:
    """Return a board's figures, cut to their bounds; ignores newer fields, raises Refused."""
    found: dict[str, Any] = {}
    for item in head["items"]:
        if not (isinstance(item, list) and len(item) == 2 and isinstance(item[0], str)):
            raise _refusal("an item is no pair of a name and a value")
        name, value = item
        if name in _KINDS:
            found[name] = _bounded(name, value)
    if found.get("telegram", "") not in ("", *TELEGRAM_STATES):
        raise _refusal("telegram has no such state")
    return BoardStatus(**found)


def _bounded(name: str, value: Any) -> int | str:
    if name == "pins":
        return _pins(value)
    if type(value) is not _KINDS[name]:
        raise _refusal(f"{name} is no {'number' if _KINDS[name] is int else 'text'}")
    if isinstance(value, int):
        return min(max(value, 0), MOST)
    return text.cut(" ".join(text.printable(value).split()), _LONGEST.get(name, _LONGEST_SENTENCE))


def _pins(value: Any) -> str:
    if not isinstance(value, dict):
        raise _refusal("pins is no object")
    return json.dumps({_shown(name): _pin(each) for name, each in list(value.items())[:_MOST_PINS]}, ensure_ascii=False)


def _pin(value: Any) -> int | str | None:
    if type(value) is int:
        return min(max(value, -MOST), MOST)
    if isinstance(value, str):
        return _shown(value)
    if value is None:
        return None
    raise _refusal("a pin has no such value")


def _shown(said: str) -> str:
    return text.cut(" ".join(text.printable(said).split()), _LONGEST_PIN)


def _refusal(why: str) -> Refused:
    return Refused(f"a status has another form, {why}: the board's firmware is at fault.", UPDATE_SECONDS)
