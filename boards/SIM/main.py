"""The board's main.py where the board is this computer: MicroPython's unix port in a folder of the host.

Takes from the environment: ENGRAM_HOME (the folder), ENGRAM_FLASH (a file to use as flash in its place, with a
littlefs of ENGRAM_FLASH_SIZE bytes), ENGRAM_LLM_URL, _KEY, _MODEL and _API, ENGRAM_COMPANION_URL, ENGRAM_TELEGRAM_URL
and _TOKEN, and ENGRAM_SETTINGS (JSON of settings by dotted name). From the launcher: ENGRAM_TERMINAL (not empty: a
person types), ENGRAM_PROMPT (not empty: Ctrl-C opens the MicroPython prompt), ENGRAM_STOP (a file: that there is
something to read lets the board end) and ENGRAM_TIMEZONE (the computer's time zone, for a board whose settings have
none).
"""

import asyncio
import os
import sys

from engram import files, text
from engram.app import App
from engram.errors import ConfigError, EngramError

_FLASH_BYTES = "2097152"
_SETTINGS_BYTES = 8192

_FROM_ENVIRONMENT = (
    ("ENGRAM_LLM_URL", "llm.url"),
    ("ENGRAM_LLM_KEY", "llm.key"),
    ("ENGRAM_LLM_MODEL", "llm.model"),
    ("ENGRAM_LLM_API", "llm.api"),
    ("ENGRAM_COMPANION_URL", "companion.url"),
    ("ENGRAM_TELEGRAM_URL", "telegram.url"),
    ("ENGRAM_TELEGRAM_TOKEN", "telegram.token"),
)


def _folder() -> str:
    flash_file = os.getenv("ENGRAM_FLASH")
    if not flash_file:
        return os.getenv("ENGRAM_HOME")
    import flash

    flash.mount(flash_file, int(os.getenv("ENGRAM_FLASH_SIZE") or _FLASH_BYTES), "/flash")
    return "/flash"


def _overrides(folder: str) -> dict:
    is_terminal = bool(os.getenv("ENGRAM_TERMINAL"))
    overrides = {"console.echo": is_terminal, "console.prompt": is_terminal}
    try:
        overrides.update(text.loads(os.getenv("ENGRAM_SETTINGS") or "{}"))
    except (TypeError, ValueError):
        raise ConfigError("ENGRAM_SETTINGS", 'must be a JSON object such as {"llm.retries": 1}.') from None
    for variable, name in _FROM_ENVIRONMENT:
        if os.getenv(variable):
            overrides[name] = os.getenv(variable)
    if "llm.url" in overrides:
        # The key in secrets.json belongs to the service in config.json: no other one may see it.
        overrides.setdefault("llm.key", "")
    if "telegram.url" in overrides:
        overrides.setdefault("telegram.token", "")  # likewise
    if os.getenv("ENGRAM_TIMEZONE") and not _has_timezone(folder):
        overrides.setdefault("timezone", os.getenv("ENGRAM_TIMEZONE"))
    return overrides


def _has_timezone(folder: str) -> bool:
    try:
        return "timezone" in text.loads(files.read(folder + "/config.json", _SETTINGS_BYTES) or "{}")
    except (TypeError, ValueError, EngramError):
        return True  # App tells what is wrong with the file


async def _console() -> None:
    """The console, until its input ends or the launcher lets the board end: an answer under way is kept as it is."""
    talk = asyncio.create_task(app.console())
    watch = asyncio.create_task(_end(talk)) if os.getenv("ENGRAM_STOP") else None
    _let_keys_interrupt(False)
    try:
        await talk
    except asyncio.CancelledError:
        sys.stdout.write("\n")
    finally:
        _let_keys_interrupt(True)
        if watch:
            watch.cancel()


async def _end(talk) -> None:
    with open(os.getenv("ENGRAM_STOP"), "rb") as file:
        await asyncio.StreamReader(file).read(1)
    talk.cancel()


def _let_keys_interrupt(yes: bool) -> None:
    """Let the terminal make a signal of Ctrl-C: good at the prompt, but it breaks into MicroPython anywhere, such as in
    the middle of a garbage collection, which locks the heap for ever. The console takes it as a key instead.
    """
    if os.getenv("ENGRAM_PROMPT"):
        os.system("stty isig" if yes else "stty -isig")


def _start() -> tuple:
    """(the folder, the app); the end of the program, with a sentence, if there can be none."""
    folder = os.getenv("ENGRAM_FLASH") or os.getenv("ENGRAM_HOME") or ""
    try:
        folder = _folder()
        return folder, App(folder, _overrides(folder))
    except OSError as error:
        problem = files.failure(error, folder)
    except ValueError:
        problem = "ENGRAM_FLASH_SIZE must be a number of bytes."
    except EngramError as error:
        problem = error
    print("Engram did not start:", problem, file=sys.stderr)
    sys.exit(2)


folder, app = _start()  # both are at hand at the prompt, too: inspect.show(folder)
app.load_own_code()
app.add_channel("console", _console)
try:
    app.run()
except OSError:
    # Nobody reads any more what it prints: the terminal, or the end of the pipe, has gone.
    sys.exit(1)
