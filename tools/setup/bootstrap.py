#!/usr/bin/env python3
"""Make .venv with exactly the packages of requirements.lock, also where python3 comes without pip and venv's pip.

Debian's python3 has neither; then pip is taken from Debian's own package and run from build/.
Installs nothing when .venv is of this lock file already. The command `engram` of this clone is put into .venv/bin.
"""

import argparse
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import debian

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
LOCK = ROOT / "requirements.lock"
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


def main() -> int:
    """Bring .venv in line with the lock file; status 1 with a sentence when that cannot be done."""
    argparse.ArgumentParser(description="Make .venv with the packages of requirements.lock.").parse_args()
    wanted = hashlib.sha256(LOCK.read_bytes() + sys.version.encode()).hexdigest()
    if STAMP.exists() and STAMP.read_text() == wanted:
        write_command(VENV / "bin", VENV / "bin" / "python")
        return 0
    print("python: installing the locked packages into .venv ...", file=sys.stderr, flush=True)
    try:
        make_venv()
        install = [*pip_command(), "install", "-qq", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*install, "--require-hashes", "-r", str(LOCK)], check=True)
    except debian.Unavailable as problem:
        print(f"python: {problem}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as problem:
        print(f"python: {problem.cmd[0]} failed with status {problem.returncode}, see above.", file=sys.stderr)
        return 1
    write_command(VENV / "bin", VENV / "bin" / "python")
    STAMP.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
