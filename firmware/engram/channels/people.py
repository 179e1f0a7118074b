"""The people who may talk to the board through a network.

people.json has those who were approved, and the groups in which the board talks; a person is known by the network's own ids,
never by the name that they give themselves:

    {"people":[{"who":"ann","ids":["telegram:12345"]},{"who":"owner","ids":["telegram:1"]},
               {"who":"telegram:666","ids":["telegram:666"],"blocked":true}],
     "groups":{"telegram:-100123":"mention","telegram:-7":"telegram:-100123"}}

`who` is the principal: it stays, since memories and files have it. A group that has another id now is followed to it: what is
kept for one goes where it is. All about strangers is in RAM: they write nothing.
"""

import os
from collections import namedtuple

from engram import files, text
from engram.errors import ArgumentError, NotFound, StoreError
from engram.memory import access
from engram.memory.access import OWNER, Caller

_FILE = const("/people.json")
_LARGEST = const(16384)  # bytes of that file: it is read whole
_PEOPLE = const(64)
_GROUPS = const(32)  # with the former ids of those that moved
_IDS = const(8)  # of one person
_ID_LONGEST = const(100)
_NAME_LONGEST = const(32)
_CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # 32 letters that cannot be confused
_CODE_LENGTH = const(8)
CODE_SECONDS = const(3600)
_WAITING = const(3)  # strangers with a code per network: others get no answer, so a flood costs nothing
_RATED = const(32)  # senders whose messages are counted
_MINUTE = const(60)

OPEN = const("open *")
"""The policy that lets everybody talk."""

GROUP_MODES = ("mention", "always")

ASK = const(
    "I talk only with people whom my owner has approved. Your code is %s: ask the owner to type /pair %s within an hour. "
    "Your message was not read: send it again once you are let in."
)
LET_IN = const("You are let in. What you wrote before was not read: send it again.")
TOO_FAST = const("that is more than %d messages a minute (people.rate): what comes within this minute is not read.")

Admission = namedtuple("Admission", "caller reply")
"""The Caller of an accepted message, else None; and a sentence to send instead, None for silence."""

_NOBODY = Admission(None, None)


