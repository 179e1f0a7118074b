#!/usr/bin/env python3
"""Find or fetch MicroPython's unix port, in its 64-bit and its 32-bit build.

    get_micropython.py [64] [32]     makes build/micropython/64 and /32, each an executable; both by default

A `micropython` on PATH that is new enough is used; else Debian's own package of a newer release is unpacked under
build/, with the libraries that it needs, and started by its own loader, so that an older C library on the host
does not matter. The 32-bit build has the chip's object sizes. Versions are pinned in versions.py.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

import debian
import versions

BUILD = Path(__file__).resolve().parents[2] / "build"
HOME = BUILD / "micropython"

PROBE = "import sys; print(*sys.implementation.version[:3], 64 if sys.maxsize > 1 << 32 else 32)"

ARCHITECTURES = {("amd64", 64): "amd64", ("amd64", 32): "i386", ("arm64", 64): "arm64", ("arm64", 32): "armhf"}
"""(the machine's architecture, word size): the Debian architecture whose build runs there."""


def probe(command: Path) -> tuple[tuple[int, ...], int] | None:
    """Version and word size of a MicroPython, or None when it does not run or is no MicroPython."""
    try:
        done = subprocess.run([command, "-c", PROBE], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    numbers = done.stdout.split()
    if done.returncode or len(numbers) != 4:
        return None
    return tuple(int(number) for number in numbers[:3]), int(numbers[3])


def usable(command: Path, bits: int) -> bool:
    """Whether `command` is a MicroPython that is new enough, of that word size."""
    found = probe(command)
    return found is not None and found[0] >= versions.MICROPYTHON_OLDEST and found[1] == bits


def write_launcher(path: Path, line: str) -> None:
    """Write an executable that runs `line` in place of itself."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".new")
    draft.write_text(f'#!/bin/sh\nhere=$(dirname "$0")\nexec {line} "$@"\n')
    draft.chmod(0o755)
    draft.replace(path)


def fetch(bits: int, launcher: Path) -> None:
    """Unpack Debian's package for `bits` and write its launcher."""
    machine = debian.native_architecture()
    architecture = ARCHITECTURES.get((machine, bits))
    if architecture is None:
        raise debian.Unavailable(f"Debian has no {bits}-bit MicroPython that runs on {machine}.")
    root = HOME / f"root{bits}"
    print(f"micropython: fetching the {bits}-bit build {versions.MICROPYTHON_PACKAGE} ...", file=sys.stderr, flush=True)
    debian.unpack(
        "micropython",
        version=versions.MICROPYTHON_PACKAGE,
        suite=versions.MICROPYTHON_SUITE,
        architecture=architecture,
        state=BUILD / "apt",
        root=root,
    )
    # armhf's name of the loader has "linux" in it as the others have; libc.so's own link is of no use here.
    loader = next(iter(sorted(path for path in root.rglob("ld-linux*.so*") if not path.is_symlink())))
    libraries = next(iter(sorted(root.glob("usr/lib/*/libc.so.6")))).parent
    inside = [f'"$here"/{path.relative_to(HOME)}' for path in (loader, libraries, root / "usr/bin/micropython")]
    write_launcher(launcher, f"{inside[0]} --library-path {inside[1]} {inside[2]}")


def ensure(bits: int) -> Path:
    """The path of a usable MicroPython of that word size; raises debian.Unavailable where there is none."""
    launcher = HOME / str(bits)
    if usable(launcher, bits):
        return launcher
    on_path = shutil.which("micropython")
    if on_path and usable(Path(on_path), bits):
        write_launcher(launcher, f'"{on_path}"')
    elif debian.is_debian():
        fetch(bits, launcher)
    else:
        oldest = ".".join(str(number) for number in versions.MICROPYTHON_OLDEST)
        raise debian.Unavailable(
            f"no {bits}-bit micropython {oldest} or newer is on PATH: install it (Homebrew and Fedora have a package"
            " named micropython; else build MicroPython's unix port), then run this again."
        )
    if not usable(launcher, bits):
        launcher.unlink()
        raise debian.Unavailable(f"the {bits}-bit micropython that was installed does not run on this machine.")
    return launcher


def main(arguments: list[str]) -> int:
    """Make sure of the builds named, print their versions; status 1 where one is missing that has to be there.

    The 32-bit build is only packaged by Debian: elsewhere its tests are skipped.
    """
    parser = argparse.ArgumentParser(description="Find or fetch MicroPython: makes build/micropython/64 and /32.")
    parser.add_argument("bits", nargs="*", type=int, metavar="BITS", help="64 or 32; both by default")
    wanted = parser.parse_args(arguments).bits or [64, 32]
    if not {64, 32}.issuperset(wanted):
        parser.error("BITS is 64 or 32")
    os.umask(0o022)
    status = 0
    for bits in wanted:
        try:
            launcher = ensure(bits)
        except debian.Unavailable as problem:
            print(f"micropython: {problem}", file=sys.stderr)
            if bits == 32 and not debian.is_debian():
                print("micropython: the tests of the 32-bit build are skipped.", file=sys.stderr)
            else:
                status = 1
        else:
            found = probe(launcher)
            assert found is not None
            print(f"micropython {'.'.join(str(number) for number in found[0])}, {bits}-bit: {launcher}")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
