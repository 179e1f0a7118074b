"""Conversations of MQTT programs on engram/v1/NAME/chat/in and chat/out, in JSON.

docs/guides/conversations.md has the format. A repeated message id only repeats the answer, and a
restart publishes open answers and those that ended shortly before it.

A `principal` is vouched for by its program, as by an operator's token over HTTP. A `sender` is an
id of another network, to which the rules of bridges apply.
"""

import asyncio
import functools
import json
import logging
import secrets
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

from engram.channels.people import checked_id
from engram.errors import ArgumentError, EngramError
from engram.link.messages import MID_CHARS
from engram.memory.access import Caller
from engram_host.companion.bridges.network import Chat, Incoming
from engram_host.companion.conversations.door.pushes import DoorPushes, Publish
from engram_host.companion.conversations.people import Admission, PeopleService, room_of
from engram_host.companion.conversations.service import DOOR_IDS, ConversationService, Progress
from engram_host.companion.errors import CompanionError, StoreUnavailable, UnknownConversation
from engram_host.companion.processes.leases import Lease
from engram_host.companion.supervisor import BackgroundTask, Supervisor
from engram_host.companion.types import Piece, Said

_log = logging.getLogger("engram.conversations")

LEASE = "door"

MOST_AT_WORK = 256

MOST_CANCELLING = 256

MOST_REFUSING = 256

RESUMED_SECONDS = 120
"""Answers that ended this recently are published again at startup, as they may be lost."""

RETRY_SECONDS = 5.0

NO_BRIDGE = ""

IGNORED = "ignored"

_BUSY = "the companion passes on {} answers already: publish this again later."
_MANY_CANCELS = "too many messages are cancelled at the same time: publish this again."

_FIELDS: dict[str, type] = {
    "id": str,
    "text": str,
    "command": str,
    "cancel": str,
    "principal": str,
    "sender": str,
    "name": str,
    "room": str,
    "group": bool,
    "mentioned": bool,
    "workspace": str,
    "forwarded": str,
    "quoted": str,
    "edits": str,
}


class DoorRefused(CompanionError):
    """A message of a program cannot be read."""


class _Tasks:
    def __init__(self, most: int):
        self._most = most
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, work: Coroutine[Any, Any, None]) -> bool:
        if len(self._tasks) >= self._most:
            work.close()
            return False
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_done)
        return True

    def _on_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (problem := task.exception()):
            # The program repeats the message if it gets no end.
            _log.info("an answer was not passed on: %s", problem)

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class MqttDoor:
    def __init__(
        self,
        conversations: ConversationService,
        people: PeopleService,
        pushes: DoorPushes,
        supervisor: Supervisor,
        lease: Lease,
    ):
        self._conversations = conversations
        self._people = people
        self._pushes = pushes
        self._supervisor = supervisor
        self._lease = lease
        self._passing_pushes: BackgroundTask | None = None
        self._answers = _Tasks(MOST_AT_WORK)
        self._cancels = _Tasks(MOST_CANCELLING)
        self._refusals = _Tasks(MOST_REFUSING)
        self._resuming = _Tasks(1)
        self._followed: dict[tuple[str, str], asyncio.Task[None] | None] = {}

    def take(self, device: str, data: bytes, publish: Publish) -> None:
        try:
            fields = parse(data)
        except DoorRefused as problem:
            self._refuse(publish, device, None, str(problem))
            return
        if own_id := fields.get("cancel"):
            if not self._cancels.begin(self._cancel(device, own_id, publish)):
                self._refuse(publish, device, own_id, _MANY_CANCELS)
            return
        own_id = fields.get("id") or secrets.token_hex(8)
        if not self._answers.begin(self._say(device, own_id, fields, publish)):
            self._refuse(publish, device, own_id, _BUSY.format(MOST_AT_WORK))

    def resume(self, publish: Publish) -> None:
        self._resuming.begin(self._resume(publish))
        work = functools.partial(self._lease.run, lambda: self._pushes.run(publish))
        self._passing_pushes = self._supervisor.start("mqtt pushes", work)

    async def stop(self) -> None:
        if self._passing_pushes:
            await self._passing_pushes.stop()
        self._lease.release()
        for tasks in (self._resuming, self._answers, self._cancels, self._refusals):
            await tasks.stop()

    def _refuse(self, publish: Publish, device: str, own_id: str | None, problem: str) -> None:
        if not self._refusals.begin(_publish(publish, device, {"id": own_id, "problem": problem})):
            _log.warning("a program's message was passed over: too many are refused", extra={"repeat": "door"})

    async def _cancel(self, device: str, own_id: str, publish: Publish) -> None:
        try:
            await self._conversations.cancel(device, DOOR_IDS + own_id)
        except (CompanionError, EngramError) as problem:
            await _publish(publish, device, {"id": own_id, "problem": str(problem)})

    async def _say(self, device: str, own_id: str, fields: dict[str, Any], publish: Publish) -> None:
        admission = None
        try:
            admission = await self._admit(device, own_id, fields)
            refusal = await self._refusal_of(device, own_id, fields, admission)
        except (CompanionError, EngramError) as problem:
            refusal = {"problem": str(problem)}
        if not refusal:
            await self._pass_on(device, own_id, publish)
            return
        try:
            await _publish(publish, device, {"id": own_id, **refusal})
            if admission:
                await self._people.mark_sent(admission)
        finally:
            if admission:
                self._people.end_notice(admission)

    async def _refusal_of(
        self, device: str, own_id: str, fields: dict[str, Any], admission: Admission
    ) -> dict[str, str]:
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


async def _publish(publish: Publish, device: str, fields: dict[str, Any]) -> None:
    await publish(device, json.dumps(fields, ensure_ascii=False).encode())


def parse(data: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        raise DoorRefused("a message is a JSON object.") from None
    if not isinstance(fields, dict):
        raise DoorRefused("a message is a JSON object.")
    for name, value in fields.items():
        if name not in _FIELDS or type(value) is not _FIELDS[name]:
            raise DoorRefused(f"there is no field {str(name)[:20]!r} of that kind; there are {', '.join(_FIELDS)}.")
    if (
        not _is_id(fields.get("id", "x"))
        or not _is_id(fields.get("cancel", "x"))
        or not _is_id(fields.get("edits", "x"))
    ):
        raise DoorRefused(f"an id has 1 to {MID_CHARS - len(DOOR_IDS)} printable ASCII signs without spaces.")
    if "cancel" not in fields and bool(fields.get("text")) == bool(fields.get("command")):
        raise DoorRefused("a message has either text or command, or it cancels another one.")
    if "cancel" not in fields and bool(fields.get("principal")) == bool(fields.get("sender")):
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
    content = fields.get("text") or fields["command"]
    where = caller.room, caller.group, caller.workspace
    edits = DOOR_IDS + fields["edits"] if fields.get("edits") else ""
    words = fields.get("forwarded", ""), fields.get("quoted", ""), edits
    return Said(DOOR_IDS + own_id, caller.principal, content, *where, bool(fields.get("command")), *words)


def _shown(event: Progress | Piece) -> dict[str, Any]:
    if isinstance(event, Progress):
        found = event.conversation
        told = {"told": event.told} if event.told else {}
        return {"state" if found.is_open else "end": found.state, **told}
    return {"n": event.number, "kind": event.kind, "text": event.text}
