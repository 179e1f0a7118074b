"""Faults of the fake Bot API, its flood limits and its ledger, as a bare client sees them."""

import asyncio
import contextlib
import socket

import httpx
import pytest

from bot_api import SECONDS, BotApi, until, with_bot
from engram_host.fake_telegram import FakeTelegram, ManualClock, serving, utf16_length


def clock_of(bot: BotApi) -> ManualClock:
    assert isinstance(bot.server.clock, ManualClock)
    return bot.server.clock


def chatting(bot: BotApi) -> int:
    ann = bot.server.people.add_user("Ann")
    bot.server.people.write(ann, "hello")
    return ann.id


def sent(bot: BotApi, chat: int) -> list[str]:
    return [message.text for message in bot.server.people.from_bot(bot.server.people.chat(chat))]


def test_a_flood_is_answered_with_the_time_to_wait():
    async def talk(bot: BotApi):
        chat = chatting(bot)
        bot.server.faults.flood(9, count=2, method="sendMessage")
        await bot.result("getMe")
        for _ in range(2):
            response = await bot.client.post(f"{bot.base}/sendMessage", json={"chat_id": chat, "text": "a"})
            assert response.status_code == 429 and response.headers["retry-after"] == "9"
            assert response.json() == {
                "ok": False,
                "error_code": 429,
                "description": "Too Many Requests: retry after 9",
                "parameters": {"retry_after": 9},
            }
        await bot.result("sendMessage", chat_id=chat, text="a")
        assert sent(bot, chat) == ["a"]

    with_bot(talk)


def test_a_failing_front_end_answers_html():
    async def talk(bot: BotApi):
        bot.server.faults.fail(502)
        response = await bot.client.get(f"{bot.base}/getMe")
        assert response.status_code == 502 and response.headers["content-type"] == "text/html"
        assert b"<html>" in response.content
        await bot.result("getMe")

    with_bot(talk)


@pytest.mark.parametrize(("kind", "expected"), [("cut_before", []), ("cut_after", ["a"]), ("cut_within", ["a"])])
def test_a_cut_connection_leaves_the_outcome_unknown(kind: str, expected: list[str]):
    async def talk(bot: BotApi):
        chat = chatting(bot)
        getattr(bot.server.faults, kind)(method="sendMessage")
        with pytest.raises(httpx.TransportError):
            await bot.call("sendMessage", chat_id=chat, text="a")
        assert sent(bot, chat) == expected
        (call,) = bot.server.ledger.of_method("sendMessage")
        assert (call.fault, call.is_handled) == (kind, bool(expected))

    with_bot(talk)


def test_a_delayed_answer_comes_when_the_clock_says_so():
    async def talk(bot: BotApi):
        chat = chatting(bot)
        bot.server.faults.delay(20, method="sendMessage")
        call = asyncio.ensure_future(bot.result("sendMessage", chat_id=chat, text="a"))
        await until(lambda: clock_of(bot).sleepers)
        assert sent(bot, chat) == ["a"] and not call.done()
        clock_of(bot).advance(20)
        assert (await call)["text"] == "a"

    with_bot(talk)


def test_a_refused_token_stays_refused_and_a_conflict_passes():
    async def talk(bot: BotApi):
        bot.server.faults.conflict()
        assert (await bot.call("getUpdates"))["error_code"] == 409
        assert await bot.result("getUpdates") == []
        bot.server.faults.is_token_refused = True
        for _ in range(2):
            assert (await bot.call("getUpdates"))["error_code"] == 401
        bot.server.faults.clear()
        await bot.result("getMe")

    with_bot(talk)


def test_a_fault_is_of_a_kind_that_exists():
    async def talk(bot: BotApi):
        with pytest.raises(ValueError, match="cut_after"):
            bot.server.faults.cut_after(count=0)

    with_bot(talk)


def test_three_messages_at_once_then_one_a_second():
    async def talk(bot: BotApi):
        chat = chatting(bot)
        for number in range(3):
            await bot.result("sendMessage", chat_id=chat, text=str(number))
        assert (await bot.call("sendMessage", chat_id=chat, text="3"))["parameters"] == {"retry_after": 1}
        clock_of(bot).advance(1)
        message = await bot.result("sendMessage", chat_id=chat, text="3")
        arguments = {"chat_id": chat, "message_id": message["message_id"], "text": "4"}
        assert (await bot.call("editMessageText", **arguments))["error_code"] == 429
        assert bot.server.state.flood.refused == 2 and bot.server.ledger.by_status[429] == 2

    with_bot(talk, limits=True)


def test_a_group_takes_twenty_messages_a_minute():
    async def talk(bot: BotApi):
        group = bot.server.people.group("Kitchen", [bot.server.people.add_user("Ann")])
        for number in range(20):
            await bot.result("sendMessage", chat_id=group.id, text=str(number))
            clock_of(bot).advance(2)
        assert (await bot.call("sendMessage", chat_id=group.id, text="a"))["parameters"] == {"retry_after": 20}
        clock_of(bot).advance(20)
        await bot.result("sendMessage", chat_id=group.id, text="a")

    with_bot(talk, limits=True)


def test_the_ledger_has_every_call_with_its_answer():
    async def talk(bot: BotApi):
        await bot.result("getMe")
        await bot.call("sendMessage", chat_id=1, text="a")
        await bot.call("getUpdates", limit=0)
        ledger = bot.server.ledger
        assert [(call.method, call.status) for call in ledger.calls] == [
            ("getMe", 200),
            ("sendMessage", 400),
            ("getUpdates", 400),
        ]
        assert ledger.calls[1].arguments == {"chat_id": 1, "text": "a"}
        assert ledger.by_method == {"getMe": 1, "sendMessage": 1, "getUpdates": 1}

    with_bot(talk)


def test_code_that_is_not_async_drives_a_server_in_a_thread():
    with serving() as server:
        ann = server.people.add_user("Ann")
        server.people.write(ann, "hello 😀")
        server.faults.flood(3)
        url = f"{server.url}/bot{server.token}"
        assert httpx.get(f"{url}/getMe", timeout=SECONDS).status_code == 429
        (update,) = httpx.get(f"{url}/getUpdates", timeout=SECONDS).json()["result"]
        assert utf16_length(update["message"]["text"]) == 8
        server.wait_until(lambda fake: fake.ledger.by_method["getUpdates"] == 1)
        server.faults.is_token_refused = True
        assert httpx.get(f"{url}/getMe", timeout=SECONDS).status_code == 401


@pytest.mark.parametrize("turns", range(10))
def test_a_server_that_ends_leaves_no_connection_open_however_new_it_is(turns: int):
    async def run():
        server = FakeTelegram()
        await server.start()
        at = httpx.URL(server.url)
        with socket.create_connection((at.host, at.port or 0)) as client:  # before the server's loop can accept it
            client.setblocking(False)
            client.send(f"POST /bot{server.token}/getUpdates?timeout=50 HTTP/1.1\r\nContent-Length: 0\r\n\r\n".encode())
            for _ in range(turns):
                await asyncio.sleep(0)
            await server.close()
            async with asyncio.timeout(SECONDS):
                with contextlib.suppress(ConnectionError):  # a reset is an end, too
                    while await asyncio.get_running_loop().sock_recv(client, 1000):
                        pass
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())
