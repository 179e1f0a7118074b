"""The wheel, and Python environments that have it and nothing else: built and filled without a network.

What pip does with a wheel is done here by hand, in a second: it is unpacked, its commands become scripts, and the packages that
it asks for are links to those of this Python. `make soak` lets pip itself do it.
"""

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from configparser import ConfigParser
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path, PurePosixPath

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[3]
SECONDS = 120
"""How long a command may take; far more than it does on a slow machine."""

NOT_NEEDED = {"huggingface-hub"}
"""What tokenizers asks for and the lock leaves out (see [tool.uv] in pyproject.toml)."""

_NOT_LINKED = ("..", "__pycache__", "bin")


@dataclass(frozen=True)
class Ran:
    """What a command printed, and its status."""

    status: int
    out: str
    err: str

    @property
    def sentences(self) -> list[str]:
        """The lines on stderr, without those that say how far it is."""
        return [line for line in self.err.splitlines() if not line.endswith(" ...")]


@dataclass(frozen=True)
class Environment:
    """A Python environment in a folder."""

    folder: Path

    @property
    def packages(self) -> Path:
        """Its site-packages."""
        return next(self.folder.glob("lib/python3*/site-packages"))

    def variables(self, home: Path, **more: str) -> dict[str, str]:
        """The environment variables of a person who has nothing of ours set, and no program but this environment's."""
        pycache = os.environ.get("PYTHONPYCACHEPREFIX", "")
        return {"PATH": str(self.folder / "bin"), "HOME": str(home), "PYTHONPYCACHEPREFIX": pycache, **more}

    def run(self, home: Path, *words: str | Path, given: str = "", **more: str) -> Ran:
        """Run one of its programs in a folder that is its user's home."""
        command = [str(self.folder / "bin" / words[0]), *map(str, words[1:])]
        done = subprocess.run(
            command,
            cwd=home,
            env=self.variables(home, **more),
            input=given,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        return Ran(done.returncode, done.stdout, done.stderr)


def build_wheel(folder: Path) -> Path:
    """The wheel of this tree."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(iter(folder.glob("*.whl")))


def empty(folder: Path) -> Environment:
    """A new environment without any package."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=SECONDS)
    return Environment(folder)


def install(wheel: Path, environment: Environment, *extras: str) -> None:
    """Install a wheel with what it needs, and what its extras need."""
    with zipfile.ZipFile(wheel) as file:
        file.extractall(environment.packages)
    (installed,) = metadata.distributions(name="engram-mcu", path=[str(environment.packages)])
    _write_scripts(environment, installed)
    for each in _closure(installed, extras):
        _link(each, environment.packages)


def _write_scripts(environment: Environment, installed: metadata.Distribution) -> None:
    points = ConfigParser(delimiters="=")
    points.read_string(installed.read_text("entry_points.txt") or "")
    for name, target in points["console_scripts"].items():
        module, _, function = target.partition(":")
        script = environment.folder / "bin" / name
        python = environment.folder / "bin" / "python"
        script.write_text(f"#!{python}\nimport sys\nfrom {module} import {function}\nsys.exit({function}())\n")
        script.chmod(0o755)


def _closure(installed: metadata.Distribution, extras: tuple[str, ...]) -> list[metadata.Distribution]:
    """All distributions that a distribution needs with these extras, as this Python has them."""
    wanted = list(requirements(installed, *extras))
    found: dict[str, metadata.Distribution] = {}
    seen: set[tuple[str, ...]] = set()
    for need in wanted:  # which grows
        if need.name in NOT_NEEDED:
            continue
        each = metadata.distribution(need.name)
        known = (each.name, *sorted(need.extras))
        if known not in seen:
            seen.add(known)
            found[each.name] = each
            wanted += requirements(each, *need.extras)
    return list(found.values())


def requirements(distribution: metadata.Distribution, *extras: str) -> Iterator[Requirement]:
    """What a distribution needs here, with these extras."""
    for line in distribution.requires or ():
        need = Requirement(line)
        if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield need


def _link(distribution: metadata.Distribution, folder: Path) -> None:
    names = {PurePosixPath(str(path)).parts[0] for path in distribution.files or ()}
    for name in names.difference(_NOT_LINKED):
        source, target = Path(str(distribution.locate_file(name))).resolve(), folder / name
        if not target.exists():
            target.symlink_to(source)
            _link_bytecode(source, target)


def _link_bytecode(source: Path, target: Path) -> None:
    """Let what Python compiled of a package be found where the package is linked: compiling all takes seconds."""
    prefix = os.environ.get("PYTHONPYCACHEPREFIX")
    if prefix and source.is_dir() and source.suffix != ".dist-info":
        kept, link = Path(prefix + str(source)), Path(prefix + str(target))
        kept.mkdir(parents=True, exist_ok=True)
        link.parent.mkdir(parents=True, exist_ok=True)
        if link.is_symlink():
            link.unlink()
        if not link.exists():
            link.symlink_to(kept)
