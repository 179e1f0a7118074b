"""Bridges, their chats and open deliveries; a bridge or the companion may die between any two changes.

A network message has one row by its id, which makes repeats harmless until expire_deliveries() removes it.
"""

import json
import logging
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from engram_host.companion.errors import UnknownDevice
from engram_host.companion.store.bridges.types import ChatPlace, Delivery, DeliveryEnd, KeptMessage, Shown
from engram_host.companion.store.conversations.table import OPEN, check_room, find_conversation, insert_conversation
from engram_host.companion.store.database import DatabaseTable, reads, writes
from engram_host.companion.store.rows import Rows, in_list, read_row, row_values
from engram_host.companion.types import ConversationLimits, Said

_log = logging.getLogger("engram.bridges")

MOST_OPEN_CHAT = 50
"""Open deliveries per chat; beyond that the oldest is dropped."""

MOST_OPEN = 2000

MOST_CHATS = 5000

MOST_MARK = 2000

_AT_ONCE = 500

_PLACE = "bridge = ? AND chat = ? AND thread = ?"
_SHOWN = ("messages", "part", "start", "upto", "digest", "heading", "sending", "told")
_COLUMNS = f"number, bridge, chat, thread, is_group, message, device, mid, text, at, {', '.join(_SHOWN)}, ref"


