"""The board's main.py where the board is this computer: MicroPython's unix port in a folder of the host.

Takes from the environment: ENGRAM_HOME (the folder), ENGRAM_FLASH (a file to use as flash in its place, with a littlefs
of ENGRAM_FLASH_SIZE bytes), ENGRAM_LLM_URL, _KEY, _MODEL and _API, ENGRAM_TERMINAL (not empty: a person types), and
ENGRAM_SETTINGS (JSON of settings by dotted name).
"""

import json
import os
import sys

_FLASH_BYTES = "2097152"

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

    flash.mount(flash_file, int(os.getenv("ENGRAM_FLASH_SIZE") or _FLASH_BYTES), "/flash")
    return "/flash"


def _overrides() -> dict:
    is_terminal = bool(os.getenv("ENGRAM_TERMINAL"))
    overrides = {"console.echo": is_terminal, "console.prompt": is_terminal}
    try:
        overrides.update(json.loads(os.getenv("ENGRAM_SETTINGS") or "{}"))
    except (TypeError, ValueError):
        raise ConfigError("ENGRAM_SETTINGS", 'must be a JSON object such as {"llm.retries": 1}.')
    for variable, name in _FROM_ENVIRONMENT:
        if os.getenv(variable):
            overrides[name] = os.getenv(variable)
    return overrides


try:
    from engram.app import App
    from engram.errors import ConfigError, EngramError

    folder = _folder()
    try:
        app = App(folder, _overrides())
    except EngramError as error:
        print("Engram did not start:", error, file=sys.stderr)
        sys.exit(2)
    app.run()
except KeyboardInterrupt:
    # Ended before it had begun.
    sys.exit(0)
