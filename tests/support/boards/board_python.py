"""The Python of a stand-in board, on MicroPython's unix port: what a chip's would do, on a littlefs in a file.

    micropython board_python.py FLASH TRACE

Mounts FLASH as the root, runs its boot.py, and then what comes on stdin: a line with a length and so many bytes of code.
Each is answered as the raw REPL does: "OK", what was printed, Ctrl-D, the traceback, Ctrl-D, ">". Before the first a byte 6
tells that boot.py has run. The trace of all changes of the flash goes to TRACE. What only a chip has are the fakes of
tests/support/firmware; machine.reset() ends it with status 77.
"""

import gc
import io
import sys

import fakes
from fakes import machine

_RESET = 77
_OFTEN = (
    8192  # bytes between two collections: during a change of the flash there is none, so what it needs must be free
)


class _Implementation:
    name = "micropython"
    version = (1, 26, 1, "")
    _mpy = 6 | 3 << 8
    _machine = "Generic ESP32 module with ESP32"


class _Sys:
    """The sys module as a chip has it."""

    platform = "esp32"
    implementation = _Implementation

    def __init__(self, real):
        for name in ("stdout", "stdin", "path", "modules", "print_exception", "exit", "maxsize", "byteorder"):
            setattr(self, name, getattr(real, name))


class _Device:
    """The module flashbdev."""

    bdev = None


def _mount(path, trace):
    import vfs

    from faulty_flash import FaultyFlash

    flash = FaultyFlash(path, 0, trace)
    vfs.umount("/")
    vfs.mount(vfs.VfsLfs2(flash, readsize=32, progsize=32), "/")
    return flash


def _boot(names):
    try:
        with open("/boot.py") as file:
            text = file.read()
    except OSError:
        return
    exec(text, names)


def _serve(names):
    while True:
        length = sys.stdin.buffer.readline()
        if not length:
            return
        code = sys.stdin.buffer.read(int(length))
        sys.stdout.write("OK")
        trace = io.StringIO()
        try:
            exec(code.decode(), names)
        except machine.Reset:
            sys.exit(_RESET)
        except BaseException as error:  # noqa: BLE001 whatever the code raises, the host is told
            sys.print_exception(error, trace)
        sys.stdout.write("\x04" + trace.getvalue() + "\x04>")


gc.threshold(_OFTEN)
fakes.install()
_Device.bdev = _mount(sys.argv[1], sys.argv[2])
sys.path[:] = ["", ".frozen", "/lib"]
sys.modules["flashbdev"] = _Device
sys.modules["sys"] = _Sys(sys)
names = {"__name__": "__main__"}
_boot(names)
sys.stdout.write("\x06")
_serve(names)
