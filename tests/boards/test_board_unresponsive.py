"""`make chat` to a board that does not answer: why, and what to try, within 10 seconds; one that lives is waited for."""

import ast
import contextlib
import io
import os
import pty
import sys
import threading
import tty
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engram_host.boards import json_lines
from engram_host.boards.json_lines import (
    LONGEST_START_SECONDS,
    LOOP_STARTS,
    PROBE,
    SILENT_SECONDS,
    START_SILENT_SECONDS,
    Greeting,
)
from engram_host.cli.commands import main

FIRMWARE = Path(__file__).resolve().parents[2] / "firmware"

ROM = b"ets Jul 29 2019 12:21:46\r\n\r\nrst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)\r\nentry 0x400805e4\r\n"
SYNTAX = b"Traceback (most recent call last):\r\nSyntaxError: invalid syntax\r\n>>> "
PLAIN = b'MicroPython v1.27.0 on 2025-12-09; Generic ESP32 module\r\nType "help()" for more information.\r\n>>> '

# --- what the firmware says, out of its own sources


def assigned(tree: ast.AST, name: str) -> str:
    """The text that a module, or a function of it, keeps under a name."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Assign)]
    (value,) = [node.value for node in nodes if ast.unparse(node.targets[0]) == name]
    return ast.literal_eval(value)


def printed(tree: ast.AST) -> list[list[ast.expr]]:
    """The arguments of each call of print()."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [call.args for call in calls if ast.unparse(call.func) == "print"]


def at_prompt(text: str) -> bytes:
    """What a serial line carries of a message, and the prompt after it."""
    return text.rstrip("\n").replace("\n", "\r\n").encode() + b"\r\n>>> "


START = ast.parse((FIRMWARE / "boot.py").read_text(encoding="utf-8"))
BOOT = ast.parse((FIRMWARE / "engram" / "device" / "boot.py").read_text(encoding="utf-8"))
MAIN = ast.parse((FIRMWARE / "main.py").read_text(encoding="utf-8"))
SAFE = at_prompt(assigned(BOOT, "_SAFE") % 3)
(_starts,) = [
    node.value for node in ast.walk(START) if isinstance(node, ast.Constant) and " is starting " in str(node.value)
]
STARTS = str(_starts).replace("\n", "\r\n").encode()
NO_START = at_prompt(assigned(BOOT, "problem") % "config: llm.urll is not known.")
# main.py prints one text about a deploy in _start().
_start = next(node for node in MAIN.body if isinstance(node, ast.FunctionDef) and node.name == "_start")
(_unfinished,) = [said for (said,) in printed(_start) if isinstance(said, ast.Constant)]
NOT_DEPLOYED = at_prompt(ast.literal_eval(_unfinished))
NO_PSRAM = at_prompt(assigned(MAIN, "_NO_PSRAM"))


# --- what is heard, and when


def heard(*said: tuple[float, bytes], until: float) -> str:
    """The problem at a moment, after what was said at others."""
    listening = Greeting("ttyX", 0.0)
    for at, data in said:
        assert not listening.problem(at)
        listening.feed(data, at)
    return listening.problem(until)


def test_silence_is_reported_within_ten_seconds():
    assert SILENT_SECONDS < 10
    assert not heard(until=SILENT_SECONDS - 0.1)
    assert "no Engram answers on ttyX: press the board's RESET" in heard(until=SILENT_SECONDS)


@pytest.mark.parametrize("said", [ROM, STARTS, b".\r\n"])
def test_a_start_is_waited_for_while_it_goes_on_up_to_a_bound_of_its_own(said: bytes):
    silence = START_SILENT_SECONDS - 0.1
    assert not heard((1.0, said), until=silence)
    assert "has not finished: wait a little" in heard((1.0, said), until=1.0 + START_SILENT_SECONDS)
    signs = [(at * silence, b".\r\n") for at in range(1, int(LONGEST_START_SECONDS / silence) + 1)]
    assert not heard((1.0, said), *signs, until=LONGEST_START_SECONDS - 0.1)
    assert "has not finished: wait a little" in heard((1.0, said), *signs, until=LONGEST_START_SECONDS)


def test_starts_without_an_end_are_a_loop_and_a_start_in_two_pieces_is_one():
    assert not heard((1.0, ROM[:30]), (1.1, ROM[30:]), (2.0, ROM), until=2.5)
    assert "starts again and again" in heard(*[(float(at), ROM) for at in range(LOOP_STARTS)], until=LOOP_STARTS + 0.1)


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (SYNTAX, "at the MicroPython prompt, so Engram does not run: press its RESET"),
        (PLAIN, "at the MicroPython prompt, so Engram does not run"),
        (SAFE, "in safe mode"),
        (SAFE + SYNTAX, "in safe mode"),
        (NO_START, "did not start Engram: config: llm.urll is not known."),
        (NOT_DEPLOYED, "did not start Engram: a deploy is not finished"),
        (NO_PSRAM, "did not start Engram: it needs PSRAM"),
    ],
)
def test_a_prompt_that_waits_is_reported_with_what_stands_before_it(said: bytes, sentence: str):
    assert sentence in heard((1.0, ROM + said), until=2.0)
    assert not heard((1.0, ROM + said), (1.1, b"Engram 0.1.0, full mode\r\n> "), until=2.0)


# --- as a person calls it


@contextlib.contextmanager
def board(answer: Callable[[int], bytes]) -> Iterator[str]:
    """A port behind which each line that is sent is answered by what `answer` gives for its number."""
    ours, theirs = pty.openpty()
    tty.setraw(theirs)

    def serve() -> None:
        typed, number = b"", 0
        with contextlib.suppress(OSError):
            while piece := os.read(ours, 100):
                typed += piece
                while b"\n" in typed:
                    _, _, typed = typed.partition(b"\n")
                    number += 1
                    os.write(ours, answer(number))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield os.ttyname(theirs)
    finally:
        os.close(theirs)
        os.close(ours)


def chat(port: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    return main(["board", "chat", "--port", port])


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (b"", "no Engram answers"),
        (PROBE + b"\r\n" + SYNTAX, "at the MicroPython prompt"),
        (SAFE, "in safe mode"),
        (ROM, "starts again and again"),
    ],
)
def test_chat_ends_with_a_sentence(
    answer: bytes, sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    if not answer:
        monkeypatch.setattr(json_lines, "SILENT_SECONDS", 2.0)
    monkeypatch.setattr(json_lines, "_GREETING_EVERY", 1.0)
    with board(lambda number: answer) as port:
        assert chat(port, monkeypatch) == 1
    assert sentence in capsys.readouterr().err


def test_a_request_that_the_board_does_not_take_is_reported_and_given_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(json_lines, "_TAKEN_SECONDS", 0.05)
    monkeypatch.setattr(json_lines, "_GONE_SECONDS", 0.1)

    class Silent:
        """A line on which nothing comes."""

        def read(self, size: int = 1, /) -> bytes:
            return b""

        def write(self, data: bytes, /) -> int:
            return len(data)

    talking = json_lines.JsonConsole(Silent(), "ttyX")
    talking.line_bytes = 1000
    answers = talking.ask(say="hello")
    assert "has not accepted this yet" in next(answers)["notice"]
    with pytest.raises(json_lines.NoBoardAnswer, match="does not answer any more"):
        next(answers)
