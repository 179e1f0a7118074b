"""Matrix' bridge and a homeserver that is killed while people talk: nothing is lost, and nothing is shown twice."""

import asyncio
import random
from urllib.parse import quote

import httpx
import pytest

import get_synapse
from bridge_run import made, running
from engram_host.companion.bridges.errors import NetworkAway, SendFailed
from engram_host.companion.bridges.network import Chat, Network
from matrix_peer import MatrixPeer
from matrix_server import MatrixServer
from recording_host import RecordingHost
from server_process import listens
from waiting import wait_until_async

MESSAGES, KILLS = 100, 5


async def until_back(server: MatrixServer) -> None:
    """Let the others work, and wait for a homeserver that was killed."""
    await asyncio.sleep(0)
    await wait_until_async("the homeserver listens", lambda: listens(server.port))


async def say_all(server: MatrixServer, ann: MatrixPeer, said: list[str]) -> None:
    """Say one message after the other, each until the homeserver has it."""
    for number in range(MESSAGES):
        path = f"/rooms/{quote(ann.room)}/send/m.room.message/kill-{number}"
        while True:
            try:
                said.append((await ann.put(path, msgtype="m.text", body=f"number {number}"))["event_id"])
                break
            except (httpx.TransportError, httpx.HTTPStatusError):
                await until_back(server)


async def answer_all(server: MatrixServer, network: Network, host: RecordingHost, room: str) -> None:
    """Answer one message after the other, each with its key until it is confirmed."""
    for number in range(MESSAGES):
        await host.wait_until(lambda number=number: len(texts(host)) > number + 1, 120)
        while True:
            try:
                await network.send(Chat(room), f"answer {number}", f"answer-{number}")
                break
            except SendFailed:
                await until_back(server)


async def run_again_and_again(server: MatrixServer, network: Network, host: RecordingHost) -> None:
    while True:
        try:
            await network.run(host)
        except NetworkAway:
            await until_back(server)


def texts(host: RecordingHost) -> list[str]:
    """What came, each message once: the engine knows a message by its id."""
    return list({message.id: message.text for message in host.received}.values())


@pytest.mark.soak
@pytest.mark.parametrize("seed", [1, 2])
def test_a_homeserver_that_is_killed_while_people_talk_loses_and_doubles_nothing(seed):
    if not get_synapse.usable():
        pytest.skip("Synapse is not installed for this machine")
    server = MatrixServer()

    async def talk() -> None:
        network, host = made("matrix", server.settings), RecordingHost()
        ann = await server.peer("ann")
        async with running(network, host):
            said = [await ann.say("hello")]
            await host.next("hello")
        bridge = asyncio.create_task(run_again_and_again(server, network, host))
        talking = [
            asyncio.create_task(say_all(server, ann, said)),
            asyncio.create_task(answer_all(server, network, host, ann.room)),
        ]
        for moment in sorted(random.Random(seed).sample(range(MESSAGES - 5), KILLS)):
            await wait_until_async("so much was said", lambda moment=moment: len(said) > moment)
            server.kill()
            await asyncio.to_thread(server.start)
        await asyncio.gather(*talking)
        await ann.wait_for(f"answer {MESSAGES - 1}")
        bridge.cancel()
        await asyncio.gather(bridge, return_exceptions=True)
        assert list({message.id: None for message in host.received}) == said
        answers = [shown.text for shown in ann.shown()]
        assert answers == [f"answer {number}" for number in range(MESSAGES)]
        await ann.close()

    server.start()
    try:
        asyncio.run(talk())
    finally:
        server.stop()
