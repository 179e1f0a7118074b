"""Starts the app on a board by engram.device.boot; any failure ends at the prompt with a message, and with
`app` if there is one.
"""

import gc
import os
import sys

app = None

_LEAST_HEAP = 1 << 20
_NO_PSRAM = "Engram did not start: it needs PSRAM. Take a board and a MicroPython with it, see docs/start/boards.md."


def _start():
    global app
    if gc.mem_free() + gc.mem_alloc() < _LEAST_HEAP:  # pyright: ignore[reportAttributeAccessIssue]
        print(_NO_PSRAM)
        return
    try:
        os.stat("/next/READY")
    except OSError:
        pass
    else:
        print("Engram did not start: a deploy is not finished (see above). Free some room and reset, or deploy again.")
        return
    import module_packs

    module_packs.mount()  # the boot.py of an older Engram, which a deploy has just replaced, did not
    module_packs.begin_start()
    from engram.device.boot import begin

    try:
        app = begin()
    finally:
        module_packs.end_start()
    if app:
        app.run()


def _end_well():
    import micropython

    micropython.kbd_intr(-1)  # until the prompt, or Ctrl-C typed again would let this count as a failed start
    from engram.device import boot_count

    boot_count.set_bad(0)


def _make_pins_safe():
    try:
        if app:
            if app.board.pins:
                app.board.pins.make_safe()
        else:
            from engram.tools.pin_driver import make_safe

            make_safe()
    except Exception as error:  # noqa: BLE001 likewise: the board may be without modules, or without memory
        print("The outputs are as the last reset left them: " + repr(error))


try:
    _start()
    if app:
        _end_well()
except KeyboardInterrupt:
    _end_well()
    print("stopped; app.run() goes on." if app else "stopped before there was an app; machine.reset() begins anew.")
except Exception as error:  # noqa: BLE001 behind this is only the prompt
    _make_pins_safe()
    sys.print_exception(error)  # pyright: ignore
    print("Engram crashed; app.run() goes on." if app else "Engram could not be started: deploy it again.")
