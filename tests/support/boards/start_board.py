"""Starts a board from the image of its flash, up to its banner, and prints as JSON what that took.

    start_board.py FLASH

Needs the stand-ins for a chip's modules. Counts are exact; milliseconds are this computer's.
"""

import asyncio
import builtins
import io
import json
import sys
import time

import deflate
import vfs

import fakes
from flash import Flash

asyncio.StreamReader, asyncio.Lock, asyncio.wait_for_ms, asyncio.Event  # files of the unix port

_RUN = "        app.run()\n"  # of main.py

spent = {}
"""Microseconds by what takes them; what is inside something else counts there alone."""
inside = ["wire"]
inflated = []


class Partition:
    """The module flashbdev."""

    bdev = Flash(sys.argv[1], 0)


class Deflate:
    """The module deflate, as far as packs need it."""

    RAW = deflate.RAW


def switch(name=""):
    global since
    now = time.ticks_us()
    spent[inside[-1]] = spent.get(inside[-1], 0) + time.ticks_diff(now, since)
    since = now
    inside.append(name) if name else inside.pop()


def timed(name, function):
    def run(*arguments, **named):
        switch(name)
        try:
            return function(*arguments, **named)
        finally:
            switch()

    return run


def inflate(*arguments):
    module = deflate.DeflateIO(*arguments).read()
    inflated.append(len(module))
    return io.BytesIO(module)


def watched(name, *rest):
    module = plain(name, *rest)
    if name == "module_packs" and module.deflate is deflate:
        module.deflate = Deflate
        module._Packs.stat = timed("find", module._Packs.stat)
        module._Pack.read = timed("read", module._Pack.read)
    elif name == "engram.store.store" and not hasattr(module, "is_timed"):
        module.is_timed = True
        module.Store.open = timed("open logs", module.Store.open)
    return module


def source(path):
    with open(path) as file:
        return file.read()


fakes.install()
sys.modules["flashbdev"] = Partition
vfs.umount("/")
vfs.mount(Partition.bdev, "/")
sys.path[:] = ["", ".frozen", "/lib"]
Deflate.DeflateIO = timed("inflate", inflate)
plain = __import__
builtins.__import__ = timed("import", watched)
Partition.bdev.reads = Partition.bdev.read_bytes = 0
since = time.ticks_us()
names = {"__name__": "__main__"}
boot = source("boot.py")
first = Partition.bdev.reads
timed("boot", exec)(boot, names)
exec(source("main.py").replace(_RUN, "        pass\n"), names)
for line in names["app"].banner():
    print(line)
switch("end")
print(
    json.dumps(
        {
            "first line: reads": first,
            "reads": Partition.bdev.reads,
            "bytes read": Partition.bdev.read_bytes,
            "modules": len(inflated),
            "bytes inflated": sum(inflated),
            "ms": {name: microseconds // 1000 for name, microseconds in spent.items()},
        }
    )
)
