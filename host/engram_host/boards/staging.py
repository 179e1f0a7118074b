"""New files for a board that take effect all at once: a redo log, which boot.py plays.

    /next/PATH      a new file, which is to go to /PATH
    /next/READY     when all are there: a line "+ PATH" for each, "- PATH" for each file that is to go

Up to READY the board is as it was, whenever it is cut off; from then on every start ends with all of it done.
"""

from pathlib import PurePosixPath

from engram_host.boards.errors import BoardFailed, kilobytes
from engram_host.boards.file_set import Files
from engram_host.boards.firmware_paths import FIRMWARE
from engram_host.boards.profile import BLOCK
from engram_host.boards.progress import Meter, Progress, Tally
from engram_host.boards.session import BoardFile, Count, Session

NEXT = "next"
READY = "next/READY"

_SPARE = 16 * BLOCK
"""Room that is left: a rename needs some, and so does what the board writes meanwhile."""


def install(session: Session, files: Files, removals: list[str], progress: Progress) -> None:
    """Put files on the board and take others off, all or nothing. BoardFailed if its flash has no room for both.

    What an earlier attempt has sent of the same files is not sent again.
    """
    _send(session, files, progress)
    lines = [f"+ {path}" for path in files] + [f"- {path}" for path in removals]
    session.replace(READY, "".join(f"{line}\n" for line in lines).encode())
    progress.step("Putting it in place")
    session.restart()
    if READY in session.tree(NEXT):
        # The board's own boot.py is not Engram's, or could not go on: the new one is tried.
        session.boot((FIRMWARE / "boot.py").read_text(encoding="utf-8"))
        session.restart()
    _verify(session, files, removals, Tally(progress, "Comparing what is there now"))


def room_for(files: Files) -> int:
    """Bytes of flash that files need: whole blocks, and some for their folders."""
    return sum((len(content) + BLOCK - 1) // BLOCK * BLOCK for content in files.values()) + _SPARE


def missing_files(files: Files, present: dict[str, BoardFile]) -> Files:
    """Those of `files` that are not on the board as they are here."""
    from hashlib import sha256

    return {
        path: content
        for path, content in files.items()
        if path not in present or present[path].sha256 != sha256(content).hexdigest()
    }


def _send(session: Session, files: Files, progress: Progress) -> None:
    staged = {f"{NEXT}/{path}": content for path, content in files.items()}
    present = session.tree(NEXT, Tally(progress, "Looking what was sent before"))
    _drop_others(session, present, staged, Tally(progress, "Removing what is not needed"))
    unsent = missing_files(staged, present)
    free, needed = session.free_flash(), room_for(unsent)
    if free < needed:
        raise BoardFailed(
            f"the board's flash has {kilobytes(free)} free, and {kilobytes(needed)} are needed: forget something and"
            " /compact on it; or save it (`make backup`), flash it anew and put the memory back (`make restore`)."
        )
    meter = Meter(progress, f"Sending {len(unsent)} files", sum(len(content) for content in unsent.values()))
    for path, content in unsent.items():
        session.put(path, content, meter)


def _drop_others(session: Session, present: dict[str, BoardFile], staged: Files, count: Count) -> None:
    """Take out of /next what an attempt left that was about other files."""
    kept = {str(parent) for path in staged for parent in PurePosixPath(path).parents} | set(staged)
    dropped: list[str] = []
    for path in present:
        if path not in kept and not any(path.startswith(f"{folder}/") for folder in dropped):
            session.drop(path, count)
            dropped.append(path)


def _verify(session: Session, files: Files, removals: list[str], count: Count) -> None:
    present = session.around([*files, *removals], count)
    wrong = list(missing_files(files, present)) + [path for path in removals if path in present]
    if wrong or NEXT in present:
        raise BoardFailed(
            f"{(wrong or [NEXT])[0]} is not as it should be after the restart: look at `make monitor`, then try again."
        )
