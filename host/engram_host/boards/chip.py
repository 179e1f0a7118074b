"""A chip in its loader, through esptool: its kind, and its flash to be read and written."""

import contextlib
from collections.abc import Iterator
from typing import Any

from engram_host.boards import port as ports
from engram_host.boards.errors import BoardError, NoAnswer, WrongBoard
from engram_host.boards.progress import Progress

BAUD = 460800
"""The speed while flashing: most USB-UARTs keep up with it."""


class Chip:
    """A chip whose loader runs; use connect_chip() to get one."""

    def __init__(self, loader: Any, tools: Any, name: str, flash_bytes: int):
        self.name = name
        self.flash_bytes = flash_bytes
        self._loader = loader
        self._tools = tools

    def read(self, offset: int, length: int) -> bytes:
        """Bytes of the flash."""
        return self._loader.read_flash(offset, length)

    def write(self, parts: list[tuple[int, bytes]]) -> None:
        """Write each part at its offset, erase what it covers first, and verify it."""
        self._tools.write_flash(self._loader, parts, compress=True)

    def start(self) -> None:
        """Leave the loader: the board starts."""
        self._tools.reset_chip(self._loader, "hard-reset")


@contextlib.contextmanager
def connect_chip(port: str, baud: int, progress: Progress) -> Iterator[Chip]:
    """The chip on a port, brought into its loader; NoPort, PortBusy, NoAnswer, or WrongBoard if its flash is unknown."""
    ports.check(port)
    from esptool import cmds
    from esptool.util import FatalError, flash_size_bytes

    _show_progress(progress)
    try:
        with _loader(cmds, port) as detected:
            loader = cmds.run_stub(detected)
            if baud != ports.BAUD:
                loader.change_baud(baud)
            cmds.attach_flash(loader)
            flash_bytes = flash_size_bytes(cmds.detect_flash_size(loader))
            if flash_bytes is None:
                raise WrongBoard("the size of the board's flash cannot be told: is its flash chip connected and whole?")
            name = loader.CHIP_NAME.lower().replace("-", "")
            yield Chip(loader, cmds, name, flash_bytes)
    except FatalError as error:
        raise _problem(port, str(error)) from None
    except ports.LOST:
        raise ports.gone(port) from None


@contextlib.contextmanager
def _loader(cmds: Any, port: str) -> Iterator[Any]:
    loader = cmds.detect_chip(port)
    try:
        yield loader
    finally:
        loader._port.close()


def _problem(port: str, told: str) -> BoardError:
    first = told.strip().splitlines()[0].rstrip(".")
    if "Failed to connect" in told:
        return NoAnswer(
            f"no chip answers on {port}: hold BOOT, press RESET, let BOOT go and try again; it may also be another port."
        )
    return NoAnswer(f"the chip on {port} stopped answering as it should ({first}): try again, or slower (BAUD=115200).")


def _show_progress(progress: Progress) -> None:
    """Let esptool tell how far it is through `progress`, and nothing else."""
    from esp_pylib.logger import EspLog, EspLogBase

    class Quiet(EspLogBase):
        """Takes what esptool says."""

        def print(self, *args: Any, **kwargs: Any) -> None:
            """Leave out: an error is raised too."""

        note = hint = debug = warn = warning = err = error = set_verbosity = print

        def progress_bar(self, cur_iter: int, total_iters: int, *rest: Any, **more: Any) -> None:
            """Pass on how many bytes are done."""
            progress.step("Writing to the flash", cur_iter, total_iters)

    EspLog.set_logger(Quiet())
