"""`make chat`: talk with the agent of a board on a serial port."""

import sys
import unicodedata

from engram_host.boards.json_lines import JsonConsole, open_console

PROMPT = "> "

_HARMLESS = "\n\t"


def chat(port: str) -> None:
    """Talk until the input ends. BoardError."""
    try:
        with open_console(port, _tell) as board:
            _talk(board)
    except KeyboardInterrupt:
        _show("\n")
        raise


def _tell(sentence: str) -> None:
    sys.stderr.write(sentence + "\n")


def _talk(board: JsonConsole) -> None:
    while True:
        try:
            message = input(PROMPT if sys.stdin.isatty() else "").strip()
        except EOFError:
            return
        if message:
            _ask(board, message)


def _ask(board: JsonConsole, message: str) -> None:
    is_command = message.startswith("/")
    open_line = False
    request = {"command": message} if is_command else {"say": message}
    try:
        for answer in board.ask(**request):
            _tell_asides(board)
            for kind, mark in (("text", None), ("line", ""), ("notice", "· "), ("error", "! ")):
                if kind not in answer:
                    continue
                if mark is None:
                    _show(answer[kind])
                    open_line = not answer[kind].endswith("\n")
                else:
                    _show(("\n" if open_line else "") + mark + answer[kind] + ("" if answer.get("more") else "\n"))
                    open_line = False
    except KeyboardInterrupt:
        # The board goes on with its answer, and keeps it; what still comes of it is passed over.
        _show("\n(not waiting for the rest of this answer)\n")
        return
    if open_line:
        _show("\n")


def _tell_asides(board: JsonConsole) -> None:
    while board.asides:
        _show(board.asides.pop(0) + "\n")


def _show(text: str) -> None:
    """Print text in which nothing steers the terminal."""
    sys.stdout.write("".join(letter if _is_harmless(letter) else "\ufffd" for letter in text))
    sys.stdout.flush()


def _is_harmless(letter: str) -> bool:
    if letter in _HARMLESS:
        return True
    code = ord(letter)
    return unicodedata.category(letter) != "Cc" and not (0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069)
