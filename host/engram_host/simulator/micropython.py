"""MicroPython's unix port, which runs the simulated board: the clone's own, or the one on PATH."""

import shutil
import subprocess
from pathlib import Path

from engram_host.firmware import CLONE

OLDEST = (1, 25, 0)
"""The oldest release that runs the firmware; tools/versions.py has it too."""

_SECONDS = 20
_PROBE = "import sys; print(*sys.implementation.version[:3])"


class NoMicroPython(Exception):
    """There is none that is new enough; the text says what to do."""


def find() -> Path:
    """The MicroPython that runs a simulated board. NoMicroPython."""
    own = CLONE / "build" / "micropython" / "64" if CLONE else None
    if own and own.is_file():
        return own
    on_path = shutil.which("micropython")
    if on_path and _version(Path(on_path)) >= OLDEST:
        return Path(on_path)
    if CLONE:
        raise NoMicroPython("MicroPython is not there yet: `make run` in Engram's folder fetches it.")
    oldest = ".".join(str(number) for number in OLDEST[:2])
    raise NoMicroPython(
        f"no micropython {oldest} or newer is on PATH, and the simulated board needs its unix port: install it (Debian 13,"
        " Fedora and Homebrew have a package named micropython)."
    )


def _version(command: Path) -> tuple[int, ...]:
    """The release of a MicroPython, () if it does not run or is none."""
    try:
        done = subprocess.run([command, "-c", _PROBE], capture_output=True, text=True, timeout=_SECONDS)
        return tuple(int(number) for number in done.stdout.split()) if done.returncode == 0 else ()
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ()
