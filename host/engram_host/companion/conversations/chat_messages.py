"""Messages of chats: their board, command and files, and the commands that the companion answers itself."""

import asyncio
import logging
import re
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from engram.channels.console.commands import commands as board_commands
from engram.channels.console.commands import only_owner
from engram.channels.people import shown
from engram.errors import EngramError
from engram.memory import access
from engram.memory.access import OWNER, Caller
from engram_host.companion.bridges.errors import FileNotFetched
from engram_host.companion.bridges.network import Attachment, Incoming, MenuCommand
from engram_host.companion.bridges.texts import separate
from engram_host.companion.conversations.board_side import storable
from engram_host.companion.conversations.people import PeopleService
from engram_host.companion.conversations.service import ConversationService
from engram_host.companion.errors import CompanionError, MediaRefused, StoreUnavailable
from engram_host.companion.media.service import MediaService
from engram_host.companion.store.bridges.deliveries import DeliveryTable
from engram_host.companion.store.bridges.types import ChatPlace, Delivery
from engram_host.companion.supervisor import describe_error
from engram_host.wording import counted, listed

_log = logging.getLogger("engram.bridges")

GREETING = "Hello! Write to me, and I answer; what you want me to keep, I remember. /help lists the commands."

LONGEST_ID = 256

_ARTICLES = {"audio": "an audio file", "video": "a video", "file": "a file"}
_HELD = re.compile(r"(?:\[(?:photo|audio|video|file)\b[^\]\n]*\] ?)*")
_ENDS = ",:"

FETCH_SECONDS = 20.0

MOST_OF_MESSAGE = 4

_IMPORTED = (".jsonl", ".json", ".md")
_NAME_CHARS = 64

OWN = {
    "board": ("[NAME]", "let a board answer in this chat; alone: say which one does"),
    "boards": ("", "list the boards"),
    "new": ("[TITLE]", "begin a new session"),
    "cancel": ("", "cancel the answer that is being made"),
}

HELP = "\n".join(
    [
        "In this chat, too:",
        *(f"/{name}{' ' + usage if usage else ''}\n    {purpose}" for name, (usage, purpose) in OWN.items()),
        "@NAME before a message asks the board of that name.",
    ]
)

_PEOPLE = "The companion's page and `engram people` show and change who may talk."
_MENU_CHARS = 256


@dataclass(frozen=True)
class Spoken:
    board: str
    text: str
    is_command: bool = False

    @property
    def command(self) -> str:
        return self.text[1:].partition(" ")[0].lower() if self.is_command else ""

    @property
    def rest(self) -> str:
        return self.text.partition(" ")[2].strip()


def keepable(message: Incoming) -> Incoming | None:
    ids = message.id, message.chat.id, message.chat.thread, message.sender, message.edits
    if any(len(each) > LONGEST_ID or each != storable(each) for each in ids):
        return None
    text, quoted, forwarded = separate(
        storable(message.text),
        storable(message.quoted),
        storable(message.forwarded),
        has_attachments=bool(message.attachments),
    )
    return replace(
        message,
        text=text,
        quoted=quoted,
        forwarded=forwarded,
        sender_name=storable(message.sender_name),
        attachments=tuple(replace(each, name=storable(each.name)) for each in message.attachments),
    )


def parse_spoken(message: Incoming, boards: Collection[str], signs: str) -> Spoken:
    """Parse a message; a forwarded one is no command and names no board."""
    text = message.text.strip()
    board, text = ("", text) if message.forwarded else _addressed(text, boards)
    if not message.forwarded and len(text) > 1 and text[0] in signs and text[1].isalpha():
        name, space, rest = text[1:].partition(" ")
        return Spoken(board, "/" + name.lower() + space + rest, True)
    held = " ".join(_held(each) for each in message.attachments if each.kind == "photo" or text)
    return Spoken(board, f"{held} {text}".strip())


def edited(message: Incoming, before: str, boards: Collection[str], signs: str) -> Spoken:
    spoken = parse_spoken(replace(message, attachments=()), boards, signs)
    held = _HELD.match(before)
    if spoken.is_command or not (message.attachments and held):
        return spoken
    return replace(spoken, text=f"{held[0].strip()} {spoken.text}".strip())


