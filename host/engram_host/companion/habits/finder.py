"""Finds habits once a night: asks the gateway's model about clusters of events and notes, and tells the boards.

A board keeps a habit as a tentative memory. One that a person has confirmed or forgotten is theirs: it is neither changed
nor found again.
"""

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np

from engram.memory import ALL
from engram.memory.records.fields import LEAST_CONFIDENCE, is_tentative
from engram_host.companion.conversations.service import ConversationService
from engram_host.companion.errors import MessageIdTaken, Missing, StoreUnavailable, TooManyWaiting
from engram_host.companion.gateway.dialects import GatewayRefused
from engram_host.companion.habits.clusters import LEAST_DAYS, Sighting, count_days, find_clusters
from engram_host.companion.habits.sources import HabitSources
from engram_host.companion.habits.verdict import newest_of_days, question_about, read_verdict
from engram_host.companion.memories.commands import read_outcome, speak
from engram_host.companion.store.processes import Lease, LeasedPart
from engram_host.companion.store.values import HABITS, ValueTable
from engram_host.companion.store.vectors import Identity
from engram_host.companion.supervisor import Supervisor
from engram_host.companion.types import Device
from engram_host.transfer.report import IMPORT, import_command

LOOK_SECONDS = 1800.0
NIGHT_HOURS = range(3, 8)
DAYS = 90
ANSWER_SECONDS = 60.0
MOST_CALLS = 8
"""Calls of the model for a board a night: each costs money."""
MOST_KNOWN = 200
MOST_KEYS = 40
"""Clusters of a board, and newest lines of each, that are kept to know what was asked."""
REFUSED_DAYS = 7
"""Days until a person for whom the board refused a habit is tried again, with one call."""

Cluster = Sequence[Sighting]
Line = dict[str, Any]

_DAY_SECONDS = 86400
_SERVER_ERROR = 500
_NEW, _OVER = ":new", ":over"
"""Endings of the ids of messages that tell a habit, or let it expire."""

_log = logging.getLogger("engram.habits")


@dataclass
class KnownCluster:
    """A cluster that the model was asked about; `origin` is that of its memory, "" if it is no habit.

    `sent` is the id of a message to the board whose outcome is not known yet.
    """

    origin: str
    keys: list[str]
    sent: str = ""

    def is_same(self, keys: Sequence[str]) -> bool:
        return 2 * len({*keys} & {*self.keys}) >= max(1, min(len(keys), len(self.keys)))


@dataclass
class BoardHabits:
    """State of a board at a look: its last night, the calls left in it (0 once it is done) and known clusters.

    `refused` has the people for whom the board refused a habit, with the day.
    """

    device: str
    now: int
    day: int
    known: list[KnownCluster]
    left: int = 0
    refused: dict[str, int] = field(default_factory=dict[str, int])


