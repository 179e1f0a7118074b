"""`engram settings`: the settings of a board behind a companion, and changes of them."""

import getpass
import sys
from typing import Annotated, Any

import typer

from engram_host.cli import output
from engram_host.cli.exit_status import WrongUsage
from engram_host.cli.options import HOME, JSON, URL, Context, takes


@takes(URL, HOME, JSON)
def settings(
    context: Context,
    board: Annotated[str, typer.Argument(help="board name")],
    name: Annotated[str, typer.Argument(help="setting to change, such as llm.retries, or secret such as llm.key")] = "",
    value: Annotated[str, typer.Argument(help="its value; that of a secret is asked for")] = "",
    read: Annotated[bool, typer.Option("--read", help="ask the board to list what is set")] = False,
) -> None:
    """Show what is set on a board as far as it said, or change a setting. Needs a running companion.

    A change waits while the board is away, and holds from the board's next start.

    Example: engram settings kitchen --read

    Example: engram settings kitchen llm.retries 5

    Example: engram settings kitchen llm.key
    """
    path = f"/v1/boards/{board}/settings"
    with context.open_companion() as companion:
        found = companion.get(path)
        if read:
            _print_change(context, companion.post(f"{path}/read", {}))
        elif name and (value or _is_secret(found, name)):
            change = {"name": name, "value": _value(found, name, value)}
            _print_change(context, companion.post(path, change))
        else:
            _print(context, found, name)


def _is_secret(found: dict[str, Any], name: str) -> bool:
    return any(each["name"] == name and each["kind"] == "secret" for each in found["settings"])


def _value(found: dict[str, Any], name: str, value: str) -> str:
    if not _is_secret(found, name):
        return value
    if value:
        raise WrongUsage(f"the value of {name} is a secret: leave it out, it is asked for, or read from the input.")
    return getpass.getpass(f"{name}: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")


def _print_change(context: Context, change: dict[str, Any]) -> None:
    if context.json:
        output.print_json(change)
    else:
        output.print_line(
            f"{change['command']}: {change['state']}; the same command without a value shows what came of it."
        )


def _print(context: Context, found: dict[str, Any], name: str) -> None:
    if context.json:
        output.print_json(found)
        return
    shown = [each for each in found["settings"] if each["name"] == name or (each["is_set"] and not name)]
    empty = f"there is no setting {name}." if name else "nothing is known to be set; --read asks the board."
    output.print_table(("setting", "value"), [(each["name"], _shown(each)) for each in shown], empty=empty)
    if found["read"]:
        output.print_line(f"The board said so at {output.format_time(found['read'])}.")
    for each in found["changes"]:
        problem = f" ({each['problem']})" if each["problem"] else ""
        output.print_line(f"{output.format_time(each['at'])} {each['command']}: {each['state']}{problem}")


def _shown(setting: dict[str, Any]) -> str:
    if setting["kind"] == "secret":
        return "set" if setting["is_set"] else "not known to be set"
    value = setting["value"]
    if value is None:
        return f"not known; default {setting['default']}"
    return value if isinstance(value, str) else str(value).lower()