def refusal(message: Incoming) -> str:
    """Return the reason to refuse a message without text, "" if it is empty."""
    unread = [each for each in message.attachments if each.kind != "photo"]
    if not unread:
        return ""
    first = unread[0]
    if first.kind == "encrypted":
        return "I cannot read encrypted messages: write in a chat without encryption."
    name = f" {shown(first.name)}" if first.name else ""
    return f"I cannot read {_ARTICLES[first.kind]}{name}: send text, or as the owner a .jsonl, .json or .md file to import."


def which_board(boards: Collection[str]) -> str:
    if not boards:
        return "No board has connected to this companion yet."
    names = sorted(boards)
    return (
        f"Which board? There are {', '.join(names)}. Write @{names[0]} before a message, or let one answer in this chat: "
        f"/board {names[0]}"
    )


def _addressed(text: str, boards: Collection[str]) -> tuple[str, str]:
    first, _, rest = text.partition(" ")
    if "\n" in first:
        first, _, rest = text.partition("\n")
    name = first[1:].rstrip(_ENDS).lower()
    return (name, rest.strip()) if first[:1] == "@" and name in boards else ("", text)


def _held(attachment: Attachment) -> str:
    named = f", {attachment.reference}" if attachment.reference else ""
    if attachment.kind == "photo":
        return f"[photo{named}]"
    name = f" {shown(attachment.name)}" if attachment.name else ""
    return f"[{attachment.kind}{name}{named}]"


# --- commands


def menu() -> list[MenuCommand]:
    own = [MenuCommand(name, purpose) for name, (_, purpose) in OWN.items()]
    return own + [MenuCommand(name, purpose[:_MENU_CHARS]) for name, _, purpose in board_commands()]


class BridgeCommands:
    def __init__(self, store: DeliveryTable, conversations: ConversationService, people: PeopleService):
        self._store = store
        self._conversations = conversations
        self._people = people

    async def answer(
        self, message: Incoming, spoken: Spoken, caller: Caller, owed: Delivery, boards: Sequence[str]
    ) -> str:
        if not spoken.text:
            return refusal(message) or GREETING
        match spoken.command:
            case "start":
                return GREETING
            case "pair" | "people" as command:
                return await self._let_in(command, caller, spoken.rest)
            case "board":
                return await self._board(owed, caller.room, spoken.rest, boards)
            case "boards":
                return _list_boards(boards)
            case "cancel":
                return await self._cancel(owed.place, caller)
            case _:
                return ""

    async def _let_in(self, command: str, caller: Caller, rest: str) -> str:
        code, _, name = rest.partition(" ")
        try:
            only_owner(caller, f"/{command}")
            if command == "people":
                return _PEOPLE
            person = await self._people.approve(code, name.strip())
        except EngramError as problem:
            return str(problem)
        return f"{person.name or person.principal} may talk now: {', '.join(person.ids)}"

    async def _board(self, owed: Delivery, room: str, rest: str, boards: Sequence[str]) -> str:
        name = rest.removeprefix("@").lower()
        if not name:
            chosen = await asyncio.to_thread(self._store.chosen_board, owed.place)
            if chosen:
                return f"{chosen} answers in this chat."
            return f"No board is chosen for this chat. {_list_boards(boards)}"
        if name not in boards:
            return f"There is no board {name[:32]} here. {_list_boards(boards)}"
        await asyncio.to_thread(self._store.choose_board, owed.place, owed.ref, room, name, int(time.time()))
        return f"{name} answers in this chat from now on."

    async def _cancel(self, place: ChatPlace, caller: Caller) -> str:
        found = await asyncio.to_thread(self._store.open_answers, place)
        own = [(device, mid) for device, mid, who in found if caller.principal in (who, OWNER.principal)]
        count = 0
        for device, mid in own:
            try:
                await self._conversations.cancel(device, mid)
            except StoreUnavailable:
                raise
            except CompanionError:
                continue  # answered and removed meanwhile
            count += 1
        if not count:
            return "No answer of yours is being made here."
        return f"{counted(count, 'answer is', 'answers are')} cancelled."


def _list_boards(boards: Sequence[str]) -> str:
    return f"The boards are {listed(list(boards))}." if boards else "No board has connected to this companion yet."


# --- files


