"""Settings of bridges and people: the tables [people] and [bridges.NAME] of companion.toml.

Further settings of a network are names and texts here; companion/bridges/ checks them.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

from engram_host.companion.errors import SettingError
from engram_host.companion.settings_reader import setting
from engram_host.companion.types import DEVICE_NAME

BRIDGES_TABLE = "bridges"
PEOPLE_TABLE = "people"

MOST_BRIDGES = 16
"""Limit of one companion: each bridge holds a connection and a library's memory."""

Policy = Literal["pairing", "allowlist", "open", "off"]
POLICIES: tuple[Policy, ...] = get_args(Policy)
EVERYBODY = "*"
"""Required in `allow` by the policy `open`."""

LONGEST_FIELD = 2000
_MOST_BOARDS = 32
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?")
_ID = re.compile(r"[a-z0-9-]{1,32}:\S{1,100}")
_IDS_WITHOUT_SERVER = {"irc": "server"}
"""Networks with ids unique per server, and the field that names the server."""

OWN_SETTINGS = ("network", "on", "boards", "policy", "allow", "keyring")
"""Settings of all bridges; all others are the network's."""


@dataclass(frozen=True)
class PeopleSettings:
    """Policy, allowed ids and rate of private chats; SettingError if open without "*" in `allow`."""

    policy: str = setting("pairing", "ENGRAM_PEOPLE_POLICY", one_of=POLICIES)
    allow: str = setting("", "ENGRAM_PEOPLE_ALLOW", high=4000)
    rate: int = setting(10, "ENGRAM_PEOPLE_RATE", low=1, high=1000)

    def __post_init__(self) -> None:
        _check_open(PEOPLE_TABLE, self.policy, EVERYBODY in self.allow.split())
        for each in self.allow.split():
            if each != EVERYBODY and not _ID.fullmatch(each):
                problem = f'{each[:60]!r} is no id such as telegram:12345, nor "{EVERYBODY}"; spaces are between them.'
                raise SettingError(f"{PEOPLE_TABLE}.allow", problem)


@dataclass(frozen=True)
class BridgeSettings:
    """Settings of a bridge; no boards means all, policy "" means that of [people]."""

    name: str
    network: str
    boards: tuple[str, ...] = ()
    policy: Policy | Literal[""] = ""
    is_on: bool = True
    in_keyring: bool = False
    fields: Mapping[str, str] = field(default_factory=dict)

    def setting_name(self, name: str) -> str:
        return f"{BRIDGES_TABLE}.{self.name}.{name}"


def read_bridges(tables: Any) -> tuple[BridgeSettings, ...]:
    """Return the bridges in the table [bridges]; raises SettingError."""
    if not isinstance(tables, Mapping) or not all(isinstance(table, Mapping) for table in tables.values()):
        raise SettingError(
            BRIDGES_TABLE, 'has a table for each bridge, such as [bridges.matrix] with network = "matrix".'
        )
    if len(tables) > MOST_BRIDGES:
        raise SettingError(BRIDGES_TABLE, f"has {len(tables)} bridges, and {MOST_BRIDGES} are the most.")
    bridges = tuple(_read_bridge(name, tables[name]) for name in sorted(tables))
    check_servers(bridges)
    return bridges


def check_servers(bridges: Iterable[BridgeSettings]) -> None:
    """Raise SettingError for two servers of a network whose ids do not name their server."""
    first: dict[str, BridgeSettings] = {}
    for bridge in bridges:
        field = _IDS_WITHOUT_SERVER.get(bridge.network)
        if field is None:
            continue
        other = first.setdefault(bridge.network, bridge)
        if bridge.fields.get(field, "").strip().lower() != other.fields.get(field, "").strip().lower():
            problem = (
                f"must be the same as that of the bridge {other.name}: ids of {bridge.network} do not name their server, so "
                "whoever has somebody's account name on another one would pass for them. Run a second companion for it."
            )
            raise SettingError(bridge.setting_name(field), problem)


def check_bridge_name(name: str) -> str:
    """Return a valid name of a bridge; raises SettingError."""
    if not _NAME.fullmatch(name):
        problem = "is no name of a bridge: use lowercase letters, digits and -, at most 32 characters."
        raise SettingError(f"{BRIDGES_TABLE}.{name[:40]!r}", problem)
    return name


def _read_bridge(name: str, table: Mapping[str, Any]) -> BridgeSettings:
    where = f"{BRIDGES_TABLE}.{check_bridge_name(name)}"
    policy = _text(where, table, "policy")
    if policy and policy not in POLICIES:
        raise SettingError(f"{where}.policy", f"must be one of {', '.join(POLICIES)}.")
    if _text(where, table, "allow") not in ("", EVERYBODY):
        raise SettingError(f"{where}.allow", f'can only be "{EVERYBODY}", for everybody.')
    _check_open(where, policy, bool(table.get("allow")))
    return BridgeSettings(
        name,
        _text(where, table, "network") or name,
        _boards(where, table),
        cast(Policy, policy),
        _switch(where, table, "on", True),
        _switch(where, table, "keyring", False),
        {key: _text(where, table, key) for key in table if key not in OWN_SETTINGS},
    )


def _check_open(where: str, policy: str, is_meant: bool) -> None:
    if policy == "open" and not is_meant:
        problem = f'open lets everybody who finds the account talk: set {where}.allow = "{EVERYBODY}" as well if that is meant.'
        raise SettingError(f"{where}.policy", problem)


def _text(where: str, table: Mapping[str, Any], key: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str) or len(value) > LONGEST_FIELD or not value.isprintable():
        raise SettingError(f"{where}.{key}", f"must be a text in one line, of at most {LONGEST_FIELD} characters.")
    return value


def _switch(where: str, table: Mapping[str, Any], key: str, default: bool) -> bool:
    value = table.get(key, default)
    if not isinstance(value, bool):
        raise SettingError(f"{where}.{key}", "must be true or false.")
    return value


def _boards(where: str, table: Mapping[str, Any]) -> tuple[str, ...]:
    boards = table.get("boards", [])
    is_list = isinstance(boards, list) and len(boards) <= _MOST_BOARDS
    if not is_list or not all(isinstance(board, str) and re.fullmatch(DEVICE_NAME, board) for board in boards):
        raise SettingError(
            f"{where}.boards", f'must be a list of at most {_MOST_BOARDS} names of boards, such as ["kitchen"].'
        )
    return tuple(dict.fromkeys(boards))
