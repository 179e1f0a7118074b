#!/usr/bin/env python3
"""Make .venv with exactly the packages of a lock file, also where python3 comes without pip and venv's pip.

Debian's python3 has neither; then pip is taken from Debian's own package and run from build/.

    bootstrap.py                requirements.lock: all that the tests and tools of a contributor need
    bootstrap.py --companion    companion.lock: a third of that, to run a companion; nothing where the first is there

Installs nothing when .venv is of that lock file already. The command `engram` of this clone is put into .venv/bin.
"""

import argparse
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import debian

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
LOCK = ROOT / "requirements.lock"
COMPANION_LOCK = ROOT / "companion.lock"
STAMP = VENV / "lock.sha256"

_COMMAND = """\
#!{python}
# `engram` of the clone in {root}; made by tools/setup/bootstrap.py.
import sys

sys.pycache_prefix = {pycache!r}
sys.path.insert(0, {host!r})

from engram_host.__main__ import main

main()
"""


def pip_command(venv: Path = VENV) -> list[str]:
    """How to run a pip that installs into a virtual environment."""
    python = str(venv / "bin" / "python")
    if subprocess.run([python, "-m", "pip", "--version"], capture_output=True).returncode == 0:
        return [python, "-m", "pip"]
    return [python, str(debian_pip())]


def debian_pip() -> Path:
    """A pip that runs from build/, taken from Debian's package of pip's wheel."""
    root = ROOT / "build" / "pip"
    if not any(root.rglob("pip-*.whl")):
        if not debian.is_debian():
            raise debian.Unavailable("python3 has no venv with pip: install your system's python3-venv package.")
        debian.unpack(
            "python3-pip-whl",
            version=None,
            suite=None,
            architecture=debian.native_architecture(),
            state=ROOT / "build" / "apt-pip",
            root=root,
        )
    return next(iter(root.rglob("pip-*.whl"))) / "pip"


def make_venv(venv: Path = VENV) -> None:
    """Make an empty virtual environment, with pip where python3 can."""
    shutil.rmtree(venv, ignore_errors=True)
    made = subprocess.run([sys.executable, "-m", "venv", str(venv)], capture_output=True, text=True)
    if made.returncode == 0:
        return
    shutil.rmtree(venv, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)


def write_command(folder: Path, python: Path) -> None:
    """Write the command `engram` into a folder: it runs this clone's code as it is, with that Python."""
    path = folder / "engram"
    text = _COMMAND.format(python=python, root=ROOT, pycache=str(ROOT / "build" / "pycache"), host=str(ROOT / "host"))
    if path.exists() and path.read_text() == text:
        return
    draft = folder / "engram.new"
    draft.write_text(text)
    draft.chmod(0o755)
    draft.replace(path)


def stamp_of(lock: Path) -> str:
    return hashlib.sha256(lock.read_bytes() + sys.version.encode()).hexdigest()


def install(lock: Path) -> None:
    """Install the packages of a lock file into a new .venv; CalledProcessError, debian.Unavailable."""
    make_venv()
    count = sum("==" in line for line in lock.read_text().splitlines())
    print(f"python: installing {count} packages of {lock.name} into .venv ...", file=sys.stderr, flush=True)
    words = ["install", "--disable-pip-version-check", "--no-compile", "--no-deps", "--require-hashes", "-r", str(lock)]
    command = [*pip_command(), *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as pip:
        show_progress(pip.stdout or (), count)
    if pip.returncode:
        raise subprocess.CalledProcessError(pip.returncode, command)


def show_progress(lines: Iterable[str], count: int) -> None:
    """Print each tenth package that pip begins with, and that it unpacks them."""
    begun = 0
    for line in lines:
        if line.startswith("Collecting "):
            begun += 1
            if begun % 10 == 0:
                print(f"python: {begun} of {count}: {line.split()[1]}", file=sys.stderr, flush=True)
        elif line.startswith("Installing "):
            print("python: unpacking them ...", file=sys.stderr, flush=True)


def main() -> int:
    """Bring .venv in line with a lock file; status 1 with a sentence when that cannot be done."""
    parser = argparse.ArgumentParser(description="Make .venv with the packages of a lock file.")
    parser.add_argument("--companion", action="store_true", help="only what a companion needs")
    locks = [LOCK, COMPANION_LOCK] if parser.parse_args().companion else [LOCK]
    if STAMP.exists() and STAMP.read_text() in map(stamp_of, locks):
        write_command(VENV / "bin", VENV / "bin" / "python")
        return 0
    try:
        install(locks[-1])
    except (debian.Unavailable, subprocess.CalledProcessError) as problem:
        print(f"python: {problem}", file=sys.stderr)
        return 1
    write_command(VENV / "bin", VENV / "bin" / "python")
    STAMP.write_text(stamp_of(locks[-1]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
