"""The inner loops of searches, of the index and of the tokenizer.

Boards get this file twice: as bytecode, and as native code, in which @viper is
@micropython.viper (see host/engram_host/boards/file_set.py); engram.native chooses. In native code
integers have 32 bits and pointers no bounds. So all numbers stay below 2^30, and what stands in a
list is compared with the size of the array: a damaged list is refused. All of it takes at most
8 KB of a board's memory for code, where `not x` is shorter than `x == 0`.

    rows    rows of a table, each times 8 plus a level (see store/index/codec.py), in order
    ends    for each run of a session the row after its last; `slots` has the session's slot
"""

# pyright: reportInvalidTypeForm=false, reportGeneralTypeIssues=false

from engram.compat import ptr8, ptr16, ptr32, viper

_LONGEST = const(48)  # bytes of a word

# The kind of each byte: 0 if no word has it, 3 for a vowel, 5 for another letter, else 1.
_KINDS = (
    b"\0" * 48 + b"\1" * 10 + b"\0" * 39
    + b"\3\5\5\5\3\5\5\5\3\5\5\5\5\5\3\5\5\5\5\5\3\5\5\5\3\5" + b"\0" * 5 + b"\1" * 128
)  # fmt: skip

# Endings: their length, that of the shortest word, letters that go, a letter that comes or 1 for a
# vowel required before them, and the letters backwards. The first match counts.
_ENDINGS = (
    b"\3\5\2ysei" b"\4\4\2\0sess" b"\3\3\1\0see" b"\2\4\2\0se" b"\2\3\0\0ss" b"\2\3\0\0su"
    b"\2\3\0\0si" b"\4\7\2\0snre" b"\1\3\1\0s" b"\3\5\2ydei" b"\3\3\0\0dee" b"\5\7\3\0denre" b"\2\3\2\1de"
    b"\6\7\4\0gninre" b"\3\5\3\1gni" b"\2\6\2\0yl"
    b"\3\6\1\0nre" b"\5\7\2\0negnu" b"\5\7\3\0nenni" b"\5\7\2\0netie" b"\4\7\2\0neno"
    b"\0"
)  # fmt: skip


# --- lists of the index


@viper
def unpack_words(data: ptr8, size: int, rows: ptr32, limit: int) -> int:
    """Decode a word's list; return its rows, -1 if one reaches `limit`."""
    count = 0
    row = 0
    passed = 0
    for at in range(2 * size):
        digit = data[at >> 1] >> 4 - (at & 1) * 4 & 15
        if digit >> 3:
            passed = passed * 8 + digit - 7 & 0xFFFF
        else:
            row += passed
            if row >= limit:
                return -1
            rows[count] = row << 3 | digit
            count += 1
            row += 1
            passed = 0
    return count


@viper
def pack_words(rows: ptr32, count: int, data: ptr8, size: int) -> int:
    """Encode a word's list; return its half bytes, at most one per row up to the last."""
    used = 0
    after = 0
    for at in range(count):
        row = rows[at]
        level = row & 7
        row >>= 3
        left = row - after
        after = row + 1
        shift = 0
        while left >= 1 << shift:
            left -= 1 << shift
            shift += 3
        while shift >= 0:
            shift -= 3
            digit = 8 | left >> shift & 7 if shift >= 0 else level
            if used >> 1 < size:
                data[used >> 1] = (data[used >> 1] << 4 | digit) & 0xFF
                used += 1
    return used


@viper
def unpack_labels(data: ptr8, size: int, rows: ptr32, limit: int) -> int:
    """Decode a label's list; return its rows, -1 if one reaches `limit`."""
    count = 0
    row = 0
    value = 0
    shift = 0
    is_run = 0
    for at in range(size):
        byte = data[at]
        value |= (byte & 0x7F) << shift
        shift = shift + 7 & 15
        if byte >> 7:
            continue
        value += row
        if value >= limit:
            return -1
        if is_run:
            while row <= value:
                rows[count] = row << 3
                count += 1
                row += 1
            row += 1
        else:
            row = value
        is_run ^= 1
        value = 0
        shift = 0
    return count


