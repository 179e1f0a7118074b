"""Conversations of MQTT programs on engram/v1/NAME/chat/in and chat/out, in JSON.

docs/guides/conversations.md has the format. A repeated message id only repeats the answer, and a
restart publishes open answers and those that ended shortly before it.

A `principal` is vouched for by its program, as by an operator's token over HTTP. A `sender` is an
id of another network, to which the rules of bridges apply.
"""

import asyncio
import json
import logging
import secrets
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import Any

from engram.channels.people import checked_id
from engram.errors import ArgumentError, EngramError
from engram.link.messages import MID_CHARS
from engram.memory.access import Caller
from engram_host.companion.bridges.network import Chat, Incoming
from engram_host.companion.conversations.people import Admission, PeopleService, room_of
from engram_host.companion.conversations.service import DOOR_IDS, ConversationService, Progress
from engram_host.companion.errors import CompanionError, StoreUnavailable, UnknownConversation
from engram_host.companion.store.conversations.table import ConversationTable
from engram_host.companion.store.processes import Lease
from engram_host.companion.store.values import ValueTable
from engram_host.companion.supervisor import BackgroundTask, Supervisor, TaskSet, wait_for_event
from engram_host.companion.types import Piece, Said

_log = logging.getLogger("engram.conversations")


MOST_AT_WORK = 256

RESUMED_SECONDS = 120

PUSHES_AT_ONCE = 20

LOOK_SECONDS = 60.0

RETRY_SECONDS = 5.0

PUSH_MARK = "door.pushes"

NO_BRIDGE = ""

IGNORED = "ignored"

_BUSY = "the companion passes on {} answers already: publish this again later."

_FIELDS: dict[str, type] = {
    **dict.fromkeys(("id", "text", "command", "cancel", "principal", "sender", "name", "room", "workspace"), str),
    **dict.fromkeys(("forwarded", "quoted", "edits"), str),
    **dict.fromkeys(("group", "mentioned"), bool),
}

Publish = Callable[[str, bytes], Awaitable[None]]


class DoorRefused(CompanionError):
    """A message of a program cannot be read."""


class MqttDoor:
    """Receives programs' messages for boards; publishes answers, and what boards begin to say.

    The database is the queue of the latter, with a mark at the last published one. The mark is
    saved after the broker has them, so an outage may repeat some, with the same `push`.
    """

    def __init__(
        self,
        *,
        messages: ConversationTable,
        values: ValueTable,
        conversations: ConversationService,
        people: PeopleService,
        supervisor: Supervisor,
        lease: Lease,
    ):
        self._messages = messages
        self._values = values
        self._conversations = conversations
        self._people = people
        self._supervisor = supervisor
        self._lease = lease
        self._passing_pushes: BackgroundTask | None = None
        self._answers = TaskSet("an answer to a program", MOST_AT_WORK)
        self._notices = TaskSet("a notice to a program", MOST_AT_WORK)
        self._followed: dict[tuple[str, str], asyncio.Task[None] | None] = {}

    def take(self, device: str, data: bytes, publish: Publish) -> None:
        try:
            fields = parse(data)
        except DoorRefused as problem:
            self._note(_publish(publish, device, {"id": None, "problem": str(problem)}))
            return
        if own_id := fields.get("cancel"):
            self._note(self._cancel(device, own_id, publish))
            return
        own_id = fields.get("id") or secrets.token_hex(8)
        if not self._answers.begin(self._say(device, own_id, fields, publish)):
            self._note(_publish(publish, device, {"id": own_id, "problem": _BUSY.format(MOST_AT_WORK)}))

    def resume(self, publish: Publish) -> None:
        """Publish open answers of an earlier run, and pushes if this process holds the lease."""
        self._note(self._resume(publish))
        self._passing_pushes = self._supervisor.start(
            "mqtt pushes", lambda: self._lease.run(lambda: self._pass_pushes(publish))
        )

    async def stop(self) -> None:
        if self._passing_pushes:
            await self._passing_pushes.stop()
        self._lease.release()
        await self._answers.stop()
        await self._notices.stop()

    def _note(self, work: Coroutine[Any, Any, None]) -> None:
        if not self._notices.begin(work):
            _log.warning("dropped a program's message: too many are refused", extra={"repeat": "door"})

    # --- messages

    async def _cancel(self, device: str, own_id: str, publish: Publish) -> None:
        try:
            await self._conversations.cancel(device, DOOR_IDS + own_id)
        except (CompanionError, EngramError) as problem:
            await _publish(publish, device, {"id": own_id, "problem": str(problem)})

    async def _say(self, device: str, own_id: str, fields: dict[str, Any], publish: Publish) -> None:
        try:
            refusal = await self._keep(device, own_id, fields, await self._admit(device, own_id, fields))
        except (CompanionError, EngramError) as problem:
            refusal = {"problem": str(problem)}
        if refusal:
            await _publish(publish, device, {"id": own_id, **refusal})
        else:
            await self._pass_on(device, own_id, publish)

    async def _keep(self, device: str, own_id: str, fields: dict[str, Any], admission: Admission) -> dict[str, str]:
        """Store a message, or return its refusal. Raise CompanionError, EngramError."""
        if admission.caller is None:
            return {"problem": admission.reply} if admission.reply else {"end": IGNORED}
        is_kept = False
        try:
            await self._conversations.say(device, _said(own_id, fields, admission.caller))
            is_kept = True
        finally:
            if not is_kept:
                self._people.take_back(admission)
        return {}

    async def _admit(self, device: str, own_id: str, fields: dict[str, Any]) -> Admission:
        chat, is_group, workspace = fields.get("room", ""), fields.get("group", False), fields.get("workspace", "")
        if principal := fields.get("principal"):
            is_blocked = await self._people.is_blocked(principal)
            return Admission(None if is_blocked else Caller(principal, chat, is_group, workspace))
        network, _, sender = fields["sender"].partition(":")
        if principal := await self._known_principal(device, own_id):
            # A repeated message does not count again.
            return Admission(Caller(principal, room_of(network, chat or sender), is_group, workspace))
        place, name = Chat(chat or sender, "", is_group), fields.get("name", "")
        message = Incoming(own_id, place, sender, name, is_mentioned=fields.get("mentioned", False))
        admission = await self._people.admit(NO_BRIDGE, network, message)
        return replace(admission, caller=admission.caller and admission.caller._replace(workspace=workspace))

    async def _known_principal(self, device: str, own_id: str) -> str:
        try:
            return (await self._conversations.find(device, DOOR_IDS + own_id)).said.principal
        except UnknownConversation:
            return ""

    # --- answers

    async def _pass_on(self, device: str, own_id: str, publish: Publish) -> None:
        followed, task = (device, own_id), asyncio.current_task()
        if former := self._followed.get(followed):
            former.cancel()  # the program lost a part of it
        self._followed[followed] = task
        try:
            async for event in self._conversations.follow(device, DOOR_IDS + own_id):
                if event:
                    await _publish(publish, device, {"id": own_id, **_shown(event)})
        finally:
            if self._followed.get(followed) is task:
                del self._followed[followed]

    async def _resume(self, publish: Publish) -> None:
        while True:
            try:
                found = await self._conversations.unfinished(DOOR_IDS, RESUMED_SECONDS, MOST_AT_WORK)
                break
            except StoreUnavailable as problem:
                _log.warning("answers to programs wait: %s", problem, extra={"repeat": "door"})
            await asyncio.sleep(RETRY_SECONDS)
        for each in found:
            if not self._answers.begin(self._pass_on(each.device, each.said.mid.removeprefix(DOOR_IDS), publish)):
                _log.warning("programs have to publish messages again to get answers: too many are open")
                return

    # --- pushes that neither a bridge's chat gets nor a blocked person would read

    async def _pass_pushes(self, publish: Publish) -> None:
        with self._conversations.waiting_for_pushes() as pushed:
            while True:
                pause = LOOK_SECONDS
                try:
                    await self._publish_new(publish)
                except StoreUnavailable as problem:
                    _log.warning("messages that boards begin wait: %s", problem, extra={"repeat": "door"})
                    pause = RETRY_SECONDS
                await wait_for_event(pushed, pause)

    async def _publish_new(self, publish: Publish) -> None:
        mark = await asyncio.to_thread(self._first_mark)
        while found := await asyncio.to_thread(self._messages.pushes_for_programs, mark, PUSHES_AT_ONCE):
            for each in found:
                if each.said.room in await self._people.silenced_rooms():
                    _log.info("a push of %s is not published: its room is blocked or closed", each.device)
                    continue
                fields = {"push": each.said.mid, "room": each.said.room, "text": each.said.text, "at": each.at}
                await _publish(publish, each.device, fields)
            mark = found[-1].number
            await asyncio.to_thread(self._values.put, PUSH_MARK, str(mark))

    def _first_mark(self) -> int:
        if kept := self._values.get(PUSH_MARK):
            return int(kept)
        return int(self._values.put_first(PUSH_MARK, str(self._messages.newest_conversation())))


