"""MicroPython's TLS against Python's, with certificates of our own: a wrong one is refused and told, and sent nothing."""

import asyncio
import contextlib
import os
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import trustme

import firmware_build
import get_micropython
from driving import CHIP_SOCKETS, ROOT, SECONDS, Home, say
from fake_llm import Serving
from skips import needs_32_bit

Scripted = Callable[..., Serving]

NOW = datetime.now(UTC)
DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    """The authority that a board trusts."""
    return trustme.CA()


@contextlib.contextmanager
def tls(server: Serving, certificate: trustme.LeafCert, **limits: ssl.TLSVersion) -> Iterator[str]:
    """TLS before a scripted model; its URL."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    for name, version in limits.items():
        setattr(context, name, version)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    front = asyncio.run_coroutine_threadsafe(_listen(urlsplit(server.url).port, context), loop).result()
    yield f"https://localhost:{front.sockets[0].getsockname()[1]}"
    loop.call_soon_threadsafe(front.close)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()


async def _listen(port: int | None, context: ssl.SSLContext) -> asyncio.Server:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind, before = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(_copy(reader, before), _copy(behind, writer), return_exceptions=True)

    return await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while data := await source.read(65536):
        target.write(data)
        await target.drain()
    target.close()


def trusting(home: Home, authority: trustme.CA, url: str, api: str = "openai") -> Home:
    """A board that trusts an authority and asks a model."""
    home.write("roots.pem", authority.cert_pem.bytes())
    return home.having(llm__retries=0, llm__stall_seconds=5).asking(url, api, key="sk-0123456789")


def refused(home: Home, server: Serving) -> str:
    """What is told when a certificate does not pass; the model has heard nothing, and the conversation goes on."""
    printed = say(home, "hello", "/stats").printed
    problems = [line for line in printed.splitlines() if line.startswith(("! ", "["))]
    assert len(problems) == 1 and problems[0].startswith("! "), printed
    assert server.requests == [] and "version" in printed
    return problems[0]


@pytest.mark.parametrize("key", list(trustme.KeyType), ids=lambda key: key.name)
def test_a_certificate_of_a_trusted_authority_passes(
    home: Home, scripted: Scripted, authority: trustme.CA, api: str, key: trustme.KeyType
):
    server = scripted({"reply": "Hello over TLS, 你好."})
    with tls(server, authority.issue_cert("localhost", key_type=key)) as url:
        printed = say(trusting(home, authority, url, api), "hello", "and again").printed
    assert printed.count("Hello over TLS, 你好.") == 2


@pytest.mark.parametrize(
    ("name", "times", "is_known", "advice"),
    [
        ("example.org", (None, None), True, "check the URL"),
        ("localhost", (None, None), False, "root certificates"),
        ("localhost", (NOW - 9 * DAY, NOW - DAY), True, "is the clock right?"),
        ("localhost", (NOW + DAY, NOW + 9 * DAY), True, "is the clock right?"),
    ],
    ids=["another-name", "unknown-authority", "expired", "not-yet"],
)
def test_a_wrong_certificate_is_refused(
    home: Home, scripted: Scripted, authority: trustme.CA, name: str, times: tuple, is_known: bool, advice: str
):
    server, signs = scripted(), authority if is_known else trustme.CA()
    with tls(server, signs.issue_cert(name, not_before=times[0], not_after=times[1])) as url:
        problem = refused(trusting(home, authority, url), server)
    assert "the certificate of localhost was refused" in problem and advice in problem


def test_a_service_without_tls_is_reported(home: Home, scripted: Scripted, authority: trustme.CA):
    server = scripted()
    url = server.url.replace("http://127.0.0.1", "https://localhost")
    problem = refused(trusting(home, authority, url), server)
    assert "localhost" in problem


def test_the_roots_of_a_person_are_left_as_they_are(home: Home, authority: trustme.CA):
    home.write("roots.pem", authority.cert_pem.bytes())
    say(home, "hello")
    assert (home.folder / "roots.pem").read_bytes() == authority.cert_pem.bytes()


def test_a_refused_connection_is_an_error_of_the_link_over_tls_too(authority: trustme.CA, tmp_path: Path):
    roots = tmp_path / "roots.pem"
    roots.write_bytes(authority.cert_pem.bytes())
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        path = f"{CHIP_SOCKETS}:{firmware_build.FIRMWARE}:{firmware_build.SUPPORT}:.frozen"
        # The port stays taken meanwhile, so that nobody else comes to listen there.
        done = subprocess.run(
            [
                get_micropython.HOME / "64",
                ROOT / "tests" / "support" / "e2e" / "tls_case.py",
                f"https://localhost:{port}",
                roots,
            ],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            env={**os.environ, "MICROPYPATH": path},
        )
    assert done.stdout.startswith("NetError") and "cut by the other side" in done.stdout, done.stdout + done.stderr


@needs_32_bit
def test_the_32_bit_build_does_the_same(scripted: Scripted, authority: trustme.CA, tmp_path: Path):
    roots = tmp_path / "roots.pem"
    roots.write_bytes(authority.cert_pem.bytes())

    def ask(certificate: trustme.LeafCert) -> str:
        with tls(scripted(), certificate) as url:
            done = subprocess.run(
                [
                    get_micropython.HOME / "32",
                    "-X",
                    "heapsize=256k",
                    ROOT / "tests" / "support" / "e2e" / "tls_case.py",
                    url,
                    roots,
                ],
                capture_output=True,
                text=True,
                timeout=SECONDS,
                env={
                    **os.environ,
                    "MICROPYPATH": f"{CHIP_SOCKETS}:{firmware_build.FIRMWARE}:{firmware_build.SUPPORT}:.frozen",
                },
            )
        return done.stdout + done.stderr

    assert ask(authority.issue_cert("localhost")).startswith("404 ")
    assert "Refused" in ask(authority.issue_cert("example.org"))
    assert "Refused" in ask(trustme.CA().issue_cert("localhost"))