class People:
    """The people of a board; `policy` is pairing, allowlist, OPEN or off, `rate` per minute and sender."""

    def __init__(self, folder: str, clock, policy: str, rate: int):
        self._path = folder + _FILE
        self._clock = clock
        self._policy = policy
        self._rate = rate
        self._waiting = []
        self._minute = 0
        self._counts = {}  # messages of each sender in that minute
        self.people = []
        self.groups = {}
        """Mode of each group, or the id that it has now."""
        self._read()

    def _read(self) -> None:
        data = files.read(self._path, _LARGEST)
        try:
            stored: dict = text.loads(data or b"{}")  # pyright: ignore[reportAssignmentType]
            self.people = [_checked(person) for person in stored.get("people", ())]
            self.groups = {ref: str(mode) for ref, mode in stored.get("groups", {}).items()}
        except (ValueError, KeyError, TypeError, AttributeError, ArgumentError):
            problem = "people.json is not as docs/reference/formats.md says: correct it, or remove it."
            raise StoreError(problem) from None

    def _save(self) -> None:
        try:
            files.write(self._path, text.dumps({"people": self.people, "groups": self.groups}))
        except StoreError:
            self._read()  # drop changes that are not on flash
            raise

    # --- messages

    def admit(
        self,
        network: str,
        sender: str,
        kind: str,
        group: str = "",
        is_mentioned: bool = True,
        thread: str = "",
        name: str = "",
    ) -> Admission:
        """Return the Admission of a sender in a "direct" or "group" chat, by the network's ids."""
        ref, policy = network + ":" + sender, self._policy
        person = self._with_id(ref)
        if len(ref) > _ID_LONGEST or (person and person.get("blocked")):
            return _NOBODY
        is_group = kind != "direct"
        if is_group:
            mode = self._mode(network + ":" + group)
            if mode != "always" and not (mode == "mention" and is_mentioned):
                return _NOBODY
        elif policy == "off":
            return _NOBODY
        elif person is None and policy != OPEN:
            return Admission(None, self._ask(network, ref, name) if policy == "pairing" else None)
        principal = person["who"] if person else ref
        return self._rated(ref, Caller(principal, room_of(network, group or sender, thread), is_group, ""))

    def _rated(self, ref: str, caller: Caller) -> Admission:
        minute = self._clock.now() // _MINUTE
        if minute != self._minute:
            self._minute, self._counts = minute, {}
        if len(self._counts) >= _RATED and ref not in self._counts and self._with_id(ref) is None:
            return _NOBODY
        count = self._counts[ref] = self._counts.get(ref, 0) + 1
        if count <= self._rate:
            return Admission(caller, None)
        return Admission(None, TOO_FAST % self._rate if count == self._rate + 1 else None)

    def _ask(self, network: str, ref: str, name: str):
        """Return a pairing code's message for a stranger, None at the limit."""
        waiting = self.waiting()
        if any(ref == entry[1] for entry in waiting):
            return None
        if sum(1 for entry in waiting if entry[1].startswith(network + ":")) >= _WAITING:
            return None
        code = new_code()
        self._waiting.append((code, ref, shown(name), self._clock.now()))
        return ASK % (code, code)

    def is_blocked(self, principal: str) -> bool:
        return any(
            person.get("blocked") and (person["who"] == principal or principal in person["ids"])
            for person in self.people
        )

    def is_let_in(self, network: str, principal: str, chat: str, is_group: bool) -> bool:
        """True if queued messages may still be sent to this chat, which has the sender's id if private."""
        ref = network + ":" + chat
        if self.is_blocked(principal):
            return False
        if is_group:
            return self._mode(ref) in GROUP_MODES
        person = self._with_id(ref)
        return self._policy != "off" and (not person.get("blocked") if person else self._policy == OPEN)

    def _mode(self, ref: str):
        """Return a group's mode by its old or new id; None if it is closed."""
        mode = self.groups.get(ref)
        return mode if mode in GROUP_MODES else self.groups.get(mode)

    def waiting(self) -> list:
        now = self._clock.now()
        self._waiting = [entry for entry in self._waiting if 0 <= now - entry[3] < CODE_SECONDS]
        return self._waiting

    def stranger(self, ref: str):
        """Return the stranger with a code or an id as in waiting(), or None."""
        return next((entry for entry in self.waiting() if ref.upper() == entry[0] or ref == entry[1]), None)

    # --- people

    def approve(self, ref: str, name: str = "") -> dict:
        """Approve somebody by code or id; return the person."""
        person, ref = self._known_or_new(ref, name)
        person.pop("blocked", None)
        self._end_waiting(ref)
        return person

    def _known_or_new(self, ref: str, name: str) -> tuple:
        """Return (person, id) for a code or id, adding one; names of strangers are not trusted."""
        ref = self._id_of(ref)
        person = self._with_id(ref)
        if person is None:
            if len(self.people) >= _PEOPLE:
                raise ArgumentError("people", "are %d, as many as may be: /people remove one first." % _PEOPLE)
            who = name or ref
            if who == OWNER.principal or any(person["who"] == who for person in self.people):
                raise ArgumentError(who, "is somebody else; /people link %s ID, if it is the same person." % who)
            person = {"who": who, "ids": [ref]}
            self.people.append(_checked(person))
        return person, ref

    def block(self, ref: str) -> dict:
        """Block a person by code, id or principal; return the person."""
        person = self._found(ref)
        if person is None:
            person, ref = self._known_or_new(ref, "")
        person["blocked"] = True
        self._end_waiting(ref)
        return person

    def remove(self, ref: str) -> dict:
        """Drop an approval or a block; return the person, whose memories stay."""
        person = self.find(ref)
        self.people.remove(person)
        self._save()
        return person

    def link(self, ref: str, other: str) -> dict:
        second = self._found(other)
        ids = second["ids"] if second else [self._id_of(other)]
        if ref == OWNER.principal and not self.has_owner():
            self.people.append({"who": ref, "ids": []})
        person = self.find(ref)
        if second is person or (second and second["who"] == OWNER.principal):
            raise ArgumentError(other, "cannot be linked to %s; name the owner first." % person["who"])
        if len(person["ids"]) + len(ids) > _IDS:
            raise ArgumentError(ref, "has as many ids as may be: %d." % _IDS)
        person["ids"] = person["ids"] + ids
        if second:
            self.people.remove(second)
        self._end_waiting(ids[0])
        return person

    def has_owner(self) -> bool:
        return any(person["who"] == OWNER.principal for person in self.people)

    def set_group(self, ref: str, mode: str) -> None:
        checked_id(ref)
        if mode == "off":
            if self.groups.pop(ref, None) is None:
                raise NotFound("group", ref)
        elif mode not in GROUP_MODES:
            raise ArgumentError("group", "takes mention, always or off.")
        elif len(self.groups) >= _GROUPS and ref not in self.groups:
            raise ArgumentError("group", "there are %d, as many as may be: set one to off first." % _GROUPS)
        else:
            self.groups[ref] = mode
        self._save()

    def move_group(self, ref: str, new: str) -> None:
        mode = self.groups.get(ref)
        if mode in GROUP_MODES:
            self.groups.setdefault(new, mode)
            self.groups[ref] = new  # answers and reminders in that room go to the new one
            self._save()

    def find(self, ref: str) -> dict:
        """Return the person with an id or a principal; NotFound."""
        person = self._found(ref)
        if person is None:
            raise NotFound("person", ref[:_ID_LONGEST], "/people lists those that there are.")
        return person

    def _found(self, ref: str):
        return next((person for person in self.people if ref == person["who"] or ref in person["ids"]), None)

    def _with_id(self, ref: str):
        return next((person for person in self.people if ref in person["ids"]), None)

    def _id_of(self, ref: str) -> str:
        """Return the id of the stranger with a code, or the given id."""
        stranger = self.stranger(ref)
        if stranger:
            return stranger[1]
        if ":" not in ref:
            raise NotFound("code", ref[:_CODE_LENGTH], "codes are valid for an hour, and until the board restarts.")
        return checked_id(ref)

    def _end_waiting(self, ref: str) -> None:
        self._save()
        self._waiting = [entry for entry in self._waiting if entry[1] != ref]


def room_of(network: str, chat: str, thread: str = "") -> str:
    return network + " " + chat + (" " + thread if thread else "")


def _checked(person: dict) -> dict:
    access.check_caller(Caller(person["who"], "x", False, ""))
    for ref in person["ids"]:
        checked_id(ref)
    return person


def checked_id(ref: str) -> str:
    """Return a valid id; ArgumentError."""
    network, colon, sender = ref.partition(":")
    if not (network and colon and sender) or len(ref) > _ID_LONGEST or " " in ref or text.printable(ref) != ref:
        raise ArgumentError("id", "must be a network and its own id, such as telegram:12345.")
    return ref


def shown(name: str) -> str:
    return text.cut(" ".join(text.printable(name).split()), _NAME_LONGEST)


def new_code() -> str:
    return "".join([_CODE_LETTERS[byte & 31] for byte in os.urandom(_CODE_LENGTH)])
