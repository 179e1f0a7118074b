"""Gives the outputs that config.json names their safe state: at a start before the app, after a crash, and in safe mode."""

from engram.compat import const
from engram.errors import EngramError
from engram.tools import pin_config, pin_driver

_PATH = const("/config.json")
_LONGEST = const(8192)  # bytes of config.json, as in config.py


def make_safe(table=None) -> None:
    """Set what can be set: a pin that is wrong is left alone, and the start says what is wrong with it.

    `table` are the pins; without it they are read from config.json, whose other settings may be wrong.
    """
    if table is None:
        try:
            table = pin_config.read_json(_PATH, _LONGEST).get("pins")
        except EngramError:
            return
    if not isinstance(table, dict):
        return
    try:
        forbidden = () if pin_driver.is_simulated() else pin_config.forbidden_pins("")
    except EngramError:
        return
    for name, entry in table.items():
        try:
            pin = pin_config.parse_pin(name, entry if isinstance(entry, dict) else {}, forbidden)
            if pin.mode in ("out", "pwm"):
                pin_driver.open_driver(pin)
        except EngramError:
            pass
