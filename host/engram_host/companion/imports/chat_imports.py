"""Imports that the owner asks for in a chat: a file is previewed when it comes, and begun by /import."""

import asyncio

from engram_host.companion.errors import CompanionError, StoreUnavailable
from engram_host.companion.imports.files import OUTCOMES, ImportStatus
from engram_host.companion.imports.service import MOST_BYTES, ImportService
from engram_host.wording import counted

LOOK_SECONDS = 1.0
_PROBLEMS_SHOWN = 20


class ChatImports:
    """Imports into boards, as chats ask for them; sentences are for the chat."""

    most_bytes = MOST_BYTES

    def __init__(self, imports: ImportService):
        self._imports = imports

    async def offer(self, board: str, name: str, data: bytes) -> str:
        """Keep a file, and say how it is imported. Raise StoreUnavailable."""
        try:
            status = await self._imports.preview(board, name, data)
        except StoreUnavailable:
            raise
        except CompanionError as problem:
            return f"{name}: {problem}"
        lines = counted(status.total, "line", "lines")
        return f"{name} is kept for {board} ({lines}): /import {name} brings it in."

    async def begin(self, board: str, name: str) -> str:
        """Begin to import a kept file; return its id, "" if there is none of that name."""
        for each in await self._imports.list_imports(board):
            if each.file == name:
                return (await self._imports.begin(board, each.id)).id
        return ""

    async def report(self, board: str, import_id: str) -> str:
        """Wait until an import has ended, and say what became of its lines."""
        while True:
            status = await self._imports.find(board, import_id)
            if not status.is_open:
                return _report(status)
            await asyncio.sleep(LOOK_SECONDS)

    async def cancel(self, board: str) -> str:
        """Stop a board's import; "" if none runs."""
        for each in await self._imports.list_imports(board):
            if each.is_open:
                await self._imports.cancel(board, each.id)
                return f"The import of {each.file} stops after {counted(each.sent, 'line', 'lines')}; these stay."
        return ""


def _report(status: ImportStatus) -> str:
    counts = ", ".join(f"{status.counts[each]} {each}" for each in OUTCOMES if each in status.counts)
    problems = [f"line {each.line}: {each.why}" for each in status.problems]
    more = len(problems) - _PROBLEMS_SHOWN
    return "\n".join(
        [
            f"{status.file}: {counts or 'nothing new'}" + (" (cancelled)" if status.state == "cancelled" else ""),
            *problems[:_PROBLEMS_SHOWN],
            *([f"more problems: {more}"] if more > 0 else []),
            *status.notes,
            *([status.told] if status.told else []),
        ]
    )
