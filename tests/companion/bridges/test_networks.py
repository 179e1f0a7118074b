"""Each network with all that people do there, end to end: a second account, the network's server, `engram serve`, and a board
under MicroPython with a scripted model.

The table in docs/design/bridges.md is that of CELLS and MISSING.
"""

import asyncio
import contextlib
import re
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from bridge_peers import Peer, Server
from bridged_companion import QUIET_BOARD, BridgedCompanion, settings_of
from chat_networks import NETWORKS, ChatNetwork
from engram_host.companion.conversations.display import AGAIN, BEGINS_AGAIN
from extent import with_more
from fake_llm import serving
from network_cells import CELLS, MISSING
from peers import BoardProcess
from skips import needs_64_bit
from waiting import wait_until_async

pytestmark = needs_64_bit


class Bridged:
    """One network with its bridge: a companion, a board `kitchen` behind it, and Ann, who may talk."""

    def __init__(self, network: ChatNetwork, server: Server, companion: BridgedCompanion, board: BoardProcess):
        self.network, self.server, self.companion, self.board = network, server, companion, board
        self.runner = asyncio.Runner()
        self.people: dict[str, Peer] = {}

    async def person(self, name: str) -> Peer:
        """Somebody's account, signed in."""
        if name not in self.people:
            self.people[name] = await self.server.peer(name)
        return self.people[name]

    async def ann(self) -> Peer:
        """Ann, who was approved, in a group where boards answer."""
        is_new = "ann" not in self.people
        ann = await self.person("ann")
        if is_new:
            await self.pair(ann, "ann")
            group = self.network.group_of(self.server, ann)
            await self.commands("group", self.ref(group), "mention")
        return ann

    async def pair(self, stranger: Peer, name: str) -> dict[str, Any]:
        """Let a stranger get a code, and approve it; what that printed."""
        await stranger.say("let me in")
        asked = await stranger.wait_for("Your code is ")
        code = re.search(r"Your code is (\w+)", asked.text)
        assert code, asked.text
        return await self.commands("approve", code[1], "--name", name)

    def ref(self, id: str) -> str:
        return f"{self.network.name}:{id}"

    async def commands(self, *words: str) -> Any:
        """Run `engram people`."""
        return await asyncio.to_thread(self.companion.people, *words)

    async def sign_in_again(self) -> None:
        """Let people sign in to a server that was killed."""
        if self.network.is_fake or self.network.name == "matrix":
            return  # apps connect by themselves
        for name, person in list(self.people.items()):
            await person.close()
            self.people[name] = await self.server.peer(name)

    async def close(self) -> None:
        for person in self.people.values():
            await person.close()


RULES: list[dict[str, Any]] = [
    # Long enough that the first part is shown before the last one comes, on a busy machine, too.
    *(
        {"when": {"contains": words}, "reply": ["First, {rest}.\n\n", {"text": "Last, {rest}.", "delay": delay}]}
        for words, delay in (("very slowly", 5.0), ("slowly", 1.6))
    ),
    {"reply": ["You said {last}."]},
]
"""The answer of the model."""


@pytest.fixture(scope="module")
def bridged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bridged]:
    network = NETWORKS[request.param]
    if not network.is_usable():
        pytest.skip(f"there is no server of {network.name} for this machine")
    folder: Path = tmp_path_factory.mktemp(network.name)
    with contextlib.ExitStack() as stack:
        server = network.make()
        stack.callback(server.stop)
        server.start()
        settings = settings_of({network.name: server})
        model = stack.enter_context(serving(RULES))
        companion = stack.enter_context(BridgedCompanion(folder / "companion", settings))
        board_settings = {**QUIET_BOARD, "llm.url": f"{model.url}/v1", "companion.chat": "owner"}
        board = BoardProcess(folder / "board", companion.url, "kitchen", **board_settings)
        stack.enter_context(board)
        companion.wait_for_board("kitchen")
        companion.wait_for_bridges()
        found = Bridged(network, server, companion, board)
        stack.callback(found.runner.close)
        stack.callback(lambda: found.runner.run(found.close()))
        yield found


def texts(peer: Peer, part: str, *, group: bool = False) -> list[str]:
    """The messages with a text in them, as a person sees them now."""
    return [shown.text for shown in peer.shown(group=group) if part in shown.text]


def unmarked(peer: Peer, part: str) -> int:
    """How many private messages have a text in them without being marked as perhaps doubled."""
    return sum(not text.startswith((AGAIN.strip(), BEGINS_AGAIN.strip())) for text in texts(peer, part))


# --- the cells


async def pairing(bridged: Bridged) -> None:
    cleo = await bridged.person("cleo")
    approved = await bridged.pair(cleo, "cleo")
    assert not texts(cleo, "You said")
    assert approved["ids"] == [bridged.ref(cleo.id)] and approved["principal"] == "cleo"
    await cleo.say("it is me")
    assert (await cleo.wait_for("You said")).text == "You said it is me."