class DeliveryTable(DatabaseTable):
    # --- bridges

    @reads
    def bridge_mark(self, rows: Rows, bridge: str) -> str:
        found = rows.run("SELECT mark FROM bridge_marks WHERE bridge = ?", (bridge,))
        return found[0][0] if found else ""

    @writes
    def save_bridge_mark(self, rows: Rows, bridge: str, mark: str) -> None:
        rows.upsert("bridge_marks", "bridge", {"bridge": bridge, "mark": mark[:MOST_MARK]})

    @writes
    def claim_bridge(self, rows: Rows, bridge: str, account: str) -> bool:
        """Bind a bridge to an account; True if it replaced another one, whose rows are removed."""
        name = _account_note(bridge)
        found = rows.run("SELECT value FROM notes WHERE name = ?", (name,))
        is_other = bool(found) and found != [(account,)]
        if is_other:
            _forget(rows, bridge)
        rows.upsert("notes", "name", {"name": name, "value": account})
        return is_other

    @writes
    def forget_bridge(self, rows: Rows, bridge: str) -> None:
        _forget(rows, bridge)

    # --- messages of people

    @reads
    def is_known(self, rows: Rows, mid: str) -> bool:
        return _is_known(rows, mid)

    @reads
    def kept_message(self, rows: Rows, mid: str) -> KeptMessage | None:
        found = rows.run(f"SELECT {_COLUMNS} FROM bridge_deliveries WHERE mid = ? LIMIT 1", (mid,))
        if not found:
            return None
        delivery = _delivery(found[0])
        given = find_conversation(rows, delivery.device, mid)
        newest = (
            "SELECT text FROM conversations WHERE device = ? AND (mid = ? OR edits = ?) ORDER BY number DESC LIMIT 1"
        )
        texts = rows.run(newest, (delivery.device, mid, mid))
        return KeptMessage(delivery, given, texts[0][0] if texts else "")

    @writes
    def add_message(
        self, rows: Rows, delivery: Delivery, said: Said, limits: ConversationLimits, now: int
    ) -> Delivery | None:
        """Store a message and its delivery, None if it is a repeat; UnknownDevice, TooManyWaiting."""
        if delivery.device not in rows.lock([delivery.device]):
            raise UnknownDevice(delivery.device)
        if _is_known(rows, delivery.mid):
            return None
        check_room(rows, delivery.device, said, limits)
        insert_conversation(rows, delivery.device, said, "waiting", now)
        _touch_chat(rows, delivery.place, delivery.ref, said.room, now, asked=delivery.device)
        return insert_delivery(rows, delivery, now)

    @writes
    def add_text(self, rows: Rows, delivery: Delivery, now: int) -> Delivery | None:
        """Store a text to deliver; None if the message that it answers is a repeat."""
        return None if _is_known(rows, delivery.mid) else insert_delivery(rows, delivery, now)

    @writes
    def add_pushes(self, rows: Rows, bridges: Collection[str], now: int) -> tuple[list[Delivery], list[Delivery]]:
        """Queue new pushes of boards for chats; return these, and open texts that answer no message."""
        some, values = in_list(bridges)
        sql = (
            "SELECT device, mid, room, text, at FROM conversations c WHERE is_push = 1 AND EXISTS "
            f"(SELECT 1 FROM bridge_chats WHERE bridge_chats.room = c.room AND bridge {some}) AND NOT EXISTS "
            "(SELECT 1 FROM bridge_deliveries d WHERE d.mid = c.mid AND d.device = c.device) "
            f"ORDER BY number LIMIT {_AT_ONCE}"
        )
        added: list[Delivery] = []
        for device, mid, room, text, at in rows.run(sql, values):
            place, ref = _place_of_room(rows, room, device, bridges)
            if added_one := insert_delivery(rows, Delivery(0, place, "", device, mid, text, at, ref=ref), now):
                added.append(added_one)
        where = f"bridge {some} AND state = 'open' AND message = '' AND device = ''"
        sql = f"SELECT {_COLUMNS} FROM bridge_deliveries WHERE {where} ORDER BY number LIMIT {_AT_ONCE}"
        return added, [_delivery(row) for row in rows.run(sql, values)]

    # --- chats

    @reads
    def chosen_board(self, rows: Rows, place: ChatPlace) -> str:
        sql = "SELECT chosen FROM bridge_chats WHERE bridge = ? AND chat = ? AND thread IN (?, '') ORDER BY thread DESC"
        found = [chosen for (chosen,) in rows.run(sql, (place.bridge, place.chat, place.thread)) if chosen]
        return found[0] if found else ""

    @writes
    def choose_board(self, rows: Rows, place: ChatPlace, ref: str, room: str, device: str, now: int) -> None:
        _touch_chat(rows, place, ref, room, now)
        rows.run(f"UPDATE bridge_chats SET chosen = ? WHERE {_PLACE}", (device, *_place_key(place)))

    @reads
    def is_kept_as_private(self, rows: Rows, bridge: str, chat: str) -> bool:
        private = "bridge = ? AND chat = ? AND is_group = 0"
        sql = (
            f"SELECT 1 FROM bridge_chats WHERE {private} UNION ALL "
            f"SELECT 1 FROM bridge_deliveries WHERE {private} AND state = 'open' LIMIT 1"
        )
        return bool(rows.run(sql, (bridge, chat) * 2))

    @writes
    def note_group(self, rows: Rows, bridge: str, chat: str, now: int) -> int:
        """Mark a chat as a group and drop its private deliveries; return how many."""
        private = "bridge = ? AND chat = ? AND is_group = 0"
        rows.run(f"UPDATE bridge_chats SET is_group = 1 WHERE {private}", (bridge, chat))
        sql = (
            f"UPDATE bridge_deliveries SET state = 'dropped', changed = ?, text = '' WHERE {private} AND state = 'open'"
        )
        dropped = rows.count(sql, (now, bridge, chat))
        rows.let_go |= bool(dropped)
        return dropped

    @reads
    def open_answers(self, rows: Rows, place: ChatPlace) -> list[tuple[str, str, str]]:
        sql = (
            "SELECT c.device, c.mid, c.principal FROM bridge_deliveries d JOIN conversations c ON c.device = d.device AND "
            f"c.mid = d.mid WHERE d.bridge = ? AND d.chat = ? AND d.thread = ? AND d.state = 'open' AND c.{OPEN} "
            "AND c.is_push = 0 ORDER BY d.number"
        )
        return [(device, mid, principal) for device, mid, principal in rows.run(sql, _place_key(place))]

    # --- delivering

    @reads
    def open_deliveries(self, rows: Rows, bridge: str) -> list[Delivery]:
        sql = f"SELECT {_COLUMNS} FROM bridge_deliveries WHERE bridge = ? AND state = 'open' ORDER BY number"
        return [_delivery(row) for row in rows.run(sql, (bridge,))]

    @reads
    def open_delivery(self, rows: Rows, number: int) -> Delivery | None:
        found = rows.run(f"SELECT {_COLUMNS} FROM bridge_deliveries WHERE number = ? AND state = 'open'", (number,))
        return _delivery(found[0]) if found else None

    @writes
    def save_shown(self, rows: Rows, number: int, shown: Shown, now: int) -> bool:
        """Save an answer's progress; False if it is no longer open."""
        values = _shown(shown) | {"changed": now}
        names = ", ".join(f"{name} = ?" for name in values)
        sql = f"UPDATE bridge_deliveries SET {names} WHERE number = ? AND state = 'open'"
        return rows.count(sql, (*values.values(), number)) > 0

    @writes
    def end_delivery(self, rows: Rows, number: int, end: DeliveryEnd, now: int) -> None:
        rows.run("UPDATE bridge_deliveries SET state = ?, changed = ?, text = '' WHERE number = ?", (end, now, number))
        rows.let_go = True

    # --- expiry

    @writes
    def expire_deliveries(self, rows: Rows, open_since: int, ended_since: int, now: int) -> list[int]:
        """Drop old open deliveries, remove ended ones and excess chats; return the numbers dropped."""
        dropped = _drop(rows, f"state = 'open' AND at < ? ORDER BY number LIMIT {_AT_ONCE}", (open_since,), now)
        gone = f"SELECT number FROM bridge_deliveries WHERE state <> 'open' AND changed < ? LIMIT {_AT_ONCE}"
        rows.let_go |= bool(rows.count(f"DELETE FROM bridge_deliveries WHERE number IN ({gone})", (ended_since,)))
        kept = "SELECT bridge, chat, thread FROM bridge_chats ORDER BY heard DESC, bridge, chat, thread LIMIT ?"
        rows.run(f"DELETE FROM bridge_chats WHERE (bridge, chat, thread) NOT IN ({kept})", (MOST_CHATS,))
        return dropped


