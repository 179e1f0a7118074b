"""The end-to-end tests on a board with little heap, if the environment has E2E_BOARD: BUILD:KILOBYTES, as in frozen:100.

BUILD is one of those of tools/benchmarks/heap_builds.py. Run as a program this is the launcher with such a board under it:

    small.py KILOBYTES PROGRAM PATH [MODULE ...]
"""

import os
import sys
from pathlib import Path

_VARIABLE = "E2E_BOARD"


def launcher(usual: tuple[str, ...]) -> tuple[str, ...]:
    """The command line of the launcher: the usual one, or the one with the board of the environment."""
    if not os.environ.get(_VARIABLE):
        return usual
    name, _, kilobytes = os.environ[_VARIABLE].partition(":")
    return on_small_board(name, kilobytes)


def on_small_board(name: str, kilobytes: str) -> tuple[str, ...]:
    """The command line of the launcher with a board of a build, in a heap of so many KB."""
    import heap_builds

    build = heap_builds.BUILDS[name]()
    return (sys.executable, str(Path(__file__)), kilobytes, str(build.program), build.path, *build.start)


def main(kilobytes: str, program: str, path: str, *start: str) -> int:
    """The launcher; its status."""
    from engram_host.simulator import __main__, board

    words = [*start, "main"]
    # At the prompt the app is at hand by its name.
    with_prompt = f"import sys; sys.argv[:] = {words!r}; import {words[0]}; from main import *"

    def command(*, interactive: bool = False) -> list[str]:
        how = ["-i", "-c", with_prompt] if interactive else ["-m", *words]
        return [program, "-X", f"heapsize={kilobytes}k", *how]

    board.command = command
    board.SEARCH_PATH = path
    return __main__.main()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
