"""The types in which the companion's parts speak of boards, lines and files; without numpy, which is slow to load."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from engram.config import SECRETS
from engram_host.time_zones import BoardZone

LogName = Literal["records", "journal"]
LOGS: tuple[LogName, ...] = ("records", "journal")

DEVICE_NAME = r"[a-z0-9-]{1,32}"
"""What a board may be called, as a regular expression of the whole name."""

FOLDER = "folder:"
"""How the name begins that a Markdown folder has in the store; no board can be called so."""


NOTES = FOLDER + "notes:"
LEFT_NOTES = FOLDER + "left notes:"
"""How the names begin that the notes of a board have in the store, which are kept like a Markdown folder; the latter are those
that the board no longer has.
"""


@dataclass(frozen=True)
class LogState:
    """One log as a board describes it: lines with a seq from `oldest` up to but without `next` are on its flash.

    `rewrites` counts how often the board took lines out of the log, by a compaction.
    """

    epoch: int
    oldest: int
    next: int
    rewrites: int


@dataclass(frozen=True)
class Sender:
    """Who sent a message: the board's id, its connection, and the message's number; the last two only rise."""

    board: str
    link: int
    n: int


@dataclass(frozen=True)
class Hello:
    """A board begins a connection. `zone` and `rule` are as in BoardZone; up to seq `relied` of its records it had the
    confirmation that the companion has its archive lines when it took lines off its flash.
    """

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
    """Of a span the board holds exactly these raw lines, each checked and with its newline; [(seq, line), ...] rising."""

    sender: Sender
    span: SeqRange
    lines: list[tuple[int, bytes]] = field(repr=False)


@dataclass(frozen=True)
class HeldLog:
    """What the companion has of a log: all up to seq `have`; the crc of the line with that seq ("" if there is no such line)
    and the rewrites that both sides have agreed on, -1 if they have to be compared.
    """

    have: int
    crc: str
    rewrites: int


@dataclass(frozen=True)
class Welcome:
    """The answer to Hello; `events` are sentences on what has happened, for a person, `archived` is how many records that the
    board archived are here, `asks` that the board is to say what its archive has.
    """

    logs: dict[LogName, HeldLog]
    events: tuple[str, ...] = ()
    archived: int = 0
    asks: bool = False
    notes: str = ""
    """What the companion has of the board's notes: see store/board_notes.py."""
    senses: str = ""
    """Likewise of its senses: see store/senses/table.py."""


@dataclass(frozen=True)
class NoteEntry:
    """A note as its board lists it, by the `file` on its flash: its text's crc32, or none and whether its days are over."""

    file: str
    crc: int | None
    is_left: bool = False


@dataclass(frozen=True)
class NoteSpan:
    """The notes of a board with files after `after` up to `to` (all that follow, if that is empty) are these and no others."""

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
    """A line that is no longer part of a copy, and why; `at` is when it was set aside, in Unix seconds.

    `number` is higher for what was set aside later.
    """

    log: LogName
    epoch: int
    seq: int
    at: int
    why: str
    line: bytes = field(repr=False)
    number: int


@dataclass(frozen=True)
class Device:
    """A board that the companion knows. `heard` is Unix seconds, `version` that of its newest change; `logs` are those of the
    present epochs. `generation` differs from that of an erased board of this name.
    """

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
    """How many lines, and bytes of lines, a board may add to its copy on a day; 0 is no limit."""

    lines: int = 0
    bytes: int = 0


@dataclass(frozen=True)
class RetentionLimits:
    """How long, and how much, is kept of what no board has any more; 0 is for ever, or all.

    `former_days` and `former_bytes` (of one board) are for copies of former epochs and for what was set aside, `turn_days`
    for turns that have left their board, `reading_days` for readings by minute, `reading_bytes` for all readings of one board.
    """

    former_days: int = 0
    former_bytes: int = 0
    turn_days: int = 0
    reading_days: int = 0
    reading_bytes: int = 0


@dataclass(frozen=True)
class MediaLimits:
    """How much is kept of the photos and sounds of boards: bytes of one, bytes and count of all of one board (a count of 0:
    none is kept), and the types that are taken.
    """

    bytes_each: int
    board_bytes: int
    board_count: int
    types: frozenset[str]


