"""A board starts from its image, with stand-ins for the chip's own modules only; whatever goes wrong ends at the prompt."""

import socket
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import chip_flash
from chip_flash import HARD_RESET, RESET, WATCHDOG, Chip
from driving import SECONDS, Talk
from engram_host.firmware import FIRMWARE
from fake_llm import Serving
from skips import needs_32_bit

Scripted = Callable[..., Serving]
Boards = Callable[..., Chip]

CTRL_D = "\x04"
CONSOLE, PROMPT = "\n> ", ">>> "
SAFE_MODE = "Engram is in safe mode"
NO_WIFI = {"secrets.json": b"{}"}
"""A board that has the network some other way, and so at once."""


pytestmark = needs_32_bit


@pytest.fixture
def board(tmp_path: Path) -> Boards:
    """Makes a board; settings by dotted name, a dot being written as two underscores."""

    def make(files: dict[str, bytes | None] | None = None, size: int = 1 << 20, **settings: Any) -> Chip:
        named = {name.replace("__", "."): value for name, value in settings.items()}
        return Chip(tmp_path / "board", files or {}, named, size)

    return make


def asked(talk: Talk, line: str) -> str:
    """What the console answers to a line."""
    talk.type(line + "\r")
    talk.heard(line)
    return talk.heard(CONSOLE)


def at_prompt(talk: Talk, line: str) -> str:
    """What the prompt answers to a line."""
    talk.say(line)
    return talk.heard(PROMPT)


# --- all is well


def test_it_chats_and_remembers_after_a_restart(board: Boards, scripted: Scripted):
    store = {"name": "memory_store", "arguments": {"content": "The bike is green", "tags": ["bike"]}}
    server = scripted(
        {"when": {"contains": "my bike", "result": False}, "calls": [store]},
        {"when": {"contains": "which"}, "reply": "You said: {recalled}"},
        {"reply": ["Good", "."]},
    )
    made = board(llm__url=server.url + "/v1", llm__model="m")
    with made.start(speed=20) as talk:
        talk.heard("0 memories", CONSOLE)
        assert "remembered m1" in asked(talk, "my bike is green")
    with made.start() as talk:
        talk.heard("1 memory", CONSOLE)
        assert "The bike is green" in asked(talk, "which bike do I have?")
    assert b"The bike is green" in made.files()["memory/memory_records.jsonl"]


def test_a_start_says_that_it_begins_and_a_slow_one_that_it_goes_on(board: Boards):
    first, *rest = board().run().printed.splitlines()
    assert first == "Engram 0.1.0 is starting ..."
    boot = (FIRMWARE / "boot.py").read_text(encoding="utf-8") + "import module_packs\nmodule_packs._SIGN_MS = 0\n"
    lines = board({"boot.py": boot.encode()}).run().printed.splitlines()
    signs = lines.count(".")
    assert signs > 50 and lines == [first, *["."] * signs, *rest]  # none once it runs


def test_stats_show_the_network(board: Boards):
    with board().start(speed=20) as talk:
        talk.heard(CONSOLE)
        while "network   Home, 192.168.1.7, -50 dBm" not in (told := asked(talk, "/stats")):
            assert "network   down" in told


class TimeServer:
    """A server that gives one time over the network."""

    def __init__(self, unix: int):
        self._unix = unix
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.address = list(self._socket.getsockname())
        threading.Thread(target=self._answer, daemon=True).start()

    def _answer(self) -> None:
        while True:
            request, caller = self._socket.recvfrom(100)
            seconds = struct.pack(">II", self._unix + 2208988800, 0)
            self._socket.sendto(b"\x24\x02" + bytes(22) + request[40:48] + bytes(8) + seconds, caller)


def test_the_clock_is_set_from_the_network_and_what_is_remembered_has_its_day(board: Boards):
    server = TimeServer(1790000000)
    made = board(network__ntp="time.example")
    with made.start(speed=20, time_server=server.address) as talk:
        talk.heard(CONSOLE)
        while "2026-09-21 14:" not in (told := asked(talk, "/stats")):
            assert "the clock is not set" in told
        asked(talk, "remember that my bike is green")
        assert "m1      2026-09-21" in asked(talk, "/memory list")


def test_ctrl_c_leaves_to_the_prompt_with_the_app_at_hand(board: Boards):
    made = board()
    with made.start(interrupt=True) as talk:
        talk.heard(CONSOLE)
        made.press_ctrl_c()
        talk.heard("stopped; app.run() goes on")
        talk.heard(PROMPT)
        assert "m1" in at_prompt(talk, "print(app.memory.store('The bike is green', ['bike']))")
        talk.say("app.run()")
        assert "The bike is green" in asked(talk, "/memory list")


def test_ctrl_c_while_facts_are_read_leaves_the_model_to_the_next_message(board: Boards, scripted: Scripted):
    reading = {"when": {"offers": False}, "reply": [{"text": "[", "delay": 60.0}]}
    server = scripted(reading, {"reply": ["Good", "."]})
    made = board(NO_WIFI, llm__url=server.url + "/v1", llm__model="m", extract__pause_seconds=0)
    with made.start(interrupt=True) as talk:
        talk.heard(CONSOLE)
        assert "Good." in asked(talk, "my bike is green")
        server.wait_for_requests(2, SECONDS)
        made.press_ctrl_c()
        talk.heard(PROMPT)
        assert len(server.requests) == 2
        talk.say("app.run()")
        assert "Good." in asked(talk, "what a day")


def test_ctrl_d_leaves_to_the_prompt_too_and_the_app_goes_on_when_it_is_asked(board: Boards):
    with board().start() as talk:
        talk.heard(CONSOLE)
        talk.type(CTRL_D)
        talk.heard(PROMPT)
        talk.say("app.run()")
        assert "nothing is remembered" in asked(talk, "/memory list")


