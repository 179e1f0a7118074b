"""Media types by the first bytes of the content, and references to media in texts; nothing is decoded.

A reference stands in a turn or a memory, such as "[photo, media/0123456789abcdef] a fox".
"""

import re

from engram_host.companion.store.media import PREFIX

_BEGINNINGS = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfa", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"\xff\xf2", "audio/mpeg"),
    (b"\xff\xf3", "audio/mpeg"),
)
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}
_MP4_SOUNDS = (b"M4A ", b"M4B ")

ENDINGS = {
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/gif": "gif",
    "image/webp": "webp",
    "audio/ogg": "ogg",
    "audio/mpeg": "mp3",
    "audio/mp4": "m4a",
    "audio/wav": "wav",
    "audio/flac": "flac",
}


def type_of(data: bytes) -> str:
    for beginning, found in _BEGINNINGS:
        if data.startswith(beginning):
            return found
    if data[:4] == b"RIFF":
        return _RIFF.get(data[8:12], "")
    return "audio/mp4" if data[4:8] == b"ftyp" and data[8:12] in _MP4_SOUNDS else ""


# --- references

_ID = rf"(?<![0-9A-Za-z_/.-]){PREFIX}([0-9a-f]{{16}})(?![0-9A-Za-z_/-])"
_IN_TEXT = re.compile(_ID)
_IN_LINE = re.compile(_ID.encode())
_MARKS = re.compile(r"[\[(][^\[\]()\n]*[\])]")


def ids_in(text: str) -> list[str]:
    return list(dict.fromkeys(_IN_TEXT.findall(text)))


def ids_in_line(line: bytes) -> set[str]:
    return {found.decode() for found in _IN_LINE.findall(line)}


def caption_of(text: str) -> str:
    """Return a text without the brackets that contain references."""
    kept = _MARKS.sub(lambda found: "" if _IN_TEXT.search(found[0]) else found[0], text)
    return " ".join(kept.split())