@dataclass(frozen=True)
class DeviceToken:
    """The token of a board as it is kept: `digest` is its SHA-256, `mosquitto` what mosquitto checks it with, `made` Unix
    seconds.
    """

    device: str
    digest: bytes = field(repr=False)
    mosquitto: str = field(repr=False)
    made: int


@dataclass(frozen=True)
class OperatorToken:
    """A named token of an operator as it is kept; `made` and `ends` are Unix seconds, 0 for no end."""

    name: str
    digest: bytes = field(repr=False)
    is_read_only: bool
    made: int
    ends: int = 0


@dataclass(frozen=True)
class AuditEntry:
    """Who did what, when (Unix seconds) and from which address; `number` is higher for what was done later, 0 if it is not
    kept yet.
    """

    at: int
    who: str
    action: str
    outcome: str
    address: str = ""
    number: int = 0


@dataclass(frozen=True)
class GatewayUse:
    """Calls of the gateway and tokens of the model, of a day or as a limit of one; what they cost is in millionths."""

    calls: int
    tokens: int
    cost: int = 0


@dataclass(frozen=True)
class StoredPassage:
    """A passage of a Markdown file: the lines from `first` to `last`, and the headings that they stand under."""

    text: str = field(repr=False)
    heading: str
    first: int
    last: int


@dataclass(frozen=True)
class NewFile:
    """A Markdown file as it is now. `stamp` and `digest` differ for other states, `at` is when it changed, in Unix seconds;
    with a `problem`, a sentence, it has no passages.
    """

    path: str
    stamp: str
    digest: str
    at: int
    scope: str
    passages: tuple[StoredPassage, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class KeptFile:
    """A Markdown file as the store has it; `places` are (seq, first line, last line) of its passages."""

    path: str
    stamp: str
    digest: str
    problem: str
    places: tuple[tuple[int, int, int], ...]


# --- conversations


ConversationState = Literal["waiting", "taken", "answering", "done", "cancelled", "undeliverable"]
OPEN_STATES: tuple[ConversationState, ...] = ("waiting", "taken", "answering")
"""States in which the board still has something to do."""

PieceKind = Literal["text", "notice", "more", "line", "report", "problem", "again"]
"""What a piece of an answer is: of its text; a remark on it; a line of a command's answer, or the part of one before `more` of
it; a report as JSON; what went wrong; or that the answer starts again, and what came before it is void.
"""


@dataclass(frozen=True)
class Said:
    """What somebody says to a board: `mid` is its id, which no other message to this board has. `room` is a chat of theirs.

    `forwarded` names who wrote the text if somebody else did, `quoted` begins what it answers, and `edits` is the `mid` of the
    message that it corrects.
    """

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
"""How the ids begin of messages with a secret behind their second word, as in `/setting llm.key VALUE`: nobody but the board is
shown it, and it is removed as soon as the board has answered. A person may type such a command under any id.
"""


def without_secret(said: Said) -> Said:
    """A message as people are shown it: without its secret, if it has one."""
    words = said.text.split(None, 2)
    if len(words) < 3 or not (said.mid.startswith(SECRET_IDS) or _sets_secret(said, words)):
        return said
    return replace(said, text=" ".join(words[:2]))


def _sets_secret(said: Said, words: Sequence[str]) -> bool:
    return said.is_command and words[0].lower() == "/setting" and words[1].lower() in SECRETS


@dataclass(frozen=True)
class Conversation:
    """A message to a board and how far it is. `at` and `changed` are Unix seconds; `turn` is the board's id of it, "" for none
    yet; `offers` is the number of its newest offer to the board, `begun` how many the board has named, `unnamed` how many
    were made since then; `is_push` says that the board itself began.
    """

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
        """Whether the board still has something to do."""
        return self.state in OPEN_STATES


@dataclass(frozen=True)
class Piece:
    """A piece of an answer; a later one has a higher number."""

    number: int
    kind: PieceKind
    text: str = field(repr=False)


@dataclass(frozen=True)
class ConversationLimits:
    """Messages that wait for a board, of all people and of one, and bytes of what waits for it; the most bytes of an answer."""

    board_messages: int = 200
    person_messages: int = 20
    board_bytes: int = 1 << 20
    answer_bytes: int = 4 << 20