class HabitFinder(LeasedPart):
    def __init__(
        self,
        *,
        sources: HabitSources,
        values: ValueTable,
        identity: Callable[[], Identity | None],
        ask: Callable[[str], Awaitable[str]],
        conversations: ConversationService,
        supervisor: Supervisor,
        lease: Lease,
    ):
        """`identity()` is that of the vectors, None until all lines have one."""
        super().__init__(supervisor, "habits", lease)
        self._sources = sources
        self._values = values
        self._identity = identity
        self._ask = ask
        self._conversations = conversations

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await self.look_at_boards(int(time.time()))

    async def look_at_boards(self, now: int) -> None:
        """Look for habits on all boards, until the database or the model's service fails."""
        try:
            for device in await asyncio.to_thread(self._sources.boards.devices):
                await self.look(device, now)
        except (StoreUnavailable, GatewayRefused, TimeoutError) as problem:
            _log.warning("habits wait: %s", str(problem) or "the model is silent", extra={"repeat": "habits"})

    async def look(self, device: Device, now: int) -> None:
        """Look for habits on a board once a night, while it is in touch.

        May raise StoreUnavailable, and GatewayRefused or TimeoutError if the model's service fails.
        """
        local, identity = now + 60 * device.zone.offset_minutes(now), self._identity()
        today, hour = local // _DAY_SECONDS, local % _DAY_SECONDS // 3600
        board = await asyncio.to_thread(self._read, device.name, now)
        if any([await self._read_outcome(board, each, today) for each in [*board.known] if each.sent]):
            await self._keep(board)
        if board.day != today:
            board.day, board.left = today, MOST_CALLS
        if identity is None or not board.left or hour not in NIGHT_HOURS or device.heard <= now - _DAY_SECONDS:
            return
        try:
            await self._look(device, identity, board)
            board.left = 0
        except (GatewayRefused, TooManyWaiting, Missing) as problem:
            if isinstance(problem, GatewayRefused) and problem.status >= _SERVER_ERROR:
                raise
            _log.warning("habits of %s wait: %s", device.name, problem, extra={"repeat": f"habits {device.name}"})
        await self._keep(board)

    def _read(self, device: str, now: int) -> BoardHabits:
        day, known, *more = json.loads(self._values.get(HABITS + device) or "[0, []]")
        return BoardHabits(device, now, day, [KnownCluster(*each) for each in known], *more)

    async def _keep(self, board: BoardHabits) -> None:
        known = [[each.origin, each.keys, each.sent] for each in board.known]
        kept = json.dumps([board.day, known, board.left, board.refused])
        await asyncio.to_thread(self._values.put, HABITS + board.device, kept)

    async def _read_outcome(self, board: BoardHabits, cluster: KnownCluster, today: int) -> bool:
        """Forget a habit that the board did not take, and one that it let expire; False while it has not answered."""
        sent, is_over = cluster.sent, cluster.sent.endswith(_OVER)
        try:
            exchange = await self._conversations.exchange(board.device, sent)
        except Missing:  # it was answered long ago
            cluster.sent = ""
            return True
        (state, why), person = read_outcome(exchange, "edit"), exchange.message.said.principal
        if state == "waiting":
            return False
        cluster.sent = ""
        if state not in ("refused", "cancelled"):
            board.refused.pop(person, None)
        elif exchange.message.state == "done":
            board.refused[person] = today
            _log.warning("%s refused a habit of %s: %s", board.device, person, why, extra={"repeat": "habits refused"})
        if is_over and state == "done":
            cluster.origin = ""
        elif sent.endswith(_NEW) and state in ("refused", "cancelled"):
            board.known.remove(cluster)
        return True

    async def _look(self, device: Device, identity: Identity, board: BoardHabits) -> None:
        """Ask about clusters that are new or have grown, and note in `board` what was asked."""
        since = board.now - DAYS * _DAY_SECONDS
        lines = await asyncio.to_thread(self._sources.lines, device, identity, since, board.now)
        habits = await asyncio.to_thread(self._sources.habits, device.name)
        own = {each.origin: each for each in board.known if each.origin}
        tentative = {line["origin"]: line for line in habits if is_tentative(line) and line.get("origin") in own}
        for origin, line in tentative.items():
            habit, scope = own[origin], line.get("scope", ALL)
            keys = {*habit.keys, *(f"{ref} {scope}" for ref in line.get("evidence", ()))}
            left = [each for each in lines if each.key in keys]
            if count_days(left) < LEAST_DAYS and not habit.sent:
                habit.keys = [each.key for each in left]
                await self._change(board, habit, line, {"expires": board.now}, _OVER)
        there = {line.key for line in lines}
        current = [each for each in board.known if each.sent or not there.isdisjoint(each.keys)]
        board.known = sorted(current, key=lambda each: bool(each.origin))[-MOST_KNOWN:]
        seen = {line: vector for line, vector in lines.items() if vector is not None}
        vectors = np.array([*seen.values()])
        for cluster in await asyncio.to_thread(lambda: [*find_clusters([*seen], vectors)]):
            keys = [line.key for line in cluster][-MOST_KEYS:]
            before = next((each for each in reversed(board.known) if each.is_same(keys)), KnownCluster("", []))
            line = tentative.get(before.origin)
            is_new = not before.origin and len(keys) >= 2 * len(before.keys)
            if is_new or (line and not {*keys} <= {*before.keys}):
                if before.sent or not await self._may_ask(board, cluster[0].scope):
                    continue
                if line:
                    await self._weigh(board, before, line, cluster)
                else:
                    await self._find(board, before, cluster, habits)
                board.known += [] if before.keys else [before]
            if is_new or before.origin:
                before.keys = keys  # what a person has confirmed or forgotten is not asked about while it goes on

    async def _may_ask(self, board: BoardHabits, scope: str) -> bool:
        """Count a call of the model; False if none is left, or the board refused the person's habits lately.

        Raise TooManyWaiting if a habit could not be sent to the board.
        """
        said = speak("habits", IMPORT, {"scope": scope})
        person = said.principal
        if not board.left or board.day - board.refused.get(person, 0) < REFUSED_DAYS:
            return False
        await self._conversations.check_room(board.device, said)
        if person in board.refused:
            board.refused[person] = board.day
        board.left -= 1
        await self._keep(board)
        return True

    async def _question(self, prompt: str) -> str:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await self._ask(prompt)

    async def _find(self, board: BoardHabits, known: KnownCluster, cluster: Cluster, habits: list[Line]) -> None:
        """Ask for the habit of a cluster, and tell the board if there is one."""
        shown, scope = newest_of_days(cluster), cluster[0].scope
        others = [line["content"] for line in habits if line.get("scope", ALL) == scope]
        verdict = read_verdict(await self._question(question_about(shown, "", others)), shown)
        if not verdict.is_habit:
            return
        keys = " ".join([board.device, *(line.key for line in cluster)])
        found = {"origin": "habits:" + blake2b(keys.encode(), digest_size=8).hexdigest(), "content": verdict.habit}
        found |= {"tags": ["habit"], "type": "pattern", "source": "auto_llm", "scope": scope} | verdict.fields
        habits.append(found)
        await self._send(board, known, found, f":{board.now}{_NEW}")
        known.origin = found["origin"]

    async def _weigh(self, board: BoardHabits, known: KnownCluster, line: Line, cluster: Cluster) -> None:
        """Ask what the newest lines say of a habit; it leaves if too many speak against it."""
        shown = newest_of_days(cluster)
        verdict = read_verdict(await self._question(question_about(shown, line["content"])), shown)
        if verdict.confidence < LEAST_CONFIDENCE:
            await self._change(board, known, line, verdict.fields | {"expires": board.now}, _OVER)
        elif verdict.shows or verdict.denies:
            await self._change(board, known, line, verdict.fields, f":{board.now}")

    async def _change(self, board: BoardHabits, known: KnownCluster, line: Line, values: Line, ending: str) -> None:
        """Change a habit, unless the board has another version of it."""
        same = {name: line[name] for name in ("origin", "content", "confidence", "evidence") if name in line}
        version = {"partial": True, "was": line["seq"], "updated": line.get("updated", line["created"])}
        version["scope"] = line.get("scope", ALL)
        await self._send(board, known, same | version | values, f":{line['seq']}{ending}")

    async def _send(self, board: BoardHabits, known: KnownCluster, values: Line, ending: str) -> None:
        mid = values["origin"] + ending
        with contextlib.suppress(MessageIdTaken):  # it was sent before
            await self._conversations.say(board.device, speak(mid, import_command(values), values))
        known.sent = mid
