"""The options that commands share, as one typed value: what they say is read here, and nowhere else."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engram_host.cli import ANSWER_SECONDS, API_VARIABLE, HOME_VARIABLE

if TYPE_CHECKING:
    from engram_host.cli.api_client import ApiClient

DEFAULT_HOME = Path("~/.engram/companion")

JSON = "--json"


@dataclass(frozen=True)
class BoardAddress:
    """The board that a command talks to: on a serial port, or simulated from the files in a folder."""

    port: str = ""
    sim: Path | None = None


@dataclass(frozen=True)
class Context:
    """What the shared options of a command say; an option that the command does not take has its default."""

    json: bool
    home: Path
    """The folder of the companion's files, an absolute path."""
    url: str
    """Where the companion is, "" for where the one of `home` listens."""
    device: str
    """The board whose copy the companion is asked for, "" for the only one."""
    board: BoardAddress

    def open_companion(self, seconds: float = ANSWER_SECONDS) -> "ApiClient":
        """Open the companion that the command asks; an answer may take `seconds`. CommandError."""
        from engram_host.cli.api_client import ApiClient  # httpx takes long to load

        return ApiClient(self.url, self.home, seconds)


def read_context(given: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> Context:
    """Read the values of options, by name; one that was not given is in the environment, or has its default."""
    home = given.get("home") or environment.get(HOME_VARIABLE) or DEFAULT_HOME
    url = given.get("url")
    sim = given.get("sim")
    return Context(
        json=bool(given.get("json")),
        home=Path(home).expanduser().absolute(),
        url=environment.get(API_VARIABLE, "") if url is None else url,
        device=given.get("device") or "",
        board=BoardAddress(given.get("port") or "", Path(sim).expanduser().absolute() if sim else None),
    )


def asks_for_json(words: Sequence[str]) -> bool:
    """Whether a command line asks for JSON. For its errors: words that cannot be parsed have no Context."""
    return JSON in words
