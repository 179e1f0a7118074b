"""Messages to boards and their answers: rows that the companion, its broker and the board may die beside at any moment.

    waiting -> taken (the board has it on flash) -> answering -> done
    waiting, taken, answering -> cancelled | undeliverable

A board is offered its oldest open message whenever it has nothing to do, so what it lost by a restart is offered again; it
answers an id once. Each offer has a number, which the messages of the answer repeat, beside their own from 1 on. The first
one for a later offer begins the answer anew: what was kept of it before goes. Anything else that is not the next one came
twice or late, and changes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engram_host.companion.errors import MessageIdTaken, Refused, TooManyWaiting, UnknownConversation, UnknownDevice
from engram_host.companion.store.database import DatabaseTable, reads, writes
from engram_host.companion.store.queries import Rows
from engram_host.companion.store.replication_rules import HELLO_FIRST
from engram_host.companion.types import (
    Conversation,
    ConversationLimits,
    ConversationState,
    Piece,
    PieceKind,
    Said,
    Sender,
)

MOST_OFFERS = 20
"""Times that a board is given one message: one that brings it down each time must not do so for ever."""

DONE_KEPT = 1000
"""Answered messages of a board: bounds what is kept of them."""

NEVER_ENDED = "the board began {} times to answer this and never came to an end: it is not given it any more."

_COLUMNS = (
    "number, device, mid, principal, text, room, is_group, workspace, is_command, state, turn, at, changed, offers, "
    "is_cancelled, is_push"
)
_ONE = "device = ? AND mid = ?"
_OPEN = "state IN ('waiting', 'taken', 'answering')"
_ENDED = "state IN ('done', 'cancelled', 'undeliverable')"
_TOO_LONG = "the answer is longer than the companion keeps; all of it stands in the board's journal."


@dataclass(frozen=True)
class Reply:
    """A message of an answer: the offer that it answers, its number, its pieces, and whether it is the last one."""

    offer: int
    k: int
    pieces: Sequence[tuple[PieceKind, str]]
    is_end: bool


class ConversationTable(DatabaseTable):
    """Keeps messages to boards, and their answers piece by piece."""

    # --- for who says something

    @writes
    def add_conversation(
        self, rows: Rows, device: str, said: Said, limits: ConversationLimits, now: int
    ) -> Conversation:
        """Keep a message for a board; the one that is there if it came before. UnknownDevice, TooManyWaiting;
        MessageIdTaken if another message has its id.
        """
        if device not in rows.lock([device]):
            raise UnknownDevice(device)
        if known := _find(rows, device, said.mid):
            if known.said != said:
                raise MessageIdTaken(said.mid)
            return known
        _check_room(rows, device, said, limits)
        _insert(rows, device, said, "waiting", now)
        return _known(rows, device, said.mid)

    @writes
    def cancel_conversation(self, rows: Rows, device: str, mid: str, now: int) -> Conversation:
        """Ask for no answer any more: at once if the board has not got the message. UnknownConversation."""
        rows.lock([device])
        found = _known(rows, device, mid)
        if found.state == "waiting" and not found.offers:
            _end(rows, found, "cancelled", now)
        elif found.is_open:
            rows.run(f"UPDATE conversations SET is_cancelled = 1 WHERE {_ONE}", (device, mid))
        return _known(rows, device, mid)

    @reads
    def conversation(self, rows: Rows, device: str, mid: str) -> Conversation:
        """A message to a board. UnknownConversation."""
        return _known(rows, device, mid)

    @reads
    def conversation_after(self, rows: Rows, device: str, mid: str, piece: int) -> tuple[Conversation, list[Piece]]:
        """A message and the pieces of its answer after one. UnknownConversation."""
        sql = f"SELECT piece, kind, text FROM conversation_pieces WHERE {_ONE} AND piece > ? ORDER BY piece LIMIT 500"
        return _known(rows, device, mid), [Piece(*row) for row in rows.run(sql, (device, mid, piece))]

    @reads
    def conversations(self, rows: Rows, device: str, limit: int, before: int = 0, room: str = "") -> list[Conversation]:
        """Messages to a board, newest first: those with lower numbers than `before`, of one room if it is given."""
        where, values = "device = ?", [device]
        if before:
            where, values = where + " AND number < ?", [*values, before]
        if room:
            where, values = where + " AND room = ?", [*values, room]
        sql = f"SELECT {_COLUMNS} FROM conversations WHERE {where} ORDER BY number DESC LIMIT ?"
        return [_conversation(row) for row in rows.run(sql, (*values, limit))]

    @reads
    def boards_with_messages(self, rows: Rows) -> set[str]:
        """The boards that have something to answer, or to stop answering."""
        return {name for (name,) in rows.run(f"SELECT DISTINCT device FROM conversations WHERE {_OPEN}")}

    @reads
    def is_behind_another(self, rows: Rows, found: Conversation, since: int) -> bool:
        """Whether the board has an earlier message in work, of which something was heard since a time."""
        sql = f"SELECT 1 FROM conversations WHERE device = ? AND {_OPEN} AND number < ? AND offers > 0 AND changed >= ? LIMIT 1"
        return bool(rows.run(sql, (found.device, found.number, since)))

    @reads
    def count_waiting(self, rows: Rows) -> int:
        """How many messages are not answered yet."""
        return rows.run(f"SELECT count(*) FROM conversations WHERE {_OPEN}")[0][0]

    # --- for the board

    @writes
    def next_message(self, rows: Rows, sender: Sender, device: str, now: int) -> Conversation | None:
        """The board's oldest open message, None if there is none: it has nothing in work. Refused if it has not said hello."""
        _admit(rows, sender, device)
        while True:
            sql = f"SELECT {_COLUMNS} FROM conversations WHERE device = ? AND {_OPEN} ORDER BY number LIMIT 1"
            found = [_conversation(row) for row in rows.run(sql, (device,))]
            if not found:
                return None
            (first,) = found
            if first.is_cancelled:
                _end(rows, first, "cancelled", now)
            elif first.offers >= MOST_OFFERS:
                _add_pieces(rows, first, [("problem", NEVER_ENDED.format(first.offers))])
                _end(rows, first, "undeliverable", now)
            else:
                return _offer(rows, first, now)

    @writes
    def mark_taken(self, rows: Rows, sender: Sender, device: str, mid: str, turn: str, now: int) -> bool:
        """Note that the board has a message in work, and on flash if it names a turn; whether it is to stop. Refused."""
        _admit(rows, sender, device)
        found = _find(rows, device, mid)
        if found is None:
            return False
        if turn and found.state == "waiting":
            sql = f"UPDATE conversations SET state = 'taken', turn = ?, changed = ? WHERE {_ONE}"
            rows.run(sql, (turn, now, device, mid))
        return found.is_cancelled or not found.is_open

    @writes
    def add_reply(
        self, rows: Rows, sender: Sender, device: str, mid: str, reply: Reply, limits: ConversationLimits, now: int
    ) -> bool:
        """Keep a message of an answer; whether the board is to stop. Refused if it has not said hello."""
        _admit(rows, sender, device)
        found = _find(rows, device, mid)
        if found is None:
            return True
        if not found.is_open:
            return found.state != "done"
        ((attempt, k),) = rows.run(f"SELECT attempt, k FROM conversations WHERE {_ONE}", (device, mid))
        if (reply.offer, reply.k) <= (attempt, k):
            return found.is_cancelled  # it came late or twice
        if reply.offer > attempt:
            _begin_answer(rows, found, reply.offer)
        _add_pieces(rows, found, reply.pieces, limits.answer_bytes)
        sql = f"UPDATE conversations SET state = 'answering', k = ?, changed = ? WHERE {_ONE}"
        rows.run(sql, (reply.k, now, device, mid))
        if reply.is_end:
            _end(rows, found, "cancelled" if found.is_cancelled else "done", now)
        return found.is_cancelled

    @writes
    def add_push(self, rows: Rows, sender: Sender, device: str, said: Said, now: int) -> None:
        """Keep what a board says by its own initiative, once. Refused if it has not said hello."""
        _admit(rows, sender, device)
        if _find(rows, device, said.mid):
            return
        _insert(rows, device, said, "done", now, is_push=True)

    # --- what goes

    @writes
    def end_old_conversations(
        self, rows: Rows, waiting_since: int, done_since: int, why: str, now: int
    ) -> list[tuple[str, str]]:
        """Give up messages that wait since before a time, for the reason `why`, and remove answered ones that ended before
        another; (board, id) of each one that was given up.
        """
        sql = f"SELECT {_COLUMNS} FROM conversations WHERE {_OPEN} AND at < ? ORDER BY number LIMIT 1000"
        given_up = [_conversation(row) for row in rows.run(sql, (waiting_since,))]
        for each in given_up:
            _add_pieces(rows, each, [("problem", why)])
            _end(rows, each, "undeliverable", now)
        newer = "SELECT count(*) FROM conversations AS newer WHERE newer.device = c.device AND newer.number > c.number"
        sql = (
            f"SELECT device, mid FROM conversations AS c WHERE {_ENDED} AND (changed < ? OR ({newer}) >= ?) LIMIT 1000"
        )
        gone = rows.run(sql, (done_since, DONE_KEPT))
        for key in gone:
            rows.run(f"DELETE FROM conversation_pieces WHERE {_ONE}", key)
            rows.run(f"DELETE FROM conversations WHERE {_ONE}", key)
        rows.let_go |= bool(gone)
        return [(each.device, each.said.mid) for each in given_up]


