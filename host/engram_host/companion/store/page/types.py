"""The types of what the page shows and keeps: sessions of browsers, and lists of boards."""

from dataclasses import dataclass, field
from typing import Literal

from engram_host.time_zones import BoardZone


@dataclass(frozen=True)
class PageSession:
    """A browser that is signed in, as it is kept: `digest` is the SHA-256 of its cookie's value, `token` that of the token by
    which it began, empty where none was asked for; `made`, `used` and `ends` are Unix seconds.
    """

    digest: bytes = field(repr=False)
    token: bytes = field(repr=False)
    is_read_only: bool
    made: int
    used: int
    ends: int
    principal: str = ""
    """Of whose page it is; "" for an operator's."""


@dataclass(frozen=True)
class PageCode:
    """The code of a link that signs a browser in once, as it is kept: as the session that it begins; `is_local` if it does
    so on the companion's own computer only.
    """

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
"""By what boards are sorted; with - before it the other way round."""


@dataclass(frozen=True)
class BoardQuery:
    """Which boards are looked for: with `find` in their names, heard since a time, or silent since one (0: any); in which
    order, how many, and after how many.
    """

    find: str = ""
    sort: BoardSort = "name"
    heard_since: int = 0
    silent_since: int = 0
    limit: int = 50
    offset: int = 0


@dataclass(frozen=True)
class BoardRow:
    """A board in a list: when it was heard, its zone, up to which seq its logs are copied, how many lines are not copied yet,
    how many messages wait for it, and since when the oldest one does (0: none).
    """

    name: str
    heard: int
    zone: BoardZone
    records: int
    journal: int
    missing: int
    waiting: int
    waiting_since: int
