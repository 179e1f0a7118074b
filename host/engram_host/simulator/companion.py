"""The companion of a simulated board: the one running in the default folder, or else a new one."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from engram_host.companion.lockfile import DEFAULT_HOME, HOME_VARIABLE, running_addresses
from engram_host.firmware import CLONE

SECONDS = 30.0

_STOP_SECONDS = 10

_PACKAGES = Path(__file__).resolve().parents[2]


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
        return f"A companion runs beside the board: {page} is its page, {http}/docs describes its API.{how}"


def companion_folder(board: Path, environment: Mapping[str, str] = os.environ) -> Path:
    """Return the companion's folder for a simulated board."""
    if named := environment.get(HOME_VARIABLE):
        return Path(named).expanduser().absolute()
    # Earlier versions kept it in the board's folder. It is the only copy of the board's archive, so it stays in use.
    former = board / "companion"
    return former if former.is_dir() else DEFAULT_HOME.expanduser()


@contextlib.contextmanager
def companion_of(board: Path) -> Iterator[BoardsCompanion]:
    """Use a running companion or start one at free ports; raises CompanionNotStarted."""
    home = companion_folder(board)
    if running := running_addresses(home):
        yield BoardsCompanion(home, running, ran_before=True)
        return
    with _started(home, board / "companion.log") as addresses:
        yield BoardsCompanion(home, addresses, ran_before=False)


@contextlib.contextmanager
def _started(home: Path, log: Path) -> Iterator[dict[str, str]]:
    with tempfile.TemporaryDirectory(prefix="engram-") as folder:
        ready = Path(folder) / "ready.json"
        command = [_python(), "-m", "engram_host", "serve", "--home", str(home)]
        command += ["--http-port", "0", "--ready-file", str(ready)]
        variables = {**os.environ, "PYTHONPATH": str(_PACKAGES)}
        with log.open("w") as output:
            companion = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=variables, start_new_session=True
            )
        try:
            yield _wait(companion, ready, log)
        finally:
            companion.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                companion.wait(_STOP_SECONDS)
            companion.kill()


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
