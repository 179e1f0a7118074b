"""The serial line as an interface: pyserial on a terminal's pair, with the firmware on its other end, as on a board's port."""

import contextlib
import io
import json
import os
import pty
import random
import subprocess
import sys
import threading
import tty
from collections.abc import Callable, Iterator

import pytest
import serial

from driving import SECONDS, Home
from engram_host.boards import json_lines
from engram_host.boards.json_lines import open_console
from engram_host.cli.commands import main
from engram_host.simulator import board as sim
from fake_llm import Serving

Scripted = Callable[..., Serving]


class Port:
    """A serial port with a board on it: `path` is what a program opens."""

    def __init__(self, home: Home, *, echo: bool = True, lossy: "Lossy | None" = None):
        home.folder.mkdir(exist_ok=True)
        ours, theirs = pty.openpty()
        tty.setraw(theirs)
        # Held open, as a plugged-in board keeps its port.
        self._held = theirs
        self.path = os.ttyname(theirs)
        keys = lossy.through(ours) if lossy else ours
        settings = {"console.echo": echo, **home.settings}
        variables = home.variables() | {
            "ENGRAM_SETTINGS": json.dumps(settings),
            "ENGRAM_TERMINAL": "1" if echo else "",
            "MICROPYPATH": sim.SEARCH_PATH,
        }
        self.process = subprocess.Popen(sim.command(), stdin=keys, stdout=ours, stderr=ours, env=variables)
        os.close(ours)
        if lossy:
            os.close(keys)

    def unplug(self) -> None:
        """End the board."""
        self.process.kill()
        self.process.wait()
        os.close(self._held)


class Lossy:
    """A UART that loses bytes on the way to the board, at places that a seed chooses, as long as `is_on`."""

    def __init__(self, seed: int, one_in: int):
        self.is_on = False
        self.lost = 0
        self._dice = random.Random(seed)
        self._one_in = one_in

    def through(self, source: int) -> int:
        """What is left of what comes from a file descriptor."""
        source = os.dup(source)
        read, write = os.pipe()
        threading.Thread(target=self._pump, args=(source, write), daemon=True).start()
        return read

    def _pump(self, source: int, target: int) -> None:
        with contextlib.suppress(OSError):
            while data := os.read(source, 4096):
                kept = bytes(byte for byte in data if not self._loses())
                self.lost += len(data) - len(kept)
                os.write(target, kept)

    def _loses(self) -> bool:
        return self.is_on and not self._dice.randrange(self._one_in)


@pytest.fixture
def plugged(home: Home) -> Iterator[Callable[..., Port]]:
    """Boards on ports: `plugged()` gives one; `home` is its folder if no other is named."""
    with contextlib.ExitStack() as stack:

        def plug(where: Home = home, **more: object) -> Port:
            port = Port(where, **more)  # type: ignore[arg-type]
            stack.callback(port.unplug)
            return port

        yield plug


def raw(port: Port) -> serial.Serial:
    return serial.Serial(port.path, 115200, timeout=SECONDS)


def told(line: serial.Serial) -> list[dict]:
    """The answers to one request, to their end."""
    answers = []
    while not answers or "done" not in answers[-1]:
        data = line.readline()
        assert data.endswith(b"\n"), f"no more came after {answers}"
        if data.startswith(b"{"):
            answers.append(json.loads(data))
    return answers


def texts(answers: list[dict], kind: str) -> list[str]:
    return [answer[kind] for answer in answers if kind in answer]


# --- the protocol, byte by byte


@pytest.mark.parametrize("echo", [True, False])
def test_json_is_spoken_from_json_on_to_json_off(plugged: Callable[..., Port], echo: bool):
    with raw(plugged(echo=echo)) as line:
        line.read_until(b"lists the commands.")
        line.write(b"/json on\r\n")
        greeting = json.loads(line.read_until(b"}").rpartition(b"\n")[2])
        assert greeting["json"] == 1 and greeting["line_bytes"] == 12000
        line.readline()
        line.write(b'{"id": 7, "say": "remember that my bike is green"}\n')
        answers = told(line)
        assert {answer["id"] for answer in answers} == {7}
        assert answers[0]["taken"] is True and "Remembered as m1" in "".join(texts(answers, "text"))
        line.write(b'{"id": "a", "command": "/memory list"}\n')
        assert any("my bike is green" in text for text in texts(told(line), "line"))
        line.write(b"/json off\n")
        line.write(b"/stats\r\n")
        assert b"version   " in line.read_until(b"heap ")


