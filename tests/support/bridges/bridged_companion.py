"""`engram serve` as a process, with bridges to servers of networks, and real boards behind it."""

import contextlib
import json
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bridge_peers import Server
from cli_case import fine
from engram_host.companion.auth.secrets import SecretStore
from engram_host.companion.bridges.kinds import KINDS
from peers import Companion
from waiting import wait_until

RATE = 1000
"""Messages of one person in a minute: tests say more than people do."""

QUIET_BOARD: Mapping[str, object] = {"llm.model": "m", "extract.on": False, "flush.on": False, "distill.on": False}
"""Settings of a board whose model is asked for nothing but replies."""


def write_bridges(home: Path, settings: Mapping[str, Mapping[str, str]]) -> None:
    """Write companion.toml and the secrets of bridges, as `engram bridge add` does; by network, which is the bridge's name."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    secrets = SecretStore(home, {})
    tables = [f"[people]\nrate = {RATE}\n"]
    for network, values in settings.items():
        lines = [f"[bridges.{network}]"]
        for field in KINDS[network].fields:
            value = values.get(field.name, "")
            if value and field.is_secret:
                secrets.keep(f"bridges.{network}.{field.name}", value)
            elif value:
                lines.append(f"{field.name} = {json.dumps(value)}")
        tables.append("\n".join(lines) + "\n")
    (home / "companion.toml").write_text("\n".join(tables))


class BridgedCompanion(Companion):
    """A companion whose bridges are these; commands of `engram people` find it by its folder."""

    def __init__(self, home: Path, settings: Mapping[str, Mapping[str, str]], mqtt_url: str = ""):
        super().__init__(home, mqtt_url)
        write_bridges(home, settings)

    def people(self, *words: str) -> Any:
        """What a command of `engram people` prints as JSON."""
        return fine("people", *words, "--home", self.home, "--json").json

    def statuses(self) -> dict[str, dict[str, Any]]:
        """What it says of each bridge, by name."""
        return {each["name"]: each for each in self.client.get("/v1/health").json()["bridges"]}

    def query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Rows of its database, which it goes on writing."""
        with contextlib.closing(sqlite3.connect(f"file:{self.home / 'companion.db'}?mode=ro", uri=True)) as database:
            return database.execute(sql, values).fetchall()

    def owed(self) -> int:
        """How many answers chats still wait for."""
        return self.query("SELECT count(*) FROM bridge_deliveries WHERE state = 'open'")[0][0]

    def wait_for_bridges(self, state: str = "connected", *names: str, within: float = 60) -> None:
        """Wait until bridges are in a state, all of them if none is named."""

        def states() -> dict[str, str]:
            return {name: each["state"] for name, each in self.statuses().items() if not names or name in names}

        wait_until(lambda: f"{states()} are {state}", lambda: set(states().values()) == {state}, within)

    def wait_for_board(self, *names: str) -> None:
        """Wait until it knows these boards."""
        for name in names:
            wait_until(f"{name} is known", lambda name=name: self.client.get(f"/v1/devices/{name}").status_code == 200)


def settings_of(servers: Mapping[str, Server], change: Callable[[str, dict[str, str]], None] | None = None) -> Any:
    """The fields of the bridges to these servers."""
    found = {name: dict(server.settings) for name, server in servers.items()}
    for name, values in found.items():
        if change:
            change(name, values)
    return found
