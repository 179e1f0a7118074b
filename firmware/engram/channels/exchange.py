"""The commands that take a memory out of a board."""

from engram import text


def export_command(parts, asker, rest: str):
    """Yield all memories, the profile and the notes as JSON Lines."""
    for record in parts.records.newest(asker):
        yield _exported(parts.records.fields(record))
    if asker.group:
        return
    for keeper in (parts.profile.of(asker), parts.notes.of(asker)):
        for name in keeper.names():
            yield _exported((("file", name), ("text", keeper.text(name))))


def _exported(pairs) -> str:
    """A line of JSON that a channel shows as it is: what it would take for a terminal's control is escaped."""
    line = text.dumps_fields(pairs)
    if text.printable(line) != line:
        for first, end in ((0x7F, 0xA0), (0x202A, 0x202F), (0x2066, 0x206A)):
            for code in range(first, end):
                line = line.replace(chr(code), "\\u%04x" % code)
    return line
