"""What waits for the network tries again as soon as it is there, or has given the time; a silent companion gets patience."""

import fakes

fakes.install()

import engram.text  # noqa: E402, F401  leaves first
from board import Board  # noqa: E402
from engram.config import Config  # noqa: E402
from engram.device import wifi  # noqa: E402
from engram.link import companion as linking  # noqa: E402
from engram.link.companion import Companion  # noqa: E402
from engram.link.rpc import NoAnswer  # noqa: E402
from fakes import network, world  # noqa: E402
from linked import Linked  # noqa: E402
from support import folder, raises  # noqa: E402

HOME = {"ssid": "Home", "password": "correct horse"}
COMES_AT = 5  # the step of a pause in which the network comes


class Enough(BaseException):
    """The test has seen what it wants."""


class Station:
    """A board's Wi-Fi, with nothing in the air, and a server that gives the time once it may."""

    def __init__(self):
        network.begin_anew()
        self.gives_time = False
        self.wifi = wifi.Wifi(Config(folder(), {"network.ntp": "time.example", "wifi": [HOME]}))

    async def run(self, milliseconds):
        """Let it do its work for some time."""
        end = world.now + milliseconds

        async def sleep_ms(milliseconds):
            if world.now >= end:
                raise Enough
            await world.sleep_ms(milliseconds)

        wifi.sleep_ms = sleep_ms
        wifi.ntp = self  # pyright: ignore[reportAttributeAccessIssue]  # stands in for the module
        try:
            await self.wifi.run()
        except Enough:
            pass

    async def set_clock(self, server):
        """See engram.device.ntp."""
        if not self.gives_time:
            raise OSError("no answer in time")
        return "set by " + server

    async def join(self):
        """Let the network come, and be joined."""
        network.air["Home"] = ("correct horse", -60, False, 500)
        await self.run(10000)

    async def set_time(self):
        """Let the server answer, and the clock be set."""
        self.gives_time = True
        await self.run(60000)


async def _steps(module, waiting, meanwhile):
    """How many steps something waits, if something happens in one of them."""
    count = 0

    async def sleep(_milliseconds):
        nonlocal count
        count += 1
        if count == COMES_AT:
            await meanwhile()

    before, module.sleep_ms = module.sleep_ms, sleep
    try:
        await waiting()
    finally:
        module.sleep_ms = before
    return count


async def _nothing():
    """Nothing happens."""


# --- the companion


class Silence:
    """A transport to a companion that answers nothing."""

    async def open(self):
        raise NoAnswer("no answer came in time")

    def close(self):
        pass


class Tried(Companion):
    """A companion that was tried in vain some times before."""

    tries = 0

    async def _connect(self):
        self.tries += 1
        if self.tries > 1:
            raise Enough
        for _ in range(6):
            self._backoff.next_ms()
        return self._backoff.next_ms()


def _companion(kind, station=None):
    board = Board().serve(companion_url="http://127.0.0.1:9")
    linked = Linked(board)
    network = station and station.wifi
    own = kind(board.config, board.clock, linked.logs, linked.known, network=network, **linked.parts())
    own._transport = own._exchange.transport = Silence()
    return own


async def test_the_companion_is_tried_again_when_the_network_comes_and_when_the_clock_is_set():
    station = Station()
    for meanwhile in (station.join, station.set_time, _nothing):
        own = _companion(Tried, station)

        async def run(own=own):
            with raises(Enough):
                await own.run()

        steps = await _steps(linking, run, meanwhile)
        assert steps == COMES_AT if meanwhile is not _nothing else steps >= 30


async def test_a_companion_that_does_not_answer_is_told_with_advice():
    own = _companion(Companion)
    await own._connect()
    assert "is `engram serve` running" in own.short()
