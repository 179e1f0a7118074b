"""Changes of memories as a board takes them: console commands, said for those whose memory it is.

An edit is an import of one line. It names the version that it was made from (`was`): if the board has another one, or none any
more, it changes nothing and says so.
"""

import json
from dataclasses import dataclass
from typing import Any

from engram.memory import ALL, access
from engram_host.companion.types import Said
from engram_host.transfer.report import IMPORT, import_command

ROOM = "memories"
"""The room in which boards are asked to change memories: chats are not filled with it."""

PREFIX = "memory:"
"""How the ids of such messages begin."""


@dataclass(frozen=True)
class MemoryEdit:
    """What a memory is to say; None leaves a field as it is."""

    text: str | None = None
    tags: tuple[str, ...] | None = None
    keywords: tuple[str, ...] | None = None
    type: str | None = None
    importance: float | None = None


def edit_command(origin: str, line: dict[str, Any], was: int, edit: MemoryEdit) -> str:
    """The command that changes the version `was` of a memory."""
    fields: dict[str, Any] = {"origin": origin, "partial": True, "was": was, "content": line["content"]}
    fields["scope"] = line.get("scope", ALL)
    # The board gives a change the time of its own clock, unless it is given a later one.
    fields["updated"] = line.get("updated", line.get("created", 0))
    wanted = {"content": edit.text, "type": edit.type, "importance": edit.importance}
    wanted |= {"tags": _listed(edit.tags), "keywords": _listed(edit.keywords)}
    return import_command(fields | {name: value for name, value in wanted.items() if value is not None})


def drop_command(origin: str, line: dict[str, Any], was: int) -> str:
    """The command that forgets the version `was` of a memory, and none of the turns that it came from."""
    return import_command({"origin": origin, "deleted": True, "was": was, "scope": line.get("scope", ALL)})


def pin_command(entry: str, *, is_pinned: bool) -> str:
    """The command that protects a memory from eviction, or ends that."""
    return f"/{'pin' if is_pinned else 'unpin'} {entry}"


def forget_command(entry: str) -> str:
    """The command that forgets a memory with the turns that it came from."""
    return f"/forget {entry}"


def undo_command(entry: str) -> str:
    """The command that undoes the board's latest change, if it is of this memory."""
    return f"/undo {entry}"


def speak(mid: str, command: str, line: dict[str, Any]) -> Said:
    """A command on a memory, said for those who see it: the person whose it is, or the owner."""
    scope = str(line.get("scope", ALL))
    kind, _, name = scope.partition(":")
    principal = name if kind == "user" and name else access.OWNER.principal
    workspace = name if kind == "ws" else ""
    return Said(mid, principal, command, ROOM, is_group=False, workspace=workspace, is_command=True)


def edited(command: str) -> tuple[str, int]:
    """The text that an edit asks for, and the version that it was made from; "" and 0 if the command is another one."""
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