@viper
def pack_labels(rows: ptr32, count: int, data: ptr8, size: int) -> int:
    """Encode a label's list; return its bytes, at most one per row up to the last, plus four."""
    used = 0
    after = 0
    at = 0
    while at < count and used < size - 6:
        first = rows[at] >> 3
        row = first
        while at < count and rows[at] >> 3 == row:
            row += 1
            at += 1
        value = first - after
        after = row + 1
        for _ in range(2):
            while value > 0x7F:
                data[used] = value & 0x7F | 0x80
                used += 1
                value >>= 7
            data[used] = value & 0x7F
            used += 1
            value = row - first - 1
    return used


@viper
def mark_rows(rows: ptr32, count: int, bits: ptr8):
    for at in range(count):
        row = rows[at] >> 3
        bits[row >> 3] |= 1 << (row & 7)


# --- searches


@viper
def add_scores(
    rows: ptr32, count: int, levels: ptr8, scores: ptr8, dead: ptr8,
    ends: ptr16, slots: ptr16, counts: ptr32, bit: int,
) -> int:  # fmt: skip
    """Add a word's points to rows and 3-bit session counts (`bit` below 0: none); return new sessions."""
    # Dead rows get no points. Returns the number of sessions that had none of the word yet.
    run = 0
    sessions = 0
    for at in range(count):
        row = rows[at]
        points = levels[row & 7]
        row >>= 3
        if not dead[row >> 3] >> (row & 7) & 1:
            scores[row] = scores[row] + points
        if bit + 1:
            while row >= ends[run]:
                run += 1
            slot = slots[run]
            old = counts[slot]
            seen = old >> bit & 7
            if not seen:
                sessions += 1
            if seen - 7:
                counts[slot] = old + (1 << bit)
    return sessions


@viper
def keep_best(
    kept: ptr32, scores: ptr8, ends: ptr16, slots: ptr16, runs: int, last: ptr8, far: ptr8,
    allowed: ptr8, place: int, lowest: int,
):  # fmt: skip
    """Merge a table's rows into `kept`, sorted by T << 16 | slot; earlier rows win ties."""
    # `last` and `far` have the scores of each slot's last row in earlier tables, and of the one before it;
    # on return those of this table. `allowed` has the bits of the rows to find. `kept` has T << 16 | slot
    # and place << 16 | row of each, from the best to index `lowest`, or zeros. See ranking.py for T.
    row = 0
    for run in range(runs):
        slot = slots[run]
        second = far[slot]
        before = last[slot]
        end = ends[run]
        while row < end:
            here = scores[row]
            total = 5 * here
            if slot:
                total += 2 * before + second
                row += 1
                if row < end:
                    total += 2 * scores[row]
                    if row + 1 < end:
                        total += scores[row + 1]
                row -= 1
            second = before
            before = here
            if total > kept[lowest] >> 16 and allowed[row >> 3] >> (row & 7) & 1:
                at = lowest
                while at and kept[at - 2] >> 16 < total:
                    kept[at] = kept[at - 2]
                    kept[at + 1] = kept[at - 1]
                    at -= 2
                kept[at] = total << 16 | slot
                kept[at + 1] = place << 16 | row
            row += 1
        if slot:
            far[slot] = second
            last[slot] = before


# --- making tables


@viper
def take_words(highs: ptr8, lows: ptr16, used: int, ends: ptr16, places: ptr8, high: int, words: ptr32) -> int:
    """Collect words of 16 hash bytes from `high` on as hash, 7 row bits and head bit; return their number."""
    # Only hashes with a highest byte of `high` to `high` + 15. The row's bits come from `places`; the last
    # bit marks words behind the row's head of 32.
    count = 0
    row = 0
    behind = 32
    for at in range(used):
        while at >= ends[row]:
            behind = ends[row] + 32
            row += 1
        top = highs[at] - high
        if top >> 4:
            continue
        words[count] = (top << 16 | lows[at]) << 8 | places[row] << 1 | (1 if at >= behind else 0)
        count += 1
    return count


