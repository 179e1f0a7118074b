"""References to media in the texts of turns and memories, such as "[photo, media/0123456789abcdef] a fox"."""

import re

from engram_host.companion.store.media.table import PREFIX

_ID = rf"(?<![0-9A-Za-z_/.-]){PREFIX}([0-9a-f]{{16}})(?![0-9A-Za-z_/-])"
_IN_TEXT = re.compile(_ID)
_IN_LINE = re.compile(_ID.encode())
_MARKS = re.compile(r"[\[(][^\[\]()\n]*[\])]")


def ids_in(text: str) -> list[str]:
    """Return the ids in a text, each once."""
    return list(dict.fromkeys(_IN_TEXT.findall(text)))


def ids_in_line(line: bytes) -> set[str]:
    """Return the ids in a line of a log."""
    return {found.decode() for found in _IN_LINE.findall(line)}


def caption_of(text: str) -> str:
    """Return a text without the brackets that contain references."""
    kept = _MARKS.sub(lambda found: "" if _IN_TEXT.search(found[0]) else found[0], text)
    return " ".join(kept.split())
