"""Follows a change that a board was asked for, and prints what became of it."""

import time
from typing import Any

from engram_host.cli import output
from engram_host.cli.api_client import ApiClient
from engram_host.cli.exit_status import CommandError
from engram_host.cli.options import Context

_LOOK_SECONDS = 0.2


def follow_change(companion: ApiClient, device: str, change: dict[str, Any]) -> dict[str, Any]:
    """The change once the board has answered, or as soon as there is a reason to wait for that elsewhere."""
    while change["state"] == "waiting" and not change["told"]:
        time.sleep(_LOOK_SECONDS)
        change = companion.get(f"/v1/boards/{device}/changes/{change['id']}")
    return change


def show_change(context: Context, change: dict[str, Any], done: str = "") -> None:
    """Print what became of a change, `done` if the board has made it. CommandError if the board did not make it."""
    if change["state"] in ("conflict", "refused"):
        raise CommandError(describe_change(change))
    if context.json:
        output.print_json(change)
    elif done and change["state"] == "done":
        output.print_line(done)
    else:
        output.print_line(f"{change['id']}: {change['state']}. {describe_change(change)}".rstrip())


def describe_change(change: dict[str, Any]) -> str:
    """What there is to say of a change."""
    if change["state"] == "conflict":
        return f"the board had changed or forgotten {change['entry']} before: nothing was changed."
    return change["told"] or change["sentence"] or change["text"]
