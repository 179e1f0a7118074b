"""Reads messages in untrusted updates: a field of the wrong type counts as absent."""

from collections import namedtuple

from engram.channels.telegram.bot_api import Destination, message_id
from engram.text import cut, part, printable

_ROOMS = const(("private", "group", "supergroup"))
_NAME = const(60)  # characters of a sender's or a file's name that are shown
_QUOTED = const(200)  # characters of the message that another one answers: as many as engram.link.messages has of it
_OF_NAMES = const("abcdefghijklmnopqrstuvwxyz0123456789_")
_SOMEBODY = const("somebody")
_CHANNEL = const("the channel ")
_FORWARDS = const(("forward_origin", "forward_date", "is_automatic_forward"))  # what others' words come with
_FORWARDED = const("A forwarded command is not carried out, since others have written it: write it yourself.")
# Possible attachments of a message.
_KINDS = const((
    "photo", "animation", "video", "video_note", "voice", "audio", "sticker", "document", "location", "venue", "contact",
    "poll", "dice", "game", "invoice", "story", "paid_media", "checklist",
))  # fmt: skip

Bot = namedtuple("Bot", "id username")


class Ignored(Exception):
    """An update without a message for the board; the text has the reason."""


class Incoming:
    """The message of an update for a Bot; Ignored if there is none."""

    def __init__(self, update, bot: Bot):
        edited = part(update, "edited_message", dict)
        message = edited or part(update, "message", dict)
        if not message:
            raise Ignored("it has no message")
        self._read_sender(message, bot)
        chat = part(part(message, "chat", dict), "id", int)
        topic = part(message, "message_thread_id", int) if part(message, "is_topic_message", bool) else 0
        self.update = part(update, "update_id", int)
        self.work = self.reply = None
        """The task that answers it, None if it was cancelled; and its Reply."""
        is_group = part(part(message, "chat", dict), "type", str) != "private"
        self.destination = Destination(chat, topic, part(message, "message_id", int), is_group)
        self.mid = message_id(self.destination, self.update if edited else 0)
        self.edits = message_id(self.destination) if edited else ""
        """Id of the message that it edits, or ""."""
        said = (part(message, "text", str) or part(message, "caption", str)).strip()
        self.forwarded = _author(message)
        """Author of forwarded words, or ""."""
        replied = _replied(message, topic)
        self.quoted = _quoted(message, replied)
        """First line of the message that it answers, or ""."""
        words, self.is_command, is_named = _addressed(said, bot)
        self.is_mentioned = is_named or part(part(replied, "from", dict), "id", int) == bot.id
        self.words = words or said  # the bot's name alone
        self.marks, self.refusal = _held(message, self.words)
        """Names of attachments, and the reason why it cannot be read or ""."""
        if self.is_command:
            self.marks = ""
        if self.is_command and self.forwarded:
            self.is_command, self.refusal = False, _FORWARDED
        if edited and self.refusal:
            raise Ignored("it is edited and cannot be read")  # such as a place that moves
        self.album = "" if edited else part(message, "media_group_id", str)
        """Id shared by an album's messages, or ""."""

    @property
    def text(self) -> str:
        return (self.marks + " " + self.words).strip()

    def _read_sender(self, message: dict, bot: Bot) -> None:
        chat, sender = part(message, "chat", dict), part(message, "from", dict)
        self.sender = part(sender, "id", int)
        self.name = _full_name(sender)
        is_room = part(chat, "type", str) in _ROOMS and part(chat, "id", int)
        if not is_room or not self.sender or part(message, "message_id", int) <= 0:
            raise Ignored("it is not from a person in a chat")
        if part(sender, "is_bot", bool) or self.sender == bot.id:
            raise Ignored("it is from a bot")
        if message.get("sender_chat"):
            # An anonymous administrator or a channel: the person is unknown.
            raise Ignored("it is written in the name of a chat")


def moved_group(update):
    """Return (group, new supergroup) of an update, or None."""
    message = part(update, "message", dict)
    chat, new = part(message, "chat", dict), part(message, "migrate_to_chat_id", int)
    return (part(chat, "id", int), new) if new < 0 and part(chat, "type", str) == "group" else None


def _full_name(sender: dict) -> str:
    return _shown(part(sender, "first_name", str) + " " + part(sender, "last_name", str))


def _shown(name: str) -> str:
    """Return a name chosen by others on one line, without brackets."""
    return printable(" ".join(name.split()))[:_NAME].replace("[", "(").replace("]", ")")


def _author(message: dict) -> str:
    if any(message.get(name) is not None for name in _FORWARDS):
        origin = part(message, "forward_origin", dict)
        chat = part(origin, "chat", dict) or part(origin, "sender_chat", dict)
        name = _full_name(part(origin, "sender_user", dict)) or _shown(part(origin, "sender_user_name", str))
        title = _shown(part(chat, "title", str))[: _NAME - len(_CHANNEL)]
        if title and not name:
            name = (_CHANNEL if part(chat, "type", str) == "channel" else "the chat ") + title
        return name or _SOMEBODY
    bot = part(message, "via_bot", dict)
    return "the bot " + (_shown(part(bot, "username", str)) or _SOMEBODY) if bot else ""


def _quoted(message: dict, replied: dict) -> str:
    said = part(part(message, "quote", dict), "text", str).strip()
    for holder in (replied, part(message, "external_reply", dict)):
        said = said or part(holder, "text", str).strip() or part(holder, "caption", str).strip()
        name = _attachment(holder)
        said = said or ("[%s]" % name if name else "")
    line = printable(" ".join(said.partition("\n")[0].split()))
    return line if len(line) <= _QUOTED else cut(line, _QUOTED - 1) + "…"


def _addressed(text: str, bot: Bot) -> tuple:
    """Return (text without the bot's name, is_command, is_named)."""
    name = "@" + bot.username.lower()
    first, _space, rest = text.partition(" ")
    if text[:1] == "/" and len(first) > 1:
        first, at, to = first.partition("\n")[0].partition("@")
        if at and to.lower() != name[1:]:
            raise Ignored("it is a command for another bot")
        rest = text[len(first + at + to) :].strip()
        return first.lower() + (" " + rest if rest else ""), True, bool(at)
    if first.lower() in (name, name + ",", name + ":"):
        return rest.strip(), False, True
    return text, False, any((rest[:1] or " ") not in _OF_NAMES for rest in text.lower().split(name)[1:])


def _replied(message: dict, topic: int) -> dict:
    """Return the replied message, {} without one; a topic's first message does not count."""
    replied = part(message, "reply_to_message", dict)
    return {} if topic and part(replied, "message_id", int) == topic else replied


def _held(message: dict, text: str) -> tuple:
    name = _attachment(message)
    if not name:
        if not text:
            raise Ignored("it has nothing to read")  # such as a member who joined or left
        return "", ""
    return ("[%s]" % name, "") if text or name == "photo" else ("", "I cannot read this (%s): send text." % name)


def _attachment(message: dict) -> str:
    kind = next((kind for kind in _KINDS if message.get(kind)), "")
    if kind != "document":
        return kind.replace("_", " ")
    return ("file " + _shown(part(part(message, "document", dict), "file_name", str))).strip()
