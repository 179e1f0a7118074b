#!/usr/bin/env python3
"""Find or fetch a headless Chromium, in which the tests drive the page: makes build/chromium/chromium.

One on PATH is used; else Debian's package is unpacked under build/, with the libraries and fonts that it needs. Status 1
with a sentence where there is none: what needs it is then skipped.
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
HOME = BUILD / "chromium"
COMMAND = HOME / "chromium"

_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_PACKAGES = ("chromium-headless-shell", "fonts-dejavu-core", "fonts-wqy-zenhei")
_OF_LIBC = (
    "ld-linux*", "libc.so.*", "libm.so.*", "libmvec.so.*", "libpthread.so.*", "libdl.so.*", "librt.so.*", "libresolv.so.*",
    "libutil.so.*", "libnsl.so.*", "libnss_*.so.*", "libanl.so.*", "libthread_db.so.*", "libBrokenLocale.so.*",
)  # fmt: skip
"""Libraries that the system's own replace: they have to be those of its loader."""


def usable() -> bool:
    """Whether there is a Chromium that runs."""
    try:
        done = subprocess.run([COMMAND, "--version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and "Chrom" in done.stdout


def ensure() -> Path:
    """The path of a Chromium that runs; debian.Unavailable where there is none."""
    if usable():
        return COMMAND
    on_path = next(filter(None, map(shutil.which, _NAMES)), None)
    if on_path:
        write_launcher(COMMAND, f'"{on_path}"')
    elif debian.is_debian():
        _fetch()
    else:
        raise debian.Unavailable("there is no Chromium on PATH: install your system's package.")
    if not usable():
        raise debian.Unavailable("the Chromium that was installed does not run on this machine.")
    return COMMAND


def _fetch() -> None:
    root = HOME / "root"
    print("chromium: fetching Debian's package ...", file=sys.stderr, flush=True)
    debian.unpack(
        *_PACKAGES,
        version=None,
        suite=None,
        architecture=debian.native_architecture(),
        state=BUILD / "apt-chromium",
        root=root,
    )
    for pattern in _OF_LIBC:
        for path in root.rglob(pattern):
            path.unlink()
    (HOME / "fonts.conf").write_text(_FONTS)
    found = {path.parent for path in root.rglob("*.so*")}
    libraries = sorted(path for path in found if "chromium" not in path.relative_to(root).parts)
    search = ":".join(f'"$here"/{path.relative_to(HOME)}' for path in libraries)
    inside = next(iter(sorted(root.rglob("lib/chromium/chromium-headless-shell"))))
    variables = f'FONTCONFIG_FILE="$here"/fonts.conf XDG_CACHE_HOME="$here"/cache LD_LIBRARY_PATH={search}'
    write_launcher(COMMAND, f'env {variables} "$here"/{inside.relative_to(HOME)}')


_FONTS = """\
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
<dir prefix="relative">root/usr/share/fonts</dir>
<dir>/usr/share/fonts</dir>
<cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
"""


def main() -> int:
    """Make sure that there is one; status 1 where there is none."""
    argparse.ArgumentParser(
        description="Find or fetch a headless Chromium: makes build/chromium/chromium."
    ).parse_args()
    os.umask(0o022)
    try:
        print(f"chromium: {ensure()}")
    except debian.Unavailable as problem:
        print(f"chromium: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
