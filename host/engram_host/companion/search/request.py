"""What can be asked of a search, and what it answers."""

from dataclasses import dataclass, field
from typing import Literal

from engram.memory.access import Caller
from engram.memory.ranking import Plan
from engram_host.companion.errors import BadSearch
from engram_host.companion.types import LogName
from engram_host.sentences import SentenceTable

MOST_QUERY = 2000
"""Characters of a query."""

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
"""Why a search found nothing, or did not look everywhere."""

MOST_HITS = 100
MOST_OFFSET = 900
"""Hits before a page: bounds what one search ranks."""

MOST_DEVICES = 64
"""Boards of one search: all their indexes are in memory then."""

MOST_LINES = 400_000
"""Of several boards that are searched together: about 100 bytes of each line, beside the indexes."""

MOST_FOLDERS = 64
"""Markdown folders that are searched beside them."""

MOST_TAGS = 8

HitKind = Literal["memory", "turn", "note", "passage"]
"""What was found: of a board a memory, a turn or a line of a note; of a Markdown folder a passage."""

Part = tuple[str, float]
"""What added to a score, in words for a person, and by how much."""


@dataclass(frozen=True)
class Weights:
    """What counts for how much; the defaults are those of docs/design/retrieval.md, where the formula stands."""

    near: float = 0.4
    far: float = 0.2
    session: float = 0.5
    speaker: float = 1.4
    reply: float = 0.5
    """Of what the assistant said, unless the query asks for it."""

    record: float = 1.5
    meaning: float | None = None
    """Of meaning against words, 0 to 1; None: by the shape of the query."""

    exact: float = 0.2
    paraphrase: float = 0.4
    """Of meaning, where the shape decides."""

    expansion: float = 0.3
    """Of the words of other wordings against those of the query."""

    def __post_init__(self) -> None:
        for name in ("near", "far", "session", "reply", "meaning", "exact", "paraphrase", "expansion"):
            value = getattr(self, name)
            if value is not None:
                _check(0 <= value <= 1, f"weights.{name}", "must be 0 to 1")
        _check(1 <= self.speaker <= 3, "weights.speaker", "must be 1 to 3")
        _check(0 < self.record <= 3, "weights.record", "must be above 0 and at most 3")


@dataclass(frozen=True)
class SearchRequest:
    """One question. Times are Unix seconds, 0 leaves them open; BadSearch if a value has no sense."""

    query: str
    devices: tuple[str, ...]
    caller: Caller
    now: int
    limit: int = 10
    offset: int = 0
    """Hits that are passed over: those of the pages before."""

    log: LogName | None = None
    tags: tuple[str, ...] = ()
    type: str = ""
    session: str = ""
    speaker: str = ""
    since: int = 0
    until: int = 0
    history: bool = False
    """Also what another record or a later version took the place of."""

    use_words: bool = True
    use_meaning: bool = True
    weights: Weights = field(default_factory=Weights)
    candidates: int = 8
    """So many times `limit` are taken from each side before both are fused."""

    min_words: float = 0.0
    """The least share of the query's words, by their weight, that what is found by words has to match."""

    min_cosine: float = 0.1
    """The least cosine of what is found by meaning."""

    mmr: float | None = None
    """1 looks only at scores, less prefers what differs from what stands above it; None: off."""

    dates: bool = True
    """Whether what was said at a time that the query names comes higher."""

    explain: bool = False
    reranked: int = 0
    """So many of the best are given though `limit` is lower, with their `document`, for a reranker; 0: there is none.

    With `mmr` no more than `limit` are: it has chosen what is shown, and a reranker orders that.
    """

    wordings: tuple[str, ...] = ()
    """Other wordings of the query, whose words count as `weights.expansion` says."""

    @property
    def shown(self) -> int:
        """How many hits a result has at most."""
        return self.limit if self.mmr is not None else max(self.depth, self.reranked)

    @property
    def depth(self) -> int:
        """How many hits are ranked, those of the pages before among them."""
        return self.offset + self.limit

    def __post_init__(self) -> None:
        _check(
            0 < len(self.query.strip()) <= len(self.query) <= MOST_QUERY, "query", f"needs 1 to {MOST_QUERY} characters"
        )
        most = 3 * MOST_DEVICES + MOST_FOLDERS  # the notes of a board are up to two more
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
    """What a score is made of: the points of all lists and numbers add up to it."""

    words: tuple[Part, ...]
    """Each word of the query that it has, also by a memory that was made of it."""

    beside: tuple[Part, ...]
    """The turns beside it, by their ids."""

    session: float
    meaning: float
    speaker: float
    reply: float
    """What a reply lost, at most 0."""

    importance: float
    dates: float
    cosine: float | None
    """With the query; None if it has no vector or meaning was not asked."""

    rerank: float | None = None
    """What a reranker gave it, which decides its place and is no part of the score; None if none was asked."""

    expansion: float = 0.0
    """From the words of other wordings of the query."""

    confidence: tuple[Part, ...] = ()
    """What its confidence is made of, see confidence.py: that of words and of meaning, then factors."""

    @property
    def points(self) -> float:
        """All of it together."""
        parts = sum(points for _, points in self.words + self.beside)
        parts += self.session + self.expansion
        return parts + self.meaning + self.speaker + self.reply + self.importance + self.dates


@dataclass(frozen=True)
class Hit:
    """Something that was found. `id` is m12 for a record and t34 for a turn; `who` is "" for a record.

    Of a Markdown file, or of a note, it has `path` and `heading`; `citation` is path#line once it is known where the passage
    stands now.
    """

    device: str
    id: str
    seq: int
    at: int
    who: str
    text: str = field(repr=False)
    score: float = 0.0
    state: Literal["live", "superseded", "earlier version", "archived"] = "live"
    coverage: float = 0.0
    """The share of the query's words that it matches, by their weight, 0 to 1."""

    cosine: float | None = None
    explanation: Explanation | None = None
    path: str = ""
    heading: str = ""
    citation: str = ""
    document: str = field(default="", repr=False)
    """What a reranker reads of it, the text that is embedded; "" if there is no reranker."""

    is_on_board: bool = True
    """Whether the board has its line still, outside its archive."""

    confidence: float = 0.0
    """How sure it is that this is an answer, 0 to 1."""

    @property
    def kind(self) -> HitKind:
        """What it is."""
        if not self.device:
            return "passage"
        if self.path:
            return "note"
        return "turn" if self.id.startswith("t") else "memory"


@dataclass(frozen=True)
class SearchResult:
    """What was found, best first, and how."""

    hits: tuple[Hit, ...]
    why_empty: str = ""
    degraded: str = ""
    """Why a part of the search did not work, such as the meaning side; "" if all did, or was not wanted."""

    left_out: tuple[str, ...] = ()
    """What was found and is not among the hits, a sentence each."""

    confidence: float = 0.0
    """How sure it is that an answer was found, 0 to 1."""

    plan: Plan | None = None
    """What the search did with the query; None if there was nothing to search."""

    meaning_weight: float = 0.0
    shape: str = ""
    """Why the weight is what it is."""

    embed_ms: float = 0.0
    search_ms: float = 0.0
    rerank_ms: float = 0.0
    wordings: tuple[str, ...] = ()
    """Other wordings of the query whose words were searched too."""

    entries: int = 0
    """Live entries that this caller may see on these boards."""

    boards: int = 0
    """How many boards were searched, those among them whose notes or folders were."""


def _check(is_good: bool, name: str, problem: str) -> None:
    if not is_good:
        raise BadSearch(name, problem)
