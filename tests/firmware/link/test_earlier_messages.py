"""Messages and frames of version 0.1 (tests/data/wire-0.1): the board reads them, and writes the same bytes."""

import json
import os

import wire_frames
from engram.link import messages
from engram.link.messages import FROM_BOARD, TO_BOARD
from fake_companion import lines_behind

FOLDER = os.getenv("ENGRAM_TEST_DATA", "") + "/wire-0.1/"


def _load(name):
    with open(FOLDER + name, "rb") as file:
        return json.loads(file.read().decode())


def _both():
    """All that was sent and answered; conversations, the status of boards and senses came later than the rest."""
    return _load("messages.json") + _load("conversation.json") + _load("status.json") + _load("senses.json")


def _ups():
    return [one["up"] for one in _both()]


def _downs():
    return [answer for one in _both() for answer in one["down"]]


def _again(text, table):
    """A message that is read and written again, with what stands behind its head."""
    head, body = messages.decode(text.encode(), table)
    fields = {name: head[name] for name in head if name not in ("op", "board", "link", "n")}
    return (messages.encode(head["op"], head["board"], head["link"], head["n"], **fields) + bytes(body)).decode()


def test_there_is_one_of_each_kind_in_both_directions():
    for texts, table in ((_ups(), FROM_BOARD), (_downs(), TO_BOARD)):
        kinds = {messages.decode(text.encode(), table)[0]["op"] for text in texts}
        assert kinds >= set(table), set(table) - kinds


def test_what_a_board_sent_is_read_and_written_alike():
    for text in _ups():
        assert _again(text, FROM_BOARD) == text


def test_what_a_companion_answered_is_read_and_written_alike():
    for text in _downs():
        assert _again(text, TO_BOARD) == text


def test_the_lines_behind_a_head_are_whole_and_as_many_as_it_says():
    found = 0
    for text in _ups():
        head, body = messages.decode(text.encode(), FROM_BOARD)
        if head["op"] == "lines":
            found += 1
            assert len(lines_behind(body)) == head["count"]
    assert found


async def test_the_request_over_http_is_the_same_and_its_answers_are_taken():
    frames = _load("frames.json")
    request, came = await wire_frames.over_http(frames["up"], frames["down"])
    assert request == frames["http"]
    assert came == frames["down"]


async def test_the_packets_over_mqtt_are_the_same_and_the_answers_are_taken():
    frames = _load("frames.json")
    sent, came = await wire_frames.over_mqtt(frames["up"], [bytes.fromhex(packet) for packet in frames["mqtt down"]])
    assert sent == frames["mqtt"]
    assert came == frames["down"]
