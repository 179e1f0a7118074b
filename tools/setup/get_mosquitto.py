#!/usr/bin/env python3
"""Find or fetch mosquitto, the MQTT broker that the tests use: makes build/mosquitto/mosquitto.

One on PATH is used; else Debian's package is unpacked under build/, with the libraries that it needs, and started by its
own loader. Status 1 with a sentence where there is none: what needs it is then skipped.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

import debian
from get_micropython import write_launcher

BUILD = Path(__file__).resolve().parents[2] / "build"
HOME = BUILD / "mosquitto"
COMMAND = HOME / "mosquitto"


def usable() -> bool:
    """Whether there is a mosquitto that runs."""
    try:
        done = subprocess.run([COMMAND, "-h"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.stdout.startswith("mosquitto version")


def ensure() -> Path:
    """The path of a mosquitto that runs; debian.Unavailable where there is none."""
    if usable():
        return COMMAND
    on_path = shutil.which("mosquitto") or shutil.which(
        "mosquitto", path="/usr/sbin:/usr/local/sbin:/opt/homebrew/sbin"
    )
    if on_path:
        write_launcher(COMMAND, f'"{on_path}"')
    elif debian.is_debian():
        _fetch()
    else:
        raise debian.Unavailable("there is no mosquitto on PATH: install your system's package.")
    if not usable():
        raise debian.Unavailable("the mosquitto that was installed does not run on this machine.")
    return COMMAND


def _fetch() -> None:
    root = HOME / "root"
    print("mosquitto: fetching Debian's package ...", file=sys.stderr, flush=True)
    debian.unpack(
        "mosquitto",
        version=None,
        suite=None,
        architecture=debian.native_architecture(),
        state=BUILD / "apt-mosquitto",
        root=root,
    )
    loader = next(iter(sorted(path for path in root.rglob("ld-linux*.so*") if not path.is_symlink())))
    libraries = sorted({path.parent for path in root.rglob("*.so*")})
    search = ":".join(f'"$here"/{path.relative_to(HOME)}' for path in libraries)
    inside = [f'"$here"/{path.relative_to(HOME)}' for path in (loader, root / "usr" / "sbin" / "mosquitto")]
    write_launcher(COMMAND, f"{inside[0]} --library-path {search} {inside[1]}")


def main() -> int:
    """Make sure that there is one; status 1 where there is none."""
    argparse.ArgumentParser(description="Find or fetch mosquitto: makes build/mosquitto/mosquitto.").parse_args()
    os.umask(0o022)
    try:
        print(f"mosquitto: {ensure()}")
    except debian.Unavailable as problem:
        print(f"mosquitto: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
