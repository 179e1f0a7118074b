"""Finds habits once a night: asks the gateway's model about clusters of events and notes, and tells the boards.

A board keeps a habit as a tentative memory. One that a person has confirmed or forgotten is theirs: it is neither changed
nor found again.
"""

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from engram.memory import ALL
from engram.memory.records.fields import LEAST_CONFIDENCE, is_tentative
from engram_host.companion.conversations.service import ConversationService
from engram_host.companion.errors import StoreUnavailable, TooManyWaiting, UnknownDevice
from engram_host.companion.gateway.dialects import GatewayRefused
from engram_host.companion.habits.clusters import LEAST_DAYS, Sighting, count_days, find_clusters
from engram_host.companion.habits.sources import HabitSources
from engram_host.companion.habits.verdict import newest_of_days, question_about, read_verdict
from engram_host.companion.memories.commands import speak
from engram_host.companion.store.processes import Lease, LeasedPart
from engram_host.companion.store.values import HABITS, ValueTable
from engram_host.companion.store.vectors import Identity
from engram_host.companion.supervisor import Supervisor
from engram_host.companion.types import Device
from engram_host.transfer.report import import_command

LOOK_SECONDS = 1800.0
NIGHT_HOUR = 3
DAYS = 90
MOST_CALLS = 8
"""Calls of the model for a board a night: each costs money."""
MOST_KNOWN = 200
MOST_KEYS = 40
"""Clusters of a board, and newest lines of each, that are kept to know what was asked."""

_DAY_SECONDS = 86400
_log = logging.getLogger("engram.habits")


@dataclass
class KnownCluster:
    """A cluster that the model was asked about; `origin` is that of its memory, "" if it is no habit."""

    origin: str
    keys: list[str]

    def is_same(self, keys: Sequence[str]) -> bool:
        return 2 * len({*keys} & {*self.keys}) >= min(len(keys), len(self.keys))


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
            try:
                for device in await asyncio.to_thread(self._sources.boards.devices):
                    await self.look(device, int(time.time()))
            except StoreUnavailable as problem:
                _log.warning("habits wait: %s", problem, extra={"repeat": "habits"})

    async def look(self, device: Device, now: int) -> None:
        """Look for habits on a board once a night, while it is in touch. May raise StoreUnavailable."""
        local, identity = now + 60 * device.zone.offset_minutes(now), self._identity()
        is_night = local % _DAY_SECONDS >= NIGHT_HOUR * 3600 and device.heard > now - _DAY_SECONDS
        day, known = await asyncio.to_thread(self._read_known, device.name)
        if identity is None or not is_night or day == local // _DAY_SECONDS:
            return
        try:
            await self._look(device, identity, known, now)
            day = local // _DAY_SECONDS
        except (GatewayRefused, TooManyWaiting, UnknownDevice) as problem:
            _log.warning("habits of %s wait: %s", device.name, problem, extra={"repeat": f"habits {device.name}"})
        kept = json.dumps([day, [[each.origin, each.keys] for each in known]])
        await asyncio.to_thread(self._values.put, HABITS + device.name, kept)

    def _read_known(self, device: str) -> tuple[int, list[KnownCluster]]:
        """Return the day of the last look, and what was asked until then."""
        day, known = json.loads(self._values.get(HABITS + device) or "[0, []]")
        return day, [KnownCluster(*each) for each in known]

    async def _look(self, device: Device, identity: Identity, known: list[KnownCluster], now: int) -> None:
        """Ask about clusters that are new or have grown, and note in `known` what was asked."""
        since = now - DAYS * _DAY_SECONDS
        lines, vectors = await asyncio.to_thread(self._sources.lines, device, identity, since)
        habits = await asyncio.to_thread(self._sources.habits, device.name)
        own = {each.origin for each in known if each.origin}
        tentative = {line["origin"]: line for line in habits if is_tentative(line) and line.get("origin") in own}
        for line in tentative.values():
            scope, evidence = line.get("scope", ALL), line.get("evidence", ())
            if count_days([each for each in lines if each.scope == scope and each.ref in evidence]) < LEAST_DAYS:
                await self._change(device.name, line, {"expires": now}, now)
        there = {line.key for line in lines}
        known[:] = [each for each in known if not there.isdisjoint(each.keys)][-MOST_KNOWN:]
        calls = 0
        for cluster in await asyncio.to_thread(lambda: [*find_clusters(lines, vectors)]):
            keys = [line.key for line in cluster][-MOST_KEYS:]
            before = next((each for each in known if each.is_same(keys)), KnownCluster("", []))
            line = tentative.get(before.origin)
            is_new = not before.origin and len(keys) >= 2 * len(before.keys)
            if is_new or (line and not {*keys} <= {*before.keys}):
                if calls == MOST_CALLS:
                    continue
                calls += 1
                if line:
                    await self._weigh(device.name, line, cluster, now)
                else:
                    before.origin = await self._find(device.name, cluster, habits, now)
                known += [] if before.keys else [before]
            if is_new or before.origin:
                before.keys = keys  # what a person has confirmed or forgotten is not asked about while it goes on

    async def _find(self, device: str, cluster: Sequence[Sighting], habits: list[dict[str, Any]], now: int) -> str:
        """Ask for the habit of a cluster, tell the board, and return its origin; "" if there is none."""
        shown, scope = newest_of_days(cluster), cluster[0].scope
        known = [line["content"] for line in habits if line.get("scope", ALL) == scope]
        verdict = read_verdict(await self._ask(question_about(shown, "", known)), shown)
        if not verdict.is_habit:
            return ""
        keys = " ".join([device, *(line.key for line in cluster)])
        found = {"origin": "habits:" + blake2b(keys.encode(), digest_size=8).hexdigest(), "content": verdict.habit}
        found |= {"tags": ["habit"], "type": "pattern", "source": "auto_llm", "scope": scope} | verdict.fields
        habits.append(found)
        await self._send(device, found, now)
        return found["origin"]

    async def _weigh(self, device: str, line: dict[str, Any], cluster: Sequence[Sighting], now: int) -> None:
        """Ask what the newest lines say of a habit; it leaves if too many speak against it."""
        shown = newest_of_days(cluster)
        verdict = read_verdict(await self._ask(question_about(shown, line["content"])), shown)
        if verdict.shows or verdict.denies:
            is_over = verdict.confidence < LEAST_CONFIDENCE
            await self._change(device, line, verdict.fields | ({"expires": now} if is_over else {}), now)

    async def _change(self, device: str, line: dict[str, Any], values: dict[str, Any], now: int) -> None:
        """Change a habit, unless the board has another version of it."""
        same = {name: line[name] for name in ("origin", "content", "confidence", "evidence") if name in line}
        version = {"partial": True, "was": line["seq"], "updated": line.get("updated", line["created"])}
        version["scope"] = line.get("scope", ALL)
        await self._send(device, same | version | values, now)

    async def _send(self, device: str, values: dict[str, Any], now: int) -> None:
        await self._conversations.say(device, speak(f"{values['origin']}:{now}", import_command(values), values))