def test_a_deploy_that_was_sent_is_in_effect(board: Boards):
    ready = b"+ main.py\n- engram/old.mpy\n"
    files = {"engram/old.mpy": b"old", "next/main.py": b"print('the new main')\n", "next/READY": ready}
    made = board(files)
    assert "the new main" in made.run().printed
    assert made.files()["main.py"] == b"print('the new main')\n" and "engram/old.mpy" not in made.files()


# --- what goes wrong ends at the prompt


def test_a_wrong_setting_is_named_and_is_no_crash(board: Boards):
    made = board({"config.json": b'{"llm": {"urll": "x"}}'})
    for _ in range(5):
        printed = made.run("print(6 * 7)", cause=HARD_RESET).printed
        assert "Engram did not start: config: llm.urll" in printed and PROMPT + "42" in printed
        assert SAFE_MODE not in printed


def test_a_damaged_pack_ends_at_the_prompt(board: Boards):
    name = "engram/engram.pack"
    pack = chip_flash.code()[name]
    flipped = pack[:50_000] + bytes(byte ^ (at % 500 == 0) for at, byte in enumerate(pack[50_000:]))
    for damaged in (pack[:9000], pack[:60_000], flipped, pack.replace(b" ", b"x", 1), b"x" * 300, b"", None):
        printed = board({name: damaged}).run("print(6 * 7)").printed
        assert "Engram could not be started: deploy it again." in printed and PROMPT + "42" in printed


def test_a_board_without_the_module_of_the_packs_ends_at_the_prompt(board: Boards):
    printed = board({"module_packs.mpy": None}).run("print(6 * 7)").printed
    assert "Engram could not be started: deploy it again." in printed and PROMPT + "42" in printed


def test_behind_the_boot_py_of_an_older_engram_it_starts(board: Boards):
    assert "lists the commands" in board({"boot.py": b"import os\n"}).run().printed


def test_a_board_without_psram_says_so_and_ends_at_the_prompt(board: Boards):
    printed = board().run("print(6 * 7)", heap=140).printed
    assert "Engram did not start: it needs PSRAM." in printed and PROMPT + "42" in printed


def test_a_driver_without_memory_leaves_a_board_without_network(board: Boards):
    with board().start(wifi=False) as talk:
        told = talk.heard(CONSOLE)
        assert "[error network: there is no Wi-Fi: Wifi Out of Memory; all else goes on]" in told
        assert "Remembered as m1" in asked(talk, "remember that my bike is green")


@pytest.mark.parametrize("room", [0, 9000, 40000])
def test_a_flash_that_is_full_starts_or_says_so(board: Boards, room: int):
    size = 1024 * 1024
    taken = sum((len(content) + 4095) // 4096 * 4096 for content in chip_flash.code().values())
    made = board({"filler": b"x" * (size - taken - 110_000 - room)}, size=size)
    printed = made.run("/memory list").printed
    assert "nothing is remembered" in printed or "the flash is full" in printed, printed
    assert "Traceback" not in printed


def test_a_deploy_that_cannot_be_finished_is_reported_and_the_app_does_not_start(board: Boards):
    made = board({"wall": b"", "next/wall/new.mpy": b"new", "next/READY": b"+ wall/new.mpy\n"})
    printed = made.run().printed
    assert "boot.py: OSError" in printed and "a deploy is not finished" in printed
    assert "next/READY" in made.files()


# --- starts that end badly


def crash(made: Chip) -> None:
    """Start a board, which is reset by its watchdog as soon as its console is there."""
    with made.start(WATCHDOG) as talk:
        talk.heard(CONSOLE)
        talk.kill()


def test_after_three_bad_starts_the_next_is_without_the_app(board: Boards):
    made = board()
    for _ in range(3):
        crash(made)
    printed = made.run("print(6 * 7)", cause=WATCHDOG).printed
    assert SAFE_MODE in printed and PROMPT + "42" in printed and "lists the commands" not in printed


def test_power_that_was_lost_leaves_safe_mode(board: Boards):
    made = board()
    for _ in range(3):
        crash(made)
    assert SAFE_MODE not in made.run().printed


def test_a_stop_by_ctrl_c_is_no_bad_start(board: Boards):
    made = board()
    for _ in range(5):
        printed = made.run(cause=HARD_RESET, interrupt=1).printed
        assert SAFE_MODE not in printed and "stopped" in printed


FAST = "import time; time.speed = 100"
"""What lets the time of a board pass faster that is at its prompt: before that it could be reset on a busy machine."""

HANG = "async def hang():\n import time\n while True: time.ticks_ms()\n"


def test_an_app_that_hangs_is_reset_by_the_watchdog(board: Boards):
    with board(watchdog__seconds=30).start() as talk:
        talk.heard(CONSOLE)
        talk.type(CTRL_D)
        talk.heard(PROMPT)
        at_prompt(talk, FAST)
        at_prompt(talk, f"exec({HANG!r})")
        at_prompt(talk, "app.add_channel('hang', hang)")
        talk.say("app.run()")
        assert talk.status() == RESET


def test_a_board_at_its_prompt_is_not_reset_by_the_watchdog(board: Boards):
    with board(watchdog__seconds=30).start() as talk:
        talk.heard(CONSOLE)
        talk.type(CTRL_D)
        talk.heard(PROMPT)
        at_prompt(talk, FAST)
        hours = "import time, fakes.world as world\nwhile world.now < 200000: time.ticks_ms()\n"
        at_prompt(talk, f"exec({hours!r})")
        assert "42" in at_prompt(talk, "print(6 * 7)")
