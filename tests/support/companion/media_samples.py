"""Photos and sounds as small as they can be, each of the type that its first bytes say."""

import struct
import zlib


def png(shade: int = 0) -> bytes:
    """A picture of one dot."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    dot = chunk(b"IDAT", zlib.compress(bytes([0, shade % 256])))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"tEXt", b"n\0%d" % shade) + dot + chunk(b"IEND", b"")


PHOTO = png()
JPEG = b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xd9"
GIF = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;"
WEBP = b"RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0/\0\0\0\x10\x07\x10\x11\x11\x88\x88\xfe\x07\0"
WAV = b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0@\x1f\0\0\x80>\0\0\x02\0\x10\0data\0\0\0\0"
OGG = b"OggS\0\x02" + bytes(22)
MP3 = b"ID3\x04\0\0\0\0\0\0\xff\xfb\x90\0"
FLAC = b"fLaC\0\0\0\x22" + bytes(34)
M4A = b"\0\0\0\x20ftypM4A \0\0\0\0M4A mp42isom\0\0\0\0"
