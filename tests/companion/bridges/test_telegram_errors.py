"""What Telegram's bridge makes of answers that the Bot API does not give: of proxies, of services in trouble, of strangers."""

import asyncio
import contextlib
import gzip
import json
import logging
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx
import pytest

from bridge_run import made, running
from engram_host.companion.bridges.errors import (
    BridgeUnavailable,
    MarksRefused,
    NetworkAway,
    SendFailed,
    SendRefused,
    SendUncertain,
    SignInRefused,
    SlowDown,
)
from engram_host.companion.bridges.network import Chat
from engram_host.companion.bridges.telegram import client
from one_case import in_one_case
from recording_host import RecordingHost

TOKEN = "4711:a-secret"
ANN = Chat("7")


def answer(found: Any, status: int = 200, *headers: str) -> bytes:
    """An HTTP answer: bytes as they are, else JSON."""
    body = found if isinstance(found, bytes) else json.dumps(found).encode()
    lines = (f"HTTP/1.1 {status} Status", f"Content-Length: {len(body)}", "Connection: close", *headers)
    return "\r\n".join((*lines, "", "")).encode() + body


def refusal(status: int, description: str, **parameters: Any) -> bytes:
    told = {"ok": False, "error_code": status, "description": description}
    return answer(told | ({"parameters": parameters} if parameters else {}), status)


def refused_poll(status: int, description: str, **parameters: Any) -> dict[str, bytes]:
    return {**SIGNED_IN, "getUpdates": refusal(status, description, **parameters)}


ME = answer({"ok": True, "result": {"id": 4711, "is_bot": True, "first_name": "Bot", "username": "the_bot"}})
SIGNED_IN = {"getMe": ME, "setMyCommands": answer({"ok": True, "result": True})}


