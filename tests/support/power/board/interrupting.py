"""Ctrl-C at a chosen step of an operation, to see what it leaves behind.

On CPython a step is a line of the firmware that is executed, elsewhere what comes before and after each file operation:
there the littlefs below cannot be interrupted, as on the chip.
"""

import sys

_steps = 0
_strike_at = 0


def _step() -> None:
    global _steps
    _steps += 1
    if _steps == _strike_at:
        raise KeyboardInterrupt


def during(function, arguments, at: int):
    """Call a function and strike at a step, 0 for never; (its result or None, whether it was struck, the steps)."""
    global _steps, _strike_at
    _steps, _strike_at = 0, at
    try:
        _watch(True)
        result = function(**arguments)
        _watch(False)
        return result, False, _steps
    except KeyboardInterrupt:
        return None, True, _steps
    finally:
        _watch(False)
        _strike_at = 0


if sys.implementation.name == "micropython":

    class _File:
        """A file that counts what is done with it."""

        def __init__(self, file):
            self._file = file

        def __getattr__(self, name):
            return _counted(getattr(self._file, name))

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self.close()

    class _Os:
        """The module os, with its functions counted."""

        def __init__(self, module):
            self._module = module

        def __getattr__(self, name):
            return _counted(getattr(self._module, name))

    def _counted(function):
        def call(*arguments):
            _step()
            result = function(*arguments)
            _step()
            return result

        return call

    def _open(*arguments):
        _step()
        file = _real_open(*arguments)
        try:
            _step()
        except KeyboardInterrupt:
            # The collector closes what nobody holds; but it cannot call a device that is written in Python.
            file.close()
            raise
        return _File(file)

    _real_open = open

    def install() -> None:
        """Count the file operations of all modules of the firmware."""
        import builtins
        import os

        builtins.open = _open
        counting = _Os(os)
        for name in list(sys.modules):
            module = sys.modules[name]
            if name.startswith("engram") and getattr(module, "os", None) is os:
                module.os = counting

    def _watch(yes: bool) -> None:
        pass

else:

    def install() -> None:
        """Nothing is to be prepared."""

    def _watch(yes: bool) -> None:
        sys.settrace(_trace if yes else None)

    def _trace(frame, event, argument):
        if "engram" not in frame.f_code.co_filename:
            return None
        if event == "line":
            _step()
        return _trace
