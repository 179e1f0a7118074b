"""People, groups and pairing codes in the database, by the rules of engram.channels.people.

A `ref` is `network:id`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from engram.channels.people import ASK, GROUP_MODES, LET_IN, checked_id, shown
from engram.errors import ArgumentError, NotFound
from engram.memory import access
from engram.memory.access import OWNER, Caller
from engram_host.companion.store.bridges.deliveries import insert_delivery
from engram_host.companion.store.bridges.types import ChatPlace, Delivery, GroupMode, PairingRequest, Person
from engram_host.companion.store.database import DatabaseTable, Notice, reads, writes
from engram_host.companion.store.rows import Rows, columns_of, read_row, row_values

MOST_PEOPLE = 1000

MOST_GROUPS = 256

MOST_IDS = 16

CODE_SECONDS = 3600
"""Lifetime of a code; a stranger gets no other message meanwhile."""

MOST_WAITING = 3
"""Codes per network: other strangers get no answer, so a flood costs nothing."""

CODE_IDS, WELCOME_IDS = "code:", "welcome:"

MOST_CLOSED = 1000

_CLOSED = "people.closed."

_PERSON = "principal, name, is_blocked"


@dataclass(frozen=True)
class Known:
    """A sender's person or pairing request, the network's open codes, and the group's mode ("": closed)."""

    person: Person | None
    request: PairingRequest | None
    codes: int
    mode: GroupMode | str


class PeopleTable(DatabaseTable):
    # --- for messages

    @reads
    def known_sender(self, rows: Rows, ref: str, group: str, now: int) -> Known:
        person = _with_id(rows, ref)
        modes = _groups(rows, "WHERE ref = ?", (group,)) if group else {}
        network = ref.partition(":")[0]
        waiting = [each for each in _waiting(rows, now) if each.network == network] if person is None else []
        request = next((each for each in waiting if each.ref == ref), None)
        return Known(person, request, len(waiting), modes.get(group, ""))

    @reads
    def is_blocked(self, rows: Rows, principal: str) -> bool:
        person = _with_principal(rows, principal) or _with_id(rows, principal)
        return person is not None and person.is_blocked

    @writes
    def add_code(self, rows: Rows, request: PairingRequest) -> bool:
        """Store a code, and tell the stranger; False if they have one, or the network too many."""
        _lock(rows)
        rows.run("DELETE FROM pairing_codes WHERE at <= ? OR at > ?", _ended(request.at))
        waiting = [each for each in _waiting(rows, request.at) if each.network == request.network]
        if len(waiting) >= MOST_WAITING or any(request.ref == each.ref for each in waiting):
            return False
        if not rows.insert("pairing_codes", row_values(request), "ON CONFLICT DO NOTHING"):
            return False
        _tell(rows, request, CODE_IDS, ASK % (request.code, request.code), request.at)
        return True

    # --- lists

    @reads
    def people(self, rows: Rows) -> list[Person]:
        return _people(rows)

    @reads
    def groups(self, rows: Rows) -> dict[str, GroupMode]:
        return _groups(rows)

    @reads
    def silenced_refs(self, rows: Rows) -> list[str]:
        """Return the ids of blocked people and closed groups: boards send nothing to these."""
        blocked = [ref for person in _people(rows) if person.is_blocked for ref in person.ids]
        sql = "SELECT substr(name, ?) FROM notes WHERE substr(name, 1, ?) = ?"
        closed = rows.run(sql, (len(_CLOSED) + 1, len(_CLOSED), _CLOSED))
        return [*blocked, *(ref for (ref,) in closed)]

    @reads
    def pairing_requests(self, rows: Rows, now: int) -> list[PairingRequest]:
        return _waiting(rows, now)

    @reads
    def person(self, rows: Rows, ref: str) -> Person:
        return _find(rows, ref)

    # --- changes

    @writes
    def approve_person(self, rows: Rows, ref: str, name: str, now: int) -> Person:
        _lock(rows)
        waiting = _waiting(rows, now)
        person = _set_blocked(rows, _known_or_new(rows, ref, name, now), is_blocked=False)
        _welcome(rows, waiting, person, now)
        return person

    @writes
    def block_person(self, rows: Rows, ref: str, now: int) -> Person:
        _lock(rows)
        return _set_blocked(rows, _found(rows, ref) or _known_or_new(rows, ref, "", now), is_blocked=True)

    @writes
    def remove_person(self, rows: Rows, ref: str) -> Person:
        _lock(rows)
        person = _find(rows, ref)
        _remove(rows, person)
        return person

    @writes
    def rename_person(self, rows: Rows, ref: str, name: str) -> Person:
        _lock(rows)
        person = _find(rows, ref)
        return _save(rows, replace(person, name=_checked_name(name)))

    @writes
    def link_person(self, rows: Rows, ref: str, other: str, now: int) -> Person:
        _lock(rows)
        person, second = _find(rows, ref), _found(rows, other)
        if second and (second.principal == person.principal or second.is_owner):
            raise ArgumentError(other, f"cannot be linked to {person.principal}; name the owner first.")
        ids = second.ids if second else (_id_of(rows, other, now),)
        if len(person.ids) + len(ids) > MOST_IDS:
            raise ArgumentError(ref, f"has as many ids as may be: {MOST_IDS}.")
        if second:
            _remove(rows, second)
        waiting = _waiting(rows, now)
        _add_ids(rows, person.principal, ids)
        linked = _known(rows, person.principal)
        _welcome(rows, waiting, linked, now)
        return linked

    @writes
    def make_owner(self, rows: Rows, ref: str) -> Person:
        """Make a person the owner, with the console's memory; ArgumentError if there is one, NotFound."""
        _lock(rows)
        person = _find(rows, ref)
        owner = OWNER.principal
        if not person.is_owner and rows.run("SELECT 1 FROM people WHERE principal = ?", (owner,)):
            advice = "link them on the companion's page, if it is the same person."
            raise ArgumentError(ref, f"cannot be the owner, there is one: {advice}")
        _remove(rows, person)
        _add_ids(rows, owner, person.ids)
        return _save(rows, replace(person, principal=owner, is_blocked=False))

    @writes
    def set_group(self, rows: Rows, ref: str, mode: str) -> None:
        _lock(rows)
        checked_id(ref)
        if mode == "off":
            if not rows.count("DELETE FROM chat_groups WHERE ref = ?", (ref,)):
                raise NotFound("group", ref)
            _note_closed(rows, ref)
            return
        if mode not in GROUP_MODES:
            raise ArgumentError("group", "takes mention, always or off.")
        others = rows.run("SELECT count(*) FROM chat_groups WHERE ref <> ?", (ref,))[0][0]
        if others >= MOST_GROUPS:
            raise ArgumentError("group", f"there are {others}, as many as may be: set one to off first.")
        rows.upsert("chat_groups", "ref", {"ref": ref, "is_always": int(mode == "always")})
        rows.run("DELETE FROM notes WHERE name = ?", (_CLOSED + ref,))


