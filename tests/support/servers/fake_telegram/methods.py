"""The methods of the Bot API that Engram calls, and the check of their arguments, which is stricter than the service's.

A method is a function of the service's state; its other parameters are the arguments, with their types.
"""

import inspect
import json
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from .records import Chat, Json, Message
from .state import UPDATES, TelegramState
from .text import ApiError, Rich, finish_text, parse_html, utf16_length

LONGEST_TEXT = 4096
"""UTF-16 units of a message after its marks are parsed."""
TYPING_SECONDS = 5
LONGEST_POLL = 50
"""Seconds; the service cuts a longer timeout down to this, in silence."""
MOST_COMMANDS = 100
_COMMAND_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")
_NOT_MODIFIED = (
    "Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a"
    " current content and reply markup of the message"
)


# --- arguments


def read_arguments(content_type: str, body: bytes) -> tuple[Json, bool]:
    """The arguments of a request in JSON or a form, and whether they are of a form. ApiError if they cannot be read."""
    if not body:
        return {}, False
    try:
        if content_type == "application/x-www-form-urlencoded":
            return dict(parse_qsl(body.decode(), keep_blank_values=True, strict_parsing=True, errors="strict")), True
        given = json.loads(body)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise ApiError(400, "Bad Request: can't parse the arguments: strict fake: they are JSON or a form, in UTF-8")
    return given, False


def check_arguments(function: Callable[..., object], name: str, given: Json, *, is_form: bool) -> Json:
    """The arguments of a method in their types; ApiError for an unknown one, a wrong one, or one that is missing."""
    parameters = dict(inspect.signature(function).parameters)
    del parameters["state"]
    types = {key: each.annotation for key, each in parameters.items()}
    checked = {key: _of_form(one) if is_form and types.get(key) is not str else one for key, one in given.items()}
    _check_fields(name, checked, types)
    for key, parameter in parameters.items():
        if parameter.default is parameter.empty and checked.get(key) in (None, ""):
            raise ApiError(400, f"Bad Request: {key} is empty")
    return checked


