"""Output to the serial line: all of it where somebody reads, and no long stop of the board where nobody does."""

from engram.device import serial
from engram.device.serial import Serial
from fakes import world

serial.ticks_ms = world.ticks_ms


class Uart:
    """Takes 11 bytes a millisecond."""

    def __init__(self):
        self.taken = b""

    def write(self, data):
        world.advance(len(data) // 11)
        self.taken += data


class Usb:
    """Drops what nobody reads: after half a second if the port is open, at once if it is not."""

    def __init__(self):
        self.taken = b""
        self.is_open = True
        self.reads = False

    def write(self, data):
        if self.is_open and not self.reads:
            world.advance(500)
        elif self.is_open:
            self.taken += data


def _written(line, count, text="a line of some length\n"):
    """How long so many writes took."""
    start = world.now
    for _ in range(count):
        line.write(text)
    return world.now - start


def test_text_goes_out_as_utf_8_and_line_ends_as_they_are():
    uart = Uart()
    Serial(uart).write("你好\r\n")
    assert uart.taken == "你好\r\n".encode()


def test_a_port_that_is_open_and_not_read_stops_the_board_once_in_a_while_only():
    line = Serial(Usb())
    assert _written(line, 1000) == 500
    world.advance(3000)
    assert _written(line, 1000) == 500


def test_who_begins_to_read_gets_what_comes_from_then_on():
    usb = Usb()
    line = Serial(usb)
    _written(line, 10)
    usb.reads = True
    world.advance(3000)
    line.write("hello\n")
    line.write("you\n")
    assert usb.taken == b"hello\nyou\n"


def test_who_reads_slowly_loses_nothing():
    class Slow(Uart):
        def write(self, data):
            world.advance(400)
            self.taken += data

    slow = Slow()
    line = Serial(slow)
    _written(line, 50, "piece\n")
    assert len(slow.taken) == 300
