"""Runs the tests of one module on any Python, one line a test: `PASS name`, or `FAIL name` and the traceback.

    runner.py MODULE ROOT STORAGE [whole]

STORAGE is `host` (tests work in the host's folder ROOT), `littlefs` (on a littlefs in the file ROOT/flash.bin), or `chip`
(likewise, and time, floats, os, sys and sockets are as on a chip: see fakes/chip.py). On CPython links always run over the
chip's sockets, as it has none that are like MicroPython's, and tasks in a loop without pauses (fakes/loop.py).
With `whole`, tests try all that they can (see support.rounds).
"""

import asyncio
import gc
import sys

import support

FLASH_BYTES = 1 << 20
_READ_BYTES = 512
"""Of the flash at once, without `whole`: each read goes through Python, and a chip's 32 bytes take a third of the time."""


def run(module) -> None:
    """Call each test of `module`, in the order of their names."""
    for name in sorted(dir(module)):
        if not name.startswith("test_"):
            continue
        gc.collect()
        if "fakes.chip_socket" in sys.modules:
            sys.modules[
                "fakes.chip_socket"
            ].begin_anew()  # what the last test dropped, a collection would close on a chip
        try:
            result = getattr(module, name)()
            if hasattr(result, "send"):
                _finish(result)
            del result
            _check_awaited()
            print("PASS", name)
        except Exception as error:
            print("FAIL", name)
            _trace(error)
        support.change_back()


def _check_awaited() -> None:
    """AssertionError if a coroutine was left unawaited: CPython knows."""
    if not support.on_micropython():
        gc.collect()
        found = "; ".join(_unawaited)
        _unawaited.clear()
        assert not found, found


_unawaited = []


def _note_unawaited() -> None:
    import warnings

    def note(message, category, *_more, **_names) -> None:
        if "was never awaited" in str(message):
            _unawaited.append(str(message))

    warnings.simplefilter("always", RuntimeWarning)
    warnings.showwarning = note


def _finish(coroutine) -> None:
    if support.on_micropython():
        asyncio.new_event_loop()
        asyncio.run(coroutine)
        return
    from fakes.loop import PatientLoop

    with asyncio.Runner(loop_factory=PatientLoop) as loop:
        loop.run(coroutine)


def _trace(error) -> None:
    if hasattr(sys, "print_exception"):
        sys.print_exception(error, sys.stdout)  # pyright: ignore[reportAttributeAccessIssue]  # MicroPython has it
    else:
        import traceback

        traceback.print_exception(error, file=sys.stdout)


_WITH_STAND_INS = (
    "test_device_ntp",
    "test_device_watchdog",
    "test_device_wifi",
    "test_pin_intruders",
    "test_pins",
    "test_sense_sampling",
)
"""Modules that put stand-ins for the chip's into the places of others before the firmware is imported."""


def main(name: str, root: str, storage: str, extent: str = "") -> None:
    """Run the tests of the module `name`."""
    if extent == "whole":
        support.try_all()
    if storage == "chip":
        from fakes import chip

        chip.install()
    elif not support.on_micropython():
        _note_unawaited()
        from fakes import links

        links.install()
    if storage != "host":
        import flash

        if extent != "whole":
            flash.OPTIONS["readsize"] = _READ_BYTES
        flash.mount(root + "/flash.bin", FLASH_BYTES, "/flash")
        root = "/flash"
    support.use_root(root)
    # Leaves first: an import within an import takes of the stack.
    __import__("engram.text" if name in _WITH_STAND_INS else "engram.build")
    gc.collect()
    module = __import__(name)
    if hasattr(gc, "freeze"):
        gc.freeze()  # CPython: a collection, of which the firmware asks for many, leaves out what is there before the tests
    run(module)
    print("END")


main(*sys.argv[1:])
