#!/usr/bin/env python3
"""Find or fetch the chat servers that the bridges' tests talk to: makes build/prosody/prosody and build/ngircd/ngircd.

Debian's packages are unpacked under build/, with the libraries that they need, and started by their own loader; on another
system those on PATH are used. Status 1 with a sentence for each that is not there: what needs it is then skipped.
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
PROSODY = BUILD / "prosody" / "prosody"
NGIRCD = BUILD / "ngircd" / "ngircd"

# prosody's program names the folders that it was built for; these two have to be where it was unpacked, and absolute.
_PROSODY_FOLDERS = {
    "CFG_SOURCEDIR='/usr/lib/prosody';": 'CFG_SOURCEDIR=os.getenv("PROSODY_SOURCES");',
    "CFG_PLUGINDIR='/usr/lib/prosody/modules/';": 'CFG_PLUGINDIR=os.getenv("PROSODY_SOURCES").."/modules/";',
}


def usable(command: Path) -> bool:
    """Whether this server is there and runs."""
    try:
        return subprocess.run([command, "--help"], capture_output=True, timeout=20).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def ensure(command: Path) -> Path:
    """The path of a server that runs; debian.Unavailable where there is none."""
    if usable(command):
        return command
    if debian.is_debian():
        _fetch(command)
    else:
        on_path = shutil.which(command.name) or shutil.which(
            command.name, path="/usr/sbin:/usr/local/sbin:/opt/homebrew/sbin"
        )
        if not on_path:
            raise debian.Unavailable(f"there is no {command.name} on PATH: install your system's package.")
        write_launcher(command, f'"{on_path}"')
    if not usable(command):
        raise debian.Unavailable(f"the {command.name} that was fetched does not run on this machine.")
    return command


def _fetch(command: Path) -> None:
    name, home = command.name, command.parent
    print(f"{name}: fetching Debian's package ...", file=sys.stderr, flush=True)
    debian.unpack(
        name,
        version=None,
        suite=None,
        architecture=debian.native_architecture(),
        state=BUILD / f"apt-{name}",
        root=home / "root",
    )
    write_launcher(command, _prosody_line(home) if command == PROSODY else _line(home, "usr/sbin/ngircd"))


def _line(home: Path, program: str) -> str:
    """What runs a program of the unpacked packages, with their loader and libraries."""
    root = home / "root"
    loader = next(iter(sorted(path for path in root.rglob("ld-linux*.so*") if not path.is_symlink())))
    # Debian's perl, which comes along, has a folder for each of its modules.
    libraries = sorted({path.parent for path in root.rglob("lib*.so.*") if "perl" not in path.parts})
    search = ":".join(_inside(path, home) for path in libraries)
    return f"{_inside(loader, home)} --library-path {search} {_inside(root / program, home)}"


def _prosody_line(home: Path) -> str:
    root = home / "root"
    program = (root / "usr/bin/prosody").read_text()
    for former, present in _PROSODY_FOLDERS.items():
        if former not in program:
            raise debian.Unavailable("prosody's package is another one than this tool knows.")
        program = program.replace(former, present)
    (home / "prosody.lua").write_text(program)
    lua = next(iter(sorted((root / "usr/bin").glob("lua5.*"))))
    version = lua.name.removeprefix("lua")
    modules = _inside(root / "usr/share/lua" / version, home)
    compiled = _inside(next(iter(root.glob(f"usr/lib/*/lua/{version}"))), home)
    lua_paths = f"LUA_PATH={modules}'/?.lua' LUA_CPATH={compiled}'/?.so'"
    variables = f"PROSODY_SOURCES={_inside(root / 'usr/lib/prosody', home)} {lua_paths}"
    return f"env {variables} {_line(home, f'usr/bin/{lua.name}')} {_inside(home / 'prosody.lua', home)}"


def _inside(path: Path, home: Path) -> str:
    return f'"$here"/{path.relative_to(home)}'


def main() -> int:
    """Make sure that they are there; status 1 where one is not."""
    argparse.ArgumentParser(description="Find or fetch prosody and ngircd for the bridges' tests.").parse_args()
    os.umask(0o022)
    status = 0
    for command in (PROSODY, NGIRCD):
        try:
            print(f"{command.name}: {ensure(command)}")
        except debian.Unavailable as problem:
            print(f"{command.name}: {problem}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
