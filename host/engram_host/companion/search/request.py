"""Requests and results of a search."""

from dataclasses import dataclass, field
from typing import Literal

from engram.memory.access import Caller
from engram_host.companion.errors import BadSearch
from engram_host.companion.types import LogName
from engram_host.sentences import SentenceTable

MOST_QUERY = 2000

REASONS = SentenceTable(
    "search_reason",
    {
        "nothing_stored": "nothing is stored yet that may be shown here.",
        "filtered": (
            "the one entry that may be shown here does not pass the filters.",
            "none of the {n} entries that may be shown here passes the filters.",
        ),
        "none_near": "no entry that may be shown here is close to the query in meaning.",
        "no_vectors": "no entry that may be shown here can be searched by meaning.",
        "only_common": "the query has no word to search for, only very common ones.",
        "only_common_nor_near": "the query has no word to search for, only very common ones, and no entry is close to it in "
        "meaning.",
        "no_word": "none of the words ({words}) stands in an entry that may be shown here.",
        "no_word_nor_near": "none of the words ({words}) stands in an entry that may be shown here, and no entry is close to "
        "the query in meaning.",
        "too_few": "no entry has enough of the words ({words}).",
        "too_few_nor_near": "no entry has enough of the words ({words}), and no entry is close to the query in meaning.",
        "words_filtered": "the words ({words}) stand in no entry that passes the filters.",
        "words_filtered_nor_near": "the words ({words}) stand in no entry that passes the filters, and no entry is close to "
        "the query in meaning.",
        "no_embedder": "there is no embedder, so only words are searched.",
        "query_unembedded": "the query could not be embedded, so only words are searched: {problem}",
        "unembedded": (
            "{n} entry has no vector yet, so it is found by words only.",
            "{n} entries have no vector yet, so they are found by words only.",
        ),
        "not_reranked": "the results stand in the search's own order, not reranked: {problem}",
        "lower": ("{n} more candidate, with lower scores", "{n} more candidates, with lower scores"),
        "no_boards": "no board has connected yet.",
        "folders_unread": "these folders have not been read yet.",
        "no_notes": "there are no notes.",
    },
)

MOST_HITS = 100
MOST_OFFSET = 900
"""Maximum offset, to bound the hits that one search ranks."""

MOST_DEVICES = 64

MOST_LINES = 400_000
"""Maximum lines of a search over several boards, at about 100 bytes each."""

MOST_FOLDERS = 64

MOST_TAGS = 8

HitKind = Literal["memory", "turn", "note", "passage"]

Part = tuple[str, float]
"""(label for a person, points)."""


@dataclass(frozen=True)
class Weights:
    """Weights of a score; defaults and formula are in docs/design/retrieval.md."""

    near: float = 0.4
    far: float = 0.2
    session: float = 0.5
    speaker: float = 1.4
    reply: float = 0.5

    record: float = 1.5
    meaning: float | None = None
    """Weight of meaning against words, 0 to 1; None chooses by the query's shape."""

    exact: float = 0.2
    paraphrase: float = 0.4

    expansion: float = 0.3

    def __post_init__(self) -> None:
        for name in ("near", "far", "session", "reply", "meaning", "exact", "paraphrase", "expansion"):
            value = getattr(self, name)
            if value is not None:
                _check(0 <= value <= 1, f"weights.{name}", "must be 0 to 1")
        _check(1 <= self.speaker <= 3, "weights.speaker", "must be 1 to 3")
        _check(0 < self.record <= 3, "weights.record", "must be above 0 and at most 3")


@dataclass(frozen=True)
class SearchRequest:
    """A search; times are Unix seconds, 0 for open. Raises BadSearch for invalid values."""

    query: str
    devices: tuple[str, ...]
    caller: Caller
    now: int
    limit: int = 10
    offset: int = 0

    log: LogName | None = None
    tags: tuple[str, ...] = ()
    type: str = ""
    session: str = ""
    speaker: str = ""
    since: int = 0
    until: int = 0
    history: bool = False

    use_words: bool = True
    use_meaning: bool = True
    weights: Weights = field(default_factory=Weights)
    candidates: int = 8
    """Candidates per side before fusion, as a multiple of `limit`."""

    min_words: float = 0.0

    min_cosine: float = 0.1

    mmr: float | None = None
    """Lambda of maximal marginal relevance; 1 is scores only, None is off."""

    dates: bool = True

    explain: bool = False
    reranked: int = 0
    """Hits with a `document` for a reranker, at most `limit` with `mmr`; 0 for none."""

    wordings: tuple[str, ...] = ()

    @property
    def shown(self) -> int:
        return self.limit if self.mmr is not None else max(self.depth, self.reranked)

    @property
    def depth(self) -> int:
        return self.offset + self.limit

    def __post_init__(self) -> None:
        _check(
            0 < len(self.query.strip()) <= len(self.query) <= MOST_QUERY, "query", f"needs 1 to {MOST_QUERY} characters"
        )
        most = 3 * MOST_DEVICES + MOST_FOLDERS  # two more for the notes of each board
        _check(0 < len(self.devices) <= most, "devices", f"must name 1 to {MOST_DEVICES} boards")
        _check(len(set(self.devices)) == len(self.devices), "devices", "names a board twice")
        _check(1 <= self.limit <= MOST_HITS, "limit", f"must be 1 to {MOST_HITS}")
        _check(0 <= self.offset <= MOST_OFFSET, "offset", f"must be 0 to {MOST_OFFSET}")
        _check(not self.offset or self.mmr is None, "offset", "cannot be used together with mmr")
        _check(self.log in (None, "records", "journal"), "log", "must be records or journal")
        _check(len(self.tags) <= MOST_TAGS, "tags", f"are at most {MOST_TAGS}")
        _check(min(self.since, self.until) >= 0, "since", "and until are Unix seconds")
        _check(not self.until or self.since < self.until, "until", "must be later than since")
        _check(self.use_words or self.use_meaning, "use_words", "or use_meaning has to stay on")
        _check(1 <= self.candidates <= 50, "candidates", "must be 1 to 50")
        _check(0 <= self.min_words <= 1, "min_words", "must be 0 to 1")
        _check(-1 <= self.min_cosine <= 1, "min_cosine", "must be -1 to 1")
        _check(self.mmr is None or 0 <= self.mmr <= 1, "mmr", "must be 0 to 1")


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

    rerank: float | None = None
    """The reranker's score, not a part of the sum, or None."""

    expansion: float = 0.0

    confidence: tuple[Part, ...] = ()

    @property
    def points(self) -> float:
        parts = sum(points for _, points in self.words + self.beside)
        parts += self.session + self.expansion
        return parts + self.meaning + self.speaker + self.reply + self.importance + self.dates


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
    document: str = field(default="", repr=False)
    """Embedded text for a reranker, or "" without one."""

    is_on_board: bool = True
    """False if only the archive still has its line."""

    confidence: float = 0.0
    kind: HitKind = field(default="memory", init=False)

    def __post_init__(self) -> None:
        kind = "note" if self.path else "turn" if self.id.startswith("t") else "memory"
        object.__setattr__(self, "kind", kind if self.device else "passage")


@dataclass(frozen=True)
class Plan:
    """The days that a query names, as 2026-01-31, or ""; and the kinds of entries that are searched."""

    first: str
    last: str
    kinds: list[str]
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
    rerank_ms: float = 0.0
    wordings: tuple[str, ...] = ()

    entries: int = 0

    boards: int = 0


def _check(is_good: bool, name: str, problem: str) -> None:
    if not is_good:
        raise BadSearch(name, problem)