def _of_form(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _check_fields(what: str, value: object, types: Mapping[str, Any], required: tuple[str, ...] = ()) -> None:
    if not isinstance(value, dict):
        raise ApiError(400, f"Bad Request: object expected as {what}")
    for name, one in value.items():
        kind = types.get(name)
        if kind is None or not isinstance(one, kind) or (isinstance(one, bool) and kind is not bool):
            raise ApiError(400, f"Bad Request: strict fake: {name} of {what} is unknown or of a wrong type")
    for name in required:
        if name not in value:
            raise ApiError(400, f"Bad Request: can't parse {what}: can't find field \"{name}\"")


# --- the bot


def get_me(state: TelegramState) -> Json:
    flags = {"can_join_groups": True, "can_read_all_group_messages": state.reads_all_group_messages}
    return {**state.bot.as_json(), **flags, "supports_inline_queries": False}


def delete_webhook(state: TelegramState, drop_pending_updates: bool = False) -> bool:
    """There is none."""
    return True


async def get_updates(
    state: TelegramState, allowed_updates: list, offset: int = 0, limit: int = 100, timeout: int = 0
) -> list[Json]:
    """Updates from `offset` on, waited for at most `timeout` seconds."""
    if not 1 <= limit <= 100 or timeout < 0 or not {*allowed_updates} <= {*UPDATES}:
        raise ApiError(400, "Bad Request: strict fake: limit is from 1 to 100, and there are such updates only")
    state.updates.allowed = tuple(allowed_updates)
    state.changed()
    return await state.updates.get(offset, limit, min(timeout, LONGEST_POLL))


def set_my_commands(state: TelegramState, commands: list) -> bool:
    if len(commands) > MOST_COMMANDS:
        raise ApiError(400, "Bad Request: BOT_COMMANDS_TOO_MUCH")
    for value in commands:
        _check_fields("BotCommand", value, {"command": str, "description": str}, ("command", "description"))
        if not 1 <= len(value["command"]) <= 32 or not set(value["command"]) <= _COMMAND_CHARACTERS:
            raise ApiError(400, "Bad Request: BOT_COMMAND_INVALID")
        if not 1 <= len(value["description"].strip()) <= 256:
            raise ApiError(400, "Bad Request: BOT_COMMAND_DESCRIPTION_INVALID")
    state.commands = commands
    state.changed()
    return True


def get_file(state: TelegramState, file_id: str) -> Json:
    """A file with the path under which it can be fetched."""
    file = state.files.get(file_id)
    if file is None:
        raise ApiError(400, "Bad Request: wrong file_id or the file is temporarily unavailable")
    return {**file.as_json(), "file_path": file.path}


# --- messages


def send_message(
    state: TelegramState,
    chat_id: int,
    text: str,
    parse_mode: str = "",
    link_preview_options: dict | None = None,
    reply_parameters: dict | None = None,
    message_thread_id: int = 0,
) -> Json:
    chat = state.find_chat(chat_id)
    _check_thread(chat, message_thread_id)
    replied = _replied(state, chat, reply_parameters)
    text, entities = _message_text(text, parse_mode, link_preview_options)
    fields = {"text": text, "entities": entities, "reply_to": replied, "thread_id": message_thread_id}
    message = state.new_message(chat, state.bot, **fields)
    state.changed()
    return message.as_json()


def edit_message_text(
    state: TelegramState,
    chat_id: int,
    message_id: int,
    text: str,
    parse_mode: str = "",
    link_preview_options: dict | None = None,
) -> Json:
    """Change the text of one of the bot's messages."""
    message = state.find_message(state.find_chat(chat_id), message_id, "message to edit")
    if message.sender is not state.bot:
        raise ApiError(400, "Bad Request: message can't be edited")
    rich = _message_text(text, parse_mode, link_preview_options)
    if rich == (message.text, message.entities):
        raise ApiError(400, _NOT_MODIFIED)
    change_text(message, rich)
    state.changed()
    return message.as_json()


def change_text(message: Message, rich: Rich) -> None:
    """Give a message another text, and keep what it said before."""
    message.edits.append(message.text)
    message.text, message.entities = rich
    message.edit_date = int(time.time())


def send_chat_action(state: TelegramState, chat_id: int, action: str, message_thread_id: int = 0) -> bool:
    """Show for some seconds, or until the bot's next message, that it types."""
    chat = state.find_chat(chat_id)
    _check_thread(chat, message_thread_id)
    if action != "typing":
        raise ApiError(400, "Bad Request: wrong parameter action in request")
    chat.typing_until = time.time() + TYPING_SECONDS
    state.changed()
    return True


def _message_text(source: str, parse_mode: str, link_preview_options: dict | None) -> Rich:
    _check_fields("link preview options", link_preview_options or {}, {"is_disabled": bool})
    if parse_mode not in ("", "HTML"):
        raise ApiError(400, "Bad Request: unsupported parse_mode")
    text, entities = finish_text(*(parse_html(source) if parse_mode else (source, ())))
    if utf16_length(text) > LONGEST_TEXT:
        raise ApiError(400, "Bad Request: message is too long")
    return text, entities


def _check_thread(chat: Chat, number: int) -> None:
    if number and number not in chat.topics:
        raise ApiError(400, "Bad Request: message thread not found")


def _replied(state: TelegramState, chat: Chat, given: dict | None) -> Message | None:
    if given is None:
        return None
    _check_fields("reply parameters", given, {"message_id": int, "allow_sending_without_reply": bool}, ("message_id",))
    try:
        return state.find_message(chat, given["message_id"], "message to be replied")
    except ApiError:
        if given.get("allow_sending_without_reply"):
            return None
        raise


METHODS: Mapping[str, Callable[..., Any]] = {
    "getMe": get_me,
    "getUpdates": get_updates,
    "deleteWebhook": delete_webhook,
    "setMyCommands": set_my_commands,
    "getFile": get_file,
    "sendMessage": send_message,
    "editMessageText": edit_message_text,
    "sendChatAction": send_chat_action,
}
