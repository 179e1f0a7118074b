"""The companion of archive_companion.py as its peers see it: it begins anew, on the same database, whenever it was killed."""

import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from board_program import KILLED

_ROOT = Path(__file__).resolve().parents[3]
_PROGRAM = Path(__file__).with_name("archive_companion.py")


class CompanionProcess:
    """Answers lines; `kills` counts how often it was killed."""

    def __init__(self) -> None:
        self.kills = 0
        self._database = ""
        self._process = self._begin()

    def _begin(self) -> subprocess.Popen[str]:
        folders = (_ROOT / name for name in ("host", "firmware", "tests/support/companion"))
        variables = {**os.environ, "PYTHONPATH": ":".join(map(str, folders))}
        command = [sys.executable, str(_PROGRAM)]
        return subprocess.Popen(command, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def open(self, database: Path, when: str = "before", commit: int = 0) -> None:
        """Begin with a database; be killed before or after that commit of it, 0: never."""
        self._database = str(database)
        self.ask(f"open {database} {when} {commit}")

    def ask(self, line: str) -> str:
        """What it answers, "" if it was killed before it did: then it has begun again."""
        answer = self._say(line)
        if not answer:
            self._say(f"open {self._database} before 0")
        return answer.rstrip("\n")

    def _say(self, line: str) -> str:
        process = self._process
        assert process.stdin and process.stdout
        process.stdin.write(line + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        if not answer:
            status = process.wait()
            self._close()
            self._process = self._begin()
            assert status == KILLED, status
            self.kills += 1
        return answer

    def _close(self) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        self._process.wait(20)
