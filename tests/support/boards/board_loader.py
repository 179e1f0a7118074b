"""A stand-in for a chip in its loader, on a pty: what esptool speaks with, and a flash in RAM behind it.

    with Loader("esp32", flash_bytes=4 << 20) as chip:
        flash.flash("ESP32_GENERIC_SPIRAM", chip.port, ...)
    assert chip.flash[0x1000:0x1004] == ...

It knows the commands that esptool uses to tell the chip and its flash apart, to start its own helper program (which is
taken, not run: from then on the stand-in answers as that would), and to read, write and verify the flash.
"""

import os
import pty
import select
import struct
import threading
import tty
import zlib
from hashlib import md5

END, ESCAPE = b"\xc0", b"\xdb"
SECTOR = 4096

_MAGIC = {"esp32": 0x00F01D83, "esp32s2": 0x000007C6, "esp32s3": 9, "esp32c3": 5}
_CHIP_DETECT = 0x40001000
_SIZE_IDS = {1 << number: number for number in range(20, 25)}
_SPI = {"esp32": (0x3FF42000, 0x24, 0x80), "esp32s3": (0x60002000, 0x20, 0x58), "esp32c3": (0x60002000, 0x20, 0x58)}
_READ_ID, _START_BIT = 0x9F, 1 << 18
_BY_ID = ("esp32s3", "esp32c3")
"""Chips that tell their id; the others have a magic number at an address."""

_PSRAM_EFUSE, _PSRAM_8_MB = 0x60007054, 1 << 3
"""Where an ESP32-S3 tells the PSRAM in its package."""

SYNC, READ_REG, WRITE_REG, SECURITY_INFO = 0x08, 0x0A, 0x09, 0x14
MEM_END, FLASH_MD5, READ_FLASH = 0x06, 0x13, 0xD2
DEFLATED_BEGIN, DEFLATED_DATA = 0x10, 0x11


class Loader:
    """The chip; `fails_at` is a command that it does not answer any more, as if the cable had come off."""

    def __init__(self, chip: str, flash_bytes: int, content: bytes = b"", fails_at: int = -1, *, psram: bool = True):
        self.flash = bytearray(content.ljust(flash_bytes, b"\xff"))
        self.writes: list[tuple[int, int]] = []
        self.bytes_read = 0
        self._chip = chip
        self._fails_at = fails_at
        self._registers: dict[int, int] = {_PSRAM_EFUSE: _PSRAM_8_MB} if psram else {}
        self._is_helper = False
        self._typed = b""
        self._stop, self._stopper = os.pipe()

    def __enter__(self) -> "Loader":
        self._line, self._slave = pty.openpty()
        tty.setraw(self._slave)
        self.port = os.ttyname(self._slave)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        os.write(self._stopper, b"x")
        self._thread.join()
        for number in (self._line, self._slave, self._stop, self._stopper):
            os.close(number)

    # --- frames

    def _serve(self) -> None:
        while (frame := self._frame()) is not None:
            if len(frame) >= 8 and frame[0] == 0:
                self._answer(frame[1], frame[8:])

    def _frame(self) -> bytes | None:
        """The next frame; None when the stand-in is to end."""
        while True:
            start = self._typed.find(END)
            end = self._typed.find(END, start + 1)
            if start >= 0 and end > start:
                frame, self._typed = self._typed[start + 1 : end], self._typed[end + 1 :]
                return frame.replace(ESCAPE + b"\xdc", END).replace(ESCAPE + b"\xdd", ESCAPE)
            ready, _, _ = select.select([self._line, self._stop], [], [])
            if self._stop in ready:
                return None
            self._typed += os.read(self._line, 65536)

    def _send(self, data: bytes) -> None:
        frame = END + data.replace(ESCAPE, ESCAPE + b"\xdd").replace(END, ESCAPE + b"\xdc") + END
        while frame:
            frame = frame[os.write(self._line, frame) :]

    def _reply(self, command: int, value: int = 0, data: bytes = b"", error: int = 0) -> None:
        status = bytes([1, error] if error else 2) + (b"" if self._is_helper else bytes(2))
        self._send(struct.pack("<BBHI", 1, command, len(data) + len(status), value) + data + status)

    # --- commands

    def _answer(self, command: int, data: bytes) -> None:
        if command == self._fails_at:
            return
        answers = {
            SYNC: self._sync,
            READ_REG: self._read_register,
            WRITE_REG: self._write_register,
            SECURITY_INFO: self._tell_chip,
            MEM_END: self._start_helper,
            READ_FLASH: self._read,
            FLASH_MD5: self._tell_md5,
            DEFLATED_BEGIN: self._begin_write,
            DEFLATED_DATA: self._write_on,
        }
        if command in answers:
            answers[command](data)
        else:
            self._reply(command)

    def _sync(self, data: bytes) -> None:
        for _ in range(8):
            self._reply(SYNC, 0x20120707)

    def _tell_chip(self, data: bytes) -> None:
        if self._chip in _BY_ID:
            self._reply(SECURITY_INFO, data=struct.pack("<IB7sII", 0, 0, bytes(7), _MAGIC[self._chip], 0))
        else:
            self._reply(SECURITY_INFO, error=5)

    def _start_helper(self, data: bytes) -> None:
        self._reply(MEM_END)
        self._is_helper = True
        self._send(b"OHAI")

    def _tell_md5(self, data: bytes) -> None:
        offset, length = struct.unpack_from("<II", data)
        self._reply(FLASH_MD5, data=md5(self.flash[offset : offset + length]).digest())

    def _begin_write(self, data: bytes) -> None:
        size, _, _, self._at = struct.unpack_from("<IIII", data)
        self._unpack = zlib.decompressobj()
        self.writes.append((self._at, size))
        end = (self._at + size + SECTOR - 1) // SECTOR * SECTOR
        self.flash[self._at : end] = b"\xff" * (end - self._at)
        self._reply(DEFLATED_BEGIN)

    def _write_on(self, data: bytes) -> None:
        piece = self._unpack.decompress(data[16:])
        self.flash[self._at : self._at + len(piece)] = piece
        self._at += len(piece)
        self._reply(DEFLATED_DATA)

    def _read(self, data: bytes) -> None:
        offset, length = struct.unpack_from("<II", data)
        self._reply(READ_FLASH)
        wanted = bytes(self.flash[offset : offset + length])
        self.bytes_read += length
        for at in range(0, length, SECTOR):
            self._send(wanted[at : at + SECTOR])
            if self._frame() is None:
                return
        self._send(md5(wanted).digest())

    def _read_register(self, data: bytes) -> None:
        (address,) = struct.unpack("<I", data)
        known = {_CHIP_DETECT: _MAGIC[self._chip], **self._registers}
        self._reply(READ_REG, known.get(address, 0))

    def _write_register(self, data: bytes) -> None:
        address, value = struct.unpack_from("<II", data)
        base, command, answer = _SPI.get(self._chip, _SPI["esp32"])
        self._registers[address] = value
        if address == base and value & _START_BIT:
            self._registers[base] = 0
            if self._registers.get(base + command, 0) & 0xFF == _READ_ID:
                self._registers[base + answer] = 0xEF | 0x40 << 8 | _SIZE_IDS[len(self.flash)] << 16
        self._reply(WRITE_REG)