def _note_closed(rows: Rows, ref: str) -> None:
    sql = "SELECT name, value FROM notes WHERE substr(name, 1, ?) = ?"
    closed = sorted(rows.run(sql, (len(_CLOSED), _CLOSED)), key=lambda row: int(row[1]))
    number = int(closed[-1][1]) + 1 if closed else 1
    rows.insert("notes", {"name": _CLOSED + ref, "value": str(number)})
    for name, _ in closed[: max(0, len(closed) + 1 - MOST_CLOSED)]:
        rows.run("DELETE FROM notes WHERE name = ?", (name,))


def _lock(rows: Rows) -> None:
    rows.upsert("notes", "name", {"name": "people", "value": ""})


def _ended(now: int) -> tuple[int, int]:
    return now - CODE_SECONDS, now + CODE_SECONDS


def _waiting(rows: Rows, now: int) -> list[PairingRequest]:
    sql = f"SELECT {columns_of(PairingRequest)} FROM pairing_codes WHERE at > ? AND at <= ? ORDER BY at, code"
    return [read_row(PairingRequest, row) for row in rows.run(sql, _ended(now))]


def _people(rows: Rows) -> list[Person]:
    ids: dict[str, list[str]] = {}
    for ref, principal in rows.run("SELECT ref, principal FROM people_ids ORDER BY ref"):
        ids.setdefault(principal, []).append(ref)
    found = rows.run(f"SELECT {_PERSON} FROM people ORDER BY principal")
    return [_person(row, ids.get(row[0], ())) for row in found]


def _person(row: Sequence[Any], ids: Iterable[str]) -> Person:
    principal, name, is_blocked = row
    return Person(principal, name, tuple(ids), bool(is_blocked))


def _with_principal(rows: Rows, principal: str) -> Person | None:
    found = rows.run(f"SELECT {_PERSON} FROM people WHERE principal = ?", (principal,))
    ids = rows.run("SELECT ref FROM people_ids WHERE principal = ? ORDER BY ref", (principal,))
    return _person(found[0], [ref for (ref,) in ids]) if found else None


def _with_id(rows: Rows, ref: str) -> Person | None:
    found = rows.run("SELECT principal FROM people_ids WHERE ref = ?", (ref,))
    return _with_principal(rows, found[0][0]) if found else None


