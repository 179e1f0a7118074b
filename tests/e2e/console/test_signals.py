"""SIGTERM, SIGINT and Ctrl-C end the program cleanly, at any moment: with status 0, and nothing is lost."""

import os
import select
import signal
import subprocess
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from driving import COMMAND, CTRL_C, PIPE, SECONDS, TERMINAL, Home, Talk, children, say, talking
from fake_llm import Serving
from waiting import wait_until

Scripted = Callable[..., Serving]

LONG = {"reply": ["One and ", "two and ", {"text": "three.", "delay": 60}], "times": 1}


def by(number: signal.Signals) -> Callable[[Talk], None]:
    def send(talk: Talk) -> None:
        talk.process.send_signal(number)

    return send


def by_ctrl_c(talk: Talk) -> None:
    talk.type(CTRL_C)


WAYS = pytest.mark.parametrize(
    ("on", "end"),
    [
        pytest.param(PIPE, by(signal.SIGTERM), id="pipe-SIGTERM"),
        pytest.param(PIPE, by(signal.SIGINT), id="pipe-SIGINT"),
        pytest.param(TERMINAL, by(signal.SIGTERM), id="terminal-SIGTERM"),
        pytest.param(TERMINAL, by(signal.SIGHUP), id="terminal-SIGHUP"),
        pytest.param(TERMINAL, by_ctrl_c, id="terminal-Ctrl-C"),
    ],
)


@WAYS
def test_an_answer_under_way_is_kept_as_far_as_it_came(
    home: Home, scripted: Scripted, on: str, end: Callable[[Talk], None]
):
    server = scripted(LONG)
    with talking(home.asking(server.url), on=on) as talk:
        talk.say("count to three")
        talk.heard("two")
        end(talk)
        assert talk.status() == 0
        assert "Traceback" not in talk.seen.decode()
    asked, answered = home.turns()
    assert (asked["text"], asked["role"]) == ("count to three", "user")
    assert (answered["text"], answered["cut"]) == ("One and two and", True)


def test_lines_that_wait_are_not_answered_any_more(home: Home, scripted: Scripted):
    server = scripted({"reply": "One and ", "fault": {"kind": "stall", "after": 4}})
    home.write("messages", "hello\n" * 20_000)
    with (home.folder / "messages").open("rb") as messages:
        variables = home.asking(server.url).variables()
        board = subprocess.Popen(COMMAND, stdin=messages, stdout=subprocess.DEVNULL, env=variables)
        server.wait_for_requests(1, SECONDS)
        board.terminate()
        assert board.wait(SECONDS) == 0
    assert len(server.requests) == 1


def test_the_board_ends_with_its_launcher(home: Home, scripted: Scripted):
    server = scripted(LONG)
    with talking(home.asking(server.url)) as talk:
        talk.say("count to three")
        talk.heard("two")
        talk.process.kill()
        talk.heard_to_the_end()
    assert home.turns()[-1]["cut"] is True


def _is_told_to_end(board: int) -> bool:
    """Whether something waits in the pipe over which the launcher tells a board to end."""
    variables = dict(pair.split("=", 1) for pair in Path(f"/proc/{board}/environ").read_text().split("\0") if pair)
    with open(f"/proc/{board}/fd/{Path(variables['ENGRAM_STOP']).name}", "rb", buffering=0) as pipe:
        return bool(select.select([pipe], [], [], 0)[0])


@pytest.mark.parametrize("end", [by(signal.SIGTERM), by_ctrl_c], ids=["SIGTERM", "Ctrl-C"])
def test_who_insists_does_not_wait_for_a_board_that_hangs(home: Home, end: Callable[[Talk], None]):
    with talking(home, on=TERMINAL) as talk:
        talk.heard("\n> ")
        (board,) = children(talk.process.pid)
        os.kill(board, signal.SIGSTOP)
        end(talk)
        wait_until("the board is told to end", lambda: _is_told_to_end(board))
        assert talk.process.poll() is None
        end(talk)
        assert talk.process.wait(SECONDS) == 128 + signal.SIGKILL


def test_the_terminal_is_left_as_it_was(home: Home):
    with talking(home, on=TERMINAL) as talk:
        talk.heard("\n> ")
        during = termios.tcgetattr(talk.keys)[3]
        talk.type(CTRL_C)
        assert talk.process.wait(SECONDS) == 0
        after = termios.tcgetattr(talk.keys)[3]
    assert not during & (termios.ECHO | termios.ICANON)
    assert after & termios.ECHO and after & termios.ICANON and after & termios.ISIG


def test_the_terminal_is_set_again_after_a_stop(home: Home):
    with talking(home, on=TERMINAL) as talk:
        talk.heard("\n> ")
        wanted = termios.tcgetattr(talk.keys)
        talk.process.send_signal(signal.SIGSTOP)
        of_a_shell = [*wanted[:3], wanted[3] | termios.ECHO | termios.ICANON, *wanted[4:]]
        termios.tcsetattr(talk.keys, termios.TCSANOW, of_a_shell)
        talk.process.send_signal(signal.SIGCONT)
        wait_until(
            "keys come at once again", lambda: not termios.tcgetattr(talk.keys)[3] & (termios.ECHO | termios.ICANON)
        )
        talk.say("hello")
        assert talk.heard("I am offline").count("hello") == 1


WHILE_IT_STARTS = (0.0, 0.02, 0.05, 0.1, 0.15)
"""Moments of a signal, in seconds after the launcher has begun."""


def test_a_signal_before_the_board_is_up_ends_it_too(home: Home):
    for delay in WHILE_IT_STARTS:
        with talking(home) as talk:
            wait_until("the launcher has the folder", (home.folder / "lock").exists)
            time.sleep(delay)
            talk.process.send_signal(signal.SIGINT)
            assert talk.status() == 0
            assert "Traceback" not in talk.seen.decode(), talk.seen.decode()
        (home.folder / "lock").unlink()
    assert say(home, "hello").status == 0
