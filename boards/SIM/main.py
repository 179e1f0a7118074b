"""The board's main.py where the board is this computer: MicroPython's unix port in a folder of the host.

Takes from the environment: ENGRAM_HOME (the folder), ENGRAM_FLASH (a file to use as flash in its place, with a littlefs
of ENGRAM_FLASH_SIZE bytes), ENGRAM_LLM_URL, _KEY, _MODEL and _API, and ENGRAM_SETTINGS (JSON of settings by dotted name).
"""

import json
import os
import sys

from engram.app import App
from engram.errors import EngramError

_FROM_ENVIRONMENT = (
    ("ENGRAM_LLM_URL", "llm.url"),
    ("ENGRAM_LLM_KEY", "llm.key"),
    ("ENGRAM_LLM_MODEL", "llm.model"),
    ("ENGRAM_LLM_API", "llm.api"),
)


def _folder() -> str:
    flash_file = os.getenv("ENGRAM_FLASH")
    if not flash_file:
        return os.getenv("ENGRAM_HOME")
    import flash

    flash.mount(flash_file, int(os.getenv("ENGRAM_FLASH_SIZE") or "2097152"), "/flash")
    return "/flash"


def _overrides() -> dict:
    overrides = json.loads(os.getenv("ENGRAM_SETTINGS") or "{}")
    for variable, name in _FROM_ENVIRONMENT:
        if os.getenv(variable):
            overrides[name] = os.getenv(variable)
    return overrides


try:
    app = App(_folder(), _overrides())
    app.run()
except EngramError as error:
    print("Engram did not start:", error, file=sys.stderr)
    sys.exit(2)
