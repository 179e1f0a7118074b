"""The operations that are played: the same ones for the same seed, with what happened earlier named by its number."""

import random
from typing import Any

from expected import ROOMS, TITLE, Operation

WORDS = [
    *("garden", "bicycle", "teacher", "harbour", "window", "letter", "winter", "orange", "market", "silver", "doctor"),
    *("river", "kitchen", "morning", "travel", "camera", "forest", "music", "paper", "island", "naïve"),
    *("花园", "自行车", "老师", "港口", "مدينة", "кофе", "😀", "🚲"),
]
TAGS = ("home", "work", "travel", "health", "music", "code")
WHO = ("ann", "ben", "cy")
COMPACTIONS = ((120, "records"), (190, "journal"), (300, "records"), (330, "journal"))
"""From which operation on the logs are compacted."""

COMPARED = 8
"""One record in about so many is compared with those that are there, as a board does with each: it takes long, and no cut can
strike it.
"""

LISTED = 6
"""At every so many operations the files are listed, which shows what was sealed and merged."""


class Writer:
    """Writes operations, each of which fits what was done before it."""

    def __init__(self, seed: int):
        self._random = random.Random(seed)
        self.operations: list[Operation] = []
        self._live: list[int] = []
        self._turns: list[tuple[int, str, int]] = []  # operation, room, the session's number
        self._current: dict[str, int] = {}
        self._begun: list[tuple[int, str]] = []

    def write(self, count: int) -> list[Operation]:
        """Operations of all kinds."""
        kinds = {
            self.store: 26, self.turn: 40, self.update: 9, self.forget: 8, self.undo: 4, self.profile: 5,
            self.begin: 2, self.switch: 2, self.delete: 1, self.redact: 3,
        }  # fmt: skip
        compactions = list(COMPACTIONS)
        while len(self.operations) < count:
            if len(self.operations) % LISTED == 0:
                self._add("files")
            if compactions and len(self.operations) >= compactions[0][0]:
                self._add("compact", what=compactions.pop(0)[1])
                continue
            self._random.choices(list(kinds), list(kinds.values()))[0]()
        return self.operations

    def _add(self, do: str, **values: Any) -> int:
        self.operations.append({"do": do, **values})
        return len(self.operations) - 1

    def text(self, fewest: int, most: int) -> str:
        """A text that no other operation has: its first word is the number of this one."""
        words = self._random.choices(WORDS, k=self._random.randint(fewest, most))
        return " ".join([f"k{len(self.operations)}z", *words])

    def store(self) -> None:
        """A record; some take another's place, some name the turns that they came from."""
        values: dict[str, Any] = {"content": self.text(8, 30), "tags": sorted(self._random.sample(TAGS, 2))}
        if self._turns and self._random.random() < 0.4:
            values["turns"] = [turn[0] for turn in self._turns[-2:] if not turn[1].startswith("group")]
        older = -1
        if self._live and self._random.random() < 0.15:
            older = self._live.pop(self._random.randrange(len(self._live)))
            values["supersedes"] = older
        self._live.append(self._add("keep" if len(self.operations) % COMPARED else "store", **values))

    def update(self) -> None:
        """A next version of a record."""
        if self._live:
            self._add("update", of=self._random.choice(self._live), changes={"content": self.text(5, 30)})

    def forget(self) -> None:
        """A record goes, at times with its turns."""
        if len(self._live) > 4:
            at = self._random.randrange(len(self._live))
            self._add("forget", of=self._live[at], turns=self._random.random() < 0.5)
            if self._random.random() < 0.3:
                self._add("undo")
            else:
                self._live.pop(at)

    def undo(self) -> None:
        """A new text of the profile, taken back."""
        self.profile()
        self._add("undo")

    def profile(self) -> None:
        """A new text of the profile."""
        name = self._random.choice(("user.md", "soul.md", "identity.md"))
        self._add("profile", name=name, text=self.text(5, 150))

    def turn(self) -> None:
        """A turn of a person or of the agent."""
        who, room = self._random.choice(WHO), self._random.choice(ROOMS)
        role = self._random.choice(("user", "assistant"))
        number = self._add("turn", who=who, room=room, role=role, text=self.text(5, 60))
        self._turns.append((number, room, self._current.setdefault(room, number)))

    def begin(self) -> None:
        """A session with a title."""
        if len(self._begun) < 8:
            room = self._random.choice(ROOMS)
            number = self._add("begin", room=room, title=TITLE + self.text(1, 4))
            self._begun.append((number, room))
            self._current[room] = number

    def switch(self) -> None:
        """A room goes on in an earlier session of its own."""
        if self._begun:
            number, room = self._random.choice(self._begun)
            self._add("switch", room=room, of=number)
            self._current[room] = number

    def delete(self) -> None:
        """A session goes."""
        if len(self._begun) > 3:
            number, room = self._begun.pop(self._random.randrange(len(self._begun)))
            self._add("delete", room=room, of=number)
            if self._current.get(room) == number:
                del self._current[room]
            self._turns = [turn for turn in self._turns if turn[2] != number]

    def redact(self) -> None:
        """A turn goes."""
        if len(self._turns) > 6:
            number, room, _ = self._turns.pop(self._random.randrange(len(self._turns) - 2))
            self._add("redact", room=room, of=number)


def following(board_live: list[str], seed: int, first: int = 1) -> list[Operation]:
    """A few operations of every kind, to see that a board works that was cut off; `first` is the number of the first."""
    chosen = random.Random(seed).sample(board_live, min(2, len(board_live)))
    again = f"again{seed}z"
    operations: list[Operation] = [
        {"do": "store", "content": again + "a one green lantern", "tags": ["home"]},
        {"do": "update", "of": first, "changes": {"content": again + "b one blue lantern"}},
        {
            "do": "store",
            "content": again + "c two kites over the bridge",
            "tags": ["work", "home"],
            "supersedes": first,
        },
    ]
    operations += [
        {"do": "turn", "who": "ann", "room": room, "text": f"{again}{room[-1]} said in {room}"} for room in ROOMS
    ]
    if chosen:
        operations.append({"do": "update", "of": chosen[0], "changes": {"content": again + "d three"}})
        operations.append({"do": "forget", "of": chosen[-1], "turns": True})
    operations.append({"do": "profile", "name": "user.md", "text": again + "e four"})
    operations.append({"do": "undo"})
    operations.append({"do": "begin", "room": "chat#1", "title": TITLE + again})
    operations.append({"do": "turn", "who": "ann", "room": "chat#1", "text": again + "f said in a new session"})
    if seed % 4 == 0:
        operations.append({"do": "compact", "what": "records"})
        operations.append({"do": "compact", "what": "journal"})
    return operations
