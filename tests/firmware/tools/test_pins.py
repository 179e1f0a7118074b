"""Pins by name: on a chip, simulated, by the model's tools and by /pin."""

import json

import fakes

fakes.install()

from board import Board, error_of, lines_of  # noqa: E402
from engram.agent.agent import Turn  # noqa: E402
from engram.channels.console.commands.stats import find_status  # noqa: E402
from engram.errors import ConfigError  # noqa: E402
from engram.llm.types import Call  # noqa: E402
from engram.memory.access import OWNER, Caller  # noqa: E402
from engram.tools import pin_config, pin_driver  # noqa: E402
from fakes import machine  # noqa: E402
from support import raises  # noqa: E402

ANN = Caller("ann", "chat", False, "")
OWNER_IN_GROUP = Caller("owner", "club", True, "")

TABLE = {
    "lamp": {"pin": 5, "mode": "out"},
    "pump": {"pin": 6, "mode": "out", "invert": True},
    "fan": {"pin": 18, "mode": "pwm", "safe": 20, "freq": 1000},
    "door": {"pin": 14, "mode": "in", "pull": "up"},
    "soil": {"pin": 7, "mode": "adc"},
    "bell": {"pin": 8, "mode": "out"},
}


def _power_on(on_chip):
    pin_driver.machine = machine if on_chip else None
    machine.power_on()
    machine.levels.clear()
    machine.inputs.clear()
    del machine.driven[:]


def _board(table=None, on_chip=True, forbidden="[0, 3]", **settings):
    _power_on(on_chip)
    board = Board().serve(**settings)
    with open(board.folder + "/code.json", "w") as file:
        file.write('{"forbidden_pins": %s}' % forbidden)
    board.config._tables["pins"] = TABLE if table is None else table
    board.add_pins()
    return board


async def _call(board, name, caller=OWNER, **arguments):
    done = await board.toolbox.answer(Call("c", name, json.dumps(arguments)), Turn(caller, 1, ""))
    return json.loads(done.result), done.notice


# --- on a chip


