"""Aggregates of one sense as bits, and back.

The bits of rows (slot, count, min, max, mean, last), in the order of their slots, each slot once:

    rows, runs of slots     exp-Golomb codes: how many rows; how many runs less one; of each run how far its first slot is
                            from the base or from the run before, and its length unless it is the last
    1 bit                   whether each row is one reading: then only the column of means follows
    columns                 counts, means, then the distances mean - min, max - mean and last - mean

A column begins with its first value. Then 1 bit: 0 if what follows are distances from that value (of means and counts) or the
values themselves, 1 if they are distances from the value before; 5 bits: the Rice parameter, 31 if all are zero; 1 bit, and an
exp-Golomb code if it is set: the step that they are multiples of. Distances with a sign are folded: 0, -1, 1, -2 are 0 to 3.

Unless all is to be exact, the step of a column is 1 + the range of its figure / STEPS, for the last reading LAST_STEPS: what
it loses is half a step at most.
"""

from engram.compat import const

STEPS = 50
"""Steps into which the range of a figure is divided: it is exact where the range has fewer."""

LAST_STEPS = 16
"""Likewise for the last reading, which takes a quarter of the bits and matters least."""

MOST_ROWS = const(512)
"""Rows of one sense that are packed at once: bounds the heap that reading them takes."""

_MOST_READ = const(1536)  # rows, more than any writer packs: what is damaged is not to fill the heap
_ALL_ZERO = const(31)
_LONGEST_UNARY = const(20)  # ones before a value follows that the parameter does not fit
_RAW_BITS = const(34)  # of such a value: a folded distance of two 32-bit integers

_COUNT, _MEAN, _LOW, _HIGH, _LAST = 0, 1, 2, 3, 4
_FIRST_BITS = (5, 7, 3, 3, 4)
"""Of each column the parameter of its first value's exp-Golomb code."""


def pack(rows: list, base: int, is_exact: bool) -> bytes:
    """The bits of rows, at most MOST_ROWS; no slot is below `base`."""
    bits = BitWriter()
    bits.exp_golomb(len(rows), 5)
    _pack_slots(bits, rows, base)
    is_single = all(row[1] == 1 and row[2] == row[3] == row[4] == row[5] for row in rows)
    bits.put(is_single, 1)
    means = [row[4] for row in rows]
    if not is_single:
        counts = [row[1] for row in rows]
        _pack_column(bits, _COUNT, counts, 1)
    means = _pack_column(bits, _MEAN, means, 1 if is_exact else _step(means, STEPS))
    if not is_single:
        for kind, at in ((_LOW, 2), (_HIGH, 3), (_LAST, 5)):
            figures = [row[at] for row in rows]
            step = 1 if is_exact else _step(figures, LAST_STEPS if kind == _LAST else STEPS)
            for index, mean in enumerate(means):
                figures[index] = mean - figures[index] if kind == _LOW else figures[index] - mean
            _pack_column(bits, kind, figures, step)
    return bits.finished()


def unpack(data, base: int):
    """Yield the rows (slot, (count, min, max, mean, last)) of what pack() made with the same base."""
    bits = BitReader(data)
    size = min(bits.exp_golomb(5), _MOST_READ)
    slots = _unpack_slots(bits, size, base)
    if bits.get(1):
        for slot, value in zip(slots, _unpack_column(bits, _MEAN, size)):
            yield slot, (1, value, value, value, value)
        return
    counts = _unpack_column(bits, _COUNT, size)
    means = _unpack_column(bits, _MEAN, size)
    lows = _unpack_column(bits, _LOW, size)
    highs = _unpack_column(bits, _HIGH, size)
    lasts = _unpack_column(bits, _LAST, size)
    for at, slot in enumerate(slots):
        mean = means[at]
        last = mean + lasts[at]
        # What was lost leaves the last reading between the lowest and the highest, as it was.
        low, high = mean - max(0, lows[at]), mean + max(0, highs[at])
        yield slot, (counts[at], low, high, mean, min(high, max(low, last)))


def _step(figures: list, steps: int) -> int:
    return 1 + (max(figures) - min(figures)) // steps


def _pack_slots(bits, rows: list, base: int) -> None:
    starts = [at for at in range(len(rows)) if not at or rows[at][0] != rows[at - 1][0] + 1]
    bits.exp_golomb(len(starts) - 1, 0)
    following = base
    for number, at in enumerate(starts):
        bits.exp_golomb(rows[at][0] - following, 0)
        if number + 1 < len(starts):
            end = starts[number + 1]
            bits.exp_golomb(end - at - 1, 3)
            following = rows[end - 1][0] + 1


def _unpack_slots(bits, size: int, base: int) -> list:
    slots = []
    left = bits.exp_golomb(0)
    while len(slots) < size:
        base += bits.exp_golomb(0)
        rest = size - len(slots)
        for _ in range(min(bits.exp_golomb(3) + 1, rest) if left else rest):
            slots.append(base)
            base += 1
        left -= 1
    return slots


