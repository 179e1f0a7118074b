"""Kill -9 of the companion, the broker or the board while people talk: each message is answered once, or still waits."""

import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from extent import extent, with_more
from fake_llm import serving
from peers import BoardProcess, Broker, Companion
from server_process import ServerProcess
from skips import needs_64_bit, needs_mosquitto
from waiting import wait_until

pytestmark = [needs_64_bit, needs_mosquitto]

LATEST_KILL = 0.8
"""Seconds after what is said: the kill comes at any moment of what follows."""

NEWER = 260
"""Messages of another network, more than the board has ids in RAM, and lines that it reads for them after a start."""

PIECES = ["Well, ", "that is ", "a long story ", "about a number."]
SETTINGS = {"llm.model": "m", "extract.on": False, "flush.on": False, "distill.on": False}


def _say(companion: Companion, mid: str, text: str, principal: str) -> None:
    """Say something, again if the companion dies meanwhile: it has the same id."""

    def is_said() -> bool:
        message = {"id": mid, "text": text, "principal": principal, "room": f"{principal}-phone"}
        try:
            with companion.client.stream("POST", "/v1/boards/kitchen/chat", json=message) as answer:
                return answer.status_code == 200
        except httpx.HTTPError:
            return False

    wait_until(f"{mid} is said", is_said)


def _messages(companion: Companion) -> list[dict[str, Any]]:
    return companion.client.get("/v1/boards/kitchen/chat", params={"limit": 500}).json()


def _text(companion: Companion, mid: str) -> str:
    """The text of an answer, as who follows it has it in the end."""
    text, name = "", ""
    for line in companion.client.get(f"/v1/boards/kitchen/chat/{mid}").text.splitlines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
            text = "" if name == "again" else text
        elif line.startswith("data: ") and name == "text":
            text += httpx.Response(200, text=line.removeprefix("data: ")).json()["text"]
    return text


@contextmanager
def _peers(folder: Path, over: str) -> Iterator[tuple[Broker, Companion, BoardProcess]]:
    with ExitStack() as stack:
        model = stack.enter_context(serving([{"reply": [{"text": piece, "delay": 0.05} for piece in PIECES]}]))
        broker = stack.enter_context(Broker())
        companion = stack.enter_context(Companion(folder / "companion", mqtt_url=broker.url))
        url = broker.url if over == "mqtt" else companion.url
        settings = {**SETTINGS, "llm.url": f"{model.url}/v1"}
        board = stack.enter_context(BoardProcess(folder / "board", url, "kitchen", **settings))
        wait_until("it is known", lambda: companion.client.get("/v1/devices/kitchen").status_code == 200)
        yield broker, companion, board


def _offer_after_many(companion: Companion, board: BoardProcess, mid: str) -> None:
    """Let a message be offered again, after a restart of the board, and after more newer ones than it has ids of."""
    wait_until("the board has it", lambda: any(line.get("mid") == f"link:{mid}" for line in board.lines("journal")))
    companion.kill()
    for number in range(NEWER):
        board.answered("/pin m9999 off", mid=f"net:{mid}:{number}")
    board.kill()
    board.start()
    companion.start()


def _play(folder: Path, kills: int, seed: int, over: str) -> None:
    numbers = random.Random(seed)
    with _peers(folder, over) as (broker, companion, board):
        said: dict[str, str] = {}
        for count in range(kills):
            for number in range(numbers.randrange(1, 3)):
                mid = f"m{count}.{number}"
                said[mid] = f"the number {count}.{number} is {numbers.randrange(1000)}"
                _say(companion, mid, said[mid], numbers.choice(["ann", "bob"]))
            victim: ServerProcess = numbers.choice([broker, companion, board])
            time.sleep(numbers.random() * LATEST_KILL)
            victim.kill()
            victim.start()
            if count % 25 == 24:
                mid = f"m{count}.late"
                said[mid] = "this is offered again after many others"
                wait_until("no other waits", lambda: not _open(companion), 240)
                _say(companion, mid, said[mid], "ann")
                _offer_after_many(companion, board, mid)
            if len(said) % 10 == 0:
                wait_until("not many wait", lambda: _open(companion) < 10, 240)
        wait_until("all are answered", lambda: not _open(companion), 240)
        assert {each["said"]["mid"]: each["state"] for each in _messages(companion)} == dict.fromkeys(said, "done")
        assert {mid: _text(companion, mid) for mid in said} == dict.fromkeys(said, "".join(PIECES))
        _check_journal(board, said)


def _open(companion: Companion) -> int:
    return sum(each["state"] not in ("done", "cancelled", "undeliverable") for each in _messages(companion))


def _check_journal(board: BoardProcess, said: dict[str, str]) -> None:
    """Each message is one turn, which has one reply that is whole."""
    lines = board.lines("journal")
    turns = {line["seq"]: line["mid"].removeprefix("link:") for line in lines if "mid" in line and "op" not in line}
    assert Counter(turns.values()) == dict.fromkeys(said, 1)
    replies = [line for line in lines if line.get("role") == "assistant"]
    whole = Counter(turns[line.get("re", line.get("prev"))] for line in replies if "cut" not in line)
    assert whole == dict.fromkeys(said, 1)


def test_a_message_that_is_offered_again_after_many_newer_ones_is_answered_once(tmp_path: Path):
    with _peers(tmp_path, "http") as (_, companion, board):
        _say(companion, "m0", "hello", "ann")
        _offer_after_many(companion, board, "m0")
        wait_until("it is answered", lambda: not _open(companion))
        assert _text(companion, "m0") == "".join(PIECES)
        _check_journal(board, {"m0": "hello"})


@pytest.mark.shortened
@pytest.mark.parametrize("over", with_more(["http"], ["mqtt"]))
def test_after_many_kills_each_message_is_answered_once(tmp_path: Path, over: str):
    _play(tmp_path, kills=extent(100, 4), seed=3, over=over)
