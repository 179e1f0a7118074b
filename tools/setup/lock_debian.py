#!/usr/bin/env python3
"""Write debian.lock: each file that MicroPython's packages need, with its hash, as Debian's release has them now.

    lock_debian.py       for every architecture that get_micropython.py knows; needs a Debian with apt and a mirror

Lines of an architecture whose index the mirror does not serve whole are kept, when they are of the same version.
"""

import argparse
import sys
from pathlib import Path

import debian
import debian_pool
import get_micropython
import versions

HEAD = """\
# Written by lock_debian.py: what a package needs, and where the pool has it.
# wanted suite architecture path bytes sha256
"""


def main() -> int:
    """Write the lock; status 1 where an architecture could not be asked and has no lines of this version."""
    argparse.ArgumentParser(description="Write debian.lock: the files of MicroPython's packages.").parse_args()
    wanted, suite = f"micropython={versions.MICROPYTHON_PACKAGE}", versions.MICROPYTHON_SUITE
    state = Path(__file__).resolve().parents[2] / "build" / "apt-lock"
    kept = debian_pool.LOCK.read_text().splitlines() if debian_pool.LOCK.exists() else []
    lines, status = [], 0
    for architecture in sorted(set(get_micropython.ARCHITECTURES.values())):
        try:
            lines += debian.lock_lines(wanted, suite, state, architecture)
        except debian.Unavailable as problem:
            former = [line for line in kept if line.startswith(f"{wanted} {suite} {architecture} ")]
            print(f"{architecture}: {len(former)} lines kept: {problem}", file=sys.stderr)
            lines += former
            status = status or not former
    debian_pool.LOCK.write_text(HEAD + "".join(line + "\n" for line in lines))
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
