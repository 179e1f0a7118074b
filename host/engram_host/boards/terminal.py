"""A person's terminal on a board's serial port: `make chat` and `make monitor`."""

import contextlib
import sys
import unicodedata
from types import SimpleNamespace
from typing import Any

from engram_host.boards import port as ports
from engram_host.boards.errors import BadRequest, command_name
from engram_host.boards.json_lines import JsonConsole, open_console
from engram_host.boards.progress import Progress
from engram_host.boards.session import open_transport

PROMPT = "> "

_HARMLESS = "\n\t"


def chat(port: str) -> None:
    """Chat until the input ends; raises BoardError."""
    try:
        with open_console(port, _print_note) as board:
            _talk(board)
    except KeyboardInterrupt:
        _show("\n")
        raise


def run_command(named_port: str, command: str) -> None:
    """Run one command on a board and print its answer; raises BoardError."""
    with open_console(named_port, _print_note) as board:
        _ask(board, command)


def _print_note(sentence: str) -> None:
    sys.stderr.write(sentence + "\n")


def read_line() -> str | None:
    """Return a person's next input, stripped; None at the end."""
    try:
        return input(PROMPT if sys.stdin.isatty() else "").strip()
    except EOFError:
        return None


class AnswerView:
    _MARKS = (("text", None), ("line", ""), ("notice", "· "), ("push", "· "), ("error", "! "))

    def __init__(self) -> None:
        self._is_line_open = False

    def show(self, answer: dict[str, Any]) -> None:
        for kind, mark in self._MARKS:
            if kind in answer:
                end = "" if mark is None or answer.get("more") else "\n"
                start = "" if mark is None else ("\n" if self._is_line_open else "") + mark
                _show(start + answer[kind] + end)
                self._is_line_open = mark is None and not answer[kind].endswith("\n")

    def aside(self, sentence: str) -> None:
        self.end()
        _show(f"({sentence})\n")

    def end(self) -> None:
        if self._is_line_open:
            _show("\n")
        self._is_line_open = False


def _talk(board: JsonConsole) -> None:
    while (message := read_line()) is not None:
        if message:
            _ask(board, message)


def _ask(board: JsonConsole, message: str) -> None:
    view = AnswerView()
    request = {"command": message} if message.startswith("/") else {"say": message}
    try:
        for answer in board.ask(**request):
            _tell_asides(board)
            view.show(answer)
        view.end()
    except KeyboardInterrupt:
        # The board goes on with its answer and saves it; ignore the rest of it.
        _show("\n(not waiting for the rest of this answer)\n")


def _tell_asides(board: JsonConsole) -> None:
    while board.asides:
        _show(board.asides.pop(0) + "\n")


def _show(text: str) -> None:
    sys.stdout.write("".join(letter if _is_harmless(letter) else "\ufffd" for letter in text))
    sys.stdout.flush()


def _is_harmless(letter: str) -> bool:
    if letter in _HARMLESS:
        return True
    code = ord(letter)
    return unicodedata.category(letter) != "Cc" and not (0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069)


# --- monitor


def monitor(named_port: str, progress: Progress) -> None:
    """Pass on keys and output up to Ctrl-]; raises NoPort if the board is unplugged."""
    from mpremote.console import Console
    from mpremote.repl import do_repl_main_loop

    port = ports.choose_port(named_port)
    transport = open_transport(port)
    try:
        if not sys.stdin.isatty():
            raise BadRequest(f"the monitor needs a terminal; {command_name('chat')} reads a pipe, too.")
        progress.say(f"{port}: Ctrl-] ends, Ctrl-C stops the app, Ctrl-D at the prompt starts it again.")
        console = Console()
        console.enter()
        try:
            if do_repl_main_loop(SimpleNamespace(transport=transport), console, console.write, **_AS_IT_COMES):
                raise ports.port_gone(port)
        finally:
            console.exit()
    finally:
        with contextlib.suppress(*ports.LOST):
            transport.close()
    progress.say("")


_AS_IT_COMES = {"escape_non_printable": False, "code_to_inject": None, "file_to_inject": None}
