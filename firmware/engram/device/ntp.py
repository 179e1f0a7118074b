"""The time from a server of the network (RFC 5905), without blocking the board except for the DNS lookup.
The frozen ntptime blocks for a second and accepts any answer.
"""

import os
import socket
from errno import EAGAIN

import machine

from engram.clock import civil, day_name
from engram.compat import sleep_ms

_PORT = const(123)
_STEP_MS = const(100)
_STEPS = const(30)  # 3 s for the answer
_LENGTH = const(48)
_ASK = const(0x23)  # version 4, from a client
_SERVER = const(4)
_UNSET = const(3)
_UNIX_FROM_1900 = const(2208988800)
_FIRST = const(1704067200)  # 2024-01-01: an earlier time is no time


async def set_clock(server: str) -> str:
    """Set the clock by a time server and return a sentence on that; OSError."""
    address = socket.getaddrinfo(server, _PORT, socket.AF_INET, socket.SOCK_DGRAM)[0][-1]
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        link.setblocking(False)
        link.connect(address)
        cookie = os.urandom(8)
        # The answer repeats the sent time, which only its receiver knows.
        link.send(bytes((_ASK,)) + bytes(_LENGTH - 9) + cookie)
        at, microseconds = _time(await _answer(link), cookie)
    finally:
        link.close()
    days, second = at // 86400, at % 86400
    year, month, day = civil(days)
    clock = (year, month, day, (days + 3) % 7, second // 3600, second // 60 % 60, second % 60, microseconds)
    machine.RTC().datetime(clock)
    return "set by %s: %s %02d:%02d UTC" % (server, day_name(days), second // 3600, second // 60 % 60)


async def _answer(link) -> bytes:
    for _ in range(_STEPS):
        await sleep_ms(_STEP_MS)
        try:
            return link.recv(_LENGTH)
        except OSError as error:
            if error.errno != EAGAIN:
                raise
    raise OSError("no answer in time")


def _time(answer: bytes, cookie: bytes) -> tuple:
    if len(answer) < _LENGTH or answer[0] & 7 != _SERVER or answer[24:32] != cookie:
        raise OSError("the answer is not to this question")
    if answer[0] >> 6 == _UNSET or not 0 < answer[1] < 16:
        raise OSError("the server does not know the time")
    seconds = int.from_bytes(answer[40:44], "big")
    if seconds < 0x80000000:
        seconds += 1 << 32  # the count from 1900 ends in 2036 and begins again
    at = seconds - _UNIX_FROM_1900
    if at < _FIRST:
        raise OSError("the server's time is long past")
    return at, int.from_bytes(answer[44:48], "big") * 1000000 >> 32
