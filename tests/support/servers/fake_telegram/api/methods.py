"""The methods of the Bot API that this service has, with the types of their arguments.

A method is a function of the service's state and the checked arguments. `METHODS` has them by their name in lower case.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from ..errors import ApiError
from ..records import Json
from ..state import DOWNLOAD_BYTES, TelegramState, member_as_json
from ..updates import check_allowed
from .arguments import Arguments, check_fields

Method = Callable[[TelegramState, Arguments], object | Awaitable[object]]

MOST_COMMANDS = 100
_COMMAND_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")
LONGEST_POLL = 50
"""Seconds; the service cuts a longer timeout down to this, in silence."""


@dataclass(frozen=True, slots=True)
class MethodEntry:
    """A method: its name as documented, its arguments with their types, and what it does."""

    name: str
    types: dict[str, str]
    function: Method


METHODS: dict[str, MethodEntry] = {}


def method(name: str, **types: str) -> Callable[[Method], Method]:
    """Register a method under its documented name, with the types of its arguments."""

    def register(function: Method) -> Method:
        METHODS[name.lower()] = MethodEntry(name, types, function)
        return function

    return register


@method("getMe")
def get_me(state: TelegramState, arguments: Arguments) -> Json:
    """The bot, with what only its own getMe tells."""
    flags = dict.fromkeys(
        (
            *("supports_inline_queries", "supports_guest_queries", "can_connect_to_business", "has_main_web_app"),
            *("has_topics_enabled", "allows_users_to_create_topics", "can_manage_bots"),
        ),
        False,
    )
    reads = {"can_join_groups": True, "can_read_all_group_messages": state.reads_all_group_messages}
    return {**state.bot.as_json(), **reads, **flags}


@method("getUpdates", offset="int", limit="int", timeout="int", allowed_updates="list")
async def get_updates(state: TelegramState, arguments: Arguments) -> list[Json]:
    """Updates from `offset` on, waited for at most `timeout` seconds."""
    limit = arguments.integer("limit", 100, 1, 100)
    timeout = arguments.integer("timeout", 0, 0, 2**31)
    if "allowed_updates" in arguments:
        state.updates.allowed = check_allowed(arguments.json_list("allowed_updates"))
    state.changed()
    return await state.updates.get(arguments.integer("offset"), limit, min(timeout, LONGEST_POLL))


@method("getWebhookInfo")
def get_webhook_info(state: TelegramState, arguments: Arguments) -> Json:
    """There is no webhook; how many updates wait."""
    result: Json = {"url": "", "has_custom_certificate": False, "pending_update_count": state.updates.pending}
    if state.updates.allowed is not None:
        result["allowed_updates"] = list(state.updates.allowed)
    return result


@method("deleteWebhook", drop_pending_updates="bool")
def delete_webhook(state: TelegramState, arguments: Arguments) -> bool:
    """There is none; updates that wait are dropped if that is wanted."""
    if arguments.flag("drop_pending_updates"):
        state.updates.clear()
    return True


# --- the command menu


@method("setMyCommands", commands="list", scope="object", language_code="text")
def set_my_commands(state: TelegramState, arguments: Arguments) -> bool:
    """Set the menu of a scope and a language."""
    key = _menu(state, arguments)
    commands = [_read_command(command) for command in arguments.json_list("commands")]
    if "commands" not in arguments:
        raise ApiError(400, "Bad Request: strict fake: commands is missing")
    if len(commands) > MOST_COMMANDS:
        raise ApiError(400, "Bad Request: BOT_COMMANDS_TOO_MUCH")
    state.commands[key] = commands
    state.changed()
    return True


@method("getMyCommands", scope="object", language_code="text")
def get_my_commands(state: TelegramState, arguments: Arguments) -> list[Json]:
    """The menu of exactly this scope and language."""
    return state.commands.get(_menu(state, arguments), [])


@method("deleteMyCommands", scope="object", language_code="text")
def delete_my_commands(state: TelegramState, arguments: Arguments) -> bool:
    """Remove the menu of a scope and a language."""
    state.commands.pop(_menu(state, arguments), None)
    state.changed()
    return True


def _read_command(value: object) -> Json:
    fields = check_fields("BotCommand", value, {"command": str, "description": str}, ("command", "description"))
    name, description = str(fields["command"]), str(fields["description"])
    if not 1 <= len(name) <= 32 or not set(name) <= _COMMAND_CHARACTERS:
        raise ApiError(400, "Bad Request: BOT_COMMAND_INVALID")
    if not 1 <= len(description.strip()) <= 256:
        raise ApiError(400, "Bad Request: BOT_COMMAND_DESCRIPTION_INVALID")
    return {"command": name, "description": description}


_SCOPES = {
    "default": (),
    "all_private_chats": (),
    "all_group_chats": (),
    "all_chat_administrators": (),
    "chat": ("chat_id",),
    "chat_administrators": ("chat_id",),
    "chat_member": ("chat_id", "user_id"),
}


def _menu(state: TelegramState, arguments: Arguments) -> tuple[object, ...]:
    """The key of a menu: scope, chat, user, language."""
    language = arguments.text("language_code")
    if language and not (len(language) == 2 and language.isascii() and language.islower()):
        raise ApiError(400, "Bad Request: invalid language code specified")
    scope = arguments.json_object("scope") or {"type": "default"}
    kind = scope.get("type")
    if not isinstance(kind, str) or kind not in _SCOPES:
        raise ApiError(400, "Bad Request: can't parse BotCommandScope: unsupported type specified")
    fields: dict[str, type] = {"type": str} | dict.fromkeys(_SCOPES[kind], int)
    check_fields("BotCommandScope", scope, fields, ("type", *_SCOPES[kind]))
    if "chat_id" in scope:
        state.find_chat(scope["chat_id"], writes=False)
    return (kind, scope.get("chat_id", 0), scope.get("user_id", 0), language)


# --- chats and files


@method("getChat", chat_id="chat")
def get_chat(state: TelegramState, arguments: Arguments) -> Json:
    """A chat, with what only getChat tells."""
    chat = state.find_chat(required_chat(arguments), writes=False)
    gifts = ("unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels")
    more: Json = {"accepted_gift_types": dict.fromkeys(gifts, False), "max_reaction_count": 11, "accent_color_id": 0}
    return {**chat.as_json(), **more}


@method("getChatMember", chat_id="chat", user_id="int")
def get_chat_member(state: TelegramState, arguments: Arguments) -> Json:
    """What a user is in a chat."""
    chat = state.find_chat(required_chat(arguments), writes=False)
    user = state.users.get(arguments.integer("user_id"))
    if user is None:
        raise ApiError(400, "Bad Request: user not found")
    if user is state.bot:
        return member_as_json(user, chat.bot_status)
    if user.id in chat.administrators:
        return member_as_json(user, "administrator")
    return member_as_json(user, "member" if user.id in chat.members or user is chat.user else "left")


@method("getFile", file_id="text")
def get_file(state: TelegramState, arguments: Arguments) -> Json:
    """A file with the path under which it can be fetched."""
    if not arguments.text("file_id"):
        raise ApiError(400, "Bad Request: file_id not specified")
    file = state.files.get(arguments.text("file_id"))
    if file is None:
        raise ApiError(400, "Bad Request: wrong file_id or the file is temporarily unavailable")
    if len(file.data) > DOWNLOAD_BYTES:
        raise ApiError(400, "Bad Request: file is too big")
    state.offered[file.path] = state.clock.now()
    return {**file.as_json(), "file_path": file.path}


def required_chat(arguments: Arguments) -> object:
    """The chat that a call names; ApiError if it names none."""
    if arguments.value("chat_id") in (None, ""):
        raise ApiError(400, "Bad Request: chat_id is empty")
    return arguments.value("chat_id")