def _admit(rows: Rows, sender: Sender, device: str) -> None:
    """Refuse a board that is not the one of this name, or whose connection is not known. A message that came late is taken:
    what it says of one conversation is in order by itself.
    """
    row = rows.lock([device]).get(device)
    if row is None or row.board != sender.board or sender.link > row.link:
        raise Refused(HELLO_FIRST, again=0)


def _offer(rows: Rows, found: Conversation, now: int) -> Conversation:
    """Count one more offer of a message, and number it."""
    offers = "offers = CASE WHEN offers < attempt THEN attempt ELSE offers END + 1"
    rows.run(f"UPDATE conversations SET {offers}, changed = ? WHERE {_ONE}", (now, found.device, found.said.mid))
    return _known(rows, found.device, found.said.mid)


def _check_room(rows: Rows, device: str, said: Said, limits: ConversationLimits) -> None:
    sql = f"SELECT principal, length(text) FROM conversations WHERE device = ? AND {_OPEN}"
    waiting = rows.run(sql, (device,))
    own = sum(principal == said.principal for principal, _ in waiting)
    if own >= limits.person_messages:
        raise TooManyWaiting(
            f"{own} messages of {said.principal} wait for {device} already: wait until it has answered some."
        )
    size = sum(length for _, length in waiting) + len(said.text)
    if len(waiting) >= limits.board_messages or size > limits.board_bytes:
        raise TooManyWaiting(f"{len(waiting)} messages wait for {device} already: wait until it has answered some.")


