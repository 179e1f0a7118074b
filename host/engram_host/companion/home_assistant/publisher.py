"""Publishes boards' senses for Home Assistant at the broker, by its MQTT discovery, and removes former ones.

https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery lists the fields.

Topics are saved in the database before they are published, so that they can be emptied after a
crash too.
"""

import asyncio
import functools
import json
import logging
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from engram_host import __version__
from engram_host.companion.errors import SettingError, StoreUnavailable
from engram_host.companion.settings import MqttSettings
from engram_host.companion.store.processes import Lease
from engram_host.companion.store.senses.table import SenseTable
from engram_host.companion.store.senses.types import StoredEvent, StoredSense
from engram_host.companion.store.values import ValueTable
from engram_host.companion.supervisor import BackgroundTask, Supervisor

STATES = "engram/v1/{device}/senses/{key}"  # topics of states; `/event` is appended for events

# Device classes of units that belong to one class only.
_CLASSES = {
    "°C": "temperature",
    "°F": "temperature",
    "hPa": "atmospheric_pressure",
    "V": "voltage",
    "mV": "voltage",
    "A": "current",
    "W": "power",
    "lx": "illuminance",
    "dBm": "signal_strength",
}

_HUMID = ("humid", "湿")
_ORIGIN = {"name": "Engram", "sw": __version__}


def discovery_prefix(mqtt: MqttSettings) -> str:
    if not mqtt.home_assistant:
        return ""
    prefix = mqtt.home_assistant_prefix.strip("/")
    if not prefix or any(sign in prefix for sign in "+#$\0\r\n"):
        raise SettingError("mqtt.home_assistant_prefix", "must be a topic such as homeassistant.")
    return prefix


def device_messages(
    prefix: str, device: str, senses: Iterable[StoredSense], events: Iterable[StoredEvent]
) -> dict[str, str]:
    lasting = {event.sense: event for event in events if not event.ended}
    found: dict[str, str] = {}
    for sense in senses:
        states = STATES.format(device=device, key=sense.key)
        entity = f"engram_{device}_{sense.key}".replace("-", "_")
        about = {
            "device": {"identifiers": [f"engram_{device}"], "name": device, "manufacturer": "Engram"},
            "origin": _ORIGIN,
        }
        sensor: dict[str, Any] = {
            "name": sense.name,
            "unique_id": entity,
            "state_topic": states,
            "value_template": "{{ value_json.value }}",
            "json_attributes_topic": states,
            "state_class": "measurement",
            "suggested_display_precision": sense.decimals,
        }
        if sense.unit:
            sensor["unit_of_measurement"] = sense.unit
        if kind := _class_of(sense):
            sensor["device_class"] = kind
        problem = {
            "name": f"{sense.name} event",
            "unique_id": f"{entity}_event",
            "state_topic": f"{states}/event",
            "value_template": "{{ value_json.state }}",
            "json_attributes_topic": f"{states}/event",
            "device_class": "problem",
            "payload_on": "ON",
            "payload_off": "OFF",
        }
        found[f"{prefix}/sensor/engram_{device}/{sense.key}/config"] = _json(sensor | about)
        found[f"{prefix}/binary_sensor/engram_{device}/{sense.key}/config"] = _json(problem | about)
        if sense.at:
            found[states] = _json({"value": sense.number_of(sense.value), "at": sense.at})
        found[f"{states}/event"] = _json(_state_of(sense, lasting.get(sense.key)))
    return found


def _state_of(sense: StoredSense, event: StoredEvent | None) -> Mapping[str, Any]:
    if event is None:
        return {"state": "OFF"}
    shown = {} if event.value is None else {"value": sense.number_of(event.value)}
    return {"state": "ON", "kind": event.kind, "start": event.started, **shown}


def _class_of(sense: StoredSense) -> str:
    if sense.unit == "%" and any(word in sense.name.lower() for word in _HUMID):
        return "humidity"
    return _CLASSES.get(sense.unit, "")


def _json(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False)


_log = logging.getLogger("engram.home_assistant")

LOOK_SECONDS = 5.0  # interval of checks for changes
MOST_TOPICS = 20_000  # limit of topics, four per sense; the rest is left out and logged
_TOPICS = "home_assistant.topics"  # note with the published topics


class RetainingBroker(Protocol):
    """The broker; `connections` counts connects, since it may have lost retained messages before."""

    connections: int

    async def publish_retained(self, topic: str, message: str) -> bool:
        """Publish a retained message, or remove it if empty; True if it was sent."""
        ...


def home_assistant_prefix(mqtt: MqttSettings) -> str:
    """Return the discovery prefix, "" if publishing is off; may raise SettingError."""
    if mqtt.home_assistant and not mqtt.url:
        raise SettingError("mqtt.home_assistant", "needs mqtt.url: the broker that Home Assistant uses.")
    return discovery_prefix(mqtt)


class HomeAssistantPublisher:
    def __init__(
        self,
        *,
        senses: SenseTable,
        values: ValueTable,
        prefix: str,
        supervisor: Supervisor,
        lease: Lease,
        look_seconds: float = LOOK_SECONDS,
    ):
        self._senses = senses
        self._values = values
        self._prefix = prefix
        self._supervisor = supervisor
        self._lease = lease
        self._look_seconds = look_seconds
        self._published: dict[str, str] = {}
        self._connection = 0
        self._task: BackgroundTask | None = None

    async def start(self, broker: RetainingBroker) -> None:
        if self._prefix or await asyncio.to_thread(self._noted):
            name = "mqtt home-assistant"
            work = functools.partial(self._lease.run, lambda: self._run(broker))
            self._task = self._supervisor.start(name, work, is_finite=not self._prefix)

    async def stop(self) -> None:
        if self._task:
            await self._task.stop()
        self._lease.release()

    async def _run(self, broker: RetainingBroker) -> None:
        self._published.clear()  # another process may have published since
        while True:
            try:
                is_done = await self._update(broker)
            except StoreUnavailable as problem:
                _log.warning("topics for Home Assistant wait: %s", problem, extra={"repeat": "home assistant"})
                is_done = False
            if is_done and not self._prefix:
                return
            await asyncio.sleep(self._look_seconds)

    async def _update(self, broker: RetainingBroker) -> bool:
        if self._connection != broker.connections:
            self._connection = broker.connections
            self._published.clear()
        wanted = await asyncio.to_thread(self._wanted) if self._prefix else {}
        noted = await asyncio.to_thread(self._noted)
        if wanted.keys() - noted:
            noted |= wanted.keys()
            await asyncio.to_thread(self._note, noted)
        gone = noted - wanted.keys()
        for topic in sorted(gone):
            if not await broker.publish_retained(topic, ""):
                return False
            self._published.pop(topic, None)
        if gone:
            await asyncio.to_thread(self._note, noted - gone)
        for topic, message in wanted.items():
            if self._published.get(topic) != message:
                if not await broker.publish_retained(topic, message):
                    return False
                self._published[topic] = message
        return True

    def _wanted(self) -> dict[str, str]:
        found: dict[str, str] = {}
        events = self._senses.lasting_events()
        for device, senses in self._senses.senses_of_boards().items():
            found |= device_messages(self._prefix, device, senses, events.get(device, ()))
            if len(found) > MOST_TOPICS:
                _log.warning("not all senses are published: there are too many", extra={"repeat": "too many senses"})
                break
        return found

    def _noted(self) -> set[str]:
        return set(json.loads(self._values.get(_TOPICS) or "[]"))

    def _note(self, topics: set[str]) -> None:
        self._values.put(_TOPICS, json.dumps(sorted(topics)))
