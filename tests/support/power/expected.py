"""What a board must hold after each operation: a model in plain dicts, that knows nothing of logs and indexes."""

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

Operation = dict[str, Any]
Answer = list[Any]

ROOMS = ["chat#1", "chat#2", "group#3"]
TITLE = "topic "
"""Given titles begin so: other sessions are called by a turn, which may be forgotten."""


@dataclass
class Session:
    """A thread of turns: [id, role, who, text] of each."""

    title: str
    turns: list[list[str]] = field(default_factory=list)


@dataclass
class Board:
    """All that a person can see."""

    records: dict[str, list[Any]] = field(default_factory=dict)
    live: set[str] = field(default_factory=set)
    supersedes: dict[str, str] = field(default_factory=dict)
    origins: dict[str, list[str]] = field(default_factory=dict)
    outdated: set[str] = field(default_factory=set)
    """Turns that a changed memory came from: a search leaves them out where they say no more than it did."""
    sessions: dict[str, Session] = field(default_factory=dict)
    rooms: dict[str, str] = field(default_factory=dict)
    profile: dict[str, str] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    read: int = 0
    last: "Board | None" = None

    def visible(self) -> dict[str, Any]:
        """What is compared with what a board tells."""
        sessions = {}
        for sid, session in self.sessions.items():
            shown = [turn for turn in session.turns if turn[0] not in self.gone]
            sessions[sid] = [session.title, len(session.turns), shown]
        rooms = {room: self.rooms.get(room, "") for room in ROOMS}
        return {
            "records": self.records,
            "live": sorted(self.live),
            "sessions": sessions,
            "rooms": rooms,
            "profile": self.profile,
            "read": {"until": self.read},
        }

    def tags(self) -> dict[str, int]:
        """The catalog."""
        counts: dict[str, int] = {}
        for ref in self.live:
            for tag in self.records[ref][1]:
                counts[tag] = counts.get(tag, 0) + 1
        return counts

    def after(self, operation: Operation, result: Any, results: dict[int, Any]) -> "list[Board]":
        """The states on the way through an operation, the last one being its end; `result` is what it gave."""
        return list(self._steps(operation, result, results)) or [self]

    def _copy(self) -> "Board":
        last, self.last = self.last, None
        twin = copy.deepcopy(self)
        self.last = twin.last = last
        return twin

    def _steps(self, operation: Operation, result: Any, results: dict[int, Any]) -> "Iterator[Board]":
        board = self._copy()
        step = getattr(board, "_" + operation["do"], None)
        if step is None:
            return
        names = {name: value for name, value in operation.items() if name != "do"}
        for name in ("of", "supersedes"):
            if name in names:
                names[name] = _id(names[name], results)
        if isinstance(names.get("turns"), list):
            names["turns"] = [_id(turn, results) for turn in names["turns"]]
        if operation["do"] in ("store", "keep", "update", "forget", "profile"):
            board.last = self
        for _ in step(result=result, **names):
            yield board._copy()

    # --- operations: each yields after every step

    def _store(self, result: str, content: str, tags: list[str], supersedes: str = "", turns: Iterable[str] = ()):
        self.records[result] = [content, tags]
        self.live.add(result)
        self.origins[result] = list(turns)
        if supersedes:
            self.outdated |= set(self._origins(supersedes))
            self.live.discard(supersedes)
            self.supersedes[result] = supersedes
        yield

    _keep = _store

    def _update(self, result: None, of: str, changes: dict[str, Any]):
        self.outdated |= set(self._origins(of))
        content, tags = self.records[of]
        self.records[of] = [changes.get("content", content), changes.get("tags", tags)]
        yield

    def _forget(self, result: None, of: str, turns: bool = False):
        gone = [turn for turn in self._origins(of) if turn not in self.gone and self._has(turn)] if turns else []
        self.live.discard(of)
        ref = of
        while ref:
            self.records.pop(ref, None)
            ref = self.supersedes.get(ref, "")
        yield
        for turn in gone:
            self.gone.append(turn)
            yield

    def _origins(self, ref: str) -> list[str]:
        found: list[str] = []
        while ref:
            found += self.origins[ref]
            ref = self.supersedes.get(ref, "")
        return found

    def _has(self, turn: str) -> bool:
        return any(other[0] == turn for session in self.sessions.values() for other in session.turns)

    def _undo(self, result: None):
        old = self.last
        assert old is not None
        self.records, self.live, self.profile = dict(old.records), set(old.live), dict(old.profile)
        self.last = None
        yield
        for turn in [turn for turn in self.gone if turn not in old.gone]:
            self.gone.remove(turn)
            yield

    def _turn(self, result: list[str], who: str, room: str, text: str, role: str = "user"):
        ref, sid = result
        if sid not in self.sessions:
            self.sessions[sid] = Session("")
            self.rooms[room] = sid
        self.sessions[sid].turns.append([ref, role, who if role == "user" else "Engram", text])
        yield

    def _begin(self, result: str, room: str, title: str):
        self.sessions[result] = Session(title)
        self.rooms[room] = result
        yield

    def _switch(self, result: None, room: str, of: str):
        self.rooms[room] = of
        yield

    def _delete(self, result: None, room: str, of: str):
        del self.sessions[of]
        self.rooms = {name: sid for name, sid in self.rooms.items() if sid != of}
        yield

    def _redact(self, result: None, room: str, of: str):
        self.gone.append(of)
        yield

    def _learn(self, result: dict[str, Any], facts: list[str]):
        for ref, fact in zip(result["ids"], facts, strict=True):
            self.records[ref] = [fact, ["learned"]]
            self.live.add(ref)
            self.origins[ref] = []
        self.read = result["until"]
        yield

    def _profile(self, result: None, name: str, text: str):
        self.profile[name] = text
        yield


def _id(of: Any, results: dict[int, Any]) -> str:
    found = results[of] if isinstance(of, int) else of
    return found[0] if isinstance(found, list) else found


def looked(answers: Iterable[Answer]) -> dict[str, Any]:
    """What a board told when it was asked to look, in the form of Board.visible()."""
    seen: dict[str, Any] = {"records": {}, "live": [], "sessions": {}, "rooms": {}, "profile": {}, "read": {}}
    for kind, *rest in answers:
        if kind == "record":
            seen["records"][rest[0]] = rest[1:]
        elif kind == "live":
            seen["live"] = sorted(rest)
        elif kind == "room":
            seen["rooms"][rest[0]] = rest[1]
        elif kind == "session":
            title = rest[1] if rest[1].startswith(TITLE) else ""
            seen["sessions"][rest[0]] = [title, rest[2], []]
        elif kind == "turn":
            seen["sessions"][rest[0]][2].append(rest[1:])
        elif kind == "profile":
            seen["profile"][rest[0]] = rest[1]
        elif kind == "read":
            seen["read"] = {"until": rest[0]}
    return seen


def differences(wanted: dict[str, Any], seen: dict[str, Any]) -> list[str]:
    """Where two boards differ, a line for each place."""
    found = []
    for part, values in wanted.items():
        others = seen[part]
        if values == others:
            continue
        if isinstance(values, list):
            found.append(
                f"{part}: missing {sorted(set(values) - set(others))}, more {sorted(set(others) - set(values))}"
            )
            continue
        for name in sorted(set(values) | set(others)):
            if values.get(name) != others.get(name):
                found.append(f"{part} {name}: wanted {values.get(name)!r}, there is {others.get(name)!r}")
    return found
