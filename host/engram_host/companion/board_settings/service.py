"""Changes settings of boards by the command /setting, and reads them from the boards' answers.

A change is queued like any message, but under a quota of its own, so that it takes no room of a
conversation.
"""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engram_host.companion.board_settings.table import all_settings, check_value
from engram_host.companion.conversations.answers import Exchange
from engram_host.companion.conversations.service import ConversationService
from engram_host.companion.types import SECRET_IDS, Conversation, Said

ROOM = "settings"
PRINCIPAL = "owner"

MOST_LOOKED_AT = 100

_COMMAND = "/setting"
_IDS = "setting:"
_IS_SET = " is set"


@dataclass(frozen=True)
class BoardSettings:
    """Known settings of a board: `read_at` in Unix seconds (0: never), secrets None, newest change
    first."""

    read_at: int
    values: Mapping[str, Any]
    recent: Sequence[Exchange] = field(default_factory=list[Exchange])

    @property
    def is_waiting(self) -> bool:
        return any(each.message.is_open for each in self.recent)


class BoardSettingsService:
    def __init__(self, conversations: ConversationService):
        self._conversations = conversations

    async def find(self, device: str, recent: int = 10) -> BoardSettings:
        found = await self._conversations.exchanges(device, MOST_LOOKED_AT, room=ROOM)
        read = next((at for at, each in enumerate(found) if _is_list(each)), None)
        values: dict[str, Any] = _parse_list(found[read].answer.lines) if read is not None else {}
        for each in reversed(found[:read]):
            if changed := _done_change(each):
                values[changed[0]] = changed[1]
        return BoardSettings(found[read].message.changed if read is not None else 0, values, found[:recent])

    async def read(self, device: str) -> Conversation:
        found = await self._conversations.list_messages(device, MOST_LOOKED_AT, room=ROOM)
        asked = next((each for each in found if each.is_open and each.said.text == _COMMAND), None)
        return asked or await self._say(device, _IDS, _COMMAND)

    async def change(self, device: str, name: str, value: str) -> Conversation:
        """Queue a change of a setting or secret; raises EngramError if the firmware would refuse
        it."""
        said = value.strip() or '""'
        check_value(name, said)
        ids = SECRET_IDS if all_settings()[name].is_secret else _IDS
        return await self._say(device, ids, f"{_COMMAND} {name} {said}")

    async def _say(self, device: str, ids: str, text: str) -> Conversation:
        said = Said(ids + secrets.token_hex(8), PRINCIPAL, text, ROOM, is_command=True)
        return await self._conversations.say(device, said)


def _is_list(exchange: Exchange) -> bool:
    message, answer = exchange.message, exchange.answer
    return message.said.text == _COMMAND and message.state == "done" and bool(answer.lines) and not answer.problems


def _done_change(exchange: Exchange) -> tuple[str, Any] | None:
    _, _, rest = exchange.message.said.text.partition(" ")
    name, _, said = rest.partition(" ")
    answer = exchange.answer
    is_done = exchange.message.state == "done" and not answer.problems
    if not is_done or name not in all_settings() or not any(line.startswith(name + _IS_SET) for line in answer.lines):
        return None
    return name, None if all_settings()[name].is_secret else _parse_value(name, said)


def _parse_value(name: str, said: str) -> Any:
    if all_settings()[name].kind in ("text", "choice"):
        return "" if said == '""' else said
    return json.loads(said)


def _parse_list(lines: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for line in lines:
        name, _, value = line.partition(" ")
        info = all_settings().get(name)
        if info is None:
            continue
        if info.is_secret:
            found[name] = None
            continue
        try:
            found[name] = json.loads(value)
        except ValueError:
            continue
    return found
