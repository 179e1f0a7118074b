"""Six networks at once, twenty people, three boards, and faults on all links: each message is answered once, and only where it
was said.
"""

import asyncio
import json
import logging
import random
import time
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
from engram_host.fake_llm import serving
from extent import IS_WHOLE, extent
from peers import BoardProcess, Broker, free_port
from prosody_server import ProsodyServer
from soak_faults import PROXIED, Faults
from soak_town import ANSWER, BOARDS, PEOPLE, Town, check_journals, check_prompts, count_answers, texts_with
from waiting import wait_until_async

pytestmark = pytest.mark.skipif(
    not (
        get_micropython.usable(get_micropython.HOME / "64", 64)
        and get_mosquitto.usable()
        and all(network.is_usable() for network in NETWORKS.values())
    ),
    reason="not all servers are there for this machine",
)

_log = logging.getLogger("engram.soak")

MESSAGES = extent(1000, 60)
GROUP_SHARE = 0.3
FEW_FAULTS = ("cut xmpp", "cut_after slack", "kill companion", "cut_after telegram", "cut matrix", "kill discord")
"""Those of `make test`; `make soak` has each that there is, twice."""


def servers() -> dict[str, Server]:
    """A server of each network, with accounts for all people."""
    passwords = {person: f"{person}'s own" for person in PEOPLE}
    made = {name: network.make() for name, network in NETWORKS.items() if name != "xmpp"}
    return {"xmpp": ProsodyServer((free_port(), free_port()), more=passwords), **made}


def messages(chance: random.Random) -> Iterator[tuple[str, bool, str]]:
    """(word, is_group, board) of each message."""
    for number in range(MESSAGES):
        yield f"w{number:04}", chance.random() < GROUP_SHARE, chance.choice(BOARDS)


async def play_faults(faults: Faults, town: Town, names: list[str], happened: list[str]) -> None:
    """Let faults happen while people talk, spread over what they say; the names of those go into a list."""
    for number, name in enumerate(names, 1):
        share = number / (len(names) + 1)
        await wait_until_async("people talk", lambda share=share: len(town.said) >= share * MESSAGES, 600)
        if len(town.said) == MESSAGES:
            return  # a bridge that failed often is tried again late: people were faster
        began = time.monotonic()
        await faults.all[name]()
        happened.append(name)
        _log.info("%d said: %s, %.1f s", len(town.said), name, time.monotonic() - began)


@pytest.mark.shortened
def test_each_message_is_answered_once_and_only_where_it_was_said(tmp_path: Path):
    chance = random.Random(23)
    with ExitStack() as stack:
        made = servers()
        for server in made.values():
            stack.callback(server.stop)
        record = tmp_path / "prompts.jsonl"
        model = stack.enter_context(serving([{"reply": ANSWER}], record=record))
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
                happened: list[str] = []
                names = random.Random(7).sample([*faults.all] * 2, 2 * len(faults.all)) if IS_WHOLE else [*FEW_FAULTS]
                await asyncio.gather(
                    play_faults(faults, town, names, happened),
                    *(town.talk(account, source) for account in town.accounts),
                )
                await wait_until_async(
                    lambda: f"unanswered: {[each.open for each in town.accounts if each.open]}",
                    lambda: not any(account.open for account in town.accounts),
                    extent(300, 60),
                )
                await wait_until_async("all is delivered", lambda: not companion.owed(), extent(300, 60))
                looking.cancel()
                with suppress(asyncio.CancelledError):
                    await looking
                seen = town.seen()
                count = count_answers(town.said, seen)
                journals = {name: board.lines("journal") for name, board in boards.items()}
                prompts = [json.dumps(json.loads(line)["body"]["messages"]) for line in record.read_text().splitlines()]
                wrong = [*check_journals(town.said, journals), *check_prompts(town.said, prompts)]
                took = ready - began, time.monotonic() - ready
                _log.info("%d faults, %s; %.1f s to start, %.1f s to talk", len(happened), count, *took)
                wrong_words = count.lost | count.doubled | count.crossed
                assert not wrong_words, (str(count), texts_with(wrong_words, seen))
                assert (count.said, wrong) == (MESSAGES, [])

        asyncio.run(run())


def port_of(server: Server) -> int:
    """The port at which a server's bridge would reach it."""
    address = server.settings.get("url") or server.settings["server"]
    return int(address.rstrip("/").rpartition(":")[2])
