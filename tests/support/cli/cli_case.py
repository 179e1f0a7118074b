"""The command `engram` as a test calls it: in this process, since starting Python a hundred times takes long."""

import contextlib
import functools
import io
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from typer.main import get_command

from engram_host.cli import commands
from engram_host.cli.commands import app, main

if TYPE_CHECKING:
    from engram_host.companion.types import AuditEntry

commands.get_command = functools.cache(get_command)  # typer makes all commands anew each time: most of what one takes

_OURS = ("ENGRAM_", "EMBEDDING_", "LLM", "COMPANION", "REPL")


@dataclass(frozen=True)
class Ran:
    """What a command printed, and its status."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its output, which is one JSON document."""
        return json.loads(self.out)


def engram(*words: str | Path, **variables: str) -> Ran:
    """Run a command with nothing of ours in the environment but `variables`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    with (
        mock.patch.dict(os.environ, {**kept, "EMBEDDING_PROVIDER": "none", **variables}, clear=True),
        contextlib.redirect_stdout(io.StringIO()) as out,
        contextlib.redirect_stderr(io.StringIO()) as err,
    ):
        status = main([str(word) for word in words])
    return Ran(status, out.getvalue(), err.getvalue())


def fine(*words: str | Path, **variables: str) -> Ran:
    """As engram(), for a command that has to work."""
    ran = engram(*words, **variables)
    assert ran.status == 0, ran
    return ran


def audit_log(home: Path, **variables: str) -> "list[AuditEntry]":
    """The audit log of a companion's folder, newest first."""
    from engram_host.cli.access import opened_store

    with mock.patch.dict(os.environ, variables), opened_store(home) as (store, _):
        return store.audit.audit(1000)


def _all(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    for each, below in getattr(command, "commands", {}).items():
        path = f"{name} {each}".strip()
        if hasattr(below, "commands"):
            yield from _all(below, path)
        else:
            yield path, below


EACH = dict(_all(get_command(app)))
"""All commands by their names, such as `board flash`."""

TALKS = {"api", "chat", "run", "board monitor", "board chat", "board setup"}
"""Commands without --json: conversations, and `api`, which prints what it gets."""
