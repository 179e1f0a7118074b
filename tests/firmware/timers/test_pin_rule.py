"""Pins at a time without a model: what the owner plainly asks for sets one, and nothing else does."""

import fakes

fakes.install()

from board import Board, lines_of  # noqa: E402
from channel import Network  # noqa: E402
from engram import files  # noqa: E402
from engram.build_tools import add_pins  # noqa: E402
from engram.memory.access import OWNER, Caller  # noqa: E402
from engram.tools import pin_driver  # noqa: E402
from fakes import machine  # noqa: E402
from support import let_others_run  # noqa: E402
from timed import ANN, CHAT, GROUP  # noqa: E402
from turns import say  # noqa: E402

TABLE = {
    "lamp": {"pin": 5, "mode": "out"},
    "灯": {"pin": 6, "mode": "out"},
    "Fan": {"pin": 18, "mode": "pwm"},
    "door": {"pin": 14, "mode": "in"},
}
TONIGHT = "on Monday 2026-09-21 22:00"

ASKED = (
    ("turn off the lamp at 22:00", TONIGHT, "lamp", "off"),
    ("Turn the lamp off at 22:00.", TONIGHT, "lamp", "off"),
    ("at 22:00 turn on the lamp", TONIGHT, "lamp", "on"),
    ("switch on lamp at 10pm!", TONIGHT, "lamp", "on"),
    ("please turn off my lamp at 22:00", TONIGHT, "lamp", "off"),
    ("turn the Fan on in 20 minutes", "on Monday 2026-09-21 14:33", "Fan", "on"),
    ("every day at 22:00 turn off the lamp", "every day at 22:00", "lamp", "off"),
    ("晚上十点关灯", TONIGHT, "灯", "off"),
    ("晚上十點關掉灯。", TONIGHT, "灯", "off"),
    ("晚上十点把灯打开", TONIGHT, "灯", "on"),
    ("二十分钟后打开lamp", "on Monday 2026-09-21 14:33", "lamp", "on"),
)

NOT_ASKED = (
    "turn off the lamp",
    "turn off the lamp at 22:00?",
    "did you turn off the lamp at 22:00",
    "I turn off the lamp at 22:00",
    "he said: turn off the lamp at 22:00",
    "don't turn off the lamp at 22:00",
    "turn off the door at 22:00",
    "turn off the heating at 22:00",
    "turn off pin 12 at 22:00",
    "turn off the lamp 12 at 22:00",
    "turn off the lamp and the fan at 22:00",
    "turn off the lamp at night",
    "turn the lamp at 22:00",
    "lamp on at 22:00",
    "turn off the Lamp at 22:00",
    "turn off the lamp at 22:00 and on at 23:00",
    "晚上十点关灯了吗",
    "晚上十点关灯吗？",
    "他晚上十点关灯",
    "晚上关灯",
    "晚上十点关门",
)


def _board():
    pin_driver.machine = machine
    machine.power_on()
    board = Board().serve()
    Network(board.inbox)
    with open(board.folder + "/code.json", "w") as file:
        file.write('{"forbidden_pins": [0, 3, 12]}')
    board.config._tables["pins"] = TABLE
    add_pins(board)
    return board


async def test_what_the_owner_plainly_asks_for_sets_a_pin_at_its_time():
    for said, when, pin, value in ASKED:
        board = _board()
        _, ear = await say(board, said, CHAT)
        assert ear.heard.startswith("w1: " + when), (said, ear.heard)
        wanted = 'I call pin_set {"pin":"%s","value":"%s"}' % (pin, value)
        assert ear.heard.endswith(wanted), (said, ear.heard)


async def test_what_is_no_such_request_goes_on_as_before():
    board = _board()
    for said in NOT_ASKED:
        await say(board, said, CHAT)
        assert board.timers is None, said


async def test_others_and_groups_set_no_pin():
    board = _board()
    for caller in (ANN, GROUP, Caller("owner", "net 4", True, "")):
        for said, _, _, _ in ASKED:
            await say(board, said, caller)
    assert board.timers is None


async def test_when_it_is_due_the_pin_is_set():
    board = _board()
    await say(board, "turn on the lamp in 20 minutes", CHAT)
    del machine.driven[:]
    board.now += 1201
    await board.timers.tell_due()
    await let_others_run()
    assert machine.driven == [(5, 1)]


async def test_what_cannot_be_is_answered_with_the_reason():
    board = _board()
    await say(board, "turn on the lamp at 22:00", CHAT)
    assert "there already as w1" in (await say(board, "turn on the lamp at 22:00", CHAT))[1].heard
    assert "has passed" in (await say(board, "turn on the lamp today at 8:00", CHAT))[1].heard
    assert len(lines_of(board, "/timers", OWNER)) >= 2 and files.size(board.timers.path) > 0