@viper
def sort(values: ptr32, count: int):
    gap = count
    while gap:
        for at in range(gap, count):
            value = values[at]
            while at >= gap and values[at - gap] > value:
                values[at] = values[at - gap]
                at -= gap
            values[at] = value
        gap = (gap + 1) * 3 >> 3


@viper
def join_words(words: ptr32, count: int, lengths: ptr16, mean: int, level) -> int:
    """Merge a row's sorted equal words, adding 3 bits of level; return the number left."""
    # Each is then its hash, 7 bits of the row, and 3 bits of its level.
    kept = 0
    at = 0
    while at < count:
        word = words[at] >> 1
        eighths = 0
        while at < count and words[at] >> 1 == word:
            eighths += 1 if words[at] & 1 else 8
            at += 1
        words[kept] = word << 3 | int(level(eighths, lengths[word & 127], mean))
        kept += 1
    return kept


@viper
def move_rows(rows: ptr32, count: int, moves: ptr16, gone: ptr8) -> int:
    """Map rows to a merged table without those in `gone`; return the number left."""
    kept = 0
    for at in range(count):
        row = rows[at]
        level = row & 7
        row >>= 3
        if not gone[row >> 3] >> (row & 7) & 1:
            rows[kept] = moves[row] << 3 | level
            kept += 1
    return kept


# --- words


@viper
def cut_words(  # noqa: C901
    data: ptr8, size: int, words, stop_words: ptr8, starts: ptr16, is_stemmed: int
) -> int:
    """Write a lower-case text's words to `words` (one byte longer than the text); return the bytes."""
    # A space follows each word. With `is_stemmed` stop words (by length from `starts` on) are left out, and
    # ASCII words lose their endings.
    out = ptr8(words)
    kinds = ptr8(_KINDS)
    used = 0
    start = 0
    at = 0
    while at < size:
        byte = data[at]
        at += 1
        if kinds[byte]:
            out[used] = byte
            used += 1
            if at < size:
                continue
        elif byte == 0x27 and at < size:
            # Apostrophes are dropped, but for "'s" where no letter follows, which ends the word.
            if data[at] != 0x73 or (at + 1 < size and kinds[data[at + 1]]):
                continue
            at += 1
        count = used - start
        if count > _LONGEST:
            used = start + _LONGEST
            while out[used] & 0xC0 == 0x80:
                used -= 1
        elif is_stemmed:
            here = 0
            stop = starts[count]
            while here < count and stop < starts[count + 1]:
                here = 0
                while here < count and out[start + here] == stop_words[stop + here]:
                    here += 1
                stop += count + 1
            if here == count:
                used = start
            elif count > 2 and out[used - 1] < 0x80:
                used = int(stem(words, used, start))
        if used > start:
            out[used] = 0x20
            used += 1
        start = used
    return used


@viper
def stem(words: ptr8, end: int, start: int) -> int:  # noqa: C901
    """Remove the ending of a word of over two letters; return its new end."""
    kinds = ptr8(_KINDS)
    rule = ptr8(_ENDINGS)
    at = 0
    while rule[at]:
        here = 0
        if end - start >= rule[at + 1]:
            while here < rule[at] and words[end - here - 1] == rule[at + 4 + here]:
                here += 1
        if here == rule[at]:
            break
        at += rule[at] + 4
    if rule[at]:
        left = end - rule[at + 2]
        letter = rule[at + 3]
        if letter > 1:
            words[left - 1] = letter
        elif letter:
            here = start
            while here < left and not kinds[words[here]] & 2:
                here += 1
            if here == left:
                left = end
        end = left
    if words[end - 1] == 0x65 and end - start > 2:
        end -= 1
    last = words[end - 1]
    before = words[end - 2]
    if end - start > 3 and last == before and kinds[last] & 4:
        end -= 1
    elif end - start > 2 and last == 0x79 and not kinds[before] & 2:
        words[end - 1] = 0x69
    return end