def _account_note(bridge: str) -> str:
    return f"bridge.account.{bridge}"


def _forget(rows: Rows, bridge: str) -> None:
    for table in ("bridge_marks", "bridge_chats", "bridge_deliveries"):
        rows.run(f"DELETE FROM {table} WHERE bridge = ?", (bridge,))
    rows.run("DELETE FROM notes WHERE name = ?", (_account_note(bridge),))
    rows.let_go = True


def _is_known(rows: Rows, mid: str) -> bool:
    return bool(rows.run("SELECT 1 FROM bridge_deliveries WHERE mid = ? LIMIT 1", (mid,)))


def _place_key(place: ChatPlace) -> tuple[str, str, str]:
    return place.bridge, place.chat, place.thread


def _touch_chat(rows: Rows, place: ChatPlace, ref: str, room: str, now: int, asked: str = "") -> None:
    sql = (
        "INSERT INTO bridge_chats (bridge, chat, thread, is_group, ref, room, chosen, asked, heard) "
        "VALUES (?, ?, ?, ?, ?, ?, '', ?, ?) ON CONFLICT (bridge, chat, thread) DO UPDATE SET heard = excluded.heard, "
        "is_group = excluded.is_group, ref = excluded.ref, "
        "asked = CASE WHEN excluded.asked = '' THEN bridge_chats.asked ELSE excluded.asked END"
    )
    rows.run(sql, (*_place_key(place), int(place.is_group), ref, room, asked, now))


def _place_of_room(rows: Rows, room: str, device: str, bridges: Collection[str]) -> tuple[ChatPlace, str]:
    some, values = in_list(bridges)
    sql = (
        f"SELECT bridge, chat, thread, is_group, ref FROM bridge_chats WHERE room = ? AND bridge {some} "
        "ORDER BY CASE WHEN asked = ? THEN 0 ELSE 1 END, heard DESC LIMIT 1"
    )
    ((bridge, chat, thread, is_group, ref),) = rows.run(sql, (room, *values, device))
    return ChatPlace(bridge, chat, thread, bool(is_group)), "" if is_group else ref


def insert_delivery(rows: Rows, delivery: Delivery, now: int) -> Delivery | None:
    place = delivery.place
    values: dict[str, Any] = {
        "bridge": place.bridge,
        "chat": place.chat,
        "thread": place.thread,
        "is_group": int(place.is_group),
        "ref": delivery.ref,
        "message": delivery.message,
        "device": delivery.device,
        "mid": delivery.mid,
        "text": delivery.text,
        "state": "open",
        "at": delivery.at,
        "changed": now,
        **_shown(delivery.shown),
    }
    if not rows.insert("bridge_deliveries", values, "ON CONFLICT DO NOTHING"):
        return None  # another process has just inserted it
    key = (delivery.mid, delivery.device)
    ((number,),) = rows.run("SELECT number FROM bridge_deliveries WHERE mid = ? AND device = ?", key)
    _keep_bounds(rows, place, now)
    return replace(delivery, number=number)


def _keep_bounds(rows: Rows, place: ChatPlace, now: int) -> None:
    for where, keys, most in ((f"{_PLACE} AND ", _place_key(place), MOST_OPEN_CHAT), ("", (), MOST_OPEN)):
        condition = f"{where}state = 'open'"
        ((count,),) = rows.run(f"SELECT count(*) FROM bridge_deliveries WHERE {condition}", keys)
        if count > most:
            _drop(rows, f"{condition} ORDER BY number LIMIT ?", (*keys, count - most), now)


def _drop(rows: Rows, condition: str, values: Sequence[Any], now: int) -> list[int]:
    numbers = [number for (number,) in rows.run(f"SELECT number FROM bridge_deliveries WHERE {condition}", values)]
    if numbers:
        some, keys = in_list(numbers)
        rows.run(
            f"UPDATE bridge_deliveries SET state = 'dropped', changed = ?, text = '' WHERE number {some}", (now, *keys)
        )
        rows.let_go = True
        _log.warning("dropped %d deliveries: too many wait, or for too long", len(numbers))
    return numbers


def _shown(shown: Shown) -> dict[str, Any]:
    values = row_values(shown) | {"messages": json.dumps(shown.messages)}
    return dict(zip(_SHOWN, values.values(), strict=True))


def _delivery(row: Sequence[Any]) -> Delivery:
    number, *place = row[:5]
    messages, *shown = row[10:18]
    shown = read_row(Shown, (tuple(json.loads(messages)), *shown))
    return read_row(Delivery, (number, read_row(ChatPlace, place), *row[5:10], shown, row[18]))
