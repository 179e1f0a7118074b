"""boot.py on CPython, with stand-ins for what only a chip has: what it says first, and Ctrl-C at each of its lines."""

import sys
import types
from typing import Any

import pytest

from engram import __version__
from engram_host.firmware import FIRMWARE

PATH = str(FIRMWARE / "boot.py")
CODE = compile((FIRMWARE / "boot.py").read_text(encoding="utf-8"), PATH, "exec")
BOARDS = ("vfs", "flashbdev", "micropython", "module_packs", "engram.device", "engram.device.watchdog")


class Chip:
    """A chip while boot.py runs: what happens to it, in order, and Ctrl-C once at the `at`-th line that it can break into."""

    def __init__(self, at: int = 0):
        self.events: list[str] = []
        self.lines = 0
        self.struck = ""
        self._at = at
        self._hears = True

    def run(self, monkeypatch: pytest.MonkeyPatch) -> bool:
        """Start; whether boot.py ended as it should, so that main.py runs."""
        for name in BOARDS:
            monkeypatch.setitem(sys.modules, name, self._module(name))
        monkeypatch.setattr(sys, "path", sys.path[:])
        monkeypatch.setattr(sys.stdout, "write", lambda text: self.events.append("says " + text))
        sys.settrace(self._trace)
        try:
            exec(CODE, {"__name__": "__main__"})
            return True
        except KeyboardInterrupt:
            return False
        finally:
            sys.settrace(None)
            monkeypatch.undo()

    def _module(self, name: str) -> Any:
        module = types.ModuleType(name)
        note = self.events.append
        for function in ("umount", "mount", "VfsLfs2"):
            setattr(module, function, lambda *_, event=f"{name}.{function}", **__: note(event))
        module.__dict__["bdev"] = None
        module.__dict__["kbd_intr"] = self._set_keyboard
        resuming = type("Watchdog", (), {"resume": lambda _: note("the watchdog is fed")})
        module.__dict__["Watchdog"] = resuming
        return module

    def _set_keyboard(self, key: int) -> None:
        self._hears = key == 3

    def _trace(self, frame: types.FrameType, event: str, _argument: object) -> Any:
        if frame.f_code.co_filename != PATH:
            return None
        if event == "line" and self._hears:
            self.lines += 1
            if self.lines == self._at:
                self.struck = frame.f_code.co_name
                raise KeyboardInterrupt
        return self._trace


def steps(monkeypatch: pytest.MonkeyPatch) -> int:
    chip = Chip()
    assert chip.run(monkeypatch)
    return chip.lines


def test_the_first_line_comes_before_the_flash_is_touched(monkeypatch: pytest.MonkeyPatch):
    chip = Chip()
    chip.run(monkeypatch)
    assert chip.events[0] == f"says Engram {__version__} is starting ...\n"
    assert chip.events[-1] == "the watchdog is fed"


def test_ctrl_c_at_any_line_leaves_a_board_with_its_files_and_a_fed_watchdog(monkeypatch: pytest.MonkeyPatch):
    in_steps = 0
    for at in range(1, steps(monkeypatch) + 1):
        chip = Chip(at)
        assert not chip.run(monkeypatch) and chip.struck, at
        assert chip.events.count("vfs.umount") == chip.events.count("vfs.mount"), at
        if chip.struck != "<module>":
            in_steps += 1
            assert chip.events[-1] == "the watchdog is fed", at
    assert in_steps > 10
