"""What a network is to the engine of bridges (conversations/), and what the engine is to a network.

A file of this folder has one class with the methods of Network. It signs in, gives the engine each message, and sends what
the engine wants sent. Who may talk, which board answers, splitting, streaming, what is sent again: all that is the engine's.
"""

import zlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol


@dataclass(frozen=True)
class Chat:
    """A place of a network: the network's own id of the chat, that of a thread or topic in it ("" for none), and whether others
    read along.
    """

    id: str
    thread: str = ""
    is_group: bool = False


FileFetch = Callable[[int], Awaitable[bytes]]
"""fetch(most) gives a file; reading one that has more than `most` bytes may stop there. FileNotFetched."""


@dataclass(frozen=True)
class Attachment:
    """A file that came with a message. `size` is what the network says of its bytes, 0 if it does not; `fetch` gives its
    content, None where the network has no way to it. `is_link`: its address is what the sender wrote, so that it is fetched for
    the owner only. `reference` is what the companion keeps it by, "" if it does not.
    """

    kind: Literal["photo", "audio", "video", "file"]
    name: str = ""
    size: int = 0
    fetch: FileFetch | None = field(default=None, repr=False, compare=False)
    is_link: bool = field(default=False, compare=False)
    reference: str = ""


@dataclass(frozen=True)
class Incoming:
    """A message of a person, as the network gives it.

    `id` is the network's own, unique in its chat, and the same when the message comes again. `sender` is the network's own
    lasting id of the person; `sender_name` is what they call themselves, and proves nothing. `text` is without the mention of
    the account at its beginning; a caption is the text. `is_mentioned`: the message names the account, replies to a message of
    it, or was sent to nobody else. `at` is Unix seconds, 0 if the network does not say. `forwarded` names who wrote the text
    if the sender passes it on, `quoted` begins what it answers; `edits` is the id of the message that it corrects.
    """

    id: str
    chat: Chat
    sender: str
    sender_name: str = ""
    text: str = field(default="", repr=False)
    is_mentioned: bool = True
    attachments: tuple[Attachment, ...] = ()
    at: int = 0
    forwarded: str = ""
    quoted: str = field(default="", repr=False)
    edits: str = ""


def edit_id(message: str, at: object, text: str) -> str:
    """Make the id of an edit on a network whose edits have none: of the message, the time, and what it says now."""
    return f"{message} {at} {zlib.crc32(text.encode(errors='replace')):08x}"


def characters(text: str) -> int:
    """How many characters a text has."""
    return len(text)


def utf16_units(text: str) -> int:
    """How many UTF-16 units a text has."""
    return len(text) + sum(sign > "\uffff" for sign in text)


def utf8_bytes(text: str) -> int:
    """How many bytes a text has in UTF-8."""
    return len(text.encode())


@dataclass(frozen=True)
class Features:
    """What a network can do.

    A message has at most `most_units` of what `count_units` counts. `edit_seconds` is the least time between two edits of one
    message, None where messages cannot be edited: answers come in paragraphs there. `is_repeatable`: a message that is sent
    again with its key is shown once, as it was sent first; `may_know_keys`: that may be so, for a while. `command_signs` are
    the signs with which a command may begin: where clients keep a slash for themselves, people type another one.
    `heading_end` is between a heading and its text: a space where each line is shown as a message.
    """

    most_units: int
    count_units: Callable[[str], int] = characters
    edit_seconds: float | None = None
    has_typing: bool = True
    is_repeatable: bool = False
    may_know_keys: bool = False
    command_signs: str = "/"
    heading_end: str = "\n"

    def headed(self, heading: str, text: str) -> str:
        """A text with a heading of whole lines."""
        return heading.replace("\n", self.heading_end) + text


@dataclass(frozen=True)
class MenuCommand:
    """A command for the network's menu: its name without a slash, and some words on it."""

    name: str
    description: str


class BridgeHost(Protocol):
    """The engine, as a network sees it."""

    @property
    def menu(self) -> Sequence[MenuCommand]:
        """The commands to register in the network's menu, where it has one."""
        ...

    async def receive(self, message: Incoming) -> None:
        """Take a message. When this returns it is kept, and the network may be told so; it is answered later.

        Raises StoreUnavailable if it could not be kept: then it must not be confirmed, and comes again.
        """
        ...

    async def note_members(self, chat: Chat) -> None:
        """Somebody has come into this chat, which others read from now on: what it is owed as a private one is dropped.

        For networks where a private chat can become a group; before anything more is sent there. StoreUnavailable.
        """
        ...

    def connected(self, account: str) -> None:
        """The network is reached, signed in as `account`; what was not delivered yet is sent now. May be called again."""
        ...

    async def claim(self, account: str) -> None:
        """The bridge is signed in as the account with this lasting id: what is kept of another one, its mark too, is removed.

        For networks whose settings do not name the account (BridgeField.is_account): before load_mark().
        """
        ...

    async def load_mark(self) -> str:
        """What save_mark() kept last, "" before."""
        ...

    async def save_mark(self, mark: str) -> None:
        """Keep, in the database, up to where the network's messages were taken (at most 2,000 characters)."""
        ...


class Network(Protocol):
    """A connection of one account to one network. Its methods raise errors of bridges/errors.py only."""

    @property
    def features(self) -> Features:
        """What the network can do."""
        ...

    async def run(self, host: BridgeHost) -> None:
        """Sign in, and pass on messages until cancelled; leaves nothing behind, however it ends.

        SignInRefused, BridgeUnavailable: it makes no sense to try again. NetworkAway: it does. Anything else that the library
        raises may pass: the one who runs it counts it as a failure, too.
        """
        ...

    async def check(self) -> str:
        """Sign in and out again; the account's own name. Errors as of run()."""
        ...

    async def send(self, chat: Chat, text: str, key: str, reply_to: str = "", is_plain: bool = False) -> str:
        """Send Markdown in the network's own marks (`is_plain`: as it is, without any); the network's id of the message.

        `key` (at most 40 of a-z, 0-9 and -) is the same when the message is sent again; `reply_to` is the id of the message
        that it answers. SendFailed and its subclasses. Returns once the network has confirmed it, as far as it confirms.
        """
        ...

    async def edit(self, chat: Chat, message: str, text: str, is_plain: bool = False) -> None:
        """Let a message show another text; no error if it shows that already. SendFailed and its subclasses. Never called where
        features.edit_seconds is None.
        """
        ...

    async def show_typing(self, chat: Chat, is_typing: bool) -> None:
        """Show that an answer is on its way, for some seconds, or no more. Fails silently; never called without has_typing."""
        ...
