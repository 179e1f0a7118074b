"""What each step of the app's start takes of the heap: heap_opening.py FLASH

The environment has ENGRAM_SETTINGS, JSON by dotted name: MicroPython takes no argument of more than 255 bytes.
Prints the name of each step, a tab and its bytes, with the code that it loads; then
"modules:" and those that are loaded.
"""

import gc
import json
import os
import sys
from array import array

import flash

_PARTS = (
    "Config", "Clock", "Log", "Reserve", "Store", "Trash", "Usage", "Records", "Journal", "LearningCursor", "Forgetting",
    "TextChanges", "Profile", "Notes", "Undo", "NoteRetention", "Reminders", "Recall", "PromptBuilder", "Tools", "Offline",
    "Agent", "Commands",
)  # fmt: skip
"""The classes of which app.py and build.py make an object at the start."""

_OF_TWO = ("Log", "Reserve", "Store")  # of the records first, then of the journal
_MOST = 40


class Steps:
    """Notes how much of the heap is in use at the beginning of each step."""

    def __init__(self):
        self._names = [""] * _MOST
        self._used = array("I", bytes(4 * _MOST))
        self._count = 0
        self.begin("")

    def begin(self, name):
        """A step begins, and the one before it ends."""
        gc.collect()
        self._names[self._count] = name
        self._used[self._count] = gc.mem_alloc()
        self._count += 1

    def watch(self, module, name):
        """Let a step begin with each call of what a module has by that name."""
        make = getattr(module, name)

        def noting(*arguments, **more):
            step = name
            if name in _OF_TWO:
                step += " of the journal" if name + " of the records" in self._names else " of the records"
            self.begin(step)
            return make(*arguments, **more)

        setattr(module, name, noting)

    def tell(self):
        """Print the steps."""
        print("%s\t%d" % ("MicroPython", self._used[0]))
        for at in range(1, self._count - 1):
            print("%s\t%d" % (self._names[at], self._used[at + 1] - self._used[at]))


def main(flash_file):
    """Start the app as a board does, but for its network, with its console."""
    steps = Steps()
    steps.begin("stand-in for the flash")
    flash.mount(flash_file, 0, "/flash")
    steps.begin("code")
    import engram.app as app_module
    import engram.build as build_module

    steps.begin("settings of the tool")
    overrides = json.loads(os.getenv("ENGRAM_SETTINGS"))
    for name in _PARTS:
        for module in (app_module, build_module):
            if hasattr(module, name):
                steps.watch(module, name)
    app = app_module.App("/flash", overrides)
    steps.begin("console")
    from engram.channels.console.console import Console

    console = Console(app.config, app.board.inbox)
    for line in app.banner():
        console.line(line)
    steps.begin("")
    steps.tell()
    print("modules:", *[name for name in sys.modules if name.startswith("engram")])


main(*sys.argv[1:])