def _insert(rows: Rows, device: str, said: Said, state: ConversationState, now: int, *, is_push: bool = False) -> None:
    values: dict[str, Any] = {
        "device": device,
        "mid": said.mid,
        "principal": said.principal,
        "room": said.room,
        "is_group": int(said.is_group),
        "workspace": said.workspace,
        "is_command": int(said.is_command),
        "is_push": int(is_push),
        "text": said.text,
        "state": state,
        "turn": "",
        "at": now,
        "changed": now,
        **dict.fromkeys(("offers", "attempt", "k", "is_cancelled"), 0),
    }
    sql = f"INSERT INTO conversations ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})"
    rows.run(sql, (*values.values(),))


def _find(rows: Rows, device: str, mid: str) -> Conversation | None:
    found = rows.run(f"SELECT {_COLUMNS} FROM conversations WHERE {_ONE}", (device, mid))
    return _conversation(found[0]) if found else None


def _known(rows: Rows, device: str, mid: str) -> Conversation:
    found = _find(rows, device, mid)
    if found is None:
        raise UnknownConversation(mid)
    return found


def _conversation(row: Sequence[Any]) -> Conversation:
    (
        number,
        device,
        mid,
        principal,
        text,
        room,
        is_group,
        workspace,
        is_command,
        state,
        turn,
        at,
        changed,
        offers,
        *flags,
    ) = row
    said = Said(mid, principal, text, room, bool(is_group), workspace, bool(is_command))
    return Conversation(number, device, said, state, turn, at, changed, offers, *map(bool, flags))


def _begin_answer(rows: Rows, found: Conversation, offer: int) -> None:
    """Begin the answer to an offer, in place of the one of which there are some pieces already."""
    key = (found.device, found.said.mid)
    rows.run(f"UPDATE conversations SET attempt = ? WHERE {_ONE}", (offer, *key))
    if last := _last_piece(rows, found):
        rows.run(f"DELETE FROM conversation_pieces WHERE {_ONE}", key)
        rows.let_go = True
        sql = "INSERT INTO conversation_pieces (device, mid, piece, kind, text) VALUES (?, ?, ?, 'again', '')"
        rows.run(sql, (*key, last + 1))


def _last_piece(rows: Rows, found: Conversation) -> int:
    sql = f"SELECT coalesce(max(piece), 0) FROM conversation_pieces WHERE {_ONE}"
    return rows.run(sql, (found.device, found.said.mid))[0][0]


def _add_pieces(
    rows: Rows, found: Conversation, pieces: Sequence[tuple[PieceKind, str]], most_bytes: int = 1 << 30
) -> None:
    """Keep pieces of an answer as far as there is room for them."""
    key = (found.device, found.said.mid)
    sql = f"SELECT coalesce(sum(length(text)), 0), coalesce(max(piece), 0) FROM conversation_pieces WHERE {_ONE}"
    ((size, last),) = rows.run(sql, key)
    kept: list[tuple[Any, ...]] = []
    for kind, text in pieces:
        if size > most_bytes:
            break
        last, size = last + 1, size + len(text)
        kept.append((*key, last, *((kind, text) if size <= most_bytes else ("problem", _TOO_LONG))))
    rows.run_many("INSERT INTO conversation_pieces (device, mid, piece, kind, text) VALUES (?, ?, ?, ?, ?)", kept)


def _end(rows: Rows, found: Conversation, state: ConversationState, now: int) -> None:
    sql = f"UPDATE conversations SET state = ?, changed = ? WHERE {_ONE}"
    rows.run(sql, (state, now, found.device, found.said.mid))
