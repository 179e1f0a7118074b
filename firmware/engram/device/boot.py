"""Starts the app on a board; after some bad starts in a row the prompt comes without the app."""

import sys

from engram import diag
from engram.config import Config
from engram.device import boot_count
from engram.device.serial import Serial
from engram.device.watchdog import Watchdog
from engram.errors import EngramError

_SAFE = """Engram is in safe mode: its last %d starts ended in a reset or an error, so the app was not started.
The memory is untouched. Put right what is wrong (config.json, a new deploy), then press reset.
"""


def begin():
    """Return the app ready to run; None, after a message, if it cannot start."""
    bad = boot_count.count()
    if bad >= boot_count.BAD_STARTS:
        # Whoever resets it from here gets one more try.
        boot_count.set_bad(boot_count.BAD_STARTS - 1)
        _make_pins_safe()
        sys.stdout.write(_SAFE % bad)
        return None
    try:
        return _assemble(Watchdog())
    except EngramError as error:
        # It ended as it should: a second start would end alike, and is no crash.
        boot_count.set_bad(0)
        _make_pins_safe()
        problem = "Engram did not start: %s\nPut that right, then press reset or type:  machine.reset()\n"
        sys.stdout.write(problem % error)
    return None


def _assemble(watchdog):
    config = Config()
    if config.table("pins"):
        _make_pins_safe()  # before the app, which takes seconds
    watchdog.guard(config.get("watchdog.seconds"))
    # Before the app: the Wi-Fi driver needs memory in one piece, which the Python heap would have taken.
    wifi = _wifi(config) if config.secret("wifi") else None
    from engram.app import App  # after the settings: they may be wrong

    app = App(config=config, network=wifi)
    app.attach_hardware(watchdog, Serial())
    app.load_own_code()
    return app


def _make_pins_safe() -> None:
    from engram.tools.pin_driver import make_safe  # for boards with pins

    make_safe()


def _wifi(config):
    try:
        from engram.device.wifi import Wifi  # for boards with a network in their settings

        return Wifi(config)
    except (ImportError, OSError, RuntimeError) as error:
        diag.error("network", "there is no Wi-Fi: %s; all else goes on" % error)
    return None
