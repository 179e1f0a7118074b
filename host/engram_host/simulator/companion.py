"""A companion beside the simulated board: `make run COMPANION=1`."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from engram_host.firmware import CLONE

SECONDS = 30.0
"""How long it may take to start."""

_PACKAGES = Path(__file__).resolve().parents[2]
"""Where this package is imported from, which a companion in another Python has to be told."""


class CompanionNotStarted(Exception):
    """The companion did not start; the text says why."""


@contextlib.contextmanager
def companion_beside(home: Path) -> Iterator[dict[str, str]]:
    """A companion with its files below the board's folder, at free ports; where it listens, `http` and `mqtt`."""
    with tempfile.TemporaryDirectory(prefix="engram-") as folder:
        ready = Path(folder) / "ready.json"
        log = home / "companion.log"
        command = [_python(), "-m", "engram_host", "serve"]
        command += [
            "--home",
            str(home / "companion"),
            "--http-port",
            "0",
            "--mqtt-port",
            "0",
            "--ready-file",
            str(ready),
        ]
        variables = {**os.environ, "PYTHONPATH": str(_PACKAGES)}
        with log.open("w") as output:
            companion = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=variables, start_new_session=True
            )
        try:
            where = _wait(companion, ready, log)
            yield where
        finally:
            companion.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                companion.wait(10)
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
