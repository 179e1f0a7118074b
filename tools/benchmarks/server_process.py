"""Servers as processes of their own: mosquitto and the companion. Each can be killed and started again on its port.

    with Mosquitto(1884) as broker, CompanionProcess(folder, 8731, mqtt_url=broker.url) as companion: ...

The benchmark of the companion runs them, and so do tests (tests/support/companion/peers.py).
"""

import contextlib
import os
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, Protocol, Self

import httpx

import get_mosquitto
from engram_host.companion.lockfile import running_addresses

ROOT = Path(__file__).resolve().parents[2]

START_SECONDS = 60.0
"""How long a start may take; far more than it takes on a slow machine."""

PRINTED_BYTES = 6000
"""Of a server's output, how much of its end is shown."""

PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For clients of addresses without TLS: else httpx reads all of the system's certificates for each."""

_PAUSE = 0.02
_STOP_SECONDS = 20


class ServerFailed(RuntimeError):
    """A server did not start or end; the message has what it printed."""


def find_free(ports: Iterable[int]) -> int:
    """The first of some ports at which nobody listens; ServerFailed if there is none."""
    for port in ports:
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise ServerFailed("none of the ports is free")


class RunningProcess(Protocol):
    """The part of subprocess.Popen that is used of a server."""

    @property
    def pid(self) -> int: ...

    @property
    def stdin(self) -> IO[bytes] | None: ...

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def terminate(self) -> None: ...


def listens(port: int) -> bool:
    """Whether somebody listens at a port of this computer."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


class ServerProcess:
    """A process that can be killed and started again; its output goes to a file."""

    name = "server"

    def __init__(self) -> None:
        self._process: RunningProcess | None = None
        self._output = tempfile.NamedTemporaryFile(prefix=f"engram-{self.name}-", suffix=".log")  # noqa: SIM115

    def command(self) -> tuple[list[str], dict[str, str]]:
        """Return the command line, and the variables that it needs."""
        raise NotImplementedError

    def is_ready(self) -> bool:
        """Whether it does its work."""
        raise NotImplementedError

    def begin(self) -> None:
        """Start the process, without waiting for it."""
        words, variables = self.command()
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("ENGRAM_", "EMBEDDING_"))}
        self._process = self.run(words, {**clean, **variables})

    def run(self, words: list[str], variables: dict[str, str]) -> RunningProcess:
        """Run a command with nothing but these variables."""
        return subprocess.Popen(
            words,
            env=variables,
            stdin=subprocess.PIPE,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def start(self) -> Self:
        """Start the process and wait until it does its work; ServerFailed."""
        self.begin()
        end = time.monotonic() + START_SECONDS
        while not self.is_ready():
            if self.process.poll() is not None:
                raise ServerFailed(f"{self.name} ended:\n{self.printed()}")
            if time.monotonic() > end:
                raise ServerFailed(f"{self.name} is not ready after {START_SECONDS:.0f} s:\n{self.printed()}")
            time.sleep(_PAUSE)
        return self

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def process(self) -> RunningProcess:
        assert self._process, "start it first"
        return self._process

    def printed(self) -> str:
        """Return the end of what it printed so far."""
        return self.all_printed()[-PRINTED_BYTES:]

    def all_printed(self) -> str:
        """Return all that it printed so far."""
        return Path(self._output.name).read_text(encoding="utf-8", errors="replace")

    def kill(self) -> None:
        """Send SIGKILL to it and to all that it started."""
        if self._process:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def stop(self) -> int:
        """End it as a person would, and return its status; ServerFailed."""
        self.process.terminate()
        try:
            return self.process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise ServerFailed(f"{self.name} did not end:\n{self.printed()}") from None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._output.close()


class Mosquitto(ServerProcess):
    """The broker mosquitto, without passwords, on a port of this computer."""

    name = "mosquitto"

    def __init__(self, port: int):
        super().__init__()
        self.port = port
        self.url = f"mqtt://127.0.0.1:{port}"
        self._folder = tempfile.TemporaryDirectory(prefix="engram-mosquitto-")
        config = f"listener {port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\n"
        config += "max_queued_messages 100000\nmax_inflight_messages 0\n"
        if os.getuid() == 0:
            config += "user root\n"
        self._config = Path(self._folder.name) / "mosquitto.conf"
        self._config.write_text(config)

    def command(self) -> tuple[list[str], dict[str, str]]:
        return [str(get_mosquitto.COMMAND), "-c", str(self._config)], {}

    def is_ready(self) -> bool:
        return listens(self.port)


class CompanionProcess(ServerProcess):
    """`engram serve` at `http_port`, with the broker of `mqtt_url` if there is one."""

    name = "companion"

    def __init__(
        self,
        home: Path,
        http_port: int,
        mqtt_url: str = "",
        variables: Mapping[str, str] = MappingProxyType({}),
    ):
        super().__init__()
        self.home = home
        self.http_port = http_port
        self.url = f"http://127.0.0.1:{http_port}"
        self.mqtt_url = mqtt_url
        self._variables = variables
        self.client = httpx.Client(
            base_url=self.url, timeout=120, transport=httpx.HTTPTransport(retries=0, verify=PLAIN)
        )

    def command(self) -> tuple[list[str], dict[str, str]]:
        words = [sys.executable, "-m", "engram_host", "serve", "--home", str(self.home)]
        words += ["--http-port", str(self.http_port), "--log-level", "info"]
        words += ["--mqtt-url", self.mqtt_url] if self.mqtt_url else []
        path = f"{ROOT / 'host'}:{ROOT / 'firmware'}"
        return words, {"PYTHONPATH": path, "EMBEDDING_PROVIDER": "none", **self._variables}

    def is_ready(self) -> bool:
        """Whether it answers over HTTP, has reached its broker if it has one, and says in its folder where it listens."""
        with contextlib.suppress(FileNotFoundError):
            self.client.headers["Authorization"] = f"Bearer {(self.home / 'operator.token').read_text().strip()}"
        try:
            health = self.client.get("/v1/health").json()
        except httpx.TransportError:
            return False
        return "not connected" not in health["mqtt"] and bool(running_addresses(self.home))

    def lines(self, device: str, log: str) -> list[dict[str, Any]]:
        """All lines of the copy of a log."""
        found: list[dict[str, Any]] = []
        while True:
            after = found[-1]["seq"] if found else 0
            answer = self.client.get(f"/v1/devices/{device}/lines", params={"log": log, "after": after, "limit": 1000})
            if answer.status_code == 404:
                return []
            answer.raise_for_status()
            page = answer.json()
            if not page:
                return found
            found += [each["line"] for each in page]

    def __exit__(self, *args: object) -> None:
        self.client.close()
        super().__exit__(*args)
