"""Sensors of config.json are read by one task: each kind, its pace, failures that are reported once, and pins that change."""

import asyncio

import fakes

fakes.install()

from engram import diag  # noqa: E402
from engram.senses import sampling  # noqa: E402
from engram.senses.sampling import Sampling  # noqa: E402
from engram.tools import pin_driver  # noqa: E402
from engram.tools.pin_config import parse_pins  # noqa: E402
from engram.tools.pins import Pins  # noqa: E402
from fakes import machine, sensors, world  # noqa: E402
from sensing import NOW, Board, Machine  # noqa: E402

sampling.ticks_ms = world.ticks_ms  # pyright: ignore[reportAttributeAccessIssue]
sampling.sleep_ms = world.sleep_ms  # pyright: ignore[reportAttributeAccessIssue]

ROM, OTHER_ROM = "28ff641e8216c3a1", "28ff641e82000000"


class _WorldMachine(Machine):
    """A clock that goes on as the world does."""

    @property
    def now(self):
        return NOW + world.now // 1000

    @now.setter
    def now(self, at):
        pass


class _Sampled:
    """A board whose senses are sampled."""

    def __init__(self, table, pins=None):
        world.forget_all()
        world.now = 0
        machine.restart(machine.HARD_RESET)
        machine.inputs.clear()
        sensors.begin_anew()
        sensors.install()
        pin_driver.machine = machine
        pins = pins or {}
        named = Pins([(pin, pin_driver.open_driver(pin)) for pin in parse_pins(pins, ())], False)
        self.board = Board(machine=_WorldMachine(), table=table, pins=pins)
        self.readings = []
        observe = self.board.senses.observe

        def noted(name, value, unit=""):
            is_kept = observe(name, value, unit)
            sense = self.board.senses.find(name)
            self.readings.append((name, sense.at - NOW, sense.text(sense.last)))
            return is_kept

        self.board.senses.observe = noted
        self.sampling = Sampling(self.board.senses, self.board.configs, named)
        self.warnings = _warnings()

    async def run(self, seconds, then=None):
        """Let the sensors be read for some seconds; `then` is called at each pause."""
        task = asyncio.create_task(self.sampling.run())
        end = world.now + 1000 * seconds
        while world.now < end and not task.done():
            if then:
                then()
            await asyncio.sleep(0)
        assert not task.done()
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            pass

    def read(self, name):
        """The readings of a sense: (seconds since the start, value as people read it)."""
        return [(at, text) for other, at, text in self.readings if other == name]

    def told(self):
        """The warnings since the start."""
        return _warnings()[len(self.warnings) :]


def _warnings():
    return [line for line in diag.lines() if "senses: " in line]


# --- kinds


async def test_a_dht22_is_asked_once_for_both_of_its_senses():
    sampled = _Sampled(
        {
            "bedroom temperature": {"kind": "dht22", "pin": 4},
            "bedroom humidity": {"kind": "dht22", "pin": 4, "what": "humidity"},
        }
    )
    sensors.on_pins[4] = 21.4, 55.1
    await sampled.run(130)
    assert sampled.read("bedroom temperature") == [(at, "21.4 °C") for at in (0, 60, 120)]
    assert sampled.read("bedroom humidity") == [(at, "55.1 %") for at in (0, 60, 120)]
    assert sampled.told() == []


async def test_thermometers_of_one_bus_are_read_after_their_conversion_by_their_address():
    table = {"in": {"kind": "ds18b20", "pin": 4, "rom": ROM}, "out": {"kind": "ds18b20", "pin": 4, "rom": OTHER_ROM}}
    sampled = _Sampled(table)
    sensors.on_pins[4] = {ROM: 20.5, OTHER_ROM: -3.125}
    await sampled.run(61)
    assert [text for _, text in sampled.read("in")] == ["20.5 °C"] * 2
    assert [text for _, text in sampled.read("out")] == ["-3.1 °C"] * 2
    assert sensors.conversions == 2


# --- pins

INPUTS = {"door": {"pin": 14, "mode": "in"}}


async def test_an_adc_tells_millivolts_or_what_the_scale_of_its_pin_makes_of_them():
    pins = {"soil": {"pin": 7, "mode": "adc"}, "tank": {"pin": 8, "mode": "adc", "scale": [0.05, -10], "unit": "%"}}
    sampled = _Sampled({"soil": {"kind": "adc", "pin": "soil"}, "tank": {"kind": "adc", "pin": "tank"}}, pins)
    machine.inputs.update({7: 1234, 8: 1700})
    await sampled.run(1)
    assert sampled.read("soil")[0][1] == "1234.0 mV" and sampled.read("tank")[0][1] == "75.0 %"


async def test_a_pins_state_is_read_when_it_changes_and_at_its_pace():
    sampled = _Sampled({"door": {"kind": "pin", "pin": "door", "every": 30}}, INPUTS)
    world.after(10500, lambda: machine.set_input(14, 1))
    world.after(13500, lambda: machine.set_input(14, 0))
    await sampled.run(61)
    assert sampled.read("door") == [(0, "0"), (11, "1"), (14, "0"), (30, "0"), (60, "0")]


async def test_edges_are_counted_between_two_readings():
    sampled = _Sampled({"rain": {"kind": "pin", "pin": "door", "what": "count"}}, INPUTS)
    for at in range(1, 12):
        world.after(4000 * at, lambda at=at: machine.set_input(14, at % 2))
    await sampled.run(121)
    assert sampled.read("rain") == [(0, "0"), (60, "6"), (120, "0")]


# --- failures


async def test_a_sensor_that_fails_is_reported_once_until_it_works_again():
    sampled = _Sampled({"room": {"kind": "dht22", "pin": 4, "every": 10}})
    await sampled.run(100)
    assert len(sampled.told()) == 1 and "room cannot be read" in sampled.told()[0]
    sensors.on_pins[4] = 20.0, 50.0
    await sampled.run(20)
    assert "room is read again" in sampled.told()[1]
    sensors.faults.append(Exception("checksum error"))
    await sampled.run(30)
    assert "room cannot be read: checksum error" in sampled.told()[2] and "read again" in sampled.told()[3]
