"""Runs first on a board: mounts the flash, finishes a complete deploy, and feeds a watchdog left running by a
soft reset.

/next/READY lists the steps of a deploy: "+ PATH" moves /next/PATH over /PATH, "- PATH" removes /PATH, a file
or a folder. Steps are atomic and repeatable, and READY is removed last, so a power cut leaves old code or a
deploy that the next start resumes. Nothing is imported from engram before that, as its modules may be mixed.
Nothing here raises except Ctrl-C at the end, or main.py would not run.
"""

import sys

_path = sys.path[:]
sys.path[:] = [".frozen"]  # or MicroPython would look for os in the flash
import os  # noqa: E402

sys.path[:] = _path
sys.stdout.write("Engram 0.1.0 is starting ...\n")


def _remount():
    """Mount without a time in each file, which every append would write, and with a larger block map."""
    import micropython
    import vfs
    from flashbdev import bdev

    micropython.kbd_intr(-1)  # Ctrl-C would leave the board without its files; who types it again is heard
    try:
        vfs.umount("/")
        try:
            vfs.mount(vfs.VfsLfs2(bdev, readsize=32, progsize=32, lookahead=128, mtime=False), "/")
        except (OSError, MemoryError):
            vfs.mount(bdev, "/")
    finally:
        micropython.kbd_intr(3)


def _finish_deploy(next):
    try:
        with open(next + "/READY") as ready:
            steps = ready.read().split("\n")
    except OSError:
        return
    for step in steps:
        mark, _, path = step.partition(" ")
        if mark == "+" and _is_there(next + "/" + path):
            _make_folders(path)
            os.rename(next + "/" + path, "/" + path)
        elif mark == "-" and _is_there("/" + path):
            _remove("/" + path)
        if mark:
            # All of them may take minutes: who waits for them sees that they go on.
            sys.stdout.write(".")
    os.remove(next + "/READY")
    _remove(next)


def _is_there(path):
    try:
        os.stat(path)
        return True
    except OSError:
        return False


def _make_folders(path):
    at = path.find("/")
    while at > 0:
        if not _is_there("/" + path[:at]):
            os.mkdir("/" + path[:at])
        at = path.find("/", at + 1)


def _remove(path):
    if os.stat(path)[0] & 0x4000:
        for name in os.listdir(path):
            _remove(path + "/" + name)
        os.rmdir(path)
    else:
        os.remove(path)


def _mount_packs():
    import module_packs

    module_packs.mount()


def _feed_on():
    from engram.device.watchdog import Watchdog

    Watchdog().resume()


is_stopped = False
for step in (_remount, lambda: _finish_deploy("/next"), _mount_packs, _feed_on):
    try:
        step()
    except KeyboardInterrupt:
        is_stopped = True  # the rest goes on: at the prompt, too, a watchdog has to be fed
    except Exception as error:  # noqa: BLE001 main.py has to run, whatever this is
        sys.stdout.write("\nboot.py: %s\n" % repr(error))
if is_stopped:
    _mount_packs()  # Ctrl-C may have struck in these two; done again they do nothing
    _feed_on()
    raise KeyboardInterrupt
