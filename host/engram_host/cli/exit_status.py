"""Errors of commands, and the exit status that a script sees.

  0  fine
  1  it failed: what was asked for could not be done, or `doctor` found something wrong
  2  wrong usage, or a wrong setting
  3  something that the command needs is not installed
  4  not found: a board, a memory, a file, a port
130  interrupted by Ctrl-C
"""

from engram_host import extras

FINE, FAILED, WRONG_USAGE, NOT_INSTALLED, NOT_FOUND, INTERRUPTED = 0, 1, 2, 3, 4, 130


class CommandError(Exception):
    """Base of the errors of commands; the text is one sentence that says what to do."""

    status = FAILED


class WrongUsage(CommandError):
    status = WRONG_USAGE


class NotInstalled(CommandError):
    status = NOT_INSTALLED


class CommandInterrupted(CommandError):
    status = INTERRUPTED


class NotFound(CommandError):
    status = NOT_FOUND


class CompanionRefused(CommandError):
    """The companion refused a request."""


def status_and_sentence(error: BaseException) -> tuple[int, str] | None:
    """Return the exit status and the sentence of an expected error, None for any other."""
    if isinstance(error, CommandError):
        return error.status, str(error)
    if isinstance(error, (KeyboardInterrupt, EOFError)):
        return INTERRUPTED, "interrupted."
    if isinstance(error, ModuleNotFoundError):
        is_own = (error.name or "").partition(".")[0] in ("engram", "engram_host")
        return None if is_own else (NOT_INSTALLED, extras.missing_package(error.name))
    return _of_companion(error) or _of_board(error) or _of_files(error)


def _of_companion(error: BaseException) -> tuple[int, str] | None:
    from engram_host.companion import errors

    if not isinstance(error, errors.CompanionError):
        return None
    if isinstance(error, (errors.SettingError, errors.BadSearch)):
        return WRONG_USAGE, str(error)
    return (NOT_FOUND if isinstance(error, (errors.UnknownDevice, errors.UnknownEntry)) else FAILED), str(error)


def _of_board(error: BaseException) -> tuple[int, str] | None:
    from engram_host.boards.errors import BadRequest, BoardError, NoFile, NoPort

    if not isinstance(error, BoardError):
        return None
    if isinstance(error, (NoPort, NoFile)):
        return NOT_FOUND, str(error)
    return (WRONG_USAGE if isinstance(error, BadRequest) else FAILED), str(error)


def _of_files(error: BaseException) -> tuple[int, str] | None:
    if not isinstance(error, OSError) or isinstance(error, BrokenPipeError):
        return None
    status = NOT_FOUND if isinstance(error, FileNotFoundError) else FAILED
    return status, f"{error.filename or 'a file'}: {error.strerror or error}."
