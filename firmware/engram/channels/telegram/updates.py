"""Reads the messages in updates. Nothing in it is trusted: each field has its kind, or counts as absent."""

from collections import namedtuple

from engram.channels.telegram.destination import Destination, message_id
from engram.compat import const
from engram.text import cut, part, printable

_ROOMS = const(("private", "group", "supergroup"))
_NAME = const(60)  # characters of a sender's or a file's name that are shown
_QUOTED = const(200)  # characters of the message that another one answers: as many as engram.link.messages has of it
_SOMEBODY = const("somebody")
_CHANNEL = const("the channel ")
# A message with one of these has others' words.
_FORWARDS = const((
    "forward_origin", "forward_from", "forward_from_chat", "forward_sender_name", "forward_date", "is_automatic_forward",
))  # fmt: skip
_BLOCKS = const(("blockquote", "expandable_blockquote"))
_IMPORTED = const((".jsonl", ".json", ".md"))
_FORWARDED = const("A forwarded command is not carried out, since others have written it: write it yourself.")
# What a message may hold besides text, and how it is named.
_KINDS = const((
    ("photo", "photo"), ("animation", "animation"), ("video", "video"), ("video_note", "video"), ("voice", "voice message"),
    ("audio", "audio file"), ("sticker", "sticker"), ("document", "file"), ("location", "location"), ("venue", "place"),
    ("contact", "contact"), ("poll", "poll"), ("dice", "dice"), ("game", "game"), ("invoice", "invoice"),
    ("story", "story"), ("paid_media", "paid media"), ("checklist", "checklist"),
))  # fmt: skip

File = namedtuple("File", "id name bytes")

Bot = namedtuple("Bot", "id username")


class Ignored(Exception):
    """An update that is no message for the board; it says why."""


class Incoming:
    """The message of an update for a Bot; Ignored if it has none for the board."""

    def __init__(self, update, bot: Bot):
        edited = part(update, "edited_message", dict)
        message = edited or part(update, "message", dict)
        if not message:
            raise Ignored("it has no message")
        self._read_sender(message, bot)
        chat = part(part(message, "chat", dict), "id", int)
        topic = part(message, "message_thread_id", int) if part(message, "is_topic_message", bool) else 0
        number = part(update, "update_id", int)
        self.updates = [number]
        """The numbers of its updates: an album has several."""
        is_group = part(part(message, "chat", dict), "type", str) != "private"
        self.destination = Destination(chat, topic, part(message, "message_id", int), is_group)
        self.mid = message_id(self.destination, number if edited else 0)
        """Its id for the journal."""
        self.edits = message_id(self.destination) if edited else ""
        """The id of the message whose new form it is, "" for none."""
        said, block, self.forwarded = _whose(message)
        """`forwarded` is who wrote its words, "" if its sender did."""
        self.quoted = _quoted(message, topic, block)
        """The first line of what it answers, or ""."""
        words, self.is_command, is_named = _addressed(said, bot)
        self.is_mentioned = is_named or _replies(message, topic, bot)
        self.words = words or said  # the bot's name alone
        self.marks, self.file, self.refusal = _held(message, self.words)
        """`marks` name what came with it; `file` is a File that may be imported, or None; `refusal` is
        why it cannot be read, or "".
        """
        if self.is_command:
            self.marks = ""
        if self.is_command and self.forwarded:
            self.is_command, self.refusal = False, _FORWARDED
        if edited and self.refusal:
            raise Ignored("it is edited and cannot be read")  # such as a place that moves
        if edited:
            self.file = None
        self.album = "" if edited else part(message, "media_group_id", str)
        """The same for all messages of an album, "" for others."""

    @property
    def text(self) -> str:
        """Return its text, behind the names of its attachments."""
        return (self.marks + " " + self.words).strip()

    def _read_sender(self, message: dict, bot: Bot) -> None:
        """Ignored if a message is of nobody who may talk to the board."""
        chat, sender = part(message, "chat", dict), part(message, "from", dict)
        self.sender = part(sender, "id", int)
        self.name = _full_name(sender)
        is_room = part(chat, "type", str) in _ROOMS and part(chat, "id", int)
        if not is_room or not self.sender or part(message, "message_id", int) <= 0:
            raise Ignored("it is not from a person in a chat")
        if part(sender, "is_bot", bool) or self.sender == bot.id:
            raise Ignored("it is from a bot")
        if message.get("sender_chat"):
            # An anonymous administrator, a channel: nobody says who that is.
            raise Ignored("it is written in the name of a chat")

    def is_with(self, more: "Incoming") -> bool:
        """True if two messages are of one album, and one message holds both."""
        is_one = self.album and (self.album, self.destination.chat) == (more.album, more.destination.chat)
        is_plain = not (self.is_command or more.is_command or (self.file and more.file))
        return bool(is_one) and self.sender == more.sender and is_plain

    def join(self, more: "Incoming") -> None:
        """Take in the next message of an album."""
        self.marks = (self.marks + " " + more.marks).strip()
        self.words = (self.words + " " + more.words).strip()
        self.file = self.file or more.file
        self.refusal = "" if self.text or self.file else self.refusal
        self.is_mentioned = self.is_mentioned or more.is_mentioned
        self.forwarded = self.forwarded or more.forwarded
        self.quoted = self.quoted or more.quoted
        self.updates += more.updates