def _groups(rows: Rows, where: str = "", values: Sequence[Any] = ()) -> dict[str, GroupMode]:
    found = rows.run(f"SELECT ref, is_always FROM chat_groups {where} ORDER BY ref", values)
    return {ref: "always" if is_always else "mention" for ref, is_always in found}


def _save(rows: Rows, person: Person) -> Person:
    values = {"principal": person.principal, "name": person.name, "is_blocked": int(person.is_blocked)}
    rows.upsert("people", "principal", values)
    return _known(rows, person.principal)


def _remove(rows: Rows, person: Person) -> None:
    rows.run("DELETE FROM people_ids WHERE principal = ?", (person.principal,))
    rows.run("DELETE FROM people WHERE principal = ?", (person.principal,))
    rows.let_go = True


def _known(rows: Rows, principal: str) -> Person:
    person = _with_principal(rows, principal)
    if person is None:
        raise NotFound("person", principal[:100])
    return person


def _found(rows: Rows, ref: str) -> Person | None:
    if person := _with_principal(rows, ref) or _with_id(rows, ref):
        return person
    named = rows.run("SELECT principal FROM people WHERE name = ? AND name <> '' LIMIT 2", (ref,))
    return _with_principal(rows, named[0][0]) if len(named) == 1 else None


def _find(rows: Rows, ref: str) -> Person:
    if person := _found(rows, ref):
        return person
    raise NotFound("person", ref[:100], "`engram people list` shows those that there are.")


def _id_of(rows: Rows, ref: str, now: int) -> str:
    for waiting in _waiting(rows, now):
        if ref.upper() == waiting.code or ref == waiting.ref:
            return waiting.ref
    if ":" not in ref:
        raise NotFound("code", ref[:8], "codes are valid for an hour.")
    return checked_id(ref)


def _known_or_new(rows: Rows, ref: str, name: str, now: int) -> Person:
    ref = _id_of(rows, ref, now)
    if person := _with_id(rows, ref):
        return person
    ((count,),) = rows.run("SELECT count(*) FROM people")
    if count >= MOST_PEOPLE:
        raise ArgumentError("people", f"are {count}, as many as may be: remove one on the companion's page first.")
    principal = name or principal_of(ref)
    access.check_caller(Caller(principal, "x", False, ""))
    if principal == OWNER.principal or rows.run("SELECT 1 FROM people WHERE principal = ?", (principal,)):
        raise ArgumentError(principal, "is somebody else; link them on the companion's page, if it is the same person.")
    _add_ids(rows, principal, (ref,))
    return _save(rows, Person(principal, name, (ref,)))


def _add_ids(rows: Rows, principal: str, ids: Iterable[str]) -> None:
    for ref in ids:
        rows.upsert("people_ids", "ref", {"ref": ref, "principal": principal})
        _end_waiting(rows, ref)


def _welcome(rows: Rows, waiting: Iterable[PairingRequest], person: Person, now: int) -> None:
    for request in waiting:
        if request.ref in person.ids and not person.is_blocked:
            _tell(rows, request, WELCOME_IDS, LET_IN, now)


def _tell(rows: Rows, request: PairingRequest, ids: str, text: str, now: int) -> None:
    if request.bridge:
        place, mid = ChatPlace(request.bridge, request.chat), ids + request.code.lower()
        insert_delivery(rows, Delivery(0, place, "", "", mid, text, now, ref=request.ref), now)
        rows.notify(Notice("pushed").encode())


def _end_waiting(rows: Rows, ref: str) -> None:
    rows.run("DELETE FROM pairing_codes WHERE ref = ?", (ref,))


def _set_blocked(rows: Rows, person: Person, *, is_blocked: bool) -> Person:
    for ref in person.ids:
        _end_waiting(rows, ref)
    return _save(rows, replace(person, is_blocked=is_blocked))


def principal_of(ref: str) -> str:
    return fitting_name(ref, ref.partition(":")[0] + ":", access.NAME_BYTES)


def fitting_name(name: str, start: str, most: int) -> str:
    """Return a name of a principal or a room; a hash behind `start` stands for one that boards would refuse."""
    try:
        if len(name.encode()) <= most:
            access.check_caller(Caller("x", name, True, ""))
            return name
    except ArgumentError:
        pass
    return start + sha256(name.encode()).hexdigest()[:16]


def _checked_name(name: str) -> str:
    """Return a name that may be given to somebody, or raise ArgumentError."""
    if not name or shown(name) != name:
        raise ArgumentError("name", "must have 1 to 32 characters.")
    return name
