"""The board's half of test_deploy_cuts.py: sends a deploy as the host does, and starts a board on a flash.

From standard input a JSON object a line, each a board of its own:
    {"flash": PATH, "trace": PATH, "fault": [what, when], "boot": TEXT of boot.py, "send": [[PATH, TEXT], ..], "ready": TEXT}
Prints for each a line [changes of the flash when all was sent, at the end, what boot.py printed].
"""

import gc
import json
import os
import sys

import vfs

from faulty_flash import FaultyFlash

_HOST = "/host"


class _Device:
    """The module flashbdev of a chip."""

    bdev = None


class _Flash(FaultyFlash):
    def end(self):
        """Let all that was written be seen by others."""
        self._file.close()
        if self._trace:
            self._trace.close()


def _send(files, ready):
    for path, content in files:
        _write("/next/" + path, content)
    if ready:
        _write("/next/READY.new", ready)
        os.rename("/next/READY.new", "/next/READY")


def _write(path, content):
    at = path.find("/", 1)
    while at > 0:
        try:
            os.mkdir(path[:at])
        except OSError as error:
            if error.errno != 17:
                raise
        at = path.find("/", at + 1)
    with open(path, "wb") as file:
        file.write(content)


class _Watchdog:
    """The module engram.device.watchdog, which is not on these flashes, and its class."""

    def resume(self):
        pass


_Watchdog.Watchdog = _Watchdog


class _Packs:
    """The module module_packs: that on the flash reads packs of one form only, as each release does."""

    @staticmethod
    def mount():
        forms = set()
        for path in ("/module_packs.mpy", "/engram/engram.pack", "/engram/store.pack"):
            with open(path) as file:
                forms.add(file.read().split(" ")[1])
        if len(forms) != 1:
            raise OSError(5, "the packs are damaged")


class _Told:
    """Standard output while boot.py runs."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text


class _System:
    """The module sys as boot.py sees it."""

    def __init__(self):
        self.stdout = _Told()
        self.path = []


def _play(job):
    # Between two boards: in the middle of one it would close files that were dropped, for which this flash needs the heap.
    gc.collect()
    fault = job.get("fault")
    trace = _HOST + job["trace"] if job.get("trace") else ""
    flash = _Flash(_HOST + job["flash"], 0, trace, tuple(fault) if fault else ("", 0))
    vfs.mount(flash, "/")
    _Device.bdev = flash
    sent = 0
    system = _System()
    try:
        _send(job.get("send", ()), job.get("ready", ""))
        sent = flash.changes
        sys.modules["sys"] = system
        exec(job["boot"], {"__name__": "__main__"})
    finally:
        sys.modules["sys"] = sys
        vfs.umount("/")
    flash.end()
    sys.stdout.write(json.dumps([sent, flash.changes, system.stdout.text]) + "\n")


vfs.mount(vfs.VfsPosix("/"), _HOST)
vfs.umount("/")
sys.modules.update({"module_packs": _Packs})
sys.modules.update(
    {"flashbdev": _Device, "engram": _Watchdog, "engram.device": _Watchdog, "engram.device.watchdog": _Watchdog}
)
for line in sys.stdin:
    _play(json.loads(line))