def moved_group(update):
    """(group, supergroup that it became) if an update tells that, else None."""
    message = part(update, "message", dict)
    chat, new = part(message, "chat", dict), part(message, "migrate_to_chat_id", int)
    return (part(chat, "id", int), new) if new < 0 and part(chat, "type", str) == "group" else None


def _full_name(sender: dict) -> str:
    return _shown(part(sender, "first_name", str) + " " + part(sender, "last_name", str))


def _shown(name: str) -> str:
    """A name that others have chosen, on one line; no bracket in it can end what stands around it."""
    return printable(" ".join(name.split()))[:_NAME].replace("[", "(").replace("]", ")")


def _whose(message: dict) -> tuple:
    """(the words of a message, those that its quotation blocks have, who wrote it or ""): alone, a block is all it says."""
    field = "entities" if part(message, "text", str) else "caption_entities"
    said = part(message, "text", str) or part(message, "caption", str)
    author = _author(message)
    own, block = (said, "") if author else _without_blocks(said, part(message, field, list))
    own, block = own.strip(), block.strip()
    if block and not own and not any(message.get(kind) for kind, _ in _KINDS):
        return block, "", _SOMEBODY
    return own, block, author


def _without_blocks(said: str, entities: list) -> tuple:
    """(a text without its quotation blocks, these)."""
    data, own, quoted, end = said.encode(), [], [], 0
    blocks = [entity for entity in entities if part(entity, "type", str) in _BLOCKS]
    for begin, length in sorted([(part(block, "offset", int), part(block, "length", int)) for block in blocks]):
        begin, behind = max(end, _byte_at(data, begin)), _byte_at(data, begin + length)
        own.append(data[end:begin].decode())
        quoted.append(data[begin:behind].decode())
        end = max(begin, behind)
    return " ".join(own + [data[end:].decode()]), "\n".join(quoted)


def _byte_at(data: bytes, units: int) -> int:
    """Return the place in UTF-8 of an offset of Telegram's, in units of UTF-16."""
    at = 0
    while units > 0 and at < len(data):
        lead = data[at]
        units -= 2 if lead >= 0xF0 else 1
        at += 1 + (lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0)
    return at


def _author(message: dict) -> str:
    """Return the author of a message that is forwarded, or made by another bot; "" if its sender wrote them."""
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


def _quoted(message: dict, topic: int, block: str) -> str:
    """The first line of what a message quotes or replies to, "" if it does neither; all of a `block` is one line."""
    replied = part(message, "reply_to_message", dict)
    if topic and part(replied, "message_id", int) == topic:
        replied = {}  # in a topic each message replies to the one that began it
    said = part(part(message, "quote", dict), "text", str).strip() or " ".join(block.split())
    for holder in (replied, part(message, "external_reply", dict)):
        said = said or part(holder, "text", str).strip() or part(holder, "caption", str).strip()
        kinds = [name for field, name in _KINDS if holder.get(field)]
        said = said or ("[%s]" % kinds[0] if kinds else "")
    line = printable(" ".join(said.partition("\n")[0].split()))
    return line if len(line) <= _QUOTED else cut(line, _QUOTED - 1) + "…"


def _addressed(text: str, bot: Bot) -> tuple:
    """(text without the bot's name at its start, whether it is a command, whether it names the bot)."""
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
    return text, False, _has_name(text, name)


def _has_name(text: str, name: str) -> bool:
    """Return True if a text has `name`, and not as the beginning of a longer one."""
    data, wanted = text.lower().encode(), name.encode()
    at = data.find(wanted)
    while at >= 0:
        after = data[at + len(wanted) : at + len(wanted) + 1]
        if not (after.isalpha() or after.isdigit() or after == b"_"):
            return True
        at = data.find(wanted, at + 1)
    return False


def _replies(message: dict, topic: int, bot: Bot) -> bool:
    """Return True if a message replies to one of the bot. In a topic each message replies to the one that began it."""
    replied = part(message, "reply_to_message", dict)
    if topic and part(replied, "message_id", int) == topic:
        return False
    return part(part(replied, "from", dict), "id", int) == bot.id


def _held(message: dict, text: str) -> tuple:
    """(mark, File to import, refusal) of what a message holds beside its text."""
    kinds = [kind for kind in _KINDS if message.get(kind[0])]
    if not kinds:
        if not text:
            raise Ignored("it has nothing to read")  # such as that somebody came or left
        return "", None, ""
    field, name = kinds[0]
    if field == "document":
        document = part(message, "document", dict)
        file = File(part(document, "file_id", str), part(document, "file_name", str), part(document, "file_size", int))
        if file.id and file.name.lower().endswith(_IMPORTED):
            return "", file, ""
        name = (name + " " + _shown(file.name)).strip()
    if text or field == "photo":
        return "[" + name + "]", None, ""
    return "", None, _cannot("a " + name if name[0] not in "ai" else "an " + name)


def _cannot(what: str) -> str:
    return "I cannot read %s: send text, or a .jsonl file to import." % what
