"""A flash, and a littlefs on it, that count what is done between two looks at the keyboard.

What littlefs does by itself in a call that finds or changes an entry of a folder, or takes blocks, is counted apart: the
firmware cannot look at the keyboard meanwhile. `name_functions` lets functions be named where a step is too long.
"""

import sys

from flash import Flash

_SHOWN = 6  # functions of a stack
_READING = ("read", "readinto", "seek", "tell")  # calls whose reads are the firmware's own


class WatchedFlash(Flash):
    """Counts from one look to the next; `longest` has the step with the most of each, and what ran when it became so long."""

    def __init__(self, path, size):
        super().__init__(path, size)
        self.is_littlefs = False  # whether littlefs is at work by itself
        self.begin()

    def begin(self):
        """Count anew."""
        self.steps = 0
        self.most = {"reads": 0, "erases": 0, "one_call": 0}
        self.longest = {"reads": "", "erases": "", "one_call": ""}
        self._step = {"reads": 0, "erases": 0}

    def look(self):
        """The keyboard is looked at now."""
        self.steps += 1
        self._step = {"reads": 0, "erases": 0}

    def _count(self, what):
        self._step[what] += 1
        self.note(what, self._step[what])

    def note(self, what, count, call=""):
        """There were so many of something, in a step or in a call."""
        if count > self.most[what]:
            self.most[what] = count
            self.longest[what] = call + " in " + " < ".join(reversed(running[-_SHOWN:]))

    def readblocks(self, block, buffer, offset=0):
        """Read."""
        if not self.is_littlefs:
            self._count("reads")
        super().readblocks(block, buffer, offset)

    def ioctl(self, operation, argument):
        """Erase, among others."""
        if operation == 6:
            self._count("erases")
        return super().ioctl(operation, argument)


class WatchedLittlefs:
    """A littlefs whose calls are told to its flash."""

    def __init__(self, littlefs, device):
        self._littlefs = littlefs
        self._device = device

    def call(self, name, path, function, *arguments):
        """What a function of littlefs gives."""
        device = self._device
        before = device.reads
        device.is_littlefs = name not in _READING
        try:
            return function(*arguments)
        finally:
            if device.is_littlefs:
                device.note("one_call", device.reads - before, name + " " + path)
            device.is_littlefs = False

    def mount(self, readonly, mkfs):
        """It is mounted."""

    def umount(self):
        """It is not mounted any more."""

    def open(self, path, mode):
        """Open a file."""
        return _File(self, self.call("open", path, self._littlefs.open, path, mode), path)

    def ilistdir(self, path):
        """Give the entries of a folder."""
        return iter(self.call("ilistdir", path, lambda: list(self._littlefs.ilistdir(path))))

    def __getattr__(self, name):
        function = getattr(self._littlefs, name)
        return lambda *arguments: self.call(name, arguments[0] if arguments else "", function, *arguments)


class _File:
    """A file of it."""

    def __init__(self, littlefs, file, path):
        self._littlefs = littlefs
        self._file = file
        self._path = path

    def __getattr__(self, name):
        function = getattr(self._file, name)
        return lambda *arguments: self._littlefs.call(name, self._path, function, *arguments)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


running = []
"""The functions of the firmware that run, the innermost last; of generators and coroutines, what they call."""


def name_functions():
    """Let the functions and methods of the firmware's modules, as far as they are loaded, tell when they run."""
    kind = type(name_functions)
    for name in list(sys.modules):
        if not name.startswith("engram."):
            continue
        module = sys.modules[name]
        _name_in(module, name[7:], kind)
        for key, value in list(module.__dict__.items()):
            if isinstance(value, type) and value.__name__ == key and getattr(value, "__dict__", None):
                _name_in(value, key, kind)


def _name_in(owner, label, kind):
    for key, value in list(owner.__dict__.items()):
        if type(value) is kind and not key.startswith("__"):
            try:
                setattr(owner, key, _named(label + "." + key, value))
            except (AttributeError, TypeError):
                # A class in ROM.
                return


def _named(name, function):
    def call(*arguments, **named):
        running.append(name)
        try:
            return function(*arguments, **named)
        finally:
            running.pop()

    return call
