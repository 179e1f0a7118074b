"""Senses in Home Assistant: what stands at a real broker is as its MQTT discovery documents it, and goes when it is to go."""

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiomqtt
import pytest

import get_mosquitto
from cli_case import fine
from engram_host.companion.errors import SettingError
from engram_host.companion.home_assistant.publisher import device_messages, home_assistant_prefix
from engram_host.companion.settings import MqttSettings
from engram_host.companion.store.senses.types import StoredEvent, StoredSense
from one_case import in_one_case
from peers import Broker, Companion
from perceiving_board import NOW, PerceivingBoard
from sending import Sent
from waiting import SECONDS, wait_until

_COMMON: dict[str, type] = {
    "name": str,
    "unique_id": str,
    "state_topic": str,
    "value_template": str,
    "json_attributes_topic": str,
    "device_class": str,
    "device": dict,
    "origin": dict,
}
_FIELDS: dict[str, dict[str, type]] = {
    "sensor": _COMMON | {"state_class": str, "unit_of_measurement": str, "suggested_display_precision": int},
    "binary_sensor": _COMMON | {"payload_on": str, "payload_off": str},
}
"""Fields of a discovery message that are used here, of those that Home Assistant documents for its MQTT sensors."""

_UNITS = {
    "temperature": {"°C", "°F", "K"},
    "humidity": {"%"},
    "atmospheric_pressure": {"hPa", "mbar", "kPa", "Pa", "bar", "inHg", "mmHg", "psi", "cbar"},
    "voltage": {"V", "mV", "µV", "kV", "MV"},
    "current": {"A", "mA"},
    "power": {"W", "kW", "mW", "MW", "GW", "TW"},
    "illuminance": {"lx"},
    "signal_strength": {"dB", "dBm"},
}
"""The units that a class of a sensor takes."""


def check_discovery(topic: str, payload: str) -> dict[str, Any]:
    """The fields of a discovery message that is as documented."""
    found = re.fullmatch(r"homeassistant/(sensor|binary_sensor)/([a-zA-Z0-9_-]+)/([a-zA-Z0-9_-]+)/config", topic)
    assert found, topic
    fields = json.loads(payload)
    allowed = _FIELDS[found[1]]
    assert set(fields) <= set(allowed), set(fields) - set(allowed)
    assert all(isinstance(value, allowed[name]) for name, value in fields.items()), fields
    assert {"name", "unique_id", "state_topic", "device", "origin"} <= set(fields)
    assert set(fields["device"]) <= {"identifiers", "name", "manufacturer"} and fields["device"]["identifiers"]
    assert set(fields["origin"]) <= {"name", "sw", "url"} and fields["origin"]["name"]
    for name in ("state_topic", "json_attributes_topic"):
        assert not set(fields[name]) & set("+#\0"), fields[name]
    if found[1] == "binary_sensor":
        assert fields["device_class"] == "problem"
    elif kind := fields.get("device_class"):
        assert fields["unit_of_measurement"] in _UNITS[kind], fields
    if found[1] == "sensor":
        assert fields["state_class"] == "measurement" and 0 <= fields["suggested_display_precision"] <= 3
    return fields


# --- the messages


@in_one_case(
    "name, unit, kind",
    [("cellar", "°C", "temperature"), ("Humidity", "%", "humidity"), ("soil", "%", None), ("浴室湿度", "%", "humidity"),
     ("air", "hPa", "atmospheric_pressure"), ("wifi", "dBm", "signal_strength"), ("free heap", "KB", None), ("door", "", None),
     ("light", "lx", "illuminance"), ("cell", "mV", "voltage"), ("odd", "°C ", None)],
)  # fmt: skip
def test_a_sense_is_of_the_class_of_its_unit(name: str, unit: str, kind: str | None):
    found = device_messages("homeassistant", "kitchen-2", [StoredSense(4, 0, name, unit, 1, NOW, 214)], [])
    configs = {topic: check_discovery(topic, found[topic]) for topic in found if topic.startswith("homeassistant/")}
    assert configs["homeassistant/sensor/engram_kitchen-2/4/config"].get("device_class") == kind
    for fields in configs.values():
        assert fields["state_topic"] in found


def test_states_have_the_reading_and_the_event_that_lasts():
    event = StoredEvent(3, 4, "low", NOW, 0, {"value": 31})
    ended = StoredEvent(2, 4, "high", NOW - 9, NOW, {})
    found = device_messages("homeassistant", "k", [StoredSense(4, 0, "cellar", "°C", 1, NOW, 214)], [ended, event])
    assert json.loads(found["engram/v1/k/senses/4"]) == {"value": 21.4, "at": NOW}
    assert json.loads(found["engram/v1/k/senses/4/event"]) == {"state": "ON", "kind": "low", "start": NOW, "value": 3.1}


