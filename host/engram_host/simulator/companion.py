"""The companion of a simulated board: the one that runs in the folder that all commands use, or else one that is started."""

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
"""How long it may take to start."""

_STOP_SECONDS = 10

_PACKAGES = Path(__file__).resolve().parents[2]
"""Where this package is imported from, which a companion in another Python needs."""


class CompanionNotStarted(Exception):
    """The companion did not start; the text says why."""


@dataclass(frozen=True)
class BoardsCompanion:
    """The companion of a board: where it listens (`http`, and `mqtt` if it is on), and whether it ran before the board."""

    home: Path
    addresses: Mapping[str, str]
    ran_before: bool

    @property
    def board_url(self) -> str:
        """The URL under which a board reaches it."""
        return self.addresses.get("mqtt") or self.addresses["http"]

    def sentence(self) -> str:
        """Its sentence for a person."""
        http = self.addresses["http"]
        is_found = self.home == DEFAULT_HOME.expanduser()
        how = "" if is_found else f" Commands find it with --home {self.home}"
        if self.ran_before:
            return f"The board uses the companion that runs at {http}. `engram page` opens its page.{how}"
        page = self.addresses.get("page", http)
        return f"A companion runs beside the board: {page} is its page, {http}/docs describes its API.{how}"


def companion_folder(board: Path, environment: Mapping[str, str] = os.environ) -> Path:
    """The folder of the companion of a simulated board."""
    if named := environment.get(HOME_VARIABLE):
        return Path(named).expanduser().absolute()
    # Earlier versions kept it in the board's folder. What a board has archived is only there, so it stays in use.
    former = board / "companion"
    return former if former.is_dir() else DEFAULT_HOME.expanduser()


@contextlib.contextmanager
def companion_of(board: Path) -> Iterator[BoardsCompanion]:
    """The companion of the board in a folder, started at free ports unless it runs, and then ended. CompanionNotStarted."""
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
    """The Python that has the companion's packages: a clone's own, where it has one."""
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