@contextlib.asynccontextmanager
async def answering(answers: Mapping[str, bytes]) -> AsyncIterator[dict[str, str]]:
    """A server that gives an answer for each method, and none for others until it ends; the settings of a bridge to it."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method = head.split(" ", 2)[1].rpartition("/")[2]
        writer.write(answers.get(method, b""))
        if method not in answers:
            await reader.read()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield {"token": TOKEN, "url": f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"}


def failure_of_send(sent: bytes) -> BaseException:
    """What a send raises that is answered so."""

    async def send() -> BaseException:
        async with answering({**SIGNED_IN, "sendMessage": sent}) as settings:
            network, host = made("telegram", settings), RecordingHost()
            async with running(network, host):
                with pytest.raises(SendFailed) as failed:
                    await network.send(ANN, "hello", "k1")
                return failed.value

    return asyncio.run(send())


def failure_of_run(answers: Mapping[str, bytes]) -> BaseException:
    """What run() raises with these answers."""

    async def run() -> BaseException:
        async with answering(answers) as settings:
            with pytest.raises((NetworkAway, BridgeUnavailable, SignInRefused)) as failed:
                await made("telegram", settings).run(RecordingHost())
            return failed.value

    return asyncio.run(run())


@in_one_case(
    "sent, error",
    [
        (refusal(429, "Too Many Requests: retry after 3", retry_after=3), SlowDown),
        (refusal(429, "Too Many Requests"), SlowDown),
        (answer(b"<html>", 429), SlowDown),
        (refusal(400, "Bad Request: can't parse entities"), MarksRefused),
        (refusal(400, "Bad Request: message text is empty"), MarksRefused),
        (refusal(400, "Bad Request: chat not found"), SendRefused),
        (refusal(400, "Bad Request: message is too long"), SendRefused),
        (refusal(403, "Forbidden: bot was blocked by the user"), SendRefused),
        (refusal(401, "Unauthorized"), SendFailed),
        (refusal(404, "Not Found"), SendFailed),
        (refusal(500, "Internal Server Error"), SendUncertain),
        (answer(b"<html>", 502), SendUncertain),
        (answer(b"<html>"), SendUncertain),
        (answer([]), SendUncertain),
        (answer({"ok": False}), SendUncertain),
        (answer({"ok": True, "result": {"message_id": 1}}), SendUncertain),
        (answer(gzip.compress(b"{}"), 200, "Content-Encoding: gzip"), SendUncertain),
        (b"", SendUncertain),
    ],
)
def test_an_answer_to_a_send_says_what_is_known(sent, error):
    assert type(failure_of_send(sent)) is error


def let_sends_wait(network: Any, seconds: float) -> None:
    """Let sends wait no longer than this for an answer, or for a connection; signing in, which is over, had its own time."""
    network._bot.request._client.timeout = httpx.Timeout(client._ANSWER_SECONDS, read=seconds, pool=seconds)


def test_a_send_that_is_not_answered_in_time_may_have_arrived():
    async def send():
        async with answering(SIGNED_IN) as settings:
            network, host = made("telegram", settings), RecordingHost()
            async with running(network, host):
                let_sends_wait(network, 0.2)
                with pytest.raises(SendUncertain):
                    await network.send(ANN, "hello", "k1")

    asyncio.run(send())


def test_a_send_that_waits_for_a_connection_in_vain_certainly_did_not_arrive(monkeypatch):
    monkeypatch.setattr(client, "_CONNECTIONS", 1)

    async def send():
        async with answering(SIGNED_IN) as settings:
            network, host = made("telegram", settings), RecordingHost()
            async with running(network, host):
                let_sends_wait(network, 0.5)
                sends = (network.send(ANN, "hello", key) for key in ("k1", "k2"))
                first, second = await asyncio.gather(*sends, return_exceptions=True)
        assert {type(first), type(second)} == {SendUncertain, SendFailed}

    asyncio.run(send())


@in_one_case(
    "answers, error, words",
    [
        ({"getMe": answer(b"<html>")}, NetworkAway, "Telegram answers"),
        ({"getMe": answer({"ok": False})}, NetworkAway, "not Telegram's Bot API"),
        ({"getMe": answer({"ok": True, "result": {}})}, NetworkAway, "not Telegram's Bot API"),
        ({"getMe": refusal(401, "Unauthorized")}, SignInRefused, "token"),
        ({"getMe": refusal(404, "Not Found")}, SignInRefused, "token"),
        (refused_poll(401, "Unauthorized"), SignInRefused, "token"),
        (refused_poll(409, "Conflict: can't use it while webhook is active"), BridgeUnavailable, "webhook"),
        (refused_poll(409, "Conflict: terminated by other request"), NetworkAway, "another program"),
        (refused_poll(429, "Too Many Requests", retry_after=3), NetworkAway, "3 seconds"),
        ({**SIGNED_IN, "getUpdates": answer(b"<html>", 502)}, NetworkAway, "Telegram answers"),
        ({**SIGNED_IN, "getUpdates": answer({"ok": True, "result": True})}, NetworkAway, "not Telegram's Bot API"),
        ({**SIGNED_IN, "getUpdates": answer({"ok": True, "result": [1]})}, NetworkAway, "not Telegram's Bot API"),
        ({**SIGNED_IN, "getUpdates": b""}, NetworkAway, "link to Telegram"),
    ],
)
def test_an_answer_to_signing_in_and_polling_is_told(answers, error, words):
    failed = failure_of_run(answers)
    assert type(failed) is error and words in str(failed)


def test_the_token_is_in_no_error_and_in_no_log(caplog):
    caplog.set_level(logging.DEBUG)
    for sent in (refusal(500, f"/bot{TOKEN}/"), answer(f"<html>{TOKEN}".encode(), 502), answer(TOKEN.encode()), b""):
        assert "a-secret" not in str(failure_of_send(sent))
    answered = {"getUpdates": answer(TOKEN.encode(), 500)}
    assert "a-secret" not in str(failure_of_run({**SIGNED_IN, **answered}))
    assert not [record for record in caplog.records if record.name.startswith(("telegram", "httpx", "httpcore"))]
