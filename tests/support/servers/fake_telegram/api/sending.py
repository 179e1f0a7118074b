"""The methods that write: messages, edits, documents, chat actions. With them, METHODS has all methods."""

from collections.abc import Sequence
from dataclasses import replace

from ..errors import ApiError
from ..records import Chat, Json, Message, StoredFile, Version
from ..state import ACTION_SECONDS, TelegramState
from ..text.entities import TYPES, Entity, Rich, checked_link, finish_text, utf16_length
from ..text.html_marks import parse_html
from .arguments import Arguments, Upload, check_fields
from .methods import METHODS, method, required_chat

__all__ = ["LONGEST_CAPTION", "LONGEST_TEXT", "METHODS", "change_text"]

LONGEST_TEXT = 4096
"""UTF-16 units of a message after its marks are parsed."""
LONGEST_CAPTION = 1024
_LONGEST_SOURCE = 1 << 15
"""Bytes of a text before its marks are parsed."""
ACTIONS = (
    *("typing", "upload_photo", "record_video", "upload_video", "record_voice", "upload_voice", "upload_document"),
    *("choose_sticker", "find_location", "record_video_note", "upload_video_note"),
)
_OPTIONS = {
    "disable_notification": "bool",
    "protect_content": "bool",
    "reply_parameters": "object",
    "reply_markup": "object",
    "message_thread_id": "int",
}
_TEXT = {"text": "text", "parse_mode": "text", "entities": "list", "link_preview_options": "object"}
_NOT_MODIFIED = (
    "Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a"
    " current content and reply markup of the message"
)
DELETABLE_SECONDS = 48 * 3600


@method("sendMessage", chat_id="chat", **_TEXT, **_OPTIONS)
def send_message(state: TelegramState, arguments: Arguments) -> Json:
    """Write a message."""
    chat = state.find_chat(required_chat(arguments))
    thread = _thread(chat, arguments)
    replied = _replied(state, chat, arguments)
    text, entities = _message_text(state, arguments)
    options = _options(arguments)
    state.flood.check(chat.id, is_group=chat.is_group)
    message = state.new_message(chat, state.bot, text=text, entities=entities, reply_to=replied, options=options)
    message.thread_id = thread
    message.is_silent = arguments.flag("disable_notification")
    state.changed()
    return message.as_json(state.users)


@method("editMessageText", chat_id="chat", message_id="int", reply_markup="object", **_TEXT)
def edit_message_text(state: TelegramState, arguments: Arguments) -> Json:
    """Change the text of one of the bot's messages."""
    chat = state.find_chat(required_chat(arguments))
    message = state.find_message(chat, _message_id(arguments), "message to edit")
    if message.sender is not state.bot:
        raise ApiError(400, "Bad Request: message can't be edited")
    if message.has_file or not message.text:
        raise ApiError(400, "Bad Request: there is no text in the message to edit")
    text, entities = _message_text(state, arguments)
    options = _options(arguments)
    if (text, entities, options) == (message.text, message.entities, message.options):
        raise ApiError(400, _NOT_MODIFIED)
    state.flood.check(chat.id, is_group=chat.is_group)
    change_text(state, message, (text, entities))
    message.options = options
    state.changed()
    return message.as_json(state.users)


def change_text(state: TelegramState, message: Message, rich: Rich) -> None:
    """Give a message another text, and keep what it said before."""
    message.edits.append(Version(message.text, message.entities, message.edit_date or message.date))
    message.text, message.entities = rich
    message.edit_date = state.now()


@method("deleteMessage", chat_id="chat", message_id="int")
def delete_message(state: TelegramState, arguments: Arguments) -> bool:
    """Delete a message that the bot may delete: its own, all of a private chat, all of a group as an administrator."""
    chat = state.find_chat(required_chat(arguments))
    message = state.find_message(chat, _message_id(arguments), "message to delete")
    may = message.sender is state.bot or not chat.is_group or chat.bot_status == "administrator"
    if not may or state.clock.now() - message.date >= DELETABLE_SECONDS:
        raise ApiError(400, "Bad Request: message can't be deleted")
    message.is_deleted = True
    state.changed()
    return True


@method("sendChatAction", chat_id="chat", action="text", message_thread_id="int")
def send_chat_action(state: TelegramState, arguments: Arguments) -> bool:
    """Show that the bot types, or the like."""
    chat = state.find_chat(required_chat(arguments))
    if arguments.text("action") not in ACTIONS:
        raise ApiError(400, "Bad Request: wrong parameter action in request")
    until = state.clock.now() + ACTION_SECONDS
    chat.actions[_thread(chat, arguments)] = (arguments.text("action"), until)
    state.changed()
    return True


@method(
    "sendDocument",
    chat_id="chat",
    document="file",
    caption="text",
    parse_mode="text",
    caption_entities="list",
    disable_content_type_detection="bool",
    **_OPTIONS,
)
def send_document(state: TelegramState, arguments: Arguments) -> Json:
    """Send a file: uploaded, or one that the service knows by its file_id."""
    chat = state.find_chat(required_chat(arguments))
    thread, replied = _thread(chat, arguments), _replied(state, chat, arguments)
    text, entities = _rich(state, arguments.text("caption"), arguments, "caption_entities", allow_empty=True)
    if utf16_length(text) > LONGEST_CAPTION:
        raise ApiError(400, "Bad Request: message caption is too long")
    options = _options(arguments)
    file = _document(state, arguments)
    state.flood.check(chat.id, is_group=chat.is_group)
    message = state.new_message(chat, state.bot, text=text, entities=entities, document=file, options=options)
    message.thread_id, message.reply_to = thread, replied
    state.changed()
    return message.as_json(state.users)


