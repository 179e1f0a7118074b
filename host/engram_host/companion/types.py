"""Types for boards, lines and files; without numpy, which is slow to load."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from engram.config import SECRETS
from engram_host.time_zones import BoardZone

Key = TypeVar("Key")
Value = TypeVar("Value")

LogName = Literal["records", "journal"]
LOGS: tuple[LogName, ...] = ("records", "journal")

DEVICE_NAME = r"[a-z0-9-]{1,32}"

FOLDER = "folder:"
"""Name prefix of Markdown folders in the store; no board can have it."""


NOTES = FOLDER + "notes:"
LEFT_NOTES = FOLDER + "left notes:"
"""Name prefixes of a board's notes in the store; the latter are notes that left the board."""


@dataclass(frozen=True)
class LogState:
    """State of a log on its board; `next` is exclusive, and `rewrites` counts its compactions."""

    epoch: int
    oldest: int
    next: int
    rewrites: int


@dataclass(frozen=True)
class Sender:
    """Sender of a message: board id, connection and message number; the last two only rise."""

    board: str
    link: int
    n: int


@dataclass(frozen=True)
class Hello:
    """Start of a connection; the companion had confirmed archive lines up to seq `relied`."""

    device: str
    sender: Sender
    zone: int
    logs: dict[LogName, LogState]
    relied: int = 0
    rule: str = ""


@dataclass(frozen=True)
class SeqRange:
    """The seqs after `after` up to `to` of one log of one board, in one epoch."""

    device: str
    log: LogName
    epoch: int
    after: int
    to: int


@dataclass(frozen=True)
class LineBatch:
    """All raw lines of a span, checked, each with its newline and in order of seqs."""

    sender: Sender
    span: SeqRange
    lines: list[tuple[int, bytes]] = field(repr=False)


@dataclass(frozen=True)
class HeldLog:
    """State of a copy: seq `have` and its crc, or ""; `rewrites` is -1 if both sides must compare."""

    have: int
    crc: str
    rewrites: int


@dataclass(frozen=True)
class Welcome:
    """Answer to Hello; `events` are for people, and `asks` requests a list of the board's archive."""

    logs: dict[LogName, HeldLog]
    events: tuple[str, ...] = ()
    archived: int = 0
    asks: bool = False
    notes: str = ""
    """State of the notes' copy; see store/board_notes.py."""
    senses: str = ""


@dataclass(frozen=True)
class NoteEntry:
    """A note in a board's list; without `crc` it is gone, and with `is_left` only its days are over."""

    file: str
    crc: int | None
    is_left: bool = False


@dataclass(frozen=True)
class NoteSpan:
    """The complete list of a board's notes after `after` up to `to`, or up to the end without `to`."""

    device: str
    epoch: int
    after: str
    to: str
    entries: tuple[NoteEntry, ...]


@dataclass(frozen=True)
class Change:
    """A line that came, was replaced, or has gone (`line` None), in the order of `version` of its board."""

    version: int
    log: LogName
    seq: int
    line: bytes | None = field(repr=False)


@dataclass(frozen=True)
class SetAsideLine:
    """A line removed from a copy at `at` (Unix seconds); a later one has a higher `number`."""

    log: LogName
    epoch: int
    seq: int
    at: int
    why: str
    line: bytes = field(repr=False)
    number: int


@dataclass(frozen=True)
class Device:
    """A known board; `generation` differs from that of an erased board of the same name."""

    name: str
    board: str
    heard: int
    zone: BoardZone
    version: int
    logs: dict[LogName, LogState]
    have: dict[LogName, int]
    generation: int = 0


@dataclass(frozen=True)
class LineQuota:
    """Lines, and bytes of lines, that a board may add to its copy per day; 0 is no limit."""

    lines: int = 0
    bytes: int = 0


@dataclass(frozen=True)
class RetentionLimits:
    """Days and bytes (per board) to keep data that no board has any more; 0 is no limit."""

    former_days: int = 0
    former_bytes: int = 0
    turn_days: int = 0
    reading_days: int = 0
    reading_bytes: int = 0


