"""The companion of a simulated board: the one running in the default folder, or else a new one."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from engram_host.companion.errors import SettingError
from engram_host.companion.lockfile import DEFAULT_HOME, HOME_VARIABLE, bind_socket, running_addresses
from engram_host.companion.settings import read_settings
from engram_host.firmware import CLONE

SECONDS = 30.0

_STOP_SECONDS = 10

_PACKAGES = Path(__file__).resolve().parents[2]

_BROKER_FOLDERS = "/usr/sbin:/usr/local/sbin:/opt/homebrew/sbin"
_BROKER_PORT = 1883


class CompanionNotStarted(Exception):
    """The companion did not start; the text gives the reason."""


@dataclass(frozen=True)
class BoardsCompanion:
    """Addresses of a board's companion; `mqtt` may be missing."""

    home: Path
    addresses: Mapping[str, str]
    ran_before: bool

    @property
    def board_url(self) -> str:
        return self.addresses.get("mqtt") or self.addresses["http"]

    def sentence(self) -> str:
        http = self.addresses["http"]
        is_found = self.home == DEFAULT_HOME.expanduser()
        how = "" if is_found else f" Commands find it with --home {self.home}"
        if self.ran_before:
            return f"The board uses the companion that runs at {http}. `engram page` opens its page.{how}"
        page = self.addresses.get("page", http)
        broker = f" Its broker is {self.addresses['mqtt']}." if "mqtt" in self.addresses else ""
        return f"A companion runs beside the board: {page} is its page, {http}/docs describes its API.{broker}{how}"


@contextlib.contextmanager
def companion_of(board: Path) -> Iterator[BoardsCompanion]:
    """Use a running companion or start one at free ports; raises CompanionNotStarted."""
    home = Path(os.environ.get(HOME_VARIABLE) or DEFAULT_HOME).expanduser().absolute()
    if running := running_addresses(home):
        yield BoardsCompanion(home, running, ran_before=True)
        return
    with _broker(home, board) as broker, _started(home, board / "companion.log", broker) as addresses:
        yield BoardsCompanion(home, addresses, ran_before=False)


@contextlib.contextmanager
def _broker(home: Path, board: Path) -> Iterator[list[str]]:
    """Run mosquitto where it is installed and the settings name no broker; yield the companion's options."""
    program = shutil.which("mosquitto") or shutil.which("mosquitto", path=_BROKER_FOLDERS)
    if program is None or not _may_have_broker(home):
        yield []
        return
    port = _free_port(_BROKER_PORT)
    config = board / "mosquitto.conf"
    config.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\n")
    with _running([program, "-c", str(config)], board / "mosquitto.log"):
        yield ["--mqtt-url", f"mqtt://127.0.0.1:{port}"]


def _may_have_broker(home: Path) -> bool:
    try:
        settings = read_settings(home, {})
    except SettingError:
        return False  # `engram serve` says what is wrong
    return not settings.mqtt.url and settings.security.tokens != "on"


def _free_port(wanted: int) -> int:
    try:
        probe = bind_socket("127.0.0.1", wanted)
    except OSError:
        probe = bind_socket("127.0.0.1", 0)
    with probe:
        return probe.getsockname()[1]


@contextlib.contextmanager
def _started(home: Path, log: Path, options: list[str]) -> Iterator[dict[str, str]]:
    with tempfile.TemporaryDirectory(prefix="engram-") as folder:
        ready = Path(folder) / "ready.json"
        command = [_python(), "-m", "engram_host", "serve", "--home", str(home)]
        command += ["--http-port", "0", "--ready-file", str(ready), *options]
        with _running(command, log) as companion:
            yield _wait(companion, ready, log)


@contextlib.contextmanager
def _running(command: list[str], log: Path) -> Iterator["subprocess.Popen[bytes]"]:
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={**os.environ, "PYTHONPATH": str(_PACKAGES)},
            start_new_session=True,
        )
    try:
        yield process
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_SECONDS)
        process.kill()


def _python() -> str:
    own = CLONE / ".venv" / "bin" / "python" if CLONE else None
    return str(own) if own and own.exists() else sys.executable


def _wait(companion: "subprocess.Popen[bytes]", ready: Path, log: Path) -> dict[str, str]:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if ready.exists():
            return json.loads(ready.read_text())
        if companion.poll() is not None:
            lines = log.read_text(errors="replace").strip().splitlines() or ["it said nothing"]
            raise CompanionNotStarted(f"the companion did not start: {lines[-1]} ({log})")
        time.sleep(0.05)
    raise CompanionNotStarted(f"the companion did not start within {SECONDS:.0f} seconds; see {log}.")
