"""`engram people`: people and groups on IM networks that boards answer."""

from typing import Annotated, Any

import typer

from engram_host.cli import output
from engram_host.cli.options import HOME, JSON, URL, Context, takes

app = typer.Typer(help="Decide who may talk to boards from IM networks.", no_args_is_help=True)

Who = Annotated[str, typer.Argument(help="a name, a principal, or an id such as telegram:12345")]
Code = Annotated[str, typer.Argument(help="the code that a stranger was given, or their id")]
Group = Annotated[str, typer.Argument(help="the group's id, such as matrix:!room:example.org")]
Mode = Annotated[str, typer.Argument(help="mention, always, or off")]


@app.command("list")
@takes(URL, HOME, JSON)
def list_people(context: Context) -> None:
    """List people who may talk or are blocked, strangers who wait, and groups. Needs a running companion.

    Example: engram people list
    """
    with context.open_companion() as companion:
        people, waiting, groups = (companion.get(f"/v1/people{path}") for path in ("", "/waiting", "/groups"))
    if context.json:
        output.print_json({"people": people, "waiting": waiting, "groups": groups})
        return
    rows = [(each["principal"], each["name"], _status(each), " ".join(each["ids"])) for each in people]
    output.print_table(("principal", "name", "", "accounts"), rows, empty="nobody was approved yet.")
    for name, mode in groups.items():
        output.print_line(f"group {name}: {mode}")
    for each in waiting:
        since = output.format_time(each["at"])
        output.print_line(f"waiting: {each['code']}  {each['ref']} {each['name']} since {since}")


@app.command()
@takes(URL, HOME, JSON)
def approve(
    context: Context,
    code: Code,
    name: Annotated[str, typer.Option(help="what they are called; memories know a new person by it for ever")] = "",
    owner: Annotated[bool, typer.Option("--owner", help="it is you: share the memory of the boards' consoles")] = False,
) -> None:
    """Let somebody talk to boards. Needs a running companion.

    A board lets the companion speak for its owner after `/setting companion.chat owner` on its console.

    Example: engram people approve QHJ4WXTK --name ann

    Example: engram people approve QHJ4WXTK --owner
    """
    person = _change(context, "approve", who=code, name=name)
    if owner:
        person = _change(context, "owner", who=person["principal"])
    _show(context, person, "is the owner now" if owner else "may talk now")


@app.command()
@takes(URL, HOME, JSON)
def block(context: Context, who: Who) -> None:
    """Answer somebody no more, in private and in groups. Needs a running companion.

    Example: engram people block telegram:12345
    """
    _show(context, _change(context, "block", who=who), "is blocked")


@app.command()
@takes(URL, HOME, JSON)
def group(context: Context, group: Group, mode: Mode) -> None:
    """Let boards answer in a group when they are mentioned, always, or not at all. Needs a running companion.

    Example: engram people group matrix:!room:example.org mention
    """
    with context.open_companion() as companion:
        found = companion.post("/v1/people/groups", {"id": group, "mode": mode})
    output.print_either({"groups": found}, f"group {group}: {mode}", is_json=context.json)


def _change(context: Context, action: str, **fields: str) -> dict[str, Any]:
    with context.open_companion() as companion:
        return companion.post(f"/v1/people/{action}", fields)


def _show(context: Context, person: dict[str, Any], outcome: str) -> None:
    called, ids = person["name"] or person["principal"], " ".join(person["ids"]) or person["principal"]
    output.print_either(person, f"{called} {outcome}: {ids}", is_json=context.json)


def _status(person: dict[str, Any]) -> str:
    return "blocked" if person["is_blocked"] else "owner" if person["principal"] == "owner" else ""
