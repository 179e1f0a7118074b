"""What a board does for the host over the raw REPL: session.py sends this text and then calls these by their names.

It runs on MicroPython, in whatever heap is left. Bytes come and go in base64; a path begins with a slash. What takes long says
between two pieces that it lives: a line "~" and how many bytes it has looked at since the last one.
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
    """Print what runs here: platform, version, the form of .mpy files, the board's name."""
    here = sys.implementation
    board = getattr(here, "_machine", "")
    print(json.dumps([sys.platform, list(here.version[:3]), here._mpy & 0x3FF, board]))


def standing():
    """Print whether the files are there, whether a deploy is not finished, and whether there is an app that goes on.

    A start that was stopped very early has no file system.
    """
    app = globals().get("app")
    print(json.dumps([_is_there("/boot.py"), _is_there("/next/READY"), hasattr(app, "run")]))


def _is_there(path):
    try:
        os.stat(path)
        return True
    except OSError:
        return False


def room():
    """Print how many bytes of the flash are free: littlefs looks through all of it."""
    _live(0)
    flash = os.statvfs("/")
    print(json.dumps([flash[1] * flash[4]]))


def _live(count):
    """Say that this goes on."""
    print(f"~{count}")


def tree(folder, deep):
    """Print a line for each thing in a folder, or `deep` below it: [path, size, sha256], or [path, -1, ""] for a folder."""
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
    """Yield a file's bytes through one buffer."""
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
    """Begin to write a file, with the folders above it."""
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
    """Write on."""
    _file.write(binascii.a2b_base64(text))


def stop(path):
    """Close the file and print what is in it now."""
    _file.close()
    print(_digest(path))


def show(path):
    """Print a file."""
    for piece in _pieces(path):
        sys.stdout.write(binascii.b2a_base64(piece))


def drop(path):
    """Remove a file, or a folder with all that is below it."""
    if os.stat(path)[0] & _FOLDER:
        for name in os.listdir(path):
            drop(path + "/" + name)
        os.rmdir(path)
    else:
        os.remove(path)
    _live(0)
