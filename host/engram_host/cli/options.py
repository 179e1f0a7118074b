"""Options that commands share, and the Context of their values."""

import functools
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec

import typer

from engram_host.cli import API_VARIABLE
from engram_host.companion.lockfile import DEFAULT_HOME, HOME_VARIABLE

if TYPE_CHECKING:
    from engram_host.cli.api_client import ApiClient
    from engram_host.companion.settings import Settings


_JSON_FLAG = "--json"


@dataclass(frozen=True)
class Context:
    json: bool
    home: Path
    """Folder of the companion's files, absolute."""
    url: str
    """Address of the companion, "" for that of `home`."""
    device: str
    """Name of the board, "" for the only one."""
    port: str
    """Serial port of the board, "" for the only one."""

    def open_companion(self) -> "ApiClient":
        """Open the companion. Raises CommandError."""
        from engram_host.cli.api_client import ApiClient  # httpx takes long to load

        return ApiClient(self.url, self.home)

    def read_settings(self) -> "Settings":
        """Read the settings of the companion's folder. Raises SettingError."""
        from engram_host.companion.settings import read_settings  # as above

        return read_settings(self.home, {})


def read_context(given: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> Context:
    """Read values of options by name, from the command, the environment or the defaults."""
    home = given.get("home") or environment.get(HOME_VARIABLE) or DEFAULT_HOME
    url = given.get("url")
    return Context(
        json=bool(given.get("json")),
        home=Path(home).expanduser().absolute(),
        url=environment.get(API_VARIABLE, "") if url is None else url,
        device=given.get("device") or "",
        port=given.get("port") or "",
    )


def asks_for_json(words: Sequence[str]) -> bool:
    return _JSON_FLAG in words


# --- what a command takes


Words = ParamSpec("Words")


@dataclass(frozen=True)
class SharedOption:
    """A shared option: its name in read_context(), annotated type and default."""

    name: str
    annotation: Any
    default: Any


Devices = Annotated[list[str] | None, typer.Option("--device", "-d", help="board name; repeatable; default: all")]

JSON = SharedOption("json", Annotated[bool, typer.Option(_JSON_FLAG, help="print one JSON document")], False)
HOME = SharedOption(
    "home", Annotated[Path, typer.Option(envvar=HOME_VARIABLE, help="folder of the companion's files")], DEFAULT_HOME
)
URL = SharedOption(
    "url",
    Annotated[
        str, typer.Option(envvar=API_VARIABLE, help="URL of the companion; default: the one that runs on --home")
    ],
    "",
)
DEVICE = SharedOption(
    "device", Annotated[str, typer.Option("--device", "-d", help="board name; optional if only one is known")], ""
)
PORT = SharedOption(
    "port", Annotated[str, typer.Option(help="serial port of the board; optional if only one board is connected")], ""
)


def takes(*options: SharedOption) -> Callable[[Callable[Concatenate[Context, Words], None]], Callable[..., None]]:
    def decorate(command: Callable[Concatenate[Context, Words], None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(*args: Words.args, **values: Words.kwargs) -> None:
            given = {option.name: values.pop(option.name) for option in options}
            command(read_context(given), *args, **values)

        _, *own = inspect.signature(command).parameters.values()
        shared = [
            inspect.Parameter(
                option.name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=option.annotation
            )
            for option in options
        ]
        # typer reads what a command takes from its signature.
        run.__signature__ = inspect.Signature([*own, *shared])  # pyright: ignore[reportAttributeAccessIssue]
        return run

    return decorate
