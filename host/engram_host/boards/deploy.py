"""Updates the code on a board atomically; memory and settings stay.

    /next/PATH      a new file for /PATH
    /next/READY     written last: a line "+ PATH" for each new file, "- PATH" for each removal

A cut before READY changes nothing; after it every start completes the update.
"""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from engram_host.boards import file_set, micropython_image, profile
from engram_host.boards.errors import BadRequest, BoardFailed, WrongBoard, WrongFirmware, command_name, option_name
from engram_host.boards.file_set import CODE_JSON, Files
from engram_host.boards.profile import BLOCK, CHIPS, BoardProfile
from engram_host.boards.progress import Meter, Progress
from engram_host.boards.session import BoardFile, BoardSession, Count, open_session
from engram_host.firmware import FIRMWARE
from engram_host.wording import counted, kilobytes

NEXT = "next"
READY = "next/READY"

_SPARE = 16 * BLOCK


def install_files(session: BoardSession, files: Files, progress: Progress, removals: Sequence[str] = ()) -> None:
    """Install and remove files, all or nothing; raises BoardFailed if the flash is too full."""
    _send(session, files, progress)
    lines = [f"+ {path}" for path in files] + [f"- {path}" for path in removals]
    session.replace(READY, "".join(f"{line}\n" for line in lines).encode())
    progress.step("Putting it in place")
    session.restart()
    if READY in session.list_tree(NEXT):
        # The boot.py on the board is not Engram's, or failed: try the new one.
        session.boot((FIRMWARE / "boot.py").read_text(encoding="utf-8"))
        session.restart()
    _verify(session, files, removals, Meter(progress, "Comparing what is there now"))


def room_for(files: Files) -> int:
    return sum((len(content) + BLOCK - 1) // BLOCK * BLOCK for content in files.values()) + _SPARE


def missing_files(files: Files, present: dict[str, BoardFile]) -> Files:
    return {
        path: content
        for path, content in files.items()
        if path not in present or present[path].sha256 != sha256(content).hexdigest()
    }


def _send(session: BoardSession, files: Files, progress: Progress) -> None:
    staged = {f"{NEXT}/{path}": content for path, content in files.items()}
    present = session.list_tree(NEXT, Meter(progress, "Looking what was sent before"))
    if any(not entry.is_folder and path not in staged for path, entry in present.items()):
        session.remove_tree(NEXT, Meter(progress, "Removing what is not needed"))
        present = {}
    unsent = missing_files(staged, present)
    free, needed = session.free_flash(), room_for(unsent)
    if free < needed:
        raise BoardFailed(
            f"the board's flash has {kilobytes(free)} free and needs {kilobytes(needed)}: forget something and"
            " /compact on the board, or save a backup and flash it, then do the same again."
        )
    sending = f"Sending {counted(len(unsent), 'file', 'files')}"
    meter = Meter(progress, sending, sum(len(content) for content in unsent.values()))
    for path, content in unsent.items():
        session.put_file(path, content, meter)


def _verify(session: BoardSession, files: Files, removals: Sequence[str], count: Count) -> None:
    present = session.list_around([*files, *removals], count)
    wrong = list(missing_files(files, present)) + [path for path in removals if path in present]
    if wrong or NEXT in present:
        raise BoardFailed(
            f"{(wrong or [NEXT])[0]} is wrong after the restart: see what {command_name('monitor')} shows, then try again."
        )


# --- deploy


def deploy(named_port: str, board: str, config: Path | None, progress: Progress) -> None:
    """Send changed files; settings of `config` are merged into those on the board."""
    given = profile.read_settings(config) if config else {}
    if board:
        profile.load_profile(board)
    with open_session(named_port, progress) as session:
        _check_runtime(session)
        present = session.list_around(["engram/", "profile/"], Meter(progress, "Comparing"))
        wanted = profile.load_profile(board or _board_on(session, present))
        _check_chip(session, wanted)
        files = _changes(session, present, wanted, given)
        if not files:
            progress.say("The board has this code already; nothing was sent.")
            return
        install_files(session, files, progress)
    size = sum(len(content) for content in files.values())
    sent = counted(len(files), "file", "files")
    progress.say(f"Deployed: {sent} ({kilobytes(size)}) sent. The board restarts.")


def _check_runtime(session: BoardSession) -> None:
    about = session.read_info()
    if about.version[:2] < micropython_image.OLDEST:
        told = f"runs MicroPython {_dotted(about.version)}, and Engram needs {_dotted(micropython_image.OLDEST)}"
    elif about.mpy != file_set.MPY_VERSION:
        told = f"takes .mpy files of version {_dotted(about.mpy)}, and these are {_dotted(file_set.MPY_VERSION)}"
    else:
        return
    raise WrongFirmware(
        f"the board {told}: save it with {command_name('backup')}, then see docs/start/boards.md for its MicroPython."
    )


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(str(number) for number in version)


def _check_chip(session: BoardSession, wanted: BoardProfile) -> None:
    chip = session.read_info().chip
    if chip in CHIPS and chip != wanted.chip:
        raise WrongBoard(f"the board has an {chip}, and {wanted.name} an {wanted.chip}: name another BOARD.")


def _board_on(session: BoardSession, present: dict[str, BoardFile]) -> str:
    if CODE_JSON not in present:
        if "main.py" in present:
            raise WrongBoard(
                f"the board has a main.py that is not Engram's: give {option_name('BOARD')} to replace it with Engram."
            )
        raise BadRequest(
            f"the board has no Engram yet: name its kind, {option_name('BOARD', ' or '.join(profile.profile_names()))}."
        )
    name = file_set.parse_code_json(session.get_file(CODE_JSON)).get("board")
    if name not in profile.profile_names():
        raise WrongBoard(f"the board's code.json does not name the kind of board: give {option_name('BOARD')}.")
    return str(name)


def _changes(
    session: BoardSession, present: dict[str, BoardFile], wanted: BoardProfile, given: profile.Settings
) -> Files:
    files = missing_files(file_set.code_files(wanted), present)
    seeds = file_set.seed_files(wanted, given)
    files |= {path: content for path, content in seeds.items() if path not in present}
    if given and "config.json" in present:
        old = profile.parse_settings(
            session.get_file("config.json").decode("utf-8", "replace"), "the board's config.json"
        )
        files |= missing_files({"config.json": profile.config_json(old, given)}, present)
    return files
