"""Answers that may not have been delivered yet, by the seqs of their turns: small files that survive a power cut.

memory/outbox.bin has 9 bytes an answer: the seq of the person's turn, of a command's line or of what the board began to say
(4 bytes), and two numbers of the channel, how far it is (1 byte) and where it is in the network (4 bytes); then the number of
answers that had no room (1 byte), and the crc32 of all that (4 bytes). All are little-endian. Texts stay in the journal.

memory/taken.bin has the same form: messages whose network offers them until it has the end of the answer. Their last number
is the crc32 of their id. It is a file of its own, so that what a companion never asks for again drives out no answer.
"""

import struct
from binascii import crc32

from engram import diag, files
from engram.channels.inbox import OUTBOX, OUTBOX_EMPTY
from engram.compat import const
from engram.errors import StoreError

_MOST = const(13)  # answers: with them the file has 122 bytes, and up to 128 littlefs writes it without an erase
_SIZE = const(9)
_FORM = const("<IBI")


class Outbox:
    """The answers under way, in a file of a folder of the flash."""

    def __init__(self, folder: str, name: str = OUTBOX):
        self._path = folder + name
        self._is_missed = name == OUTBOX  # whether somebody waits for what gives way
        self.entries = []
        """[seq, part, place] of each, the oldest first."""
        self.dropped = 0
        """How many had no room, since people were told."""
        self._read()

    def _read(self) -> None:
        data = files.read(self._path, _MOST * _SIZE + OUTBOX_EMPTY) or b""
        end = len(data) - 4
        if end < 1 or (end - 1) % _SIZE or crc32(data[:end]) != struct.unpack("<I", data[end:])[0]:
            if data:
                diag.error("outbox", self._path + " is damaged: what was not delivered is lost")
            return
        for at in range(0, end - 1, _SIZE):
            self.entries.append(list(struct.unpack(_FORM, data[at : at + _SIZE])))
        self.dropped = data[end - 1]

    def find(self, seq: int):
        """The entry of a turn, None if there is none."""
        for entry in self.entries:
            if entry[0] == seq:
                return entry
        return None

    def note(self, seq: int, part: int = 0, place: int = 0) -> None:
        """Keep that the answer to a turn is not delivered yet, and how far it is; the oldest one gives way."""
        entry = self.find(seq)
        if entry is None:
            if len(self.entries) >= _MOST:
                self.remove(self.entries[0][0], self._is_missed)
            self.entries.append([seq, part, place])
        elif entry[1:] == [part, place]:
            return
        else:
            entry[1:] = [part, place]
        self._write()

    def remove(self, seq: int, is_lost: bool = False) -> None:
        """The answer to a turn is delivered, or never will be if it `is_lost`: that is told."""
        entry = self.find(seq)
        if entry is not None:
            self.entries.remove(entry)
            if is_lost:
                self.dropped = min(255, self.dropped + 1)
                diag.warning("outbox", "t%d was not delivered, and there is no room to keep it" % seq)
            self._write()

    def clear_dropped(self) -> None:
        """People were told how many had no room."""
        self.dropped = 0
        self._write()

    def _write(self) -> None:
        data = b"".join([struct.pack(_FORM, *entry) for entry in self.entries]) + bytes((self.dropped,))
        try:
            files.write(self._path, data + struct.pack("<I", crc32(data)))
        except StoreError as error:
            # It still holds until the next restart.
            diag.error("outbox", str(error))
