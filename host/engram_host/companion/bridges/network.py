"""Interfaces between a network's module and the engine (conversations/).

A network signs in, passes on messages and sends; permissions, routing, splitting and retries are
the engine's.
"""

import zlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol


@dataclass(frozen=True)
class Chat:
    """A place of a network; `thread` is "" outside of threads, and others read along in a group."""

    id: str
    thread: str = ""
    is_group: bool = False


# fetch(most) reads a file, may stop after `most` bytes, and may raise FileNotFetched.
FileFetch = Callable[[int], Awaitable[bytes]]


@dataclass(frozen=True)
class Attachment:
    """A file of a message, or all of a message that is encrypted."""

    kind: Literal["photo", "audio", "video", "file", "encrypted"]
    name: str = ""
    size: int = 0  # bytes by the network's word, 0 if unknown
    fetch: FileFetch | None = field(default=None, repr=False, compare=False)
    is_link: bool = field(default=False, compare=False)  # the sender's link: fetched for the owner only
    reference: str = ""  # the companion's key of the file, "" if not kept


@dataclass(frozen=True)
class Incoming:
    id: str  # unique in the chat, the same when the message comes again
    chat: Chat
    sender: str  # lasting id of the person
    sender_name: str = ""  # self-chosen, proves nothing
    text: str = field(default="", repr=False)  # without a leading mention; or a caption
    is_mentioned: bool = True  # also true for a reply to the account and in a private chat
    attachments: tuple[Attachment, ...] = ()
    at: int = 0  # Unix seconds, 0 if unknown
    forwarded: str = ""  # author of a forwarded text
    quoted: str = field(default="", repr=False)  # beginning of the message replied to
    edits: str = ""  # id of the message that this one corrects


def edit_id(message: str, at: object, text: str) -> str:
    """Make a stable edit id on networks whose edits have none."""
    return f"{message} {at} {zlib.crc32(text.encode(errors='replace')):08x}"


def utf16_units(text: str) -> int:
    return len(text) + sum(sign > "\uffff" for sign in text)


def utf8_bytes(text: str) -> int:
    return len(text.encode())


@dataclass(frozen=True)
class Features:
    most_units: int
    count_units: Callable[[str], int] = len
    edit_seconds: float | None = None  # least time between edits; None: no edits, answers by paragraph
    has_typing: bool = True
    is_repeatable: bool = False  # a message sent again with its key is shown once
    command_signs: str = "/"  # some clients keep the slash for themselves
    heading_end: str = "\n"  # a space where people see each line as a message


@dataclass(frozen=True)
class MenuCommand:
    name: str
    description: str


class BridgeHost(Protocol):
    @property
    def menu(self) -> Sequence[MenuCommand]: ...

    async def receive(self, message: Incoming) -> None:
        """Save a message, to be answered later; if StoreUnavailable is raised, do not confirm it."""
        ...

    async def note_members(self, chat: Chat) -> None:
        """Drop what a private chat is owed once others have joined; call it before any further send."""
        ...

    def connected(self, account: str) -> None:
        """Note that the network is signed in, and send what was not delivered; may be called again."""
        ...

    async def claim(self, account: str) -> None:
        """Remove another account's data and mark; call it before load_mark()."""
        ...

    async def load_mark(self) -> str: ...

    async def save_mark(self, mark: str) -> None: ...


class BridgeWatch(Protocol):
    """The runner of a bridge, as the engine sees it."""

    def note_connected(self, account: str) -> None: ...

    def note_received(self) -> None: ...

    def note_sent(self) -> None: ...


class Network(Protocol):
    """Connection of one account to one network; it raises errors of bridges/errors.py only."""

    @property
    def features(self) -> Features: ...

    async def run(self, host: BridgeHost) -> None:
        """Sign in and pass on messages until cancelled; only NetworkAway and unknown errors are retried."""
        ...

    async def check(self) -> str:
        """Sign in and out again, and return the account's own name; raises the same errors as run()."""
        ...

    async def send(self, chat: Chat, text: str, key: str, reply_to: str = "", is_plain: bool = False) -> str:
        """Send Markdown and return the message's id once it is confirmed; a retry has the same `key`."""
        ...

    async def edit(self, chat: Chat, message: str, text: str, is_plain: bool = False) -> None:
        """Replace a message's text; no error if unchanged, and not called if edit_seconds is None."""
        ...

    async def show_typing(self, chat: Chat, is_typing: bool) -> None: ...
