#!/usr/bin/env python3
"""Install Synapse, the Matrix server that the tests run, into build/synapse: a virtual environment of its own.

Exactly the packages of synapse.lock, by their hashes; nothing is compiled. Status 1 with a sentence where that cannot be done:
what needs it is then skipped. A first installation downloads some 60 MB; it is given up after INSTALL_SECONDS.
"""

import argparse
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import debian
from bootstrap import make_venv, pip_command

LOCK = Path(__file__).resolve().parent / "synapse.lock"
HOME = Path(__file__).resolve().parents[2] / "build" / "synapse"
PYTHON = HOME / "bin" / "python"
STAMP = HOME / "lock.sha256"

INSTALL_SECONDS = 400
"""How long an installation may take."""


def command(config: Path) -> list[str]:
    """The command line of a server with a configuration file."""
    return [str(PYTHON), "-m", "synapse.app.homeserver", "--config-path", str(config)]


def usable() -> bool:
    """Whether what synapse.lock names is installed."""
    return PYTHON.exists() and STAMP.exists() and STAMP.read_text() == _wanted()


def ensure() -> Path:
    """The Python that runs it; debian.Unavailable where there is none."""
    if usable():
        return PYTHON
    print("synapse: installing the locked packages into build/synapse ...", file=sys.stderr, flush=True)
    install = ["install", "-qq", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"]
    try:
        make_venv(HOME)
        words = [*pip_command(HOME), *install, "--require-hashes", "-r", str(LOCK)]
        subprocess.run(words, check=True, timeout=INSTALL_SECONDS)
        subprocess.run([PYTHON, "-c", "import synapse.app.homeserver"], check=True, timeout=INSTALL_SECONDS)
    except subprocess.CalledProcessError as problem:
        raise debian.Unavailable(f"{problem.cmd[0]} failed with status {problem.returncode}, see above.") from None
    except subprocess.TimeoutExpired:
        raise debian.Unavailable(f"the installation took longer than {INSTALL_SECONDS} seconds.") from None
    STAMP.write_text(_wanted())
    return PYTHON


def _wanted() -> str:
    return hashlib.sha256(LOCK.read_bytes() + sys.version.encode()).hexdigest()


def main() -> int:
    """Make sure that it is installed; status 1 where it cannot be."""
    argparse.ArgumentParser(description="Install Synapse, a Matrix server: makes build/synapse.").parse_args()
    os.umask(0o022)
    try:
        print(f"synapse: {ensure()}")
    except debian.Unavailable as problem:
        print(f"synapse: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