class ChatImports(Protocol):
    """Imports into boards, as chats ask for them; sentences are for the chat."""

    most_bytes: int

    async def offer(self, board: str, name: str, data: bytes) -> str:
        """Keep a file, and say how it is imported. Raise StoreUnavailable."""
        ...

    async def begin(self, board: str, name: str) -> str:
        """Begin to import a kept file; return its id, "" if there is none of that name."""
        ...

    async def report(self, board: str, import_id: str) -> str:
        """Wait until an import has ended, and say what became of its lines."""
        ...

    async def cancel(self, board: str) -> str:
        """Stop a board's import; "" if none runs."""
        ...


class Attachments:
    """Takes the files of one bridge's messages; a missing service leaves them where they are."""

    def __init__(self, bridge: str, media: MediaService | None, imports: ChatImports | None):
        self._bridge = bridge
        self._media = media
        self._imports = imports

    async def keep_media(self, message: Incoming, caller: Caller, board: str) -> Incoming:
        """Store a message's photos and sounds; return it with references. Raise StoreUnavailable."""
        if self._media is None or not self._media.limits.board_count:
            return message
        files = list(message.attachments)
        wanted = [at for at, each in enumerate(files) if _is_kept(each, message, caller)]
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                for at in wanted[:MOST_OF_MESSAGE]:
                    reference = await self._keep(self._media, files[at], caller, board)
                    files[at] = replace(files[at], reference=reference)
        except TimeoutError:
            _log.warning("the bridge %s gave photos or sounds only in part", self._bridge)
        return replace(message, attachments=tuple(files))

    async def _keep(self, media: MediaService, file: Attachment, caller: Caller, board: str) -> str:
        try:
            if file.size > media.limits.bytes_each:
                raise media.too_large()
            return (await media.keep(board, await _fetch(file, media.limits.bytes_each), caller)).reference
        except StoreUnavailable:
            raise
        except (MediaRefused, FileNotFetched) as problem:
            _log.info("a %s of the bridge %s is not kept: %s", file.kind, self._bridge, problem)
        except CompanionError as problem:
            _log.warning("a %s of the bridge %s is not kept: %s", file.kind, self._bridge, problem)
        return ""

    async def offer_imports(self, message: Incoming, caller: Caller, board: str) -> str:
        """Keep files that /import reads; return what to say about them, "" without any."""
        files = [each for each in message.attachments if each.kind == "file"]
        if self._imports is None or not any(map(_is_imported, files)):
            return ""
        if not access.is_owner(caller) or message.chat.is_group:
            return f"{_name_of(files[0])}: files are taken from the owner only, in private."
        if not board:
            return "First say which board answers in this chat: /boards lists them, /board NAME chooses one."
        told = [await self._offer(self._imports, each, board) for each in files[:MOST_OF_MESSAGE]]
        return "\n".join(told)

    async def _offer(self, imports: ChatImports, file: Attachment, board: str) -> str:
        name, most = _name_of(file), imports.most_bytes
        if not _is_imported(file):
            return f"I cannot read {name}."
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                data = await _fetch(file, most) if file.size <= most else b""
        except (FileNotFetched, TimeoutError) as problem:
            return f"{name} could not be fetched: {str(problem) or 'it took too long, send it again.'}"
        if max(len(data), file.size) > most:
            return f"{name} is longer than {most} bytes, which is as much as is taken: send it in parts."
        return await imports.offer(board, name, data)


async def _fetch(file: Attachment, most: int) -> bytes:
    assert file.fetch is not None
    try:
        return await file.fetch(most)
    except (FileNotFetched, TimeoutError):
        raise
    # Network libraries raise their own errors for odd addresses.
    except Exception as error:  # noqa: BLE001
        raise FileNotFetched(describe_error(error)) from None


def _is_kept(file: Attachment, message: Incoming, caller: Caller) -> bool:
    """True unless the address was written by anyone but the owner in private."""
    is_allowed = not file.is_link or (access.is_owner(caller) and not message.chat.is_group)
    return file.kind in ("photo", "audio") and file.fetch is not None and is_allowed


def _is_imported(file: Attachment) -> bool:
    return file.fetch is not None and file.name.lower().endswith(_IMPORTED)


def _name_of(file: Attachment) -> str:
    return shown(file.name)[:_NAME_CHARS] or "the file"
