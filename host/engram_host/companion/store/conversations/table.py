"""Messages to boards and their answers; the companion, its broker or the board may die between any two changes.

    waiting -> taken (the board has it on flash) -> answering -> done
    waiting, taken, answering -> cancelled | undeliverable

An idle board is offered its oldest open message, again after a restart; it answers an id once. The messages of an answer
repeat the number of their offer and are numbered from 1 on. The first one for a later offer restarts the answer and voids
earlier pieces; all others that are not the next one are repeated or late, and ignored.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engram_host.companion.errors import (
    REFUSALS,
    MessageIdTaken,
    Refused,
    TooManyWaiting,
    UnknownConversation,
    UnknownDevice,
)
from engram_host.companion.store.boards.replication_rules import HELLO_FIRST
from engram_host.companion.store.database import DatabaseTable, Notice, reads, writes
from engram_host.companion.store.rows import Rows, chunks, columns_of, in_list, read_row, row_values
from engram_host.companion.types import (
    Conversation,
    ConversationLimits,
    ConversationState,
    Piece,
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


MOST_BEGUN = 20
"""Times that a board may begin one message: a crash in each attempt must not repeat for ever."""

MOST_UNNAMED = 200
"""Unacknowledged offers in a row before giving up: one may crash the board each time."""

DONE_KEPT = 1000

PUSHES_KEPT = 200

_LATELY_SECONDS = 3600

NEVER_ENDED = "the board began {} times to answer this and never came to an end: it is not given it any more."
NEVER_BEGUN = "the board was given this {} times and never said that it had got it: it is not given it any more."


@dataclass(frozen=True)
class Reply:
    """One message of an answer: the answered offer, its number `k`, and its pieces."""

    offer: int
    k: int
    pieces: Sequence[tuple[PieceKind, str]]
    is_end: bool
    turn: str = ""


class ConversationTable(DatabaseTable):
    # --- for people

    @writes
    def add_conversation(
        self, rows: Rows, device: str, said: Said, limits: ConversationLimits, now: int
    ) -> Conversation:
        if device not in rows.lock([device]):
            raise UnknownDevice(device)
        if known := find_conversation(rows, device, said.mid):
            if known.said not in (said, without_secret(said)):
                raise MessageIdTaken(said.mid)
            return known
        check_room(rows, device, said, limits)
        insert_conversation(rows, device, said, "waiting", now)
        rows.notify(Notice("board", device).encode())
        return known_conversation(rows, device, said.mid)

    @reads
    def check_room(self, rows: Rows, device: str, said: Said, limits: ConversationLimits) -> None:
        check_room(rows, device, said, limits)

    @writes
    def cancel_conversation(self, rows: Rows, device: str, mid: str, now: int) -> Conversation:
        rows.lock([device])
        found = known_conversation(rows, device, mid)
        if found.state == "waiting" and not found.offers:
            end_conversation(rows, found, "cancelled", now)
        elif found.is_open:
            rows.run(f"UPDATE conversations SET is_cancelled = 1 WHERE {ONE}", (device, mid))
        rows.notify(Notice("board", device).encode())
        rows.notify(Notice("message", device, mid).encode())
        return known_conversation(rows, device, mid)

    @reads
    def conversation(self, rows: Rows, device: str, mid: str) -> Conversation:
        return known_conversation(rows, device, mid)

    @reads
    def conversation_after(self, rows: Rows, device: str, mid: str, piece: int) -> tuple[Conversation, list[Piece]]:
        sql = f"SELECT piece, kind, text FROM conversation_pieces WHERE {ONE} AND piece > ? ORDER BY piece LIMIT 500"
        return known_conversation(rows, device, mid), [Piece(*row) for row in rows.run(sql, (device, mid, piece))]

    @reads
    def conversations(self, rows: Rows, device: str, limit: int, before: int = 0, room: str = "") -> list[Conversation]:
        where, values = "device = ?", [device]
        if before:
            where, values = where + " AND number < ?", [*values, before]
        if room:
            where, values = where + " AND room = ?", [*values, room]
        sql = f"SELECT {COLUMNS} FROM conversations WHERE {where} ORDER BY number DESC LIMIT ?"
        return [as_conversation(row) for row in rows.run(sql, (*values, limit))]

    @reads
    def pushes_after(self, rows: Rows, number: int, limit: int) -> list[tuple[int, str, str]]:
        sql = "SELECT number, device, text FROM conversations WHERE is_push = 1 AND number > ? ORDER BY number LIMIT ?"
        return [(number, device, said) for number, device, said in rows.run(sql, (number, limit))]

    @reads
    def pushes_for_programs(self, rows: Rows, number: int, limit: int) -> list[Conversation]:
        room = "SELECT 1 FROM bridge_chats WHERE bridge_chats.room = conversations.room"
        where = f"is_push = 1 AND number > ? AND NOT EXISTS ({room})"
        sql = f"SELECT {COLUMNS} FROM conversations WHERE {where} ORDER BY number LIMIT ?"
        return [as_conversation(row) for row in rows.run(sql, (number, limit))]

    @reads
    def newest_conversation(self, rows: Rows) -> int:
        return rows.run("SELECT coalesce(max(number), 0) FROM conversations")[0][0]

    @reads
    def unfinished_conversations(self, rows: Rows, prefix: str, ended_since: int, limit: int) -> list[Conversation]:
        # Two conditions that have an index each.
        where = f"({OPEN} OR changed >= ?) AND substr(mid, 1, ?) = ?"
        sql = f"SELECT {COLUMNS} FROM conversations WHERE {where} ORDER BY CASE WHEN {OPEN} THEN 0 ELSE 1 END, number LIMIT ?"
        return [as_conversation(row) for row in rows.run(sql, (ended_since, len(prefix), prefix, limit))]

    @reads
    def boards_with_messages(self, rows: Rows) -> set[str]:
        return {name for (name,) in rows.run(f"SELECT DISTINCT device FROM conversations WHERE {OPEN}")}

    @reads
    def is_behind_another(self, rows: Rows, found: Conversation, since: int) -> bool:
        """True if the board works on an earlier message and was heard about it since a time."""
        sql = f"SELECT 1 FROM conversations WHERE device = ? AND {OPEN} AND number < ? AND offers > 0 AND changed >= ? LIMIT 1"
        return bool(rows.run(sql, (found.device, found.number, since)))

    # --- for the board

    @writes
    def next_message(self, rows: Rows, sender: Sender, device: str, now: int) -> Conversation | None:
        admit_board(rows, sender, device)
        while True:
            sql = f"SELECT {COLUMNS} FROM conversations WHERE device = ? AND {OPEN} ORDER BY number LIMIT 1"
            found = [as_conversation(row) for row in rows.run(sql, (device,))]
            if not found:
                return None
            (first,) = found
            if first.is_cancelled:
                end_conversation(rows, first, "cancelled", now)
            elif why := _why_given_up(first):
                add_pieces(rows, first, [("problem", why)])
                end_conversation(rows, first, "undeliverable", now)
            else:
                return offer_message(rows, first, now)

    @writes
    def mark_taken(self, rows: Rows, sender: Sender, device: str, mid: str, turn: str, now: int) -> bool:
        """Note that the board works on a message, saved if `turn` is given; True if it must stop."""
        admit_board(rows, sender, device)
        found = find_conversation(rows, device, mid)
        if found is None:
            return False
        if found.is_open:
            note_begun(rows, found)
        if turn and found.state == "waiting":
            sql = f"UPDATE conversations SET state = 'taken', turn = ?, changed = ? WHERE {ONE}"
            rows.run(sql, (turn, now, device, mid))
            rows.notify(Notice("message", device, mid).encode())
        return found.state != "done" and (found.is_cancelled or not found.is_open)

    @writes
    def add_reply(
        self, rows: Rows, sender: Sender, device: str, mid: str, reply: Reply, limits: ConversationLimits, now: int
    ) -> bool:
        """Store one message of an answer; True if the board must stop. Refused before a hello."""
        admit_board(rows, sender, device)
        found = find_conversation(rows, device, mid)
        if found is None:
            return True
        if not found.is_open:
            return found.state != "done"
        ((attempt, k),) = rows.run(f"SELECT attempt, k FROM conversations WHERE {ONE}", (device, mid))
        if (reply.offer, reply.k) <= (attempt, k):
            return found.is_cancelled  # late or repeated
        note_begun(rows, found)
        if reply.offer > attempt:
            begin_answer(rows, found, reply.offer)
        add_pieces(rows, found, reply.pieces, limits.answer_bytes)
        sql = f"UPDATE conversations SET state = 'answering', k = ?, changed = ? WHERE {ONE}"
        rows.run(sql, (reply.k, now, device, mid))
        if reply.is_end:
            # A short answer may end before the board has acknowledged the message.
            if reply.turn and not found.turn:
                rows.run(f"UPDATE conversations SET turn = ? WHERE {ONE}", (reply.turn, device, mid))
            end_conversation(rows, found, "cancelled" if found.is_cancelled else "done", now)
        rows.notify(Notice("message", device, mid).encode())
        return found.is_cancelled

    @writes
    def add_push(self, rows: Rows, sender: Sender, device: str, said: Said, now: int) -> None:
        admit_board(rows, sender, device)
        if find_conversation(rows, device, said.mid):
            return
        # Readers resume after the highest number, so numbers must commit in order.
        rows.upsert("notes", "name", {"name": "pushes", "value": ""})
        insert_conversation(rows, device, said, "done", now, is_push=True)
        # Pushes have no pieces.
        rows.let_go |= bool(rows.keep_newest("conversations", "device = ? AND is_push = 1", (device,), PUSHES_KEPT))
        rows.notify(Notice("pushed").encode())

    # --- expiry

    @writes
    def end_old_conversations(
        self, rows: Rows, waiting_since: int, done_since: int, why: str, now: int
    ) -> list[tuple[str, str]]:
        """End messages waiting too long, remove old answered ones; return (board, id) of the former."""
        sql = f"SELECT {COLUMNS} FROM conversations WHERE {OPEN} AND at < ? ORDER BY number LIMIT 1000"
        given_up = [as_conversation(row) for row in rows.run(sql, (waiting_since,))]
        for each in given_up:
            add_pieces(rows, each, [("problem", why)])
            end_conversation(rows, each, "undeliverable", now)
        gone = rows.run(
            f"SELECT device, mid FROM conversations WHERE {ENDED} AND changed < ? LIMIT 1000", (done_since,)
        )
        for device in _crowded_boards(rows, now):
            place = "row_number() OVER (PARTITION BY room ORDER BY number DESC) AS place"
            ranked = f"SELECT device, mid, state, {place} FROM conversations WHERE device = ?"
            sql = f"SELECT device, mid FROM ({ranked}) AS ranked WHERE {ENDED} AND place > ? LIMIT 1000"
            gone += rows.run(sql, (device, DONE_KEPT))
        for key in gone:
            rows.run(f"DELETE FROM conversation_pieces WHERE {ONE}", key)
            rows.run(f"DELETE FROM conversations WHERE {ONE}", key)
        rows.let_go |= bool(gone)
        return [(each.device, each.said.mid) for each in given_up]


def _crowded_boards(rows: Rows, now: int) -> list[str]:
    sql = "SELECT DISTINCT device FROM conversations WHERE changed >= ? ORDER BY device"
    lately = [device for (device,) in rows.run(sql, (now - _LATELY_SECONDS,))]
    found: list[str] = []
    for part in chunks(lately):
        some, values = in_list(part)
        sql = f"SELECT device FROM conversations WHERE device {some} GROUP BY device HAVING count(*) > ?"
        found += [device for (device,) in rows.run(sql, (*values, DONE_KEPT))]
    return found


def _why_given_up(found: Conversation) -> str:
    if found.begun >= MOST_BEGUN:
        return NEVER_ENDED.format(found.begun)
    return NEVER_BEGUN.format(found.unnamed) if found.unnamed >= MOST_UNNAMED else ""