@dataclass(frozen=True)
class MediaLimits:
    """Quotas for media in bytes and counts; a `board_count` of 0 disables media."""

    bytes_each: int
    board_bytes: int
    board_count: int
    types: frozenset[str]


@dataclass(frozen=True)
class DeviceToken:
    """Stored token of a board; `digest` is its SHA-256, `mosquitto` the broker's password hash."""

    device: str
    digest: bytes = field(repr=False)
    mosquitto: str = field(repr=False)
    made: int


@dataclass(frozen=True)
class OperatorToken:
    """Stored token of an operator; `made` and `ends` are Unix seconds, 0 for no end."""

    name: str
    digest: bytes = field(repr=False)
    is_read_only: bool
    made: int
    ends: int = 0


@dataclass(frozen=True)
class AuditEntry:
    """An audit log entry; `at` is Unix seconds, and `number` is 0 until it is stored."""

    at: int
    who: str
    action: str
    outcome: str
    address: str = ""
    number: int = 0


@dataclass(frozen=True)
class GatewayUse:
    """Usage or limit of the gateway per day."""

    calls: int
    tokens: int


@dataclass(frozen=True)
class StoredPassage:
    text: str = field(repr=False)
    heading: str
    first: int
    last: int


@dataclass(frozen=True)
class NewFile:
    """Current state of a Markdown file; one with a `problem`, a sentence, has no passages."""

    path: str
    stamp: str
    digest: str
    at: int
    scope: str
    passages: tuple[StoredPassage, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class KeptFile:
    """A Markdown file in the store; `places` are (seq, first line, last line) of its passages."""

    path: str
    stamp: str
    digest: str
    problem: str
    places: tuple[tuple[int, int, int], ...]


# --- conversations


ConversationState = Literal["waiting", "taken", "answering", "done", "cancelled", "undeliverable"]
OPEN_STATES: tuple[ConversationState, ...] = ("waiting", "taken", "answering")

PieceKind = Literal["text", "notice", "line", "report", "problem", "again"]
"""Kinds of pieces of an answer; `again` restarts it and voids all pieces before."""


@dataclass(frozen=True)
class Said:
    """A message to a board, unique by `mid`; `edits` is the `mid` of the message that it corrects."""

    mid: str
    principal: str
    text: str = field(repr=False)
    room: str = ""
    is_group: bool = False
    workspace: str = ""
    is_command: bool = False
    forwarded: str = ""
    quoted: str = field(default="", repr=False)
    edits: str = ""


SECRET_IDS = "secret:"
"""Id prefix of messages with a secret as third word, shown to the board only and then removed."""


def without_secret(said: Said) -> Said:
    words = said.text.split(None, 2)
    if len(words) < 3 or not (said.mid.startswith(SECRET_IDS) or _sets_secret(said, words)):
        return said
    return replace(said, text=" ".join(words[:2]))


def _sets_secret(said: Said, words: Sequence[str]) -> bool:
    return said.is_command and words[0].lower() == "/setting" and words[1].lower() in SECRETS


@dataclass(frozen=True)
class Conversation:
    """A message to a board and its state; of `offers`, the board acknowledged `begun`."""

    number: int
    device: str
    said: Said
    state: ConversationState
    turn: str
    at: int
    changed: int
    offers: int
    begun: int
    unnamed: int
    is_cancelled: bool
    is_push: bool

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_STATES


@dataclass(frozen=True)
class Piece:
    """A piece of an answer; a later one has a higher number."""

    number: int
    kind: PieceKind
    text: str = field(repr=False)


@dataclass(frozen=True)
class ConversationLimits:
    """Limits per board: waiting messages, of all people and of one, bytes waiting, bytes of an answer."""

    board_messages: int = 200
    person_messages: int = 20
    board_bytes: int = 1 << 20
    answer_bytes: int = 4 << 20


class BoundedDict(OrderedDict[Key, Value]):
    """Forgets the entry that was set longest ago once there are more than `most`."""

    def __init__(self, most: int):
        super().__init__()
        self._most = most

    def __setitem__(self, key: Key, value: Value) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > self._most:
            self.popitem(last=False)
