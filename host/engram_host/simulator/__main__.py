"""`make run`: the firmware in the terminal or on a pipe, optionally with a companion.

Environment: ENGRAM_HOME is the board's folder (~/.engram/sim), ENGRAM_LLM_URL, _KEY, _MODEL and _API
name a model, LLM=script starts a scripted one, COMPANION=1 starts a companion unless one runs,
TELEGRAM=fake replaces Telegram by a chat in the terminal, REPL=1 lets Ctrl-C open the MicroPython prompt.
boards/SIM/main.py reads more.
"""

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from engram_host.companion.lockfile import lock_file
from engram_host.firmware import CLONE
from engram_host.time_zones import computer_zone

from . import board


class Unusable(Exception):
    """The board cannot run in its folder; the text says what to do."""


@dataclass(frozen=True)
class SimulatorOptions:
    home: Path
    llm: str = ""
    """"script" for a scripted model, else a model from the environment."""
    companion: bool = False
    telegram: str = ""
    """"fake" for a stand-in for Telegram; the terminal is then a chat with the bot."""
    prompt: bool = False


def read_environment(environ: Mapping[str, str] = os.environ) -> SimulatorOptions:
    return SimulatorOptions(
        Path(environ.get("ENGRAM_HOME") or "~/.engram/sim").expanduser().absolute(),
        environ.get("LLM") or "",
        bool(environ.get("COMPANION")),
        environ.get("TELEGRAM") or "",
        bool(environ.get("REPL")),
    )


def main() -> int:
    return run_board(read_environment())


def run_board(options: SimulatorOptions) -> int:
    home = options.home
    try:
        with contextlib.ExitStack() as stack:
            waker = stack.enter_context(board.signals())
            stack.enter_context(_locked(home))
            environment = {
                "ENGRAM_HOME": str(home),
                "MICROPYPATH": board.SEARCH_PATH,
                "ENGRAM_TIMEZONE": computer_zone(),
            }
            if options.llm:
                environment |= stack.enter_context(_scripted_model(options.llm))
            if options.companion:
                environment |= stack.enter_context(_companion(home))
            if options.telegram:
                return _chat_over_telegram(options.telegram, environment, waker)
            return _run(stack, environment, waker, has_prompt=options.prompt)
    except (Unusable, board.NoMicroPython) as problem:
        print(problem, file=sys.stderr)
        return 2


def _run(stack: contextlib.ExitStack, environment: dict[str, str], waker: int, *, has_prompt: bool) -> int:
    keys = sys.stdin.fileno()
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    environment["ENGRAM_TERMINAL"] = "1" if is_terminal else ""
    if is_terminal:
        stack.enter_context(board.keys_at_once(keys, with_ctrl_c=not has_prompt))
    if has_prompt:
        return board.run_with_prompt(environment)
    return board.run(environment, keys, waker, is_terminal=is_terminal)


def _chat_over_telegram(name: str, environment: dict[str, str], waker: int) -> int:
    if name != "fake":
        raise Unusable("TELEGRAM takes only fake; telegram.token in secrets.json names a bot of Telegram itself.")
    _find_fakes()
    from engram_host.simulator import telegram  # slow imports, only if needed

    return telegram.chat(environment, waker)


@contextlib.contextmanager
def _locked(home: Path) -> Iterator[None]:
    try:
        # Other users of this computer must not read a person's conversations.
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        _provide_roots(home / "roots.pem")
        lock = lock_file(home / "lock")
    except BlockingIOError:
        message = (
            f"a board runs in {home} already; end it, or set ENGRAM_HOME (--home of `engram run`) to another folder."
        )
        raise Unusable(message) from None
    except OSError as error:
        place = error.filename or home
        raise Unusable(
            f"{place}: {error.strerror}; set ENGRAM_HOME (--home of `engram run`) to a folder that you may write to."
        ) from None
    with lock:
        yield


def _provide_roots(path: Path) -> None:
    if not path.exists():
        from engram_host import root_certificates  # slow imports, only if needed

        root_certificates.write_root_bundle(path)


@contextlib.contextmanager
def _companion(home: Path) -> Iterator[dict[str, str]]:
    from engram_host.simulator import companion  # rarely needed

    try:
        with companion.companion_of(home) as found:
            print(found.sentence(), flush=True)
            yield {"ENGRAM_COMPANION_URL": found.board_url}
    except companion.CompanionNotStarted as problem:
        raise Unusable(str(problem)) from None


def _find_fakes() -> None:
    if CLONE is None:
        raise Unusable("LLM=script and TELEGRAM=fake need a clone of Engram; ENGRAM_LLM_URL names a model.")
    sys.path.append(str(CLONE / "tests" / "support" / "servers"))


@contextlib.contextmanager
def _scripted_model(name: str) -> Iterator[dict[str, str]]:
    if name != "script":
        raise Unusable("LLM takes only script; ENGRAM_LLM_URL and ENGRAM_LLM_MODEL name a model.")
    _find_fakes()
    from fake_llm import load, serving

    with serving(load("demo.json")) as server:
        if sys.stdout.isatty():
            print(
                "A script stands in for the model. Try: my name is Ann / remember that ... / what is my name?",
                flush=True,
            )
        yield {
            "ENGRAM_LLM_URL": f"{server.url}/v1",
            "ENGRAM_LLM_MODEL": "script",
            "ENGRAM_LLM_API": "openai",
            "ENGRAM_LLM_KEY": "",
        }


if __name__ == "__main__":
    sys.exit(main())
