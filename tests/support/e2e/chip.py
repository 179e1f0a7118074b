"""A conversation on the chip's sizes: the 32-bit build, the firmware as .mpy files, a littlefs, and a small heap.

chip.py       the smallest heap in which it passes, and the heap in use
"""

import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.extend(
    str(Path(__file__).resolve().parents[3] / name) for name in ("host", "tools/setup", "tools/build", "tests/support")
)

import firmware_build
import get_micropython
from driving import Ended, Home, say
from engram_host.fake_llm import serving

MICROPYTHON = get_micropython.HOME / "32"
FLASH_BYTES = 1 << 20

DATA_KILOBYTES = 128
"""The heap beside the code, which a chip has frozen in its flash; a plain ESP32 has more."""

_CODE = """
import gc, {modules}
gc.collect()
print(gc.mem_alloc() // 1024 + 1)
"""
_NOT_IN_USE = (
    "engram.repl",
    "engram.device",
    "engram.wifi_config",
    "engram.channels.console.json_lines",
    "engram.zone",
)
"""What is called with the app stopped, by boards only, for programs, or for a rule of a time zone."""


@functools.cache
def code_kilobytes() -> int:
    """The heap that the firmware's code takes when it is loaded from .mpy files."""
    sources = (firmware_build.ROOT / "firmware").rglob("engram/**/*.py")
    names = sorted(
        ".".join(path.relative_to(firmware_build.ROOT / "firmware").with_suffix("").parts) for path in sources
    )
    modules = ", ".join(name.removesuffix(".__init__") for name in names if not name.startswith(_NOT_IN_USE))
    command = [MICROPYTHON, "-X", "heapsize=2m", "-c", _CODE.format(modules=modules)]
    environment = {**os.environ, "MICROPYPATH": f"{firmware_build.FIRMWARE}:.frozen"}
    return int(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)


def board(folder: Path) -> Home:
    """A board in a folder, all in a littlefs."""
    folder.mkdir(exist_ok=True)
    path = f"{firmware_build.SIM}:{firmware_build.FIRMWARE}:.frozen"
    return Home(folder).knowing(
        MICROPYPATH=path, ENGRAM_FLASH=str(folder / "flash.bin"), ENGRAM_FLASH_SIZE=str(FLASH_BYTES)
    )


def run(home: Home, *lines: str, data: int = DATA_KILOBYTES) -> Ended:
    """The firmware itself, without the launcher, in a heap with `data` KB beside the code."""
    heap = f"heapsize={code_kilobytes() + data}k"
    return say(home, *lines, command=(str(MICROPYTHON), "-X", heap, "-m", "main"))


def _call(tool: str, **arguments: object) -> dict[str, object]:
    return {"name": tool, "arguments": arguments}


FACT = "Item {rest} of the household is kept in the cellar on shelf number {rest}, behind the old bicycles"

RULES = [
    {
        "when": {"contains": "store ", "result": False},
        "reply": "One moment.",
        "calls": [_call("memory_store", content=FACT, tags=["household", "cellar"], keywords=["shelf"])],
    },
    {"when": {"contains": "search", "result": False}, "calls": [_call("memory_search", query="cellar shelf")]},
    {"when": {"contains": "list", "result": False}, "calls": [_call("memory_list"), _call("memory_list", what="tags")]},
    {
        "when": {"contains": "profile", "result": False},
        "calls": [_call("profile_edit", file="user.md", action="append", text="Likes things in order.")],
    },
    {"when": {"contains": "forget", "result": False}, "calls": [_call("memory_forget", id="m1", turns=True)]},
    {"when": {"result": True}, "reply": "Done. " + "This is a longer answer, as models like to give them. " * 12},
    {"reply": "Yes. " + "This is a longer answer, as models like to give them. " * 12},
]

CONVERSATION = (
    "hello, how are you?",
    *(f"please store {number}" for number in range(1, 16)),
    "search for it " + "in every place " * 40,
    "list what you have",
    "change my profile",
    "/recall cellar",
    "/session new",
    "what do you know about the cellar and its shelves? " * 5,
    "forget the first",
    "/memory",
    "/undo",
    "/compact",
    "thank you",
    "/stats",
)
ANSWERS = 22


def passes(folder: Path, api: str, data: int = DATA_KILOBYTES) -> Ended:
    """Hold the conversation; AssertionError if an answer is missing."""
    home = board(folder)
    with serving(RULES) as server:
        ended = run(home.asking(server.url, api), *CONVERSATION, data=data)
    story = f"with {data} KB beside the code: {ended.printed[-3000:]}{ended.problems[-1000:]}"
    assert ended.status == 0 and "MemoryError" not in ended.printed + ended.problems, story
    assert ended.printed.count("This is a longer answer") == 12 * ANSWERS, story
    assert ended.printed.count("· remembered m") == 15, story
    again = run(board(folder), "/recall shelf number 7", "/stats", data=data)
    assert "shelf number 7" in again.printed and again.status == 0, again
    return ended


def main() -> None:
    """Tell the smallest heap, in steps of 4 KB, and what /stats tells of the heap in the largest."""
    firmware_build.compile_all()
    sys.stdout.write(f"the code takes {code_kilobytes()} KB\n")
    for api in ("openai", "anthropic"):
        smallest = 0
        for data in range(DATA_KILOBYTES, 0, -4):
            try:
                with tempfile.TemporaryDirectory() as folder:
                    ended = passes(Path(folder) / "home", api, data)
            except AssertionError:
                break
            if not smallest:
                heap = next(line for line in ended.printed.splitlines() if line.startswith("heap"))
                sys.stdout.write(f"{api}: with {data} KB for data, after the conversation: {heap}\n")
            smallest = data
        sys.stdout.write(f"{api}: {smallest} KB for data are enough, {code_kilobytes() + smallest} KB with the code\n")


if __name__ == "__main__":
    main()