def test_outputs_have_their_safe_state_with_the_direction():
    _board()
    assert dict(machine.levels) == {5: 0, 6: 1, 18: 65535 * 20 // 100, 8: 0}
    assert len(machine.driven) == 4


async def test_the_model_sets_outputs_by_name():
    board = _board()
    assert await _call(board, "pin_set", pin="lamp", value="on") == ({"result": {"lamp": "on"}}, "lamp is on")
    assert machine.levels[5] == 1
    assert await _call(board, "pin_set", pin="pump", value="on") == ({"result": {"pump": "on"}}, "pump is on")
    assert machine.levels[6] == 0
    assert (await _call(board, "pin_set", pin="fan", value=40))[0] == {"result": {"fan": "40%"}}
    assert machine.levels[18] == 65535 * 40 // 100
    for value, duty in (("on", 65535), ("off", 0), (100, 65535), (0, 0)):
        await _call(board, "pin_set", pin="fan", value=value)
        assert machine.levels[18] == duty
    await _call(board, "pin_set", pin="lamp", value=0)
    assert machine.levels[5] == 0


async def test_the_model_reads_pins():
    board = _board()
    machine.inputs.update({14: 0, 7: 1234})
    found = {"bell": "off", "door": "off", "fan": "20%", "lamp": "off", "pump": "off", "soil": "1234 mV"}
    assert await _call(board, "pin_read") == ({"result": found}, "")
    machine.inputs[14] = 1
    assert await _call(board, "pin_read", pin="door") == ({"result": {"door": "on"}}, "")


async def test_a_wrong_value_and_an_input_are_refused():
    board = _board()
    del machine.driven[:]
    for pin, value in (
        ("lamp", 40), ("lamp", 2), ("door", "on"), ("soil", "on"), ("lamp", "bright"), ("fan", 101),
        ("lamp", None),
    ):  # fmt: skip
        result, notice = await _call(board, "pin_set", pin=pin, value=value)
        assert "error" in result and notice == "", (pin, value)
    assert machine.driven == []


def test_a_pin_that_the_chip_refuses_is_named():
    no_timer = {"pin": 18, "mode": "pwm", "freq": machine.NO_TIMER_HZ}
    for entry in ({"pin": 22, "mode": "out"}, {"pin": 34, "mode": "adc"}, no_timer):
        with raises(ConfigError) as caught:
            _board({"lamp": entry})
        assert "config: pins.lamp: the chip refuses pin %d" % entry["pin"] in str(caught.error)


def test_the_list_of_the_board_is_asked_for_on_a_chip():
    with raises(ConfigError) as caught:
        _board({"lamp": {"pin": 3, "mode": "out"}})
    assert "pin: 3 is never allowed" in str(caught.error) and machine.driven == []
    with raises(ConfigError) as caught:
        _board(forbidden="null")
    assert "deploy Engram" in str(caught.error) and machine.driven == []


# --- who may


async def test_pins_are_for_the_owner_in_private_alone():
    board = _board()
    schema = {tool.name: json.loads(tool.schema) for tool in board.toolbox.listed(OWNER)}["pin_set"]
    assert schema["properties"]["pin"]["enum"] == ["bell", "fan", "lamp", "pump"]
    for caller in (ANN, OWNER_IN_GROUP):
        assert "pin_" not in str([tool.name for tool in board.toolbox.listed(caller)])
        for name, arguments in (("pin_set", {"pin": "lamp", "value": "on"}), ("pin_read", {})):
            assert "there is no tool" in (await _call(board, name, caller, **arguments))[0]["error"]["problem"]
        assert "for the owner" in error_of(board, "/pin lamp on", caller)
    assert machine.levels[5] == 0


# --- the command


def test_pin_shows_and_sets_pins():
    board = _board()
    machine.inputs[7] = 900
    assert lines_of(board, "/pin") == [
        "bell: off (out, pin 8)",
        "door: on (in, pin 14)",
        "fan: 20% (pwm, pin 18)",
        "lamp: off (out, pin 5)",
        "pump: off (out, pin 6)",
        "soil: 900 mV (adc, pin 7)",
    ]
    assert lines_of(board, "/pin lamp on") == ["lamp: on (out, pin 5)"] and machine.levels[5] == 1
    assert lines_of(board, "/pin fan 40") == ["fan: 40% (pwm, pin 18)"]
    assert lines_of(board, "/pin fan") == ["fan: 40% (pwm, pin 18)"]
    assert "takes on, off." in error_of(board, "/pin lamp 40")
    assert "is an input" in error_of(board, "/pin door on")
    assert "there is no pin light; there are bell" in error_of(board, "/pin light on")


# --- simulated


def test_simulated_pins_are_shown_as_such_and_need_no_list():
    board = _board(on_chip=False, forbidden="null")
    assert lines_of(board, "/pin lamp on") == ["lamp: on (out, simulated, pin 5)"]
    assert lines_of(board, "/pin door on") == ["door: on (in, simulated, pin 14)"]
    assert lines_of(board, "/pin soil 1500") == ["soil: 1500 mV (adc, simulated, pin 7)"]
    assert "0 to 3300" in error_of(board, "/pin soil dry")
    assert machine.driven == []


# --- what else shows and does


def test_the_companion_is_told_the_pins():
    board = _board()
    found = find_status(board)["pins"]
    assert found == {"bell": "off", "door": "on", "fan": 20, "lamp": "off", "pump": "off", "soil": None}
    assert "pins" not in find_status(Board().serve())


def test_an_output_that_refuses_its_safe_state_leaves_the_others_safe():
    board = _board()
    list(board.pins.command(OWNER, "lamp on"))
    driver = board.pins._pins[0][1]
    first = board.pins._pins[0][0].name
    other = "bell" if first == "lamp" else "lamp"
    list(board.pins.command(OWNER, other + " on"))

    for error in (OSError(5), RuntimeError("no timer")):

        def refuse(_, error=error):
            raise error

        list(board.pins.command(OWNER, other + " on"))
        driver.write = refuse
        board.pins.make_safe()
        assert board.pins.values()[other] == "off"


# --- before the app, and without it


def _safe(table, forbidden="[0, 3]"):
    _power_on(True)
    found = {"pins": table, "forbidden_pins": json.loads(forbidden)}
    read, pin_config.read_object = pin_config.read_object, lambda path, longest: found
    try:
        pin_driver.make_safe()
    finally:
        pin_config.read_object = read
    return dict(machine.levels)


def test_a_pin_that_is_wrong_leaves_the_others_safe():
    table = {
        "a": {"pin": 3, "mode": "out"},
        "b": {"pin": 22, "mode": "out"},
        "c": {"mode": "out"},
        "d": 3,
        "lamp": TABLE["lamp"],
    }
    assert _safe(table) == {5: 0}


def test_without_the_boards_list_no_pin_is_touched():
    assert _safe(TABLE, "null") == {}
