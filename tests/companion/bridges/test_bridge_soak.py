"""Six networks at once, twenty people, three boards, and faults on all links: each message is answered once, and only where it
was said.
"""

import asyncio
import json
import logging
import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack, suppress
from pathlib import Path

import pytest

import get_micropython
import get_mosquitto
from bridge_peers import Server
from bridged_companion import QUIET_BOARD, BridgedCompanion, settings_of
from chat_networks import NETWORKS
from cut_proxy import CutProxy
from driving import body_of
from fake_llm import serving
from peers import BoardProcess, Broker, free_port
from prosody_server import ProsodyServer
from soak_faults import PROXIED, Faults
from soak_town import ANSWER, BOARDS, PEOPLE, Town, check_journals, check_prompts, count_answers, texts_with
from waiting import wait_until_async

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(
        not (
            get_micropython.usable(get_micropython.HOME / "64", 64)
            and get_mosquitto.usable()
            and all(network.is_usable() for network in NETWORKS.values())
        ),
        reason="not all servers are there for this machine",
    ),
]

_log = logging.getLogger("engram.soak")

MESSAGES = 1000
GROUP_SHARE = 0.3
TIMES = 2
"""How often each fault happens."""


def servers() -> dict[str, Server]:
    """A server of each network, with accounts for all people."""
    passwords = {person: f"{person}'s own" for person in PEOPLE}
    made = {name: network.make() for name, network in NETWORKS.items() if name != "xmpp"}
    return {"xmpp": ProsodyServer((free_port(), free_port()), more=passwords), **made}


def messages(chance: random.Random) -> Iterator[tuple[str, bool, str]]:
    """(word, is_group, board) of each message."""
    for number in range(MESSAGES):
        yield f"w{number:04}", chance.random() < GROUP_SHARE, chance.choice(BOARDS)


async def play_faults(faults: Faults, town: Town, names: list[str]) -> Counter[str]:
    """Let faults happen while people talk, spread over what they say; how often each has happened.

    A bridge that failed often is tried again late: people say no more meanwhile than they may until the next fault but one.
    """
    happened: Counter[str] = Counter()
    share = MESSAGES / (len(names) + 1)
    for number, name in enumerate(names, 1):
        town.most = min(round((number + 1) * share), MESSAGES - 1)
        await wait_until_async("people talk", lambda number=number: len(town.said) >= round(number * share), 600)
        assert len(town.said) < MESSAGES, f"nobody talks any more, and {name} was to happen meanwhile"
        began = time.monotonic()
        await faults.all[name]()
        happened[name] += 1
        _log.info("%d said: %s, %.1f s", len(town.said), name, time.monotonic() - began)
    town.most = MESSAGES
    return happened


def test_each_message_is_answered_once_and_only_where_it_was_said(tmp_path: Path):
    chance = random.Random(23)
    with ExitStack() as stack:
        made = servers()
        for server in made.values():
            stack.callback(server.stop)
        model = stack.enter_context(serving([{"reply": ANSWER}]))
        broker = stack.enter_context(Broker())

        async def run() -> None:
            began = time.monotonic()
            async with AsyncExitStack() as inside:
                await asyncio.gather(*(asyncio.to_thread(server.start) for server in made.values()))
                town = Town(made)
                await town.sign_in()
                inside.push_async_callback(town.close)
                ports = {name: port_of(made[name]) for name in PROXIED}
                proxies = {name: await inside.enter_async_context(CutProxy(port)) for name, port in ports.items()}

                def through_proxy(name: str, values: dict[str, str]) -> None:
                    if name in PROXIED:
                        field = PROXIED[name]
                        values[field] = values[field].replace(str(ports[name]), str(proxies[name].port))

                companion = BridgedCompanion(tmp_path / "companion", settings_of(made, through_proxy), broker.url)
                town.approve_all(companion.home)
                await asyncio.to_thread(inside.enter_context, companion)
                boards = {
                    name: BoardProcess(
                        tmp_path / name, broker.url, name, **{**QUIET_BOARD, "llm.url": f"{model.url}/v1"}
                    )
                    for name in BOARDS
                }
                for board in boards.values():
                    await asyncio.to_thread(inside.enter_context, board)
                await asyncio.to_thread(companion.wait_for_board, *BOARDS)
                await asyncio.to_thread(companion.wait_for_bridges)
                await town.wait_until_joined()
                ready = time.monotonic()
                looking = asyncio.create_task(town.look())
                faults = Faults(town, proxies, companion, broker, boards)
                source = messages(chance)
                names = random.Random(7).sample([*faults.all] * TIMES, TIMES * len(faults.all))
                talking = [asyncio.create_task(town.talk(account, source)) for account in town.accounts]
                failing = asyncio.create_task(play_faults(faults, town, names))
                await asyncio.gather(failing, *talking)
                happened = failing.result()
                await wait_until_async(
                    lambda: f"unanswered: {[each.open for each in town.accounts if each.open]}",
                    lambda: not any(account.open for account in town.accounts),
                    300,
                )
                await wait_until_async("all is delivered", lambda: not companion.owed(), 300)
                looking.cancel()
                with suppress(asyncio.CancelledError):
                    await looking
                seen = town.seen()
                count = count_answers(town.said, seen)
                journals = {name: board.lines("journal") for name, board in boards.items()}
                prompts = [json.dumps(body_of(request)["messages"]) for request in model.requests]
                wrong = [*check_journals(town.said, journals), *check_prompts(town.said, prompts)]
                took = ready - began, time.monotonic() - ready
                _log.info("%d faults, %s; %.1f s to start, %.1f s to talk", happened.total(), count, *took)
                assert not faults.pending(), "these calls were to fail, and none of their kind came"
                assert happened == Counter(dict.fromkeys(faults.all, TIMES)) and len(town.said) == MESSAGES
                wrong_words = count.lost | count.doubled | count.crossed
                assert not wrong_words, (str(count), texts_with(wrong_words, seen))
                assert (count.said, wrong) == (MESSAGES, [])

        asyncio.run(run())


def port_of(server: Server) -> int:
    """The port at which a server's bridge would reach it."""
    address = server.settings.get("url") or server.settings["server"]
    return int(address.rstrip("/").rpartition(":")[2])
