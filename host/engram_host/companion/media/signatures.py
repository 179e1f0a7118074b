"""Media types by the first bytes of the content; nothing is decoded."""

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
"""File name extensions by media type."""


def type_of(data: bytes) -> str:
    """Return the media type of some bytes, "" if it is unknown."""
    for beginning, found in _BEGINNINGS:
        if data.startswith(beginning):
            return found
    if data[:4] == b"RIFF":
        return _RIFF.get(data[8:12], "")
    return "audio/mp4" if data[4:8] == b"ftyp" and data[8:12] in _MP4_SOUNDS else ""
