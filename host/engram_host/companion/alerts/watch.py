"""Alerts to send: boards away or back, nearly full flash, strangers with a code, and boards' messages.

Findings count as sent once keep() is called, across restarts; others are found again.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from engram_host.companion.alerts.board_warnings import ROOM_AGAIN_PERCENT, flash_warning, is_nearly_full
from engram_host.companion.alerts.outbox import Alert
from engram_host.companion.settings import AlertSettings
from engram_host.companion.store.boards.status import BoardStatusTable, percent
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.store.bridges.people import PeopleTable
from engram_host.companion.store.conversations.table import ConversationTable
from engram_host.companion.store.values import ValueTable

NOTE = "alerts"  # note with the sent alerts
PUSHES_AT_ONCE = 50
PUSH_CHARACTERS = 500  # characters of a board's message in an alert
_CLOCK = "%Y-%m-%d %H:%M"


@dataclass(frozen=True)
class AlertSources:
    """Tables that a check reads; calls block."""

    boards: BoardTable
    conversations: ConversationTable
    people: PeopleTable
    status: BoardStatusTable
    values: ValueTable


class AlertWatch:
    def __init__(self, sources: AlertSources, settings: AlertSettings, started: int):
        """`started` is the time from which boards can be heard (Unix seconds): none is away before it."""
        self._sources = sources
        self._settings = settings
        self._started = started
        self._told: dict[str, Any] | None = None
        self._is_kept = True

    def look(self, now: int) -> list[Alert]:
        """Return new alerts; blocks some ms, may raise StoreUnavailable."""
        told = json.loads(json.dumps(self._told)) if self._told else self._load(now)
        alerts = [*self._boards(told, now), *self._flashes(told), *self._requests(told, now), *self._pushes(told)]
        if told != self._told:
            self._told, self._is_kept = told, False
        return alerts

    def keep(self) -> None:
        """Mark all findings as sent, for good; may raise StoreUnavailable."""
        if not self._is_kept:
            self._sources.values.put(NOTE, json.dumps(self._told))
            self._is_kept = True

    def _load(self, now: int) -> dict[str, Any]:
        """Load the sent alerts; at first, boards already away and earlier messages count as sent."""
        kept = self._sources.values.get(NOTE)
        if kept:
            return json.loads(kept)
        away = [name for name, heard in self._sources.boards.heard_times().items() if self._is_away(heard, now)]
        return {"away": dict.fromkeys(away, 0), "push": self._sources.conversations.newest_conversation(), "codes": []}

    def _is_away(self, heard: int, now: int) -> bool:
        return bool(self._settings.away_minutes) and now - heard >= self._settings.away_minutes * 60

    def _boards(self, told: dict[str, Any], now: int) -> Iterator[Alert]:
        away: dict[str, int] = told["away"]
        times = self._sources.boards.heard_times() if self._settings.away_minutes else {}
        for name, heard in times.items():
            if self._is_away(heard, now):
                if name not in away and now - self._started >= self._settings.away_minutes * 60:
                    away[name] = heard or now
                    text = f"{name} was heard last at {_clock(heard)}. Messages for it are kept until it is back."
                    yield Alert(f"away {name}", f"{name} away", f"{name} is away", text)
            elif since := away.pop(name, None):
                yield Alert(f"back {name}", f"{name} back", f"{name} is back", f"It was away since {_clock(since)}.")
        for name in away.keys() - times.keys():
            del away[name]  # a board that was erased

    def _flashes(self, told: dict[str, Any]) -> Iterator[Alert]:
        full: list[str] = told.setdefault("full", [])  # notes of before have none
        bound = self._settings.flash_percent
        uses = self._sources.status.flash_uses() if bound else {}
        for name, (used, size) in uses.items():
            part = percent(used, size)
            if name not in full and is_nearly_full(part, bound):
                full.append(name)
                yield Alert(f"full {name}", f"{name} flash", f"The flash of {name} is nearly full", flash_warning(part))
            elif name in full and not is_nearly_full(part, max(bound - ROOM_AGAIN_PERCENT, 1)):
                full.remove(name)
                text = f"{part} % of it are used."
                yield Alert(f"room {name}", f"{name} flash", f"The flash of {name} has room again", text)
        told["full"] = [name for name in full if name in uses]  # without boards that were erased

    def _requests(self, told: dict[str, Any], now: int) -> Iterator[Alert]:
        requests = self._sources.people.pairing_requests(now) if self._settings.pairing else []
        for each in requests:
            if each.code not in told["codes"]:
                who = f"{each.name} ({each.ref})" if each.name else each.ref
                text = f"{who} wants to talk. `engram people approve {each.code}` lets them in; the code is valid for an hour."
                yield Alert(f"code {each.code}", f"{each.network} codes", f"A new request on {each.network}", text)
        told["codes"] = [each.code for each in requests]

    def _pushes(self, told: dict[str, Any]) -> Iterator[Alert]:
        if not self._settings.pushes:
            told["push"] = self._sources.conversations.newest_conversation()
            return
        for number, device, said in self._sources.conversations.pushes_after(told["push"], PUSHES_AT_ONCE):
            told["push"] = number
            yield Alert(f"push {number}", f"{device} says", f"{device} says", said[:PUSH_CHARACTERS])


def _clock(seconds: int) -> str:
    return time.strftime(_CLOCK, time.localtime(seconds)) if seconds else "no time that is known"
