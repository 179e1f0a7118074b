"""The clock is set from an answer that is the server's own and holds a time; anything else leaves it as it was."""

import fakes

fakes.install()

from errno import EAGAIN  # noqa: E402

from engram.clock import day_number  # noqa: E402
from engram.device import ntp  # noqa: E402
from fakes import machine, world  # noqa: E402
from support import raises  # noqa: E402

ntp.sleep_ms = world.sleep_ms

FROM_1900_TO_1970 = 2208988800
FROM_1900_TO_2000 = 3155673600
DAY = 86400


class Link:
    """A socket with a server behind it, which answers `delay` milliseconds after it was asked."""

    def __init__(self, answer, delay):
        self.answer, self.delay = answer, delay
        self.is_closed = False
        self.asked = b""

    def setblocking(self, yes):
        assert not yes

    def connect(self, address):
        assert address == "the address"

    def send(self, request):
        self.asked = bytes(request)
        self.due = world.now + self.delay

    def recv(self, size):
        if self.answer is None or world.now < self.due:
            raise OSError(EAGAIN, "")
        if isinstance(self.answer, OSError):
            raise self.answer
        return self.answer(self.asked)[:size]

    def close(self):
        self.is_closed = True


class Sockets:
    """The module `socket`, with one server."""

    AF_INET, SOCK_DGRAM = 2, 2

    def __init__(self, answer, delay=200):
        self.link = Link(answer, delay)

    def getaddrinfo(self, name, port, family, kind):
        assert (name, port, family, kind) == ("time.example", 123, self.AF_INET, self.SOCK_DGRAM)
        return [(2, 2, 0, "", "the address")]

    def socket(self, family, kind):
        return self.link


def _at(unix):
    """The seconds of an answer, as they go over the wire."""
    return ((unix + FROM_1900_TO_1970) & 0xFFFFFFFF).to_bytes(4, "big")


def _server(unix, first=0x24, stratum=2, fraction=0):
    """A server that gives a time."""

    def answer(asked):
        head = bytes((first, stratum)) + bytes(22) + asked[40:48]
        return head + bytes(8) + _at(unix) + fraction.to_bytes(4, "big")

    return answer


async def _ask(answer, delay=200):
    ntp.socket = Sockets(answer, delay)
    machine.power_on()
    try:
        return await ntp.set_clock("time.example")
    finally:
        assert ntp.socket.link.is_closed


async def _refused(answer, delay=200):
    with raises(OSError) as caught:
        await _ask(answer, delay)
    assert machine.seconds() < 60, "the clock was set"
    return str(caught.error)


def _unix(day, second=0):
    return day_number(day) * DAY + second


async def test_the_clock_is_set():
    told = await _ask(_server(_unix("2026-09-21", 51195)))
    assert machine.seconds() + FROM_1900_TO_2000 - FROM_1900_TO_1970 == _unix("2026-09-21", 51195)
    assert told == "set by time.example: 2026-09-21 14:13 UTC"


async def test_any_moment_comes_out_as_it_went_in():
    unix = _unix("2024-01-01")
    while unix < _unix("2037-12-31"):  # a range of MicroPython ends at 31 bits
        unix += 40 * DAY + 7919
        await _ask(_server(unix))
        assert machine.seconds() == unix - 946684800, unix


async def test_no_answer_ends_after_some_seconds():
    start = world.now
    assert await _refused(None) == "no answer in time"
    assert world.now - start <= 5000


async def test_an_answer_to_another_question_is_refused():
    def forged(asked):
        return _server(_unix("2026-01-01"))(asked[:40] + b"12345678")

    assert "not to this question" in await _refused(forged)


async def test_a_server_that_does_not_know_the_time_is_refused():
    assert "does not know" in await _refused(_server(_unix("2026-01-01"), first=0xE4))
    assert "does not know" in await _refused(_server(_unix("2026-01-01"), stratum=0))
    assert "does not know" in await _refused(_server(_unix("2026-01-01"), stratum=16))


async def test_a_time_before_this_firmware_is_refused():
    assert "long past" in await _refused(_server(_unix("2023-12-31")))


async def test_no_two_questions_are_alike():
    asked = set()
    for _ in range(8):
        await _ask(_server(_unix("2026-01-01")))
        asked.add(ntp.socket.link.asked)  # pyright: ignore[reportAttributeAccessIssue]  # a stand-in is there
    assert len(asked) == 8