def test_a_sense_without_a_reading_has_no_state_yet():
    found = device_messages("homeassistant", "k", [StoredSense(4, 0, "cellar", "", 1, 0, 0)], [])
    assert "engram/v1/k/senses/4" not in found and json.loads(found["engram/v1/k/senses/4/event"]) == {"state": "OFF"}


def test_it_needs_the_broker_of_home_assistant_and_a_topic():
    assert home_assistant_prefix(MqttSettings()) == ""
    with pytest.raises(SettingError, match=r"mqtt\.url"):
        home_assistant_prefix(MqttSettings(home_assistant=True))
    for prefix in ("", "/", "a/#", "+"):
        with pytest.raises(SettingError, match="must be a topic"):
            home_assistant_prefix(MqttSettings(home_assistant=True, url="mqtt://b:1", home_assistant_prefix=prefix))


# --- at a broker


def retained(broker: Broker) -> dict[str, str]:
    """What the broker keeps."""

    async def work() -> dict[str, str]:
        found: dict[str, str] = {}
        async with aiomqtt.Client("127.0.0.1", broker.port, timeout=SECONDS) as client:
            await client.subscribe("#", qos=1)
            await client.publish("end", b"", qos=1)
            async for message in client.messages:
                if message.topic.value == "end":
                    return found
                if message.retain:
                    assert isinstance(message.payload, bytes)
                    found[message.topic.value] = message.payload.decode()
        return found

    return asyncio.run(work())


@pytest.fixture
def broker() -> Iterator[Broker]:
    if not get_mosquitto.usable():
        pytest.skip("there is no mosquitto for this machine")
    with Broker() as running:
        yield running


def test_senses_are_shown_as_long_as_there_are_any_and_it_is_wanted(broker: Broker, tmp_path: Path):
    wanted = {"ENGRAM_MQTT_HOME_ASSISTANT": "true"}
    with Companion(tmp_path / "home", mqtt_url=broker.url, **wanted) as companion:
        kitchen = PerceivingBoard(Sent(companion.posted), tmp_path / "flash")
        kitchen.perceive("cellar", [11.5, 11.4] * 40, unit="°C")
        kitchen.perceive("door", [0, 1] * 40)
        kitchen.tell()

        def shown() -> dict[str, str]:
            found = retained(broker)
            is_all = len(found) == 8 and json.loads(found["engram/v1/kitchen/senses/1"])["value"] == 11.4
            return found if is_all else {}

        found = wait_until("both are shown, with what came last", shown)
        configs = [check_discovery(topic, found[topic]) for topic in found if topic.startswith("homeassistant/")]
        assert {fields["name"] for fields in configs} == {"cellar", "door", "cellar event", "door event"}
        kitchen.senses.forget(kitchen.find("door"))
        kitchen.tell()
        wait_until("it has gone", lambda: len(retained(broker)) == 4)
    assert len(retained(broker)) == 4
    with Companion(tmp_path / "home", mqtt_url=broker.url):
        wait_until("all has gone", lambda: not retained(broker))


def perceive(companion: Companion, folder: Path) -> None:
    """Let a board have a sense."""
    kitchen = PerceivingBoard(Sent(companion.posted), folder / "flash")
    kitchen.perceive("cellar", [11.5] * 70)
    kitchen.tell()


def test_a_broker_that_has_lost_what_it_kept_gets_it_again(broker: Broker, tmp_path: Path):
    with Companion(tmp_path / "home", mqtt_url=broker.url, ENGRAM_MQTT_HOME_ASSISTANT="true") as companion:
        perceive(companion, tmp_path)
        wait_until("it is shown", lambda: len(retained(broker)) == 4)
        broker.kill()
        broker.start()
        wait_until("it is shown again", lambda: len(retained(broker)) == 4)


def test_an_erased_board_goes_at_the_broker(broker: Broker, tmp_path: Path):
    with Companion(tmp_path / "home", mqtt_url=broker.url, ENGRAM_MQTT_HOME_ASSISTANT="true") as companion:
        perceive(companion, tmp_path)
        wait_until("it is shown", lambda: len(retained(broker)) == 4)
        companion.kill()
        fine("board", "erase", "kitchen", "--yes", "--home", tmp_path / "home")
        companion.start()
        wait_until("it has gone", lambda: not retained(broker))


def test_nothing_is_published_unless_it_is_wanted(broker: Broker, tmp_path: Path):
    with Companion(tmp_path / "home", mqtt_url=broker.url) as companion:
        perceive(companion, tmp_path)
        assert retained(broker) == {}
