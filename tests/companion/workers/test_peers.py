"""Workers of a machine ask each other: who gives no answer in time is done without."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from engram_host.companion.errors import UnknownDevice
from engram_host.companion.metrics import merge_figures
from engram_host.companion.workers import homes, peers
from engram_host.companion.workers.homes import HomeWorkers
from engram_host.companion.workers.peers import Peers, PeerUnavailable
from engram_host.companion.workers.place import WorkerPlace
from one_case import in_one_case

DEVICES = [f"board-{number}" for number in range(300)]


def peers_in(folder: Path, count: int = 3) -> list[Peers]:
    return [Peers(WorkerPlace(number, count, -1, -1, str(folder))) for number in range(count)]


def play(script: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def in_time() -> None:
        async with asyncio.timeout(30):
            await script()

    asyncio.run(in_time())


def echo(number: int) -> Callable[[bytes], Awaitable[bytes]]:
    async def answer(body: bytes) -> bytes:
        return b"%d " % number + body

    return answer


async def _fail(body: bytes) -> bytes:
    raise UnknownDevice("kitchen")


async def _never(body: bytes) -> bytes:
    return await asyncio.get_running_loop().create_future()


def test_a_worker_answers_what_another_one_asks(tmp_path: Path):
    async def script() -> None:
        first, second, _ = peers_in(tmp_path)
        second.on("say", echo(1))
        await second.start()
        bodies = [b"", b"two\nlines", b"x" * 1_000_000]
        assert [await first.ask(1, "say", body, 20) for body in bodies] == [b"1 " + body for body in bodies]
        await second.stop()

    play(script)


@in_one_case("answer", [_fail, _never, None])
def test_a_question_that_gets_no_answer_is_over_in_time(tmp_path: Path, answer: Any):
    async def script() -> None:
        first, second, _ = peers_in(tmp_path)
        if answer:
            second.on("say", answer)
        await second.start()
        with pytest.raises(PeerUnavailable, match="worker 1 gives no answer"):
            await first.ask(1, "say", b"", 0.05)
        await second.stop()

    play(script)


def test_more_than_a_worker_takes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(peers, "MOST_BYTES", 100)

    async def script() -> None:
        first, second, _ = peers_in(tmp_path)
        second.on("say", echo(1))
        await second.start()
        with pytest.raises(PeerUnavailable, match="more than a worker takes"):
            await first.ask(1, "say", b"x" * 100, 20)
        await second.stop()

    play(script)


def test_all_are_asked_and_one_that_is_down_is_left_out(tmp_path: Path):
    async def script() -> None:
        first, second, third = peers_in(tmp_path)
        for number, each in enumerate((first, second, third)):
            each.on("say", echo(number))
        await second.start()
        assert await first.ask_all("say", 20) == {1: b"1 "}
        await third.start()
        assert await first.ask_all("say", 20) == {1: b"1 ", 2: b"2 "}
        await second.stop()
        await third.stop()

    play(script)


# --- homes


def test_boards_are_spread_over_all_workers_and_each_worker_says_the_same(tmp_path: Path):
    one, other, _ = map(HomeWorkers, peers_in(tmp_path))
    assert [one.order(device) for device in DEVICES] == [other.order(device) for device in DEVICES]
    shares = Counter(one.order(device)[0] for device in DEVICES)
    assert set(shares) == {0, 1, 2} and min(shares.values()) > 60


def test_with_another_worker_only_its_own_boards_move(tmp_path: Path):
    three, four = HomeWorkers(peers_in(tmp_path, 3)[0]), HomeWorkers(peers_in(tmp_path, 4)[0])
    moved = [device for device in DEVICES if three.order(device)[0] != four.order(device)[0]]
    assert moved and all(four.order(device)[0] == 3 for device in moved)


def test_the_home_answers_and_what_is_at_home_here_is_done_here(tmp_path: Path):
    async def script() -> None:
        all_peers = peers_in(tmp_path)
        workers = [HomeWorkers(each) for each in all_peers]
        for number, worker in enumerate(workers):
            worker.on("say", echo(number))
            await all_peers[number].start()
        for device in DEVICES[:20]:
            home = workers[0].order(device)[0]
            wanted = None if home == 0 else b"%d x" % home
            assert await workers[0].ask(device, "say", b"x", 20) == wanted
            assert workers[0].is_home(device) == (home == 0)
        for each in all_peers:
            await each.stop()

    play(script)


def test_without_its_home_a_board_is_searched_here_and_then_at_the_next_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(homes, "AWAY_SECONDS", 1000.0)

    async def script() -> None:
        first, _, third = peers_in(tmp_path)
        worker = HomeWorkers(first)
        third.on("say", echo(2))
        await third.start()
        device = next(each for each in DEVICES if worker.order(each) == [1, 2, 0])
        assert await worker.ask(device, "say", b"x", 20) is None
        assert await worker.ask(device, "say", b"x", 20) == b"2 x"
        await third.stop()

    play(script)


def test_a_worker_that_is_alone_is_the_home_of_all_boards():
    async def script() -> None:
        alone = HomeWorkers(None)
        alone.on("say", echo(0))
        assert alone.is_home("kitchen") and await alone.ask("kitchen", "say", b"", 20) is None

    play(script)


# --- figures


def test_figures_of_several_workers_stand_together_each_with_its_worker():
    pages = {
        1: b"# HELP a A thing.\n# TYPE a counter\na_total 2.0\n",
        0: b'# HELP a A thing.\n# TYPE a counter\na_total 1.0\n# HELP b B.\n# TYPE b gauge\nb{x="y z"} 3.0\n',
    }
    assert merge_figures(pages).decode().splitlines() == [
        "# HELP a A thing.",
        "# TYPE a counter",
        'a_total{worker="0"} 1.0',
        'a_total{worker="1"} 2.0',
        "# HELP b B.",
        "# TYPE b gauge",
        'b{x="y z",worker="0"} 3.0',
    ]
