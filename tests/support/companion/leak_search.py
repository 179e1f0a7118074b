"""Clients that try to get what is not theirs, and a search for it in all that a companion has written."""

import base64
import contextlib
import http.client
import json
import random
import re
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from engram.link import messages
from leaky_service import WAYS

SECONDS = 20.0

_HALF_REQUESTS = (
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET /v1/health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    b"POST /v1/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /v1/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
    b"GET /v1/devices/../devices/kitchen HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01",
    b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n",
)
"""What is no request, or one that two programs read in two ways."""


@dataclass(frozen=True)
class Attacked:
    """A companion, the token of the attacker's own board `mallory`, and the boards that it is after."""

    http: int
    token: str = field(repr=False)
    victims: tuple[str, ...] = ("kitchen", "garden")


def source_address(number: int) -> str:
    """One of many addresses of this computer, so that one attacker is not slowed down for all others."""
    return f"127.{number // 62500 + 1}.{number // 250 % 250 + 1}.{number % 250 + 1}"


# --- HTTP


def hostile_requests(where: Attacked, routes: Mapping[str, Iterable[str]], seed: int) -> list[bytes]:
    """Ask in a way that depends on `seed`; all that was answered: heads and bodies. `routes` are methods by path."""
    chance = random.Random(seed)
    address = source_address(seed)
    victim = chance.choice(where.victims)
    found = [_raw_request(where.http, address, chance.choice(_HALF_REQUESTS))]
    asked: list[tuple[str, str, Any]] = [
        (method.upper(), re.sub(r"\{\w+\}", chance.choice([victim, "mallory", "m1", "%2e%2e", "'"]), path), None)
        for path, methods in routes.items()
        for method in methods
    ]
    asked = chance.sample(asked, 4)
    asked.append(("POST", "/v1/search", {"query": "hidden word", "devices": [victim], "limit": 20}))
    asked.append(("POST", f"/v1/devices/{chance.choice([victim, 'mallory'])}/messages", _message(chance, victim)))
    body = {"model": "m", "messages": [{"role": "user", "content": chance.choice(WAYS)}], "stream": seed % 2 == 0}
    asked.append(("POST", "/gateway/v1/chat/completions", body))
    for method, path, content in asked:
        with contextlib.suppress(OSError, http.client.HTTPException):
            found.append(_answer(where, address, method, path, content, _login(chance, where.token, victim)))
    return found


def _login(chance: random.Random, token: str, victim: str) -> dict[str, str]:
    wrong = "".join(chance.choices("ABCDEFGHabcdefgh0123_-", k=43))
    basic = base64.b64encode(f"{victim}:{token}".encode()).decode()
    return chance.choice(
        [
            {},
            {"Authorization": f"Bearer {token}"},
            {"Authorization": f"Bearer {token}"},
            {"Authorization": f"Bearer {wrong}"},
            {"Authorization": f"Basic {basic}"},
            {"x-api-key": token},
        ]
    )


def _message(chance: random.Random, victim: str) -> bytes:
    """A message of a board, right or not: of each kind that there is."""
    caller = {"principal": "owner", "group": False, "workspace": ""}
    log = {"log": "records", "epoch": 11}
    fields: dict[str, dict[str, Any]] = {
        "hello": {"version": 1, "zone": 0, "records": [11, 1, 1, 0], "journal": [11, 1, 1, 0], "relied": 0, "rule": ""},
        "lines": {**log, "after": 0, "to": 1, "count": 1},
        "check": {**log, "after": 0, "to": 3, "count": 3, "digest": "00000000"},
        "agreed": {**log, "rewrites": 5},
        "keep": {**log, "seqs": [1, 2], "digest": "00000000"},
        "holds": {"epoch": 11, "first": 0, "last": 0},
        "notes": {
            "epoch": 11,
            "after": "",
            "to": "",
            "files": [["MEMORY.md", 4, "00000000"], ["2026-01-31.md", 0, "left"]],
        },
        "note": {"epoch": 11, "file": "MEMORY.md", "digest": "00000000"},
        "senses": {"epoch": 11, "next": 1, "whole": True, "items": [[0, "forged", "V", 1]], "shared": []},
        "readings": {"epoch": 11, "level": 0, "seq": 1},
        "get": {"id": "m1", **caller},
        "search": {
            "query": f"hidden word of {victim}",
            "limit": 50,
            **caller,
            "tags": [],
            "since": 0,
            "until": 1 << 40,
            "folders": True,
        },
        "listen": {"wait": 0, "mid": chance.choice(["", "m1"]), "turn": ""},
        "reply": {"mid": "m1", "offer": 1, "k": 1},
        "push": {"mid": "push:1", "room": "phone", "text": "forged"},
        "status": {"items": [["run", chance.choice([1, 2])], ["flash", 1 << 20], ["model_problem", "forged"]]},
        "file": {"path": chance.choice(["notes/hidden.md", "MEMORY.md"]), "first": 1, "count": 100, **caller},
    }
    assert set(fields) == set(messages.FROM_BOARD), "a message that no attacker tries"
    kind = chance.choice([*fields])
    data = messages.encode(
        kind, chance.choice(["b1", "mallory"]), chance.randrange(4), chance.randrange(9), **fields[kind]
    )
    return data if chance.random() < 0.7 else data[: chance.randrange(len(data))] + b"\xff\x00"


def _answer(where: Attacked, address: str, method: str, path: str, content: Any, headers: dict[str, str]) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", where.http, SECONDS, source_address=(address, 0))
    with contextlib.closing(connection):
        kind = "application/octet-stream" if isinstance(content, bytes) else "application/json"
        body = content if isinstance(content, bytes | None) else json.dumps(content).encode()
        connection.request(method, quote(path, safe="/%{}'"), body, headers | {"Content-Type": kind})
        answer = connection.getresponse()
        return repr((answer.status, answer.getheaders())).encode() + answer.read()


def _raw_request(port: int, address: str, data: bytes) -> bytes:
    with contextlib.suppress(OSError), _connected(port, address) as client:
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(65536), b""))
    return b""


def _connected(port: int, address: str) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), SECONDS, source_address=(address, 0))


# --- the search


def places_of(secrets: Mapping[str, str], written: Mapping[str, bytes]) -> list[tuple[str, str]]:
    """(which secret, where) for each secret that stands in what was written: as it is, or as a login codes it."""
    return [
        (name, where)
        for name, secret in secrets.items()
        for where, data in written.items()
        if any(form in data for form in _forms(secret))
    ]


def _forms(secret: str) -> set[bytes]:
    """A secret as it is, in hexadecimal, and inside of base64, wherever it begins there."""
    plain = secret.encode()
    forms = {plain, plain.hex().encode(), plain.hex().upper().encode()}
    for offset in range(3):
        coded = base64.b64encode(b"\0" * offset + plain)
        # Without the signs at both ends that hold bits of what stands beside it.
        forms.add(coded[-(-offset * 8 // 6) : len(coded) // 4 * 4 - 4])
    return forms
