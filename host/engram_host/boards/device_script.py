"""Functions that a board runs for the host over the raw REPL (see session.py), on little heap.

Data are in base64, paths begin with a slash. Long work prints a line "~" with the bytes done
since the last one as a sign of life.
"""

import binascii
import hashlib
import json
import os
import sys

_FOLDER = 0x4000
_PIECE = 768
_SIGN_BYTES = 8192
_file = None


def about():
    """Print platform, version, .mpy format, the board's name, if files exist, and if a deploy is
    unfinished."""
    here = sys.implementation
    board = getattr(here, "_machine", "")
    has_files, is_unfinished = _is_there("/boot.py"), _is_there("/next/READY")
    print(json.dumps([sys.platform, list(here.version[:3]), here._mpy & 0x3FF, board, has_files, is_unfinished]))


def _is_there(path):
    try:
        os.stat(path)
        return True
    except OSError:
        return False


def room():
    """Print the free bytes of the flash; littlefs scans all of it."""
    _live(0)
    flash = os.statvfs("/")
    print(json.dumps([flash[1] * flash[4]]))


def _live(count):
    print(f"~{count}")


def tree(folder, deep):
    """Print [path, size, sha256] for each file, [path, -1, ""] for a folder, at most `deep` levels
    down."""
    _live(0)
    try:
        entries = sorted(os.ilistdir(folder))
    except OSError:
        return
    for entry in entries:
        path = folder.rstrip("/") + "/" + entry[0]
        if entry[1] & _FOLDER:
            print(json.dumps([path, -1, ""]))
            if deep:
                tree(path, True)
        else:
            print(json.dumps([path, os.stat(path)[6], _digest(path)]))


def _pieces(path):
    piece = bytearray(_PIECE)
    view = memoryview(piece)
    with open(path, "rb") as file:
        while True:
            count = file.readinto(piece)
            if not count:
                return
            yield view[:count]


def _digest(path):
    sha = hashlib.sha256()
    done = 0
    for piece in _pieces(path):
        sha.update(piece)
        done += len(piece)
        if done >= _SIGN_BYTES:
            _live(done)
            done = 0
    _live(done)
    return binascii.hexlify(sha.digest()).decode()


def start(path):
    """Begin to write a file; creates its folders."""
    global _file
    at = path.find("/", 1)
    while at > 0:
        try:
            os.mkdir(path[:at])
        except OSError as error:
            if error.errno != 17:
                raise
        at = path.find("/", at + 1)
    _file = open(path, "wb")


def more(text):
    """Append base64 data to the file."""
    _file.write(binascii.a2b_base64(text))


def stop(path):
    """Close the file and print its entry."""
    _file.close()
    print(_digest(path))


def show(path):
    """Print a file in base64."""
    for piece in _pieces(path):
        sys.stdout.write(binascii.b2a_base64(piece))


def drop(path):
    """Remove a file, or a folder with its contents."""
    if os.stat(path)[0] & _FOLDER:
        for name in os.listdir(path):
            drop(path + "/" + name)
        os.rmdir(path)
    else:
        os.remove(path)
    _live(0)
