"""The people's side over HTTP, for other processes: JSON below /people/, on the same server and apart from the Bot API.

A person or a chat is named by its id. A refusal is 400 with {"error": "..."}.
"""

import base64
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict

from .clock import ManualClock
from .errors import ApiError
from .faults import Fault, Faults, Ledger
from .people import People
from .records import Chat, Json, Message, User, entity_as_json
from .state import TelegramState

Answer = dict[str, object]


class Control:
    """Answers the calls below /people/: the method of this class that the path names, its parameters from the JSON."""

    def __init__(self, state: TelegramState, people: People, faults: Faults, ledger: Ledger):
        self._state = state
        self._people = people
        self._faults = faults
        self._ledger = ledger
        self._routes: dict[tuple[str, str], Callable[..., Answer]] = {
            ("GET", "state"): self._status,
            ("GET", "messages"): self._messages,
            ("GET", "ledger"): self._calls,
            ("POST", "users"): self._add_user,
            ("POST", "chats"): self._add_chat,
            ("POST", "topics"): self._add_topic,
            ("POST", "messages"): self._write,
            ("POST", "documents"): self._send_document,
            ("POST", "photos"): self._send_photo,
            ("POST", "edits"): self._edit,
            ("POST", "deletions"): self._delete,
            ("POST", "members"): self._change_bot,
            ("POST", "repeats"): self._repeat,
            ("POST", "faults"): self._add_fault,
            ("POST", "settings"): self._set,
            ("POST", "clock"): self._advance,
        }

    def answer(self, method: str, path: str, query: Mapping[str, str], body: bytes) -> tuple[int, Answer]:
        """The status and the JSON of a request's answer."""
        route = self._routes.get((method, path))
        if route is None:
            known = ", ".join(f"{verb} {name}" for verb, name in self._routes)
            return 404, {"error": f"there is no {method} /people/{path}, only {known}"}
        try:
            given: object = json.loads(body) if body else {}
            if not isinstance(given, dict):
                return 400, {"error": "the body is no JSON object"}
            numbers = {name: _number(text) for name, text in query.items()}
            arguments = inspect.signature(route).bind(**{**numbers, **given})
            return 200, route(*arguments.args, **arguments.kwargs)
        except ApiError as error:
            return 400, {"error": error.description}
        except (ValueError, TypeError, LookupError) as error:
            return 400, {"error": str(error)}

    # --- reading

    def _status(self) -> Answer:
        chats = [self._chat_as_json(chat) for chat in self._people.chats]
        updates = self._state.updates
        return {
            "bot": self._state.bot.as_json(),
            "users": [user.as_json() for user in self._people.users],
            "chats": chats,
            "commands": self._people.menu(),
            "pending": updates.pending,
            "is_polled": updates.is_polled,
            "last_update_id": updates.last_id,
            "now": self._state.clock.now(),
        }

    def _messages(self, chat_id: int, thread_id: int | None = None) -> Answer:
        chat = self._people.chat(chat_id)
        found = self._people.messages(chat, thread_id=thread_id)
        action = self._people.action(chat, thread_id or 0)
        return {"messages": [self._message_as_json(message) for message in found], "action": action}

    def _calls(self, method: str = "") -> Answer:
        calls = self._ledger.of_method(method) if method else self._ledger.calls
        counts: Answer = {"by_method": dict(self._ledger.by_method), "total": self._ledger.total}
        by_status = {str(status): count for status, count in self._ledger.by_status.items()}
        return {"calls": [call.as_json() for call in calls], **counts, "by_status": by_status}

    # --- what people do

    def _add_user(self, first_name: str, last_name: str = "", username: str = "", language_code: str = "") -> Answer:
        user = self._people.add_user(first_name, last_name=last_name, username=username, language_code=language_code)
        return user.as_json()

    def _add_chat(self, title: str, members: list[int], type: str = "group", is_forum: bool = False) -> Answer:
        users = [self._user(number) for number in members]
        if type == "supergroup":
            return self._people.supergroup(title, users, is_forum=is_forum).as_json()
        if type != "group" or is_forum:
            raise ValueError("a chat is a group or a supergroup, and only a supergroup is a forum")
        return self._people.group(title, users).as_json()

    def _add_topic(self, chat_id: int, name: str, user_id: int) -> Answer:
        chat = self._people.chat(chat_id)
        return {"message_thread_id": self._people.topic(chat, name, self._user(user_id))}

    def _write(
        self, user_id: int, text: str, chat_id: int | None = None, thread_id: int = 0, reply_to: int | None = None
    ) -> Answer:
        user, chat = self._user(user_id), self._people.chat(chat_id or user_id)
        replied = self._message(chat, reply_to) if reply_to else None
        return self._message_as_json(self._people.write(user, text, chat=chat, thread_id=thread_id, reply_to=replied))

    def _send_document(
        self,
        user_id: int,
        name: str,
        data: str,
        chat_id: int | None = None,
        mime: str = "application/octet-stream",
        caption: str = "",
        thread_id: int = 0,
    ) -> Answer:
        """The file's bytes come as base64."""
        chat = self._people.chat(chat_id or user_id)
        content = base64.b64decode(data, validate=True)
        user = self._user(user_id)
        message = self._people.send_document(
            user, name, content, mime=mime, caption=caption, chat=chat, thread_id=thread_id
        )
        return self._message_as_json(message)

    def _send_photo(
        self, user_id: int, data: str, chat_id: int | None = None, caption: str = "", thread_id: int = 0
    ) -> Answer:
        chat = self._people.chat(chat_id or user_id)
        content = base64.b64decode(data, validate=True)
        message = self._people.send_photo(self._user(user_id), content, caption=caption, chat=chat, thread_id=thread_id)
        return self._message_as_json(message)

    def _edit(self, chat_id: int, message_id: int, text: str) -> Answer:
        return self._message_as_json(self._people.edit(self._message(self._people.chat(chat_id), message_id), text))

    def _delete(self, chat_id: int, message_id: int) -> Answer:
        self._people.delete(self._message(self._people.chat(chat_id), message_id))
        return {}

    def _change_bot(self, chat_id: int, user_id: int, bot: str) -> Answer:
        """`bot` is member, administrator, kicked or blocked."""
        chat, user = self._people.chat(chat_id), self._user(user_id)
        if bot in ("member", "administrator") and chat.is_group:
            self._people.add_bot(chat, user, as_administrator=bot == "administrator")
        elif bot == "kicked" and chat.is_group:
            self._people.remove_bot(chat, user)
        elif bot in ("blocked", "member"):
            self._people.block_bot(user, blocks=bot == "blocked")
        else:
            raise ValueError("bot is member, administrator or kicked; in a private chat member or blocked")
        return {}

    # --- the service itself

    def _repeat(self, update_id: int, same_id: bool = True) -> Answer:
        return {"update_id": self._people.repeat_update(update_id, same_id=same_id)}

    def _add_fault(
        self,
        kind: str,
        count: int = 1,
        method: str = "",
        status: int = 502,
        retry_after: int = 1,
        seconds: float = 0.0,
        description: str = "",
    ) -> Answer:
        self._faults.add(Fault(kind, count, method, status, retry_after, seconds, description))
        return {"waiting": [asdict(fault) for fault in self._faults.waiting]}

    def _set(
        self,
        flood_limits: bool | None = None,
        refuses_token: bool | None = None,
        reads_all_group_messages: bool | None = None,
    ) -> Answer:
        if flood_limits is not None:
            self._state.flood.limits.enabled = flood_limits
        if refuses_token is not None:
            self._faults.is_token_refused = refuses_token
        if reads_all_group_messages is not None:
            self._state.reads_all_group_messages = reads_all_group_messages
        return {}

    def _advance(self, seconds: float) -> Answer:
        if not isinstance(self._state.clock, ManualClock):
            raise ValueError("the server runs on the computer's time")
        self._state.clock.advance(seconds)
        return {"now": self._state.clock.now()}

    # --- names and JSON

    def _user(self, user_id: int) -> User:
        user = self._state.users.get(user_id)
        if user is None or user is self._state.bot:
            raise ValueError(f"there is no person {user_id}")
        return user

    def _message(self, chat: Chat, message_id: int) -> Message:
        return self._state.find_message(chat, message_id, "message")

    def _chat_as_json(self, chat: Chat) -> Json:
        topics = {str(number): name for number, name in chat.topics.items()}
        return {**chat.as_json(), "members": sorted(chat.members), "topics": topics, "bot_status": chat.bot_status}

    def _message_as_json(self, message: Message) -> Answer:
        users = self._state.users
        versions = [
            {
                "text": version.text,
                "entities": [entity_as_json(entity, users) for entity in version.entities],
                "date": version.date,
            }
            for version in message.versions
        ]
        return {**message.as_json(users), "versions": versions}


def _number(text: str) -> object:
    return int(text) if text.removeprefix("-").isdigit() else text
