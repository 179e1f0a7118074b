"""Runs beside archive_board.py: the companion's own store and answers, in a process that can be killed at any commit.

Takes lines from stdin and answers each with one of stdout:

    open DATABASE WHEN COMMIT    begin with a database; be killed `before` or `after` that commit from now on, 0: never
    said MESSAGE                 what the board says, in hex: the answers in hex, with blanks between them
    archived                     [[number, content], ...] of what is archived
    states                       [[content, state], ...] of the copy's records that are not superseded
    turns                        [the first two words of each turn of the copy's journal, ...]
    copy FILE                    keep a copy of the database there
    save, put back               keep a copy of the database; put it in the place of the present one
    commits                      how many there were since `open`
"""

import asyncio
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from companion_store import embedding_of, replication_of, search_of
from engram import log_line
from engram_host.companion.conversations.service import ConversationService
from engram_host.companion.entries.reader import LogCopy
from engram_host.companion.replication.protocol import MessageDispatcher
from engram_host.companion.settings import ChatSettings, SearchSettings
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.database import Result
from engram_host.companion.store.recovery import save_backup
from engram_host.companion.store.rows import Rows
from engram_host.companion.store.sqlite import SqliteDatabase
from engram_host.companion.supervisor import Supervisor
from engram_host.companion.types import SeqRange

NOW = 1790000000
DEVICE = "board"
_MOST_LISTED = 1000
_SAVED = ".saved"


class KilledDatabase(SqliteDatabase):
    """A database whose process is killed before or after one of its commits."""

    def __init__(self, database: str, last: tuple[str, int], commits: int):
        super().__init__(database)
        self.commits = commits
        self._last = last

    def write(self, work: Callable[[Rows], Result]) -> Result:
        def counted(rows: Rows) -> Result:
            result = work(rows)
            self.commits += 1
            self._may_end("before")
            return result

        result = super().write(counted)
        self._may_end("after")
        return result

    def _may_end(self, when: str) -> None:
        if (when, self.commits) == self._last:
            os.kill(os.getpid(), signal.SIGKILL)


class Companion:
    """What a companion does with messages, whichever way they come."""

    def __init__(self, database: str, last: tuple[str, int], commits: int = 0):
        self.database = database
        self.last = last
        self.file = KilledDatabase(database, last, commits)
        self.store = CompanionStore(self.file)
        self.store.open()
        supervisor = Supervisor()
        searching = search_of(
            self.store,
            SearchSettings(index_megabytes=16),
            embedding_of(self.store, supervisor=supervisor),
            clock=lambda: NOW,
        )
        self.replication = replication_of(self.store, supervisor)
        self.replication.start()
        self.dispatch = MessageDispatcher(
            self.replication,
            searching.answer_board,
            searching.answer_get,
            searching.answer_file,
            ConversationService(
                boards=self.store.boards,
                conversations=self.store.conversations,
                settings=ChatSettings(),
                supervisor=supervisor,
            ).answer_board,
        )

    async def close(self) -> None:
        """Let go of the database."""
        await self.replication.stop()
        self.store.close()

    async def answer(self, word: str, told: str) -> str:
        """The answer to a line other than `open`."""
        match word:
            case "said":
                return " ".join(each.hex() for each in await self.dispatch.answers(DEVICE, bytes.fromhex(told)))
            case "archived":
                held = [log_line.decode(line) for _, line in self.store.boards.archived(DEVICE, 0, _MOST_LISTED)]
                return json.dumps([[int(fields["id"][1:]), fields["content"]] for fields in held])
            case "states":
                copy = LogCopy(self.store.boards, self.store.boards.device(DEVICE), "records", NOW)
                entries = [entry for entry in copy.oldest_first() if entry.state != "superseded"]
                return json.dumps(sorted([entry.line["content"], entry.state] for entry in entries))
            case "turns":
                held = self.store.boards.lines(
                    SeqRange(DEVICE, "journal", self.store.boards.device(DEVICE).logs["journal"].epoch, 0, 1 << 31)
                )
                found = [log_line.decode(line) for _, line in held]
                return json.dumps([" ".join(fields["text"].split(" ", 2)[:2]) for fields in found if "text" in fields])
            case "save" | "copy":
                save_backup(Path(self.database), Path(told or self.database + _SAVED))
                return "saved"
            case "commits":
                return str(self.file.commits)
        raise ValueError(word)


async def _put_back(companion: Companion) -> Companion:
    """The companion with the database as it was saved; it counts on."""
    await companion.close()
    shutil.copyfile(companion.database + _SAVED, companion.database)
    return Companion(companion.database, companion.last, companion.file.commits)


async def main() -> None:
    """Answer until nobody asks any more."""
    companion: Companion | None = None
    for line in sys.stdin:
        word, _, told = line.strip().partition(" ")
        answer = "done"
        if word == "open":
            if companion:
                await companion.close()
            database, when, commit = told.split()
            companion = Companion(database, (when, int(commit)))
        else:
            assert companion
            if word == "put":
                companion = await _put_back(companion)
            else:
                answer = await companion.answer(word, told)
        print(answer, flush=True)


if __name__ == "__main__":
    asyncio.run(main())
