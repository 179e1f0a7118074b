"""Console commands that change memories, on behalf of the memory's person.

An edit is an import of one line with its base version (`was`): a board with another version
changes nothing and reports that.
"""

import json
from dataclasses import dataclass
from typing import Any

from engram.memory import ALL, access
from engram_host.companion.types import Said
from engram_host.transfer.report import IMPORT, import_command

ROOM = "memories"
"""Room of change requests, apart from chats."""

PREFIX = "memory:"


@dataclass(frozen=True)
class MemoryEdit:
    """New values of a memory's fields; None leaves a field unchanged."""

    text: str | None = None
    tags: tuple[str, ...] | None = None
    keywords: tuple[str, ...] | None = None
    type: str | None = None
    importance: float | None = None


def edit_command(origin: str, line: dict[str, Any], was: int, edit: MemoryEdit) -> str:
    """Return the command that edits version `was` of a memory."""
    fields: dict[str, Any] = {"origin": origin, "partial": True, "was": was, "content": line["content"]}
    fields["scope"] = line.get("scope", ALL)
    # The board uses its own clock unless it gets a later time.
    fields["updated"] = line.get("updated", line.get("created", 0))
    wanted = {"content": edit.text, "type": edit.type, "importance": edit.importance}
    wanted |= {"tags": _listed(edit.tags), "keywords": _listed(edit.keywords)}
    return import_command(fields | {name: value for name, value in wanted.items() if value is not None})


def drop_command(origin: str, line: dict[str, Any], was: int) -> str:
    """Return the command that forgets version `was` of a memory but not its source turns."""
    return import_command({"origin": origin, "deleted": True, "was": was, "scope": line.get("scope", ALL)})


def pin_command(entry: str, *, is_pinned: bool) -> str:
    """Return the command that pins or unpins a memory."""
    return f"/{'pin' if is_pinned else 'unpin'} {entry}"


def forget_command(entry: str) -> str:
    """Return the command that forgets a memory with its source turns."""
    return f"/forget {entry}"


def undo_command(entry: str) -> str:
    """Return the command that undoes the board's latest change if it is of this memory."""
    return f"/undo {entry}"


def speak(mid: str, command: str, line: dict[str, Any]) -> Said:
    """Return a command's message on behalf of the memory's person, or of the owner."""
    scope = str(line.get("scope", ALL))
    kind, _, name = scope.partition(":")
    principal = name if kind == "user" and name else access.OWNER.principal
    workspace = name if kind == "ws" else ""
    return Said(mid, principal, command, ROOM, is_group=False, workspace=workspace, is_command=True)


def edited(command: str) -> tuple[str, int]:
    """Return the text and base version of an edit command, or ("", 0) for another one."""
    try:
        fields: Any = json.loads(command.removeprefix(IMPORT))
    except ValueError:
        return "", 0
    if not isinstance(fields, dict):
        return "", 0
    text, was = fields.get("content"), fields.get("was")
    return text if isinstance(text, str) else "", was if isinstance(was, int) else 0


def _listed(values: tuple[str, ...] | None) -> list[str] | None:
    return None if values is None else list(values)