async def _publish(publish: Publish, device: str, fields: dict[str, Any]) -> None:
    await publish(device, json.dumps(fields, ensure_ascii=False).encode())


def parse(data: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise DoorRefused("a message is a JSON object.")
    for name, value in fields.items():
        if name not in _FIELDS or type(value) is not _FIELDS[name]:
            raise DoorRefused(f"there is no field {str(name)[:20]!r} of that kind; there are {', '.join(_FIELDS)}.")
    if not all(_is_id(fields.get(name, "x")) for name in ("id", "cancel", "edits")):
        raise DoorRefused(f"an id has 1 to {MID_CHARS - len(DOOR_IDS)} printable ASCII signs without spaces.")
    if "cancel" in fields:
        return fields
    if bool(fields.get("text")) == bool(fields.get("command")):
        raise DoorRefused("a message has either text or command, or it cancels another one.")
    if bool(fields.get("principal")) == bool(fields.get("sender")):
        raise DoorRefused("a message says who speaks: either principal or sender.")
    if fields.get("sender"):
        _check_relayed(fields)
    return fields


def _check_relayed(fields: dict[str, Any]) -> None:
    try:
        checked_id(fields["sender"])
    except ArgumentError:
        raise DoorRefused("a sender is a network and its own id of them, such as signal:4711.") from None
    if fields.get("group") and not fields.get("room"):
        raise DoorRefused("a group has a room: the network's own id of it.")


def _is_id(value: str) -> bool:
    return 0 < len(value) <= MID_CHARS - len(DOOR_IDS) and all("!" <= sign <= "~" for sign in value)


def _said(own_id: str, fields: dict[str, Any], caller: Caller) -> Said:
    return Said(
        mid=DOOR_IDS + own_id,
        principal=caller.principal,
        text=fields.get("text") or fields["command"],
        room=caller.room,
        is_group=caller.group,
        workspace=caller.workspace,
        is_command=bool(fields.get("command")),
        forwarded=fields.get("forwarded", ""),
        quoted=fields.get("quoted", ""),
        edits=DOOR_IDS + fields["edits"] if fields.get("edits") else "",
    )


def _shown(event: Progress | Piece) -> dict[str, Any]:
    if isinstance(event, Progress):
        found = event.conversation
        told = {"told": event.told} if event.told else {}
        return {"state" if found.is_open else "end": found.state, **told}
    return {"n": event.number, "kind": event.kind, "text": event.text}
