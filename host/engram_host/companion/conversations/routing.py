"""Parsing of bridge messages: their board, command and unsupported parts."""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from engram.channels.people import shown
from engram_host.companion.bridges.network import Attachment, Incoming
from engram_host.companion.bridges.texts import separate
from engram_host.companion.conversations.board_side import storable

GREETING = "Hello! Write to me, and I answer; what you want me to keep, I remember. /help lists the commands."

LONGEST_ID = 256

_ARTICLES = {"audio": "an audio file", "video": "a video", "file": "a file"}
_HELD = re.compile(r"(?:\[(?:photo|audio|video|file)\b[^\]\n]*\] ?)*")
_ENDS = ",:"


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