def _document(state: TelegramState, arguments: Arguments) -> StoredFile:
    value = arguments.value("document")
    if isinstance(value, str) and value.startswith("attach://"):
        value = arguments.uploads.get(value.removeprefix("attach://"))
    if isinstance(value, str) and value in state.files:
        return state.files[value]
    if not isinstance(value, Upload):
        missing = "there is no document in the request" if not value else "wrong file identifier/HTTP URL specified"
        raise ApiError(400, f"Bad Request: {missing}")
    if not value.data:
        raise ApiError(400, "Bad Request: file must be non-empty")
    return state.store_file(value.data, "documents", value.name, value.mime)


# --- what the methods share


def _message_id(arguments: Arguments) -> int:
    if "message_id" not in arguments:
        raise ApiError(400, "Bad Request: message identifier is not specified")
    return arguments.integer("message_id")


def _message_text(state: TelegramState, arguments: Arguments) -> Rich:
    if not arguments.text("text"):
        raise ApiError(400, "Bad Request: message text is empty")
    text, entities = _rich(state, arguments.text("text"), arguments, "entities")
    if utf16_length(text) > LONGEST_TEXT:
        raise ApiError(400, "Bad Request: message is too long")
    return text, entities


def _rich(state: TelegramState, source: str, arguments: Arguments, name: str, *, allow_empty: bool = False) -> Rich:
    """A text as the service keeps it, from marks or from entities."""
    if len(source.encode()) > _LONGEST_SOURCE:
        raise ApiError(400, "Bad Request: text is too long")
    mode = arguments.text("parse_mode").lower()
    if mode and name in arguments:
        raise ApiError(400, f"Bad Request: strict fake: parse_mode and {name} exclude each other")
    if mode not in ("", "html"):
        raise ApiError(400, "Bad Request: unsupported parse_mode")
    if not mode:
        entities: Sequence[Entity] = [_read_entity(value) for value in arguments.json_list(name)]
        text = source
    else:
        text, entities = parse_html(source)
    known = [entity for entity in entities if not entity.user_id or entity.user_id in state.users]
    return finish_text(text, known, allow_empty=allow_empty)


_ENTITY_FIELDS = {
    "type": str,
    "offset": int,
    "length": int,
    "url": str,
    "language": str,
    "custom_emoji_id": str,
    "user": dict,
}


def _read_entity(value: object) -> Entity:
    fields = dict(check_fields("MessageEntity", value, _ENTITY_FIELDS, ("type", "offset", "length")))
    if fields["type"] not in TYPES:
        raise ApiError(400, "Bad Request: can't parse MessageEntity: unsupported type specified")
    user = fields.pop("user", {})
    number = user.get("id", 0) if isinstance(user, dict) else 0
    entity = Entity(**fields, user_id=number if isinstance(number, int) else 0)  # pyright: ignore[reportArgumentType]
    if entity.type != "text_link":
        return entity
    link = checked_link(entity.url)
    if not link:
        raise ApiError(400, "Bad Request: can't parse MessageEntity: wrong HTTP URL specified")
    return replace(entity, url=link)


def _thread(chat: Chat, arguments: Arguments) -> int:
    number = arguments.integer("message_thread_id")
    if number and number not in chat.topics:
        raise ApiError(400, "Bad Request: message thread not found")
    return number


_REPLY_FIELDS = {"message_id": int, "chat_id": int, "allow_sending_without_reply": bool}


def _replied(state: TelegramState, chat: Chat, arguments: Arguments) -> Message | None:
    if not arguments.json_object("reply_parameters"):
        return None
    fields = check_fields("reply parameters", arguments.json_object("reply_parameters"), _REPLY_FIELDS, ("message_id",))
    if fields.get("chat_id", chat.id) != chat.id:
        raise ApiError(400, "Bad Request: strict fake: a reply to another chat is not offered here")
    number = fields["message_id"]
    assert isinstance(number, int)
    message = chat.messages.get(number)
    if message is not None and not message.is_deleted:
        return message
    if fields.get("allow_sending_without_reply"):
        return None
    raise ApiError(400, "Bad Request: message to be replied not found")


_PREVIEW = {
    "is_disabled": bool,
    "url": str,
    "prefer_small_media": bool,
    "prefer_large_media": bool,
    "show_above_text": bool,
}
_MARKUP = ("inline_keyboard", "keyboard", "remove_keyboard", "force_reply")


def _options(arguments: Arguments) -> Json:
    """What the service shows again with the message."""
    result: Json = {}
    if arguments.json_object("link_preview_options"):
        value = check_fields("link preview options", arguments.json_object("link_preview_options"), _PREVIEW)
        result["link_preview_options"] = value
    markup = arguments.json_object("reply_markup")
    if markup and sum(name in markup for name in _MARKUP) != 1:
        raise ApiError(400, "Bad Request: object expected as reply markup")
    if "inline_keyboard" in markup:
        result["reply_markup"] = markup
    if arguments.flag("protect_content"):
        result["has_protected_content"] = True
    return result
