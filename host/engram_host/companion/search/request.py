"""Requests and results of a search."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from engram_host.companion.types import DEVICE_NAME
from engram_host.sentences import SentenceTable

MOST_QUERY = 2000

REASONS = SentenceTable("search_reason")

MOST_HITS = 100
MOST_OFFSET = 900
"""Maximum offset, to bound the hits that one search ranks."""

MOST_DEVICES = 64

MOST_LINES = 400_000
"""Maximum lines of a search over several boards, at about 100 bytes each."""

MOST_FOLDERS = 64

MOST_TAGS = 8

_LATEST = 1 << 40

Text = Annotated[str, Field(max_length=64)]
Time = Annotated[int, Field(ge=0, le=_LATEST)]
Share = Annotated[float, Field(ge=0, le=1)]
FolderNames = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=255)]], Field(min_length=1, max_length=MOST_FOLDERS)
]


class SearchRequest(BaseModel):
    """A query, who asks, and options."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, json_schema_extra={"example": {"query": "what does Ann drink?"}}
    )

    query: str = Field(min_length=1, max_length=MOST_QUERY, pattern=r"\S")
    devices: list[Annotated[str, Field(pattern=f"^{DEVICE_NAME}$")]] = Field(
        default=[], max_length=MOST_DEVICES, description="the boards to search; empty: all, if they are no more than 64"
    )
    folders: bool | FolderNames = Field(
        default=True,
        description="whether Markdown folders are searched too; not if `log` is given. Names restrict it to these folders, "
        "and without `devices` no board is searched.",
    )
    principal: str = Field(
        default="owner", min_length=1, max_length=64, description="who asks: only what they may see is found"
    )
    group: bool = Field(default=False, description="whether others read along: then only what is for all is found")
    workspace: Text = Field(default="", description="the workspace that they are in")
    limit: int = Field(default=10, ge=1, le=MOST_HITS)
    offset: int = Field(default=0, ge=0, le=MOST_OFFSET, description="hits to pass over: those of the pages before")
    log: Literal["records", "journal", "notes"] | None = Field(
        default=None, description="memories, turns or notes only"
    )
    tags: list[Text] = Field(default=[], max_length=MOST_TAGS, description="memories that have all of these")
    type: Text = Field(default="", description="memories of this type")
    session: Text = Field(default="", description="turns of this session")
    speaker: Text = Field(default="", description="turns of this speaker")
    since: Time = Field(default=0, description="from this time on, Unix seconds")
    until: Time = Field(default=0, description="before this time, Unix seconds")
    history: bool = Field(default=False, description="also what something newer took the place of")
    words: bool | None = Field(default=None, description="whether to search by words; by default as the settings say")
    meaning: bool | None = Field(
        default=None, description="whether to search by meaning; by default as the settings say"
    )
    weight: Share | None = Field(default=None, description="of meaning against words; by default as the settings say")
    candidates: int = Field(
        default=8, ge=1, le=50, description="hits taken from each side for each wanted one, at most 8000 in all"
    )
    mmr: Share | None = Field(
        default=None, description="1: best scores first; less: rather what differs from the hits above it"
    )
    dates: bool = Field(default=True, description="whether entries of the days that the query names come higher")
    explain: bool = Field(default=False, description="whether to explain each score")


LEAST_NEAR = 0.05
"""Least confidence of a hit for a board that has no word of the query."""

HitKind = Literal["memory", "turn", "note", "passage"]

Part = tuple[str, float]
"""(label for a person, points)."""


@dataclass(frozen=True)
class Explanation:
    """Parts of a score; their points add up to it."""

    words: tuple[Part, ...]

    beside: tuple[Part, ...]

    session: float
    meaning: float
    speaker: float
    reply: float

    importance: float
    dates: float
    cosine: float | None

    confidence: tuple[Part, ...] = ()

    @property
    def points(self) -> float:
        parts = sum(points for _, points in self.words + self.beside)
        return parts + self.session + self.meaning + self.speaker + self.reply + self.importance + self.dates


@dataclass(frozen=True)
class Hit:
    """A found entry or passage; `id` is m12 for a record, t34 for a turn; `citation` is path#line."""

    device: str
    id: str
    seq: int
    at: int
    who: str
    text: str = field(repr=False)
    score: float = 0.0
    state: Literal["live", "superseded", "earlier version", "archived"] = "live"
    coverage: float = 0.0

    cosine: float | None = None
    explanation: Explanation | None = None
    path: str = ""
    heading: str = ""
    citation: str = ""
    is_on_board: bool = True
    """False if only the archive still has its line."""

    confidence: float = 0.0
    kind: HitKind = "memory"

    @property
    def is_near(self) -> bool:
        """False for what only meaning finds, and not surely: in a prompt it would be noise."""
        return self.coverage > 0 or self.confidence >= LEAST_NEAR


@dataclass(frozen=True)
class Plan:
    """The days that a query names, as 2026-01-31, or ""; and the kinds of entries that are searched."""

    first: str
    last: str
    kinds: list[str] = field(default_factory=list)
    order: str = "best first"


@dataclass(frozen=True)
class SearchResult:
    """Hits, best first, with notes on the search."""

    hits: tuple[Hit, ...]
    why_empty: str = ""
    degraded: str = ""

    left_out: tuple[str, ...] = ()

    confidence: float = 0.0

    plan: Plan | None = None

    meaning_weight: float = 0.0
    shape: str = ""

    embed_ms: float = 0.0
    search_ms: float = 0.0

    entries: int = 0

    boards: int = 0
