"""Calls of the Bot API against a service in the same process: results, refusals, links that break, bounds."""

import json

from engram.channels.telegram.bot_api import BotApi, BotError
from llm_peer import CLOSE, Peer, answer
from support import raises

TOKEN = "123:secret"


def result(value) -> list:
    return [answer(json.dumps({"ok": True, "result": value}).encode())]


def refusal(code: int, description: str, **parameters) -> list:
    body = {"ok": False, "error_code": code, "description": description, "parameters": parameters}
    return [answer(json.dumps(body).encode(), str(code) + " Refused")]


def message(update_id: int, said: str) -> dict:
    chat = {"id": -7, "type": "private"}
    return {"update_id": update_id, "message": {"message_id": 1, "chat": chat, "from": {"id": 7}, "text": said}}


async def failure(*answers, method="sendMessage"):
    """The error of one call."""
    async with Peer(*answers) as peer:
        with raises(BotError) as caught:
            await BotApi(peer.url, TOKEN).call(method, {"chat_id": 1, "text": "x"}, is_repeatable=False)
    assert "secret" not in str(caught.error)
    return caught.error


async def test_a_call_posts_json_and_gives_the_result():
    async with Peer(result({"id": 99, "username": "engram_bot"})) as peer:
        fields = {"text": 'a"ü🙂', "number": -5, "kinds": ("message",), "on": True}
        found = await BotApi(peer.url, TOKEN).call("getMe", fields)
        assert found == {"id": 99, "username": "engram_bot"}
    head, body = peer.requests[0]
    assert head.startswith(b"POST /bot123:secret/getMe HTTP/1.1\r\n")
    assert b"\r\nContent-Type: application/json\r\n" in head
    assert json.loads(body) == {"text": 'a"ü🙂', "number": -5, "kinds": ["message"], "on": True}


async def test_a_refusal_has_its_code_words_and_wait():
    error = await failure(refusal(429, "Too Many Requests: retry after 7", retry_after=7))
    assert (error.code, error.retry_after, error.is_unknown) == (429, 7, False)
    assert error.says_any(("too many requests",))
    error = await failure(refusal(400, "Bad Request: can't parse entities in 123:secret"))
    assert (error.code, error.retry_after) == (400, 0) and "***" in str(error)


async def test_a_refusal_names_the_supergroup_that_a_group_became():
    error = await failure(refusal(400, "Bad Request: group chat was upgraded", migrate_to_chat_id=-1001234567890))
    assert (error.moved_to, error.retry_after) == (-1001234567890, 0)


async def test_parameters_of_a_refusal_are_not_trusted():
    error = await failure(refusal(429, "x", retry_after="9", migrate_to_chat_id=True))
    assert (error.moved_to, error.retry_after) == (0, 0)


async def test_a_gateway_that_fails_leaves_the_outcome_unknown():
    error = await failure([answer(b"<html>Bad Gateway", "502 Bad Gateway")])
    assert (error.code, error.is_unknown) == (502, True) and "html" not in str(error)


async def test_a_link_that_is_cut_after_the_request_leaves_the_outcome_unknown():
    assert (await failure([CLOSE])).is_unknown
    assert (await failure([answer(b"x" * 50)[:-10], CLOSE])).is_unknown


async def test_a_link_that_never_was_leaves_nothing_unknown():
    async with Peer() as peer:
        pass
    with raises(BotError) as caught:
        await BotApi(peer.url, TOKEN).call("sendMessage", {"chat_id": 1, "text": "x"}, is_repeatable=False)
    assert caught.error.code == 0 and not caught.error.is_unknown


async def test_what_was_sent_is_not_sent_again_by_the_client():
    async with Peer(result({"message_id": 1}), [CLOSE], result({"message_id": 2})) as peer:
        api = BotApi(peer.url, TOKEN)
        await api.call("sendMessage", {"chat_id": 1, "text": "1"}, is_repeatable=False)
        with raises(BotError) as caught:
            await api.call("sendMessage", {"chat_id": 1, "text": "2"}, is_repeatable=False)
        assert caught.error.is_unknown and len(peer.requests) == 2


async def test_updates_for_which_there_is_no_room_come_one_by_one():
    class Full(BotApi):
        async def call(self, method, fields, is_repeatable=True):
            asked.append(fields["limit"])
            if fields["limit"] > 1:
                raise MemoryError
            return [message(5, "a")]

    asked = []
    found = await Full("http://localhost:1", TOKEN).updates(5, 4, 50)
    assert [update["update_id"] for update in found] == [5] and asked == [4, 1]


async def test_what_is_no_answer_of_telegram_is_an_error():
    for body in (b"hello", b"[]", b'{"ok":false}', b'{"ok":true}'):
        async with Peer([answer(body)]) as peer:
            with raises(BotError) as caught:
                await BotApi(peer.url, TOKEN).updates(0, 1, 0)
        assert "telegram.url" in str(caught.error) and caught.error.is_unknown, body
