"""People talk to the real board, under MicroPython, through the real companion, over MQTT and HTTP."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from extent import with_more
from peers import BoardProcess, Companion
from skips import needs_64_bit
from waiting import wait_until

pytestmark = needs_64_bit


@pytest.fixture(params=with_more(["http"], ["mqtt"]))
def way(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Companion, str]]:
    """A companion, and the URL under which boards reach it."""
    broker = request.getfixturevalue("mosquitto").url if request.param == "mqtt" else ""
    with Companion(tmp_path / "companion", broker) as companion:
        yield companion, broker or companion.url


def answer(companion: Companion, device: str = "kitchen", **message: Any) -> list[tuple[str, dict[str, Any]]]:
    """The events of the answer to a message."""
    found: list[tuple[str, dict[str, Any]]] = []
    with companion.client.stream("POST", f"/v1/boards/{device}/chat", json=message, timeout=60) as stream:
        assert stream.status_code == 200, stream.read()
        name = ""
        for line in stream.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                found.append((name, json.loads(line.removeprefix("data: "))))
    return found


def texts(events: list[tuple[str, dict[str, Any]]], kind: str = "text") -> str:
    return "".join(fields["text"] for name, fields in events if name == kind)


def test_an_edit_corrects_what_was_remembered_and_others_words_are_not_remembered(
    way: tuple[Companion, str], tmp_path: Path
):
    companion, url = way
    with BoardProcess(tmp_path / "board", url, "kitchen"):
        wait_until("it is known", lambda: companion.client.get("/v1/devices/kitchen").status_code == 200)
        ann: dict[str, Any] = {"principal": "ann"}
        answer(companion, text="remember that the dentist is on Monday", id="m1", **ann)
        corrected = answer(companion, text="remember that the dentist is on Tuesday", edits="m1", **ann)
        assert "Monday" in texts(corrected, "notice") and "Tuesday" in texts(corrected)
        for others in ({"text": "remember that it rains", "forwarded": "Bob"}, {"text": "> remember that it rains"}):
            assert "Remembered" not in texts(answer(companion, **others, **ann))
        lines = texts(answer(companion, command="/recall dentist", **ann), "line")
        assert "Tuesday" in lines and "Monday" not in lines
        found = texts(answer(companion, command="/recall rains", **ann), "line")
        assert "forwarded from Bob" in found and "forwarded from somebody" in found
