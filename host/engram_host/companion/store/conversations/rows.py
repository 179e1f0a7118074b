"""Rows of messages to boards and of their answers, within one transaction."""

from collections.abc import Sequence
from typing import Any

from engram_host.companion.errors import REFUSALS, Refused, TooManyWaiting, UnknownConversation
from engram_host.companion.store.boards.replication_rules import HELLO_FIRST
from engram_host.companion.store.queries import Rows
from engram_host.companion.store.sql import columns_of, read_row, row_values
from engram_host.companion.types import (
    Conversation,
    ConversationLimits,
    ConversationState,
    PieceKind,
    Said,
    Sender,
    without_secret,
)

COLUMNS = f"number, device, {columns_of(Said)}, state, turn, at, changed, offers, begun, unnamed, is_cancelled, is_push"

ONE = "device = ? AND mid = ?"
OPEN = "state IN ('waiting', 'taken', 'answering')"
ENDED = "state IN ('done', 'cancelled', 'undeliverable')"
_TOO_LONG = "the answer is longer than the companion keeps; all of it stands in the board's journal."


def admit_board(rows: Rows, sender: Sender, device: str) -> None:
    row = rows.lock([device]).get(device)
    if row is None or row.board != sender.board or sender.link > row.link:
        raise Refused(HELLO_FIRST, again=0)


def offer_message(rows: Rows, found: Conversation, now: int) -> Conversation:
    offers = "unnamed = unnamed + 1, offers = CASE WHEN offers < attempt THEN attempt ELSE offers END + 1"
    rows.run(f"UPDATE conversations SET {offers}, changed = ? WHERE {ONE}", (now, found.device, found.said.mid))
    return known_conversation(rows, found.device, found.said.mid)


def note_begun(rows: Rows, found: Conversation) -> None:
    if found.unnamed:
        sql = f"UPDATE conversations SET begun = begun + 1, unnamed = 0 WHERE {ONE}"
        rows.run(sql, (found.device, found.said.mid))


def check_room(rows: Rows, device: str, said: Said, limits: ConversationLimits) -> None:
    sql = f"SELECT principal, length(text) FROM conversations WHERE device = ? AND {OPEN}"
    waiting = rows.run(sql, (device,))
    own = sum(principal == said.principal for principal, _ in waiting)
    if own >= limits.person_messages:
        raise TooManyWaiting(REFUSALS.say("many_of_one", count=own, principal=said.principal, board=device))
    size = sum(length for _, length in waiting) + len(said.text)
    if len(waiting) >= limits.board_messages or size > limits.board_bytes:
        raise TooManyWaiting(REFUSALS.say("many_waiting", count=len(waiting), board=device))


def insert_conversation(
    rows: Rows, device: str, said: Said, state: ConversationState, now: int, *, is_push: bool = False
) -> None:
    values = {"device": device, "state": state, "turn": "", "is_push": int(is_push), "at": now, "changed": now}
    rows.insert("conversations", row_values(said) | values)


def find_conversation(rows: Rows, device: str, mid: str) -> Conversation | None:
    found = rows.run(f"SELECT {COLUMNS} FROM conversations WHERE {ONE}", (device, mid))
    return as_conversation(found[0]) if found else None


def known_conversation(rows: Rows, device: str, mid: str) -> Conversation:
    found = find_conversation(rows, device, mid)
    if found is None:
        raise UnknownConversation(mid)
    return found


def as_conversation(row: Sequence[Any]) -> Conversation:
    return read_row(Conversation, (*row[:2], read_row(Said, row[2:12]), *row[12:]))


def begin_answer(rows: Rows, found: Conversation, offer: int) -> None:
    key = (found.device, found.said.mid)
    rows.run(f"UPDATE conversations SET attempt = ? WHERE {ONE}", (offer, *key))
    if last := _last_piece(rows, found):
        rows.run(f"DELETE FROM conversation_pieces WHERE {ONE}", key)
        rows.let_go = True
        sql = "INSERT INTO conversation_pieces (device, mid, piece, kind, text) VALUES (?, ?, ?, 'again', '')"
        rows.run(sql, (*key, last + 1))


def _last_piece(rows: Rows, found: Conversation) -> int:
    sql = f"SELECT coalesce(max(piece), 0) FROM conversation_pieces WHERE {ONE}"
    return rows.run(sql, (found.device, found.said.mid))[0][0]


def add_pieces(
    rows: Rows, found: Conversation, pieces: Sequence[tuple[PieceKind, str]], most_bytes: int = 1 << 30
) -> None:
    key = (found.device, found.said.mid)
    sql = f"SELECT coalesce(sum(length(text)), 0), coalesce(max(piece), 0) FROM conversation_pieces WHERE {ONE}"
    ((size, last),) = rows.run(sql, key)
    kept: list[tuple[Any, ...]] = []
    for kind, text in pieces:
        if size > most_bytes:
            break
        last, size = last + 1, size + len(text)
        kept.append((*key, last, *((kind, text) if size <= most_bytes else ("problem", _TOO_LONG))))
    rows.run_many("INSERT INTO conversation_pieces (device, mid, piece, kind, text) VALUES (?, ?, ?, ?, ?)", kept)


def end_conversation(rows: Rows, found: Conversation, state: ConversationState, now: int) -> None:
    key = (found.device, found.said.mid)
    rows.run(f"UPDATE conversations SET state = ?, changed = ? WHERE {ONE}", (state, now, *key))
    kept = without_secret(found.said).text
    if kept != found.said.text:
        rows.run(f"UPDATE conversations SET text = ? WHERE {ONE}", (kept, *key))
        rows.let_go = True
