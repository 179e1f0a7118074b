"""Replication over HTTP to a real companion: what boards send is what stands in the copy, and each refusal says why."""

import asyncio
import threading
from typing import Any

from companion_store import replication_of
from engram import log_line
from engram.link import messages
from engram_host.companion.replication import protocol
from engram_host.companion.replication.protocol import MessageDispatcher
from engram_host.companion.store import open_store
from one_case import in_one_case
from sending import Sent, digest


def test_a_damaged_line_is_refused_with_the_reason(board):
    one = board()
    one.say("hello")
    one.hello()
    line = one.lines["journal"][0][1]
    for damaged in (line.replace(b"hello", b"jello"), line[:-1], b"\n", line + b"x", line[:5] + b"#" + line[6:]):
        answer = one.ask("lines", damaged, log="journal", epoch=11, after=0, to=1, count=1)
        assert answer["op"] == "refused" and "damaged" in answer["why"]


def test_a_line_outside_of_its_span_is_refused(board):
    one = board()
    one.hello()
    line = log_line.encode([("seq", 9), ("op", "compacted")])
    answer = one.ask("lines", line, log="records", epoch=11, after=0, to=1, count=1)
    assert answer["op"] == "refused" and "span" in answer["why"]


def test_a_wrong_count_is_refused(board):
    one = board()
    one.say("hello")
    one.hello()
    answer = one.ask("lines", one.lines["journal"][0][1], log="journal", epoch=11, after=0, to=1, count=2)
    assert answer["op"] == "refused" and "2" in answer["why"]


def test_what_a_board_compacted_away_leaves_the_copy(companion, board):
    one = board()
    for number in range(3):
        one.say(f"secret {number}")
    one.sync()
    del one.lines["journal"][1]
    one.rewrites = 1
    assert one.hello()["journal"][2] == 0
    assert one.ask("check", log="journal", epoch=11, after=0, to=3, count=2, digest="00000000")["op"] == "differs"
    assert one.send("journal")["have"] == 3
    assert one.ask("agreed", log="journal", epoch=11, rewrites=1)["op"] == "same"
    assert [line["seq"] for line in companion.lines(one.device, "journal")] == [1, 3] and one.hello()["journal"][2] == 1


def test_a_check_of_equal_lines_says_so(board):
    one = board()
    one.say("a")
    one.say("b")
    one.sync()
    crc = digest(line for _, line in one.lines["journal"])
    answer = one.ask("check", log="journal", epoch=11, after=0, to=2, count=2, digest=crc)
    assert answer["op"] == "same"


@in_one_case("data", [b"", b"hello", b"{}\n", b"\xff" * 100])
def test_what_is_no_message_is_a_bad_request(companion, data):
    headers = {"Content-Type": "application/octet-stream"}
    answer = companion.client.post("/v1/devices/x/messages", content=data, headers=headers)
    assert answer.status_code == 400 and answer.json()["problem"]


def test_a_message_that_is_too_long_is_refused_before_it_is_read(companion):
    headers = {"Content-Type": "application/octet-stream"}
    answer = companion.client.post("/v1/devices/x/messages", content=b"x" * 70000, headers=headers)
    assert answer.status_code == 413


def _dispatcher(replication):
    nothing: Any = None
    return MessageDispatcher(replication, nothing, nothing, nothing, nothing)


def test_greetings_beyond_what_may_wait_are_refused_for_some_seconds_and_the_others_are_welcome(tmp_path, monkeypatch):
    monkeypatch.setattr(protocol, "MOST_GREETED", 3)
    store = open_store(f"sqlite:///{tmp_path / 'companion.db'}")
    may_go_on = threading.Event()

    take = store.replication.greet

    def greet(hello, now, quota):
        may_go_on.wait(30)
        return take(hello, now, quota)

    async def play():
        monkeypatch.setattr(store.replication, "greet", greet)
        dispatcher = _dispatcher(replication_of(store))

        async def greeting(number):
            messages_of_board = []
            one = Sent(lambda _, message: messages_of_board.append(message) or b"", f"b{number}", board=f"id{number}")
            one.hello()
            (answer,) = await dispatcher.answers(one.device, messages_of_board[0])
            return messages.decode(answer, messages.TO_BOARD)[0]

        first = [asyncio.create_task(greeting(number)) for number in range(3)]
        refused = await asyncio.gather(*(greeting(number) for number in range(3, 9)))
        may_go_on.set()
        return refused, [*await asyncio.gather(*first), await greeting(3)]

    refused, welcome = asyncio.run(play())
    store.close()
    least, most = protocol.BUSY_SECONDS
    assert all(answer["op"] == "refused" and least <= answer["again"] <= most for answer in refused)
    assert [answer["op"] for answer in welcome] == ["welcome"] * 4


def test_an_error_that_nobody_foresaw_refuses_its_message_and_takes_the_next_one(tmp_path, monkeypatch):
    store = open_store(f"sqlite:///{tmp_path / 'companion.db'}")
    fails = iter([True])

    store_batches = store.replication.store_batches

    def take(batches, now, quota):
        if next(fails, False):
            raise KeyError("a mistake")
        return store_batches(batches, now, quota)

    async def play():
        monkeypatch.setattr(store.replication, "store_batches", take)
        replication = replication_of(store)
        dispatcher = _dispatcher(replication)
        replication.start()
        loop = asyncio.get_running_loop()

        def post(device, message):
            (answer,) = asyncio.run_coroutine_threadsafe(dispatcher.answers(device, message), loop).result(60)
            return answer

        def talk():
            one = Sent(post, "kitchen")
            one.say("hello")
            one.hello()
            return one.send("journal"), one.send("journal")

        answers = await asyncio.to_thread(talk)
        await replication.stop()
        return answers

    first, second = asyncio.run(play())
    store.close()
    assert first["op"] == "refused" and "fault" in first["why"]
    assert second["have"] == 1