def test_a_line_that_is_none_is_reported_and_the_next_is_answered(plugged: Callable[..., Port]):
    with raw(plugged()) as line:
        line.read_until(b"lists the commands.")
        line.write(b"/json on\n")
        line.read_until(b'"crc"')
        line.readline()
        line.write(b"hello\n" + b"x" * 13000 + b'\n\n{"id":1,"command":"/help undo"}\n')
        answers = told(line)
        assert "no JSON object" in answers[0]["error"] and "13000 bytes" in answers[1]["error"]
        assert texts(answers, "line")[0] == "/undo [ID]"


# --- the host's side of it


def test_a_conversation_over_a_port(home: Home, scripted: Scripted, plugged: Callable[..., Port]):
    store = {"name": "memory_store", "arguments": {"content": "The bike is green", "tags": ["bike"]}}
    server = scripted({"when": {"result": False}, "calls": [store], "times": 1}, {"reply": "Good, 你好."})
    with open_console(plugged(home.asking(server.url)).path) as board:
        answers = list(board.ask(say="my bike is 绿色"))
        assert texts(answers, "notice") == ["remembered m1: The bike is green"]
        assert "".join(texts(answers, "text")).strip() == "Good, 你好."
        assert any("The bike is green" in line for line in texts(list(board.ask(command="/memory list")), "line"))
    assert home.turns()[0]["text"] == "my bike is 绿色"


def test_a_program_that_died_leaves_a_board_that_the_next_can_use(plugged: Callable[..., Port]):
    port = plugged()
    with raw(port) as line:
        line.read_until(b"lists the commands.")
        line.write(b'/json on\n{"id":1,"say":"this is cut off in the mid')
        line.read_until(b'"crc"')
    with open_console(port.path) as board:
        assert texts(list(board.ask(command="/help undo")), "line")[0] == "/undo [ID]"


def test_what_a_line_lost_is_sent_again_until_it_is_whole(home: Home, plugged: Callable[..., Port], monkeypatch):
    monkeypatch.setattr(json_lines, "_NUDGE_SECONDS", 0.5)
    lossy = Lossy(seed=5, one_in=150)
    messages = [f"message {number} " + "abcdefgh " * 8 for number in range(12)]
    with open_console(plugged(lossy=lossy).path) as board:
        monkeypatch.setattr(json_lines, "_ATTEMPTS", 20)
        list(board.ask(command="/help undo"))
        lossy.is_on = True
        for message in messages:
            list(board.ask(say=message))
        lossy.is_on = False
    assert lossy.lost > 5
    assert [turn["text"] for turn in home.turns()] == [message.strip() for message in messages]


# --- make chat


def chatting(port: Port, monkeypatch, capsys, *lines: str) -> tuple[int, str]:
    """The status of `engram board chat`, which `make chat` calls, with these lines typed, and what it printed."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(line + "\n" for line in lines)))
    status = main(["board", "chat", "--port", port.path])
    return status, capsys.readouterr().out


def test_chat_talks_with_the_board(home: Home, scripted: Scripted, plugged: Callable[..., Port], monkeypatch, capsys):
    server = scripted({"reply": ["Hello ", "you."]})
    port = plugged(home.asking(server.url))
    status, printed = chatting(port, monkeypatch, capsys, "hello", "", "/help undo", "/nonsense")
    assert status == 0
    assert printed.splitlines()[0] == "Hello you."
    assert "/undo [ID]" in printed.splitlines() and "! /nonsense: there is no such command" in printed


def test_chat_shows_when_there_is_no_port(capsys):
    assert main(["board", "chat", "--port", "/dev/no-such-port"]) == 4
    assert "there is no port /dev/no-such-port" in capsys.readouterr().err


def test_chat_ends_when_the_board_is_unplugged(plugged: Callable[..., Port], monkeypatch, capsys):
    port = plugged()

    def keys(_prompt: str) -> str:
        os.kill(port.process.pid, 9)
        port.process.wait()
        return "hello"

    monkeypatch.setattr("builtins.input", keys)
    assert main(["board", "chat", "--port", port.path]) == 4
    assert "has gone" in capsys.readouterr().err
