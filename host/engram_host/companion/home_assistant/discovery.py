"""Home Assistant's MQTT discovery: a sensor for each sense of a board, and one for its events.

https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery lists the fields.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from engram_host import __version__
from engram_host.companion.errors import SettingError
from engram_host.companion.settings import MqttSettings
from engram_host.companion.store.senses.types import StoredEvent, StoredSense

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
