"""Brings the code on a board up to date; memory, journal, profile, settings and secrets stay as they are."""

from pathlib import Path

from engram_host.boards import file_set, heap, profile, settings, staging
from engram_host.boards.errors import BadRequest, WrongBoard, WrongFirmware, kilobytes
from engram_host.boards.file_set import CODE_JSON, Files
from engram_host.boards.profile import CHIPS, Profile
from engram_host.boards.progress import Progress, Tally
from engram_host.boards.session import BoardFile, Session, open_session

_CODE_FOLDER = "engram/"


def deploy(named_port: str, board: str, config: Path | None, progress: Progress) -> None:
    """Send what changed. Settings of `config` are added to those on the board."""
    given = settings.read_settings(config) if config else {}
    if board:
        profile.load(board)
    progress.step("Stopping the board")
    with open_session(named_port) as session:
        _check_runtime(session)
        present = session.around([_CODE_FOLDER, "profile/"], Tally(progress, "Comparing"))
        wanted = profile.load(board or _board_on(session, present))
        _check_chip(session, wanted)
        if note := heap.heap_note(session.about().free_heap):
            progress.say(note)
        files, removals = _changes(session, present, wanted, given)
        if not files and not removals:
            progress.say("The board has this code already; nothing was sent.")
            return
        staging.install(session, files, removals, progress)
    size = sum(len(content) for content in files.values())
    progress.say(
        f"Deployed: {len(files)} files ({kilobytes(size)}) sent, {len(removals)} removed. The board starts anew."
    )


def _check_runtime(session: Session) -> None:
    about = session.about()
    if about.mpy != file_set.MPY_VERSION:
        found, made = (".".join(str(number) for number in form) for form in (about.mpy, file_set.MPY_VERSION))
        raise WrongFirmware(
            f"the board's MicroPython takes .mpy files of version {found}, and these are {made}: `make flash`."
        )


def _check_chip(session: Session, wanted: Profile) -> None:
    chip = session.about().chip
    if chip in CHIPS and chip != wanted.chip:
        raise WrongBoard(f"the board has an {chip}, and {wanted.name} an {wanted.chip}: name another BOARD.")


def _board_on(session: Session, present: dict[str, BoardFile]) -> str:
    """Which board it is, as its code.json says."""
    if CODE_JSON not in present:
        if "main.py" in present:
            raise WrongBoard("the board has a main.py that is not Engram's: name BOARD=... to put Engram in its place.")
        raise BadRequest(f"the board has no Engram yet: say which it is, BOARD={' or '.join(profile.names())}.")
    name = file_set.parse_code_json(session.get(CODE_JSON)).get("board")
    if name not in profile.names():
        raise WrongBoard("the board's code.json does not tell which board it is: say it (BOARD=...).")
    return str(name)


def _changes(
    session: Session, present: dict[str, BoardFile], wanted: Profile, given: settings.Settings
) -> tuple[Files, list[str]]:
    """The files to send, and what is to go."""
    code = file_set.code(wanted)
    files = staging.missing_files(code, present)
    seeds = file_set.seeds(wanted, given)
    files |= {path: content for path, content in seeds.items() if path not in present}
    if given and "config.json" in present:
        old = settings.parse_settings(session.get("config.json").decode("utf-8", "replace"), "the board's config.json")
        files |= staging.missing_files({"config.json": settings.config_json(old, given)}, present)
    return files, _obsolete(code, present)


def _obsolete(code: Files, present: dict[str, BoardFile]) -> list[str]:
    """Modules that there are no more, and then their folders: an empty one would be taken for a package."""
    folders = {path.rpartition("/")[0] for path in code}
    folders |= {folder[:at] for folder in folders for at in range(len(folder)) if folder[at] == "/"}
    gone = [path for path in present if path.startswith(_CODE_FOLDER) and path not in code and path not in folders]
    return sorted(gone, key=lambda path: (present[path].is_folder, -path.count("/"), path))
