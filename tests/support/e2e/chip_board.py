"""A chip's start on MicroPython's unix port: the flash is an image mounted at the root, as on a chip, and nothing of this
computer can be imported any more but the stand-ins for machine, network and flashbdev, which are loaded before.

From the environment: CHIP, a JSON object:
    flash, state    files of this computer: the image, and what outlives a reset (the RTC's memory)
    cause           why the board starts, as machine.reset_cause() has it
    air             networks in reach: {name: [password, signal, hidden, milliseconds until the address comes]}
    time_server     [host, port] to which the questions for the time go
    interrupt       after so many milliseconds Ctrl-C is typed; 0: never; a file of this computer: once something is in it
    speed           how much faster time passes for watchdog, timers and networks
    wifi            false: the driver gets no memory
boot.py and main.py run as MicroPython runs them; then each line of input is run as at the prompt, where `flash` is the flash
with its counts, which begin at boot.py. Ends with status 85 where the board would be reset.
"""

import gc
import json
import os
import sys

import fakes
from fakes import chip_socket, chip_time, chip_tls, machine, network, world

fakes.install()
sys.modules["time"] = chip_time
sys.modules["socket"] = chip_socket
sys.modules["tls"] = chip_tls

import asyncio  # noqa: E402  frozen in the chip as well

import vfs  # noqa: E402

from flash import Flash  # noqa: E402

asyncio.StreamReader, asyncio.Lock, asyncio.wait_for_ms, asyncio.Event  # loaded now: they are files of the unix port

RESET = 85
_LOOK_MS = 20


class _Partition:
    """The module flashbdev."""

    bdev = None


def _keep_memory(path):
    """Let the RTC's memory outlive this process, in a file that is opened while there are files."""
    file = open(path, "r+b")  # noqa: SIM115  it stays open
    machine.RTC().memory(file.read())

    def keep(data):
        file.seek(0)
        file.write(data)

    machine.on_memory = keep


def _run(path, names):
    """Whether a file of the board ran to its end, as MicroPython runs boot.py and main.py."""
    try:
        with open(path) as file:
            text = file.read()
    except OSError:
        return True
    try:
        exec(text, names)
        return True
    except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001 as the prompt does
        sys.print_exception(error)
        return False


def _prompt(names):
    while True:
        sys.stdout.write(">>> ")
        line = sys.stdin.readline()
        if not line:
            break
        try:
            exec(line, names)
        except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001 as the prompt does
            sys.print_exception(error)


def _interrupt():
    raise KeyboardInterrupt


def _interrupt_once_told(path):
    """Let Ctrl-C be typed once something is in a file, which is opened while there are files of this computer."""
    file = open(path, "rb")  # noqa: SIM115  it stays open

    def look():
        if file.read(1):
            raise KeyboardInterrupt
        world.after(_LOOK_MS, look)

    world.after(_LOOK_MS, look)


def main():
    options = json.loads(os.getenv("CHIP"))
    _keep_memory(options["state"])
    chip_time.speed = options.get("speed", 1)
    network.has_room = options.get("wifi", True)
    machine.restart(options["cause"])
    network.air.update(options.get("air", {}))
    if options.get("time_server"):
        chip_socket.names["time.example"] = "127.0.0.1"
        chip_socket.redirected[123] = tuple(options["time_server"])
    interrupt = options.get("interrupt")
    if isinstance(interrupt, str):
        _interrupt_once_told(interrupt)
    _Partition.bdev = Flash(options["flash"], 0)
    sys.modules["flashbdev"] = _Partition
    vfs.umount("/")
    vfs.mount(_Partition.bdev, "/")
    sys.path[:] = ["", ".frozen", "/lib"]
    if interrupt and not isinstance(interrupt, str):
        world.after(interrupt, _interrupt)
    gc.collect()
    names = {"__name__": "__main__", "flash": _Partition.bdev}
    _Partition.bdev.reads = _Partition.bdev.read_bytes = 0
    status = 0
    try:
        if _run("boot.py", names):
            _run("main.py", names)
        _prompt(names)
    except machine.Reset:
        status = RESET
    sys.exit(status)


main()
