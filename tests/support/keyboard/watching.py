"""A flash, and a littlefs on it, that count what is done between two looks at the keyboard.

What littlefs does by itself in a call that finds or changes an entry of a folder, or takes blocks, is counted apart: the
firmware cannot look at the keyboard meanwhile.
"""

from flash import Flash

_READING = ("read", "readinto", "seek", "tell")  # calls whose reads are the firmware's own


class WatchedFlash(Flash):
    """Counts from one look to the next; `most` has the most of each in a step."""

    def __init__(self, path, size):
        super().__init__(path, size)
        self.is_littlefs = False  # whether littlefs is at work by itself
        self.begin()

    def begin(self):
        """Count anew."""
        self.steps = 0
        self.most = {"reads": 0, "erases": 0}
        self._step = {"reads": 0, "erases": 0}

    def look(self):
        """The keyboard is looked at now."""
        self.steps += 1
        self._step = {"reads": 0, "erases": 0}

    def _count(self, what):
        self._step[what] += 1
        self.most[what] = max(self.most[what], self._step[what])

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

    def call(self, name, function, *arguments):
        """What a function of littlefs gives."""
        self._device.is_littlefs = name not in _READING
        try:
            return function(*arguments)
        finally:
            self._device.is_littlefs = False

    def mount(self, readonly, mkfs):
        """It is mounted."""

    def umount(self):
        """It is not mounted any more."""

    def open(self, path, mode):
        """Open a file."""
        return _File(self, self.call("open", self._littlefs.open, path, mode))

    def ilistdir(self, path):
        """Give the entries of a folder."""
        return iter(self.call("ilistdir", lambda: list(self._littlefs.ilistdir(path))))

    def __getattr__(self, name):
        function = getattr(self._littlefs, name)
        return lambda *arguments: self.call(name, function, *arguments)


class _File:
    """A file of it."""

    def __init__(self, littlefs, file):
        self._littlefs = littlefs
        self._file = file

    def __getattr__(self, name):
        function = getattr(self._file, name)
        return lambda *arguments: self._littlefs.call(name, function, *arguments)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()