def _pack_column(bits, kind: int, values: list, step: int) -> list:
    """Write a column; its values as they will be read."""
    first = values[0]
    bits.exp_golomb(_folded(first), _FIRST_BITS[kind])
    origin = first if kind < _LOW else 0
    is_signed = kind not in (_LOW, _HIGH)
    half = step // 2
    plain = [(value - origin + half) // step for value in values[1:]]
    if not is_signed:
        plain = [max(0, distance) for distance in plain]  # below it where the mean lost something
    chain, before = [], first
    for value in values[1:]:
        distance = (value - before + half) // step
        chain.append(_folded(distance))
        before += distance * step
    folded = [_folded(distance) for distance in plain] if is_signed else plain
    is_chain = sum(chain) < sum(folded)
    _pack_distances(bits, is_chain, chain if is_chain else folded, step)
    # As they will be read: what follows relies on it.
    read = [first]
    for at in range(len(plain)):
        read.append((read[-1] + _unfolded(chain[at]) * step) if is_chain else (origin + plain[at] * step))
    return read


def _pack_distances(bits, is_chain: bool, folded: list, step: int) -> None:
    bits.put(is_chain, 1)
    total, count = sum(folded), len(folded)
    if not total:
        bits.put(_ALL_ZERO, 5)
        return
    parameter = 0
    while (count << (parameter + 1)) * 5 <= total * 7:
        parameter += 1
    parameter = min(parameter, _ALL_ZERO - 1)
    bits.put(parameter, 5)
    bits.put(step > 1, 1)
    if step > 1:
        bits.exp_golomb(step - 2, 4)
    for value in folded:
        bits.rice(value, parameter)


def _unpack_column(bits, kind: int, size: int) -> list:
    value = _unfolded(bits.exp_golomb(_FIRST_BITS[kind]))
    origin = value if kind < _LOW else 0
    is_signed = kind not in (_LOW, _HIGH)
    values = [value] * size
    is_chain = bits.get(1)
    parameter = bits.get(5)
    step = 1
    if parameter != _ALL_ZERO and bits.get(1):
        step = 2 + bits.exp_golomb(4)
    for at in range(1, size):
        distance = bits.rice(parameter) if parameter != _ALL_ZERO else 0
        if is_chain:
            value += _unfolded(distance) * step
        else:
            value = origin + (_unfolded(distance) if is_signed else distance) * step
        values[at] = value
    return values


def _folded(number: int) -> int:
    return 2 * number if number >= 0 else -2 * number - 1


def _unfolded(number: int) -> int:
    return -(number // 2) - 1 if number & 1 else number // 2


class BitWriter:
    """Writes bits, the highest first."""

    def __init__(self):
        self._data = bytearray()
        self._bits = 0
        self._count = 0

    def put(self, value, width: int) -> None:
        """Write the lowest bits of a value."""
        while width > 16:
            width -= 16
            self.put(value >> width & 0xFFFF, 16)
        bits = self._bits << width | (value & ((1 << width) - 1))
        count = self._count + width
        while count >= 8:
            count -= 8
            self._data.append(bits >> count & 0xFF)
        self._bits = bits & ((1 << count) - 1)
        self._count = count

    def rice(self, value: int, parameter: int) -> None:
        """Write how often 2**parameter fits in ones and a zero, and the rest."""
        often = value >> parameter
        if often >= _LONGEST_UNARY:
            self.put((1 << _LONGEST_UNARY) - 1, _LONGEST_UNARY)
            self.put(value, _RAW_BITS)
        else:
            self.put((1 << (often + 1)) - 2, often + 1)
            self.put(value, parameter)

    def exp_golomb(self, value: int, parameter: int) -> None:
        """Write a number for which nothing is known but that small ones are more frequent."""
        value += 1 << parameter
        width = parameter
        while value >> (width + 1):
            width += 1
        self.put(0, width - parameter)
        self.put(value, width + 1)

    def finished(self) -> bytes:
        """All that was written, filled up with zeros."""
        if self._count:
            self.put(0, 8 - self._count)
        return bytes(self._data)


class BitReader:
    """Reads what BitWriter wrote; beyond the end stand zeros."""

    def __init__(self, data):
        self._data = data
        self._at = 0
        self._bits = 0
        self._count = 0

    def get(self, width: int) -> int:
        """Read a value of some bits."""
        if width > 16:
            value = self.get(width - 16) << 16
            return value | self.get(16)
        while self._count < width:
            byte = self._data[self._at] if self._at < len(self._data) else 0
            self._at += 1
            self._bits = self._bits << 8 | byte
            self._count += 8
        self._count -= width
        value = self._bits >> self._count
        self._bits &= (1 << self._count) - 1
        return value

    def rice(self, parameter: int) -> int:
        """Read what BitWriter.rice() wrote."""
        often = 0
        while often < _LONGEST_UNARY:
            if not self.get(1):
                return often << parameter | self.get(parameter)
            often += 1
        return self.get(_RAW_BITS)

    def exp_golomb(self, parameter: int) -> int:
        """Read what BitWriter.exp_golomb() wrote."""
        width = parameter
        while width < _RAW_BITS and not self.get(1):
            width += 1
        return (1 << width | self.get(width)) - (1 << parameter)
