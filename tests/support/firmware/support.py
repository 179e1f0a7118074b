"""What unit tests share: folders on the file system under test, `raises`, and the owner of a test's store."""

import asyncio
import os
import sys

_root = "."
_count = 0
_is_whole = False
_changed = []


def use_root(path: str) -> None:
    """Set the folder in which `folder()` makes its folders; the runner calls it once."""
    global _root
    _root = path


def try_all() -> None:
    """Let tests try all that they can, however long it takes; the runner calls it before it imports them."""
    global _is_whole
    _is_whole = True


def is_whole() -> bool:
    """Whether tests try all that they can: in `make soak`."""
    return _is_whole


def rounds(all_of_them, fewer):
    """How much is tried: all in `make soak` and on CPython, fewer on MicroPython in `make test`, which is slow."""
    return all_of_them if _is_whole or not on_micropython() else fewer


def folder() -> str:
    """The path of a fresh, empty folder on the file system under test."""
    global _count
    _count += 1
    path = _root + "/t" + str(_count)
    os.mkdir(path)
    return path


def change(module, **values) -> None:
    """Give constants of a module other values until the test ends."""
    for name, value in values.items():
        _changed.append((module, name, getattr(module, name)))
        setattr(module, name, value)


def change_back() -> None:
    """Undo what change() did; the runner calls it after each test."""
    while _changed:
        setattr(*_changed.pop())


class raises:
    """`with raises(Kind) as caught:` passes if the block raises Kind; the error is then `caught.error`."""

    def __init__(self, kind):
        self.kind = kind
        self.error = None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        assert error is not None, "nothing was raised, " + self.kind.__name__ + " was expected"
        if not isinstance(error, self.kind):
            return False
        self.error = error
        return True


class StatelessSchema:
    """Owns a store of test lines and keeps no state of them; a test adds describe(line)."""

    def observe(self, line):
        pass

    def state(self):
        return {}

    def restore(self, state):
        pass


def at_once(coroutine):
    """What a coroutine gives that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waited")


_LOOKS = 4000
_LOOK_SECONDS = 0.005
"""How often wait_until() looks, and the pause between two looks: 20 seconds without the pauses of the process."""

_PASSES = 20


async def wait_until(what, is_so):
    """Let other tasks run until `is_so()` gives something true, and give that; AssertionError with `what` if it never does."""
    for _ in range(_LOOKS):
        found = is_so()
        if found:
            return found
        await asyncio.sleep(_LOOK_SECONDS)
    raise AssertionError("it never came: " + what)


async def let_others_run():
    """Let each other task run as far as it comes without a pause."""
    for _ in range(_PASSES):
        await asyncio.sleep(0)


def on_micropython() -> bool:
    """Whether the code runs on MicroPython."""
    return sys.implementation.name == "micropython"


def is_32_bit() -> bool:
    """Whether the code runs on MicroPython's 32-bit build, which is the slowest and has the chip's sizes."""
    return sys.maxsize < 1 << 32


async def closed(writer):
    """Close a stream, on MicroPython as well, where close() alone does nothing."""
    writer.close()
    try:
        await writer.wait_closed()
    except OSError:
        return  # it was broken before
