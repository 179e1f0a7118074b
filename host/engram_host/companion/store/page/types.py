"""Types for browser sessions and lists of boards."""

from dataclasses import dataclass, field
from typing import Literal

from engram_host.time_zones import BoardZone


@dataclass(frozen=True)
class PageSession:
    """A stored session; `digest` is its cookie's SHA-256, `token` that of its token or empty."""

    digest: bytes = field(repr=False)
    token: bytes = field(repr=False)
    is_read_only: bool
    made: int
    used: int
    ends: int
    principal: str = ""
    """Person whose page it is; "" for an operator's."""


@dataclass(frozen=True)
class PageCode:
    """A stored one-time code of a sign-in link; with `is_local` it works on this computer only."""

    digest: bytes = field(repr=False)
    token: bytes = field(repr=False)
    is_local: bool
    ends: int
    principal: str = ""


BoardSort = Literal[
    "name",
    "-name",
    "heard",
    "-heard",
    "lines",
    "-lines",
    "waiting",
    "-waiting",
    "flash",
    "-flash",
    "firmware",
    "-firmware",
]


@dataclass(frozen=True)
class BoardQuery:
    """Filters, order and page of a list of boards; a time of 0 is no filter."""

    find: str = ""
    sort: BoardSort = "name"
    heard_since: int = 0
    silent_since: int = 0
    limit: int = 50
    offset: int = 0


@dataclass(frozen=True)
class BoardRow:
    """A board in a list; `records` and `journal` are copied seqs, `missing` lines are not copied yet."""

    name: str
    heard: int
    zone: BoardZone
    records: int
    journal: int
    missing: int
    waiting: int
    waiting_since: int
