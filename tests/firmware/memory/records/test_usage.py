"""How often records were of use: kept in a small file that may be lost and never harms."""

from struct import pack

from engram import files
from engram.clock import Clock
from engram.memory.records.importance import Usage
from support import folder

NOW = 1790000000
MOST = 4096  # entries of the file


class _Watch:
    now = NOW


def _uses(place=None):
    return Usage(place or folder(), Clock(0, lambda: _Watch.now))


def test_what_was_written_is_there_after_a_restart_and_goes_on():
    place = folder()
    uses = _uses(place)
    uses.add(7)
    uses.add(9)
    uses.save()
    uses = _uses(place)
    uses.add(7)
    assert (uses.usage_of(7)[0], uses.usage_of(9)[0]) == (2, 1)
    uses.save()
    assert (_uses(place).usage_of(7)[0], _uses(place).usage_of(9)[0]) == (2, 1)


def test_those_unused_for_longest_leave_a_full_file():
    place = folder()
    files.write_packed(place + "/uses.bin", b"".join([pack("<IHH", number, 1, 2000) for number in range(MOST)]))
    uses = _uses(place)
    for number in range(MOST, MOST + 64):
        uses.add(number)
    again = _uses(place)
    assert (again.usage_of(0)[0], again.usage_of(MOST + 63)[0]) == (0, 1)


def test_a_damaged_file_begins_again():
    place = folder()
    uses = _uses(place)
    uses.add(7)
    uses.save()
    for damage in (b"", b"x" * 12, b"\0" * 4096):
        with open(place + "/uses.bin", "wb") as file:
            file.write(damage)
        uses = _uses(place)
        assert uses.usage_of(7) == (0, 0)
        uses.add(8)
        uses.save()
        assert _uses(place).usage_of(8)[0] == 1
