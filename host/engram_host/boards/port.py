"""The serial port of a board: selection, and reasons why it cannot be opened."""

import errno
import os
import termios
from typing import Any

from engram_host.boards.errors import BoardError, NoPort, PortBusy, option_name
from engram_host.wording import listed

LOST = (OSError, termios.error)
"""Errors of a port that vanishes while in use; pyserial's own is an OSError."""

BAUD = 115200


def choose_port(named: str) -> str:
    """Return the named port, or the only candidate; raises NoPort if there is none or more than
    one."""
    if named:
        return named
    from serial.tools import list_ports

    found = sorted(port.device for port in list_ports.comports() if port.vid is not None)
    if not found:
        raise NoPort(
            "no board is plugged in by USB: plug it in with a cable that carries data,"
            f" or name the port ({option_name('PORT')})."
        )
    if len(found) > 1:
        raise NoPort(f"there is more than one port: name one of {listed(found)} ({option_name('PORT')}).")
    return found[0]


def open_port(port: str, timeout: float = 0) -> Any:
    """Open a port for this program alone; raises NoPort or PortBusy."""
    import serial

    try:
        return serial.serial_for_url(port, baudrate=BAUD, timeout=timeout, exclusive=True)
    except (OSError, ValueError) as error:
        raise _problem(port, error) from None


def _problem(port: str, error: Exception) -> BoardError:
    number = getattr(error, "errno", None)
    if number in (errno.EACCES, errno.EPERM):
        return PortBusy(f"you may not open {port}: add yourself to its group (dialout or uucp) and log in again.")
    if number in (errno.EBUSY, errno.EAGAIN) or "exclusively lock" in str(error):
        return PortBusy(f"another program has {port} open: close the monitor or terminal that uses it.")
    if "://" not in port and not os.path.exists(port):
        return NoPort(f"there is no port {port}: check the cable and the name ({option_name('PORT')}).")
    return NoPort(f"{port} is no port that can be opened: {error}.")


def port_gone(port: str) -> NoPort:
    return NoPort(f"the board on {port} has gone in the middle: check the cable, then do the same again.")