async def private(bridged: Bridged) -> None:
    ann = await bridged.ann()
    await ann.say("hello kitchen")
    await ann.wait_for("You said hello kitchen.")
    lines = [line for line in bridged.board.lines("journal") if line.get("text") == "hello kitchen"]
    assert [(line["who"], line["scope"]) for line in lines] == [("ann", "user:ann")]


async def group(bridged: Bridged) -> None:
    ann = await bridged.ann()
    await ann.say("dinner is ready", group=True)
    await ann.say("who cooks", group=True, mention=True)
    await ann.wait_for("You said ann: who cooks.", group=True)
    assert not texts(ann, "dinner", group=True) and not texts(ann, "who cooks")
    lines = {line["text"]: line for line in bridged.board.lines("journal") if line.get("role") == "user"}
    assert "dinner is ready" not in lines
    assert (lines["who cooks"]["who"], lines["who cooks"]["scope"]) == ("ann", "all")


async def streamed(bridged: Bridged) -> None:
    ann = await bridged.ann()
    await ann.say("very slowly tell")
    first = await ann.wait_for("First, tell.")
    assert "Last" not in first.text
    last = await ann.wait_for("Last, tell.")
    if bridged.network.has_edits:
        assert last.id == first.id and last.edits >= 1
    else:
        assert [text.strip() for text in texts(ann, ", tell.")] == ["First, tell.", "Last, tell."]


async def file_import(bridged: Bridged) -> None:
    dora, ann = await bridged.person("dora"), await bridged.ann()
    await bridged.pair(dora, "dora")
    await asyncio.to_thread(bridged.companion.client.post, "/v1/people/owner", json={"who": "dora"})
    await dora.send_file("memory.jsonl", b'{"content":"The canoe is orange"}\n{"content":7}\n')
    await dora.wait_for("/import memory.jsonl brings it in")
    await dora.say(f"{bridged.network.sign}import memory.jsonl")
    report = await dora.wait_for("1 stored, 1 refused")
    assert "line 2: content" in report.text
    assert [each for each in bridged.board.lines("records") if each.get("content") == "The canoe is orange"]
    await ann.send_file("memory.jsonl", b'{"content":"The canoe is blue"}\n')
    await ann.wait_for("files are taken from the owner only")


async def restart(bridged: Bridged) -> None:
    ann = await bridged.ann()
    await ann.say("slowly restart")
    await ann.wait_for("First, restart.")
    bridged.companion.kill()
    await asyncio.to_thread(bridged.companion.start)
    await ann.wait_for("Last, restart.")
    await all_is_delivered(bridged)
    for part in ("First, restart.", "Last, restart."):
        assert unmarked(ann, part) <= 1 <= len(texts(ann, part)), texts(ann, part)


async def away(bridged: Bridged) -> None:
    ann = await bridged.ann()
    bridged.companion.kill()
    await ann.say("are you there")
    await asyncio.to_thread(bridged.companion.start)
    await ann.wait_for("You said are you there.")
    await all_is_delivered(bridged)
    assert len(texts(ann, "are you there")) == 1


async def outage(bridged: Bridged) -> None:
    ann = await bridged.ann()
    bridged.server.kill()
    await asyncio.to_thread(bridged.companion.wait_for_bridges, "away")
    if bridged.network.is_fake:
        await ann.say("meanwhile")
    await asyncio.to_thread(bridged.server.start)
    await bridged.sign_in_again()
    ann = await bridged.ann()
    if not bridged.network.keeps:
        await asyncio.to_thread(bridged.companion.wait_for_bridges)
    if not bridged.network.is_fake:
        await ann.say("meanwhile")
    await ann.wait_for("You said meanwhile.", seconds=120)  # a bridge that failed often is tried again late
    await asyncio.to_thread(bridged.companion.wait_for_bridges)
    await all_is_delivered(bridged)
    assert len(texts(ann, "meanwhile")) == 1


async def all_is_delivered(bridged: Bridged) -> None:
    """Wait until no chat is owed anything: what would be doubled is shown by then."""

    await wait_until_async("all is delivered", lambda: not bridged.companion.owed())


PLAYS: dict[str, Callable[[Bridged], Coroutine[Any, Any, None]]] = {
    "pairing": pairing,
    "private chat": private,
    "group with mention": group,
    "streamed answer": streamed,
    "file for /import": file_import,
    "restart in an answer": restart,
    "said while the companion is down": away,
    "outage of the server": outage,
}


TRIED = (
    ("xmpp", ("group with mention", "streamed answer")),
    ("irc", ("private chat", "streamed answer")),
    ("telegram", ("pairing", "restart in an answer")),
    ("discord", ("file for /import", "outage of the server")),
    ("slack", ("private chat", "said while the companion is down")),
)
"""What `make test` plays: each cell on a network, and each network whose server is installed then."""

HAD = [(network, (cell,)) for network in NETWORKS for cell in CELLS if (network, cell) not in MISSING]


@pytest.mark.parametrize(("bridged", "cells"), with_more(TRIED, HAD), indirect=["bridged"], scope="module")
def test_cells(bridged: Bridged, cells: tuple[str, ...]):
    for cell in cells:
        bridged.runner.run(PLAYS[cell](bridged))
