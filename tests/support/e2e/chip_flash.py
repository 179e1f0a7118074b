"""A board made of an image: its flash, what its RTC remembers, and a process for each start of it (see chip_board.py)."""

import contextlib
import functools
import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import firmware_build
import get_micropython
from driving import PIPE, Ended, Home, Talk, say, talking
from engram_host.boards import file_set, flash, profile

MICROPYTHON = get_micropython.HOME / "32"
BOARD = "ESP32_GENERIC_SPIRAM"
GLUE = Path(__file__).with_name("chip_board.py")
HEAP_KILOBYTES = 2048
"""The smallest PSRAM of a board."""

POWER_ON, HARD_RESET, WATCHDOG, SOFT_RESET = 1, 2, 3, 5
RESET = 85

SECRETS = {"wifi": [{"ssid": "Home", "password": "correct horse"}, {"ssid": "Cafe"}]}
AIR = {"Home": ["correct horse", -50, False, 200], "Cafe": [None, -70, False, 200]}


@functools.cache
def code() -> dict[str, bytes]:
    """The firmware as an image has it."""
    return file_set.code_files(profile.load_profile(BOARD))


class Chip:
    """A board: `files` are put on its flash over what an image has; None takes one away."""

    def __init__(self, folder: Path, files: dict[str, bytes | None], settings: dict[str, Any], size: int = 1 << 20):
        seeds = file_set.seed_files(profile.load_profile(BOARD), {"network.ntp": "", **settings})
        seeds.pop("roots.pem", None)
        all_files: dict[str, bytes | None] = {**code(), **seeds, "secrets.json": json.dumps(SECRETS).encode(), **files}
        folder.mkdir(exist_ok=True)
        self.flash = folder / "flash.bin"
        self.flash.write_bytes(
            flash.build_littlefs({path: data for path, data in all_files.items() if data is not None}, size)
        )
        self._state = folder / "state"
        self._state.write_bytes(b"")
        self._keys = folder / "keys"
        self._home = Home(folder)

    def files(self) -> dict[str, bytes]:
        """All that is on the flash."""
        data = self.flash.read_bytes()
        reader = flash.LittlefsReader(lambda at, size: data[at : at + size])
        return {path: reader.content(path) for path in reader.sizes()}

    def start(self, cause: int = POWER_ON, **options: Any) -> AbstractContextManager[Talk]:
        """Start it and talk with it; with `interrupt=True` press_ctrl_c() stops what runs."""
        if options.get("interrupt") is True:
            self._keys.write_bytes(b"")
            options["interrupt"] = str(self._keys)
        return _starting(self._at(cause, options), _command(options))

    def press_ctrl_c(self) -> None:
        """Type Ctrl-C, once."""
        self._keys.write_bytes(b"\x03")

    def run(self, *lines: str, cause: int = POWER_ON, **options: Any) -> Ended:
        """Start it with these lines as all its input."""
        return say(self._at(cause, options), *lines, command=_command(options))

    def _at(self, cause: int, options: dict[str, Any]) -> Home:
        if cause == POWER_ON:
            self._state.write_bytes(b"")
        told = {"flash": str(self.flash), "state": str(self._state), "cause": cause, "air": AIR, **options}
        path = f"{firmware_build.SUPPORT}:{firmware_build.SIM}:.frozen"
        return self._home.knowing(CHIP=json.dumps(told), MICROPYPATH=path)


def _command(options: dict[str, Any]) -> tuple[str, ...]:
    heap = options.pop("heap", HEAP_KILOBYTES)
    return (str(MICROPYTHON), "-X", f"heapsize={heap}k", str(GLUE))


@contextlib.contextmanager
def _starting(home: Home, command: tuple[str, ...]) -> Iterator[Talk]:
    with talking(home, on=PIPE, command=command) as talk:
        yield talk
