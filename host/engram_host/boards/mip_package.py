"""The firmware as a package for MicroPython's own installer, mip: a folder that a web server or a repository can hold.

    package.json      the code: `mpremote mip install --target / package.json` puts it on a board, and brings it up to date
    new-board.json    settings, profile and root certificates: for a board that has none, since mip replaces what is there
    all else          the files that these two name, by paths beside them

A deploy is safer: mip writes file by file, and when it was cut off the board says what is damaged until it is done again.
"""

import json
from pathlib import Path

from engram_host.boards import file_set, micropython_image, profile
from engram_host.boards.errors import BadRequest
from engram_host.boards.file_set import CODE_JSON, PLAIN, Files
from engram_host.boards.progress import Progress
from engram_host.wording import counted, kilobytes

CODE, NEW_BOARD = "package.json", "new-board.json"


def make_package(board: str, config: Path | None, out: Path, url: str, progress: Progress) -> None:
    """Write the folder `out` for a kind of board; its settings are the profile's and those of `config`.

    `url` is where the folder will be, such as https://HOST/PATH or github:OWNER/REPOSITORY/PATH. Without it files are named by
    their paths beside package.json, which mpremote follows from files and URLs alike, and an older mip on a board does not.
    """
    wanted = profile.load_profile(board)
    seeds = file_set.seed_files(wanted, profile.read_settings(config) if config else {})
    code = file_set.code_files(wanted)
    if not wanted.psram:
        progress.say(micropython_image.NOTE_WITHOUT_ENGRAM)
    version = file_set.parse_code_json(code[CODE_JSON])["version"]
    lists = {CODE: _list(_in_order(code), version, url), NEW_BOARD: _list(sorted(seeds), version, url)}
    try:
        for path, content in (seeds | code | lists).items():
            file = out / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
    except OSError as error:
        raise BadRequest(f"{out} cannot be written: {error.strerror}.") from None
    size = sum(len(content) for content in code.values())
    progress.say(f"{out / CODE}: {counted(len(code), 'file', 'files')} of code, {kilobytes(size)}, for {wanted.name}.")
    seeded = counted(len(seeds), "file", "files")
    progress.say(f"{out / NEW_BOARD}: {seeded} that a new board begins with.")


def _in_order(code: Files) -> list[str]:
    """What starts the board comes behind what it starts: a first installation that was cut off starts nothing."""
    last = [*PLAIN, CODE_JSON]
    return [*sorted(set(code) - set(last)), *last]


def _list(paths: list[str], version: str, url: str) -> bytes:
    """A package.json as mip reads it; each file stands beside it under the path that it has on the board."""
    base = f"{url.rstrip('/')}/" if url else ""
    urls = [[path, base + path] for path in paths]
    return (json.dumps({"version": version, "deps": [], "urls": urls}, indent=1) + "\n").encode()
