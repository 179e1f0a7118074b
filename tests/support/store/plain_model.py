"""What a store should answer, worked out the plain way: all lines in a list, read through for each question.

`Entries` says which entries there are, from the lines alone. `Ranks` is BM25 as store/search/ describes it, with its
rounding (eight levels, one byte a row), without any index. Three things of the index decide ranks and are told to it:
the mean length with which lines were sealed (and that of now, for those in RAM), into which tables the lines are cut at
present (a turn's next one counts within a table, and so does the order of sessions at equal scores), and which rows are
marked as not live. That each of these is as it should be is checked beside, where it can be known.
"""

import math
from collections import Counter
from typing import Any

LIVE, SUPERSEDED, FORGOTTEN = 0, 1, 2
LEVELS = (11, 14, 17, 20, 23, 26, 29, 32)
KEPT = 64
SLOTS = 512
HEAD = 32
MOST_TERMS = 256
UNKNOWN_MEAN = 12 * 16

Line = dict[str, Any]


class Entries:
    """The lines of a log and what they say of entries."""

    def __init__(self):
        self.lines: list[Line] = []
        self.next_seq = 1

    def append(self, lines: list[Line]) -> int:
        """Take lines as the log does; the first one's seq."""
        first = self.next_seq
        for line in lines:
            self.lines.append({"seq": self.next_seq, **line})
            self.next_seq += 1
        return first

    def entry_states(self) -> dict[int, tuple[int, Line]]:
        """{number: (state, line of the latest version)} of all entries."""
        found: dict[int, tuple[int, Line]] = {}

        def turn(number: int, state: int) -> None:
            if number in found:
                found[number] = (state, found[number][1])

        for line in self.lines:
            if "ends" in line:
                for number, (_, latest) in list(found.items()):
                    if latest.get("session") == line["ends"]:
                        turn(number, FORGOTTEN)
            elif "forget" in line:
                turn(line["forget"], FORGOTTEN)
            elif "show" in line:
                turn(line["show"], LIVE)
            else:
                found[line.get("of", line["seq"])] = (LIVE, line)
                if "supersedes" in line:
                    turn(line["supersedes"], SUPERSEDED)
        return found

    def live_seqs(self) -> set[int]:
        """The seqs of the lines that a search may find."""
        return {line["seq"] for state, line in self.entry_states().values() if state == LIVE}

    def keep(self, kept: set[int]) -> None:
        """What compaction does."""
        self.lines = [line for line in self.lines if line["seq"] in kept]


def is_entry(line: Line) -> bool:
    """Whether a line is an entry's version."""
    return "text" in line


def labels_of(line: Line) -> set[str]:
    """The filters that a line passes."""
    found = {"#" + tag for tag in line.get("tags", ())}
    found |= {mark + line[key] for mark, key in (("%", "who"), ("@", "scope")) if key in line}
    return found


def passes(line: Line, labels, scopes, since: int = 0, until: int = 0) -> bool:
    """Whether a line passes all filters; moments count by the minute."""
    own = labels_of(line)
    minute = line.get("at", 0) // 60
    return (
        all(label in own for label in labels)
        and (not scopes or any(scope in own for scope in scopes))
        and (not since or minute >= since // 60)
        and (not until or minute < until // 60)
    )


class Row:
    """A line as a search sees it."""

    def __init__(self, line: Line):
        self.line = line
        self.seq = line["seq"]
        self.words = line["text"].split() if is_entry(line) else []
        self.session = line.get("session", 0) if is_entry(line) else 0
        del self.words[MOST_TERMS:]
        self.counts: Counter[str] = Counter()  # eighths
        for at, word in enumerate(self.words):
            self.counts[word] += 8 if at < HEAD else 1
        self.length = 8 * min(len(self.words), HEAD) + max(0, len(self.words) - HEAD)
        self.mean = 0  # with which it was sealed
        self.place = 0  # the table that it is in
        self.marked = False  # taken out of the answers
        self.in_ram = True


class Index:
    """All rows that the index has, and how it is cut into tables, as it tells itself."""

    def __init__(self):
        self.known: dict[int, Row] = {}
        self.rows: list[Row] = []
        self.partial = ""
        self.mean = UNKNOWN_MEAN

    def take_lines(self, lines: list[Line]) -> None:
        """Lines that were appended."""
        for line in lines:
            self.known[line["seq"]] = Row(line)

    def take_status(self, status: dict[str, Any]) -> None:
        """What the board says of its index."""
        for seqs, mean in status["events"]:
            for seq in seqs:
                self.known[seq].mean = mean
        self.mean = status["mean"]
        self.partial = status["partial"]
        marked = set(status["ram_marked"])
        self.rows = []
        for place, (seqs, dead) in enumerate(status["tables"]):
            marked.update(dead)
            for seq in seqs:
                self._put(seq, place, False)
        for seq in status["ram"]:
            self._put(seq, len(status["tables"]), True)
        for row in self.rows:
            row.marked = row.seq in marked
        self.rows.sort(key=lambda row: (row.place, row.session if not row.in_ram else 0, row.seq))

    def _put(self, seq: int, place: int, in_ram: bool) -> None:
        row = self.known[seq]
        row.place, row.in_ram = place, in_ram
        self.rows.append(row)

    def counted(self, row: Row) -> bool:
        """Whether a row's words count for others: those in RAM leave when it is marked, those in tables stay."""
        return not (row.marked and row.in_ram)


def idf(documents: int, having: int) -> int:
    """log(1 + (N - n + .5) / (n + .5)) in 1,024ths."""
    having = min(having, documents)
    return int(1024 * math.log(1 + (documents - having + 0.5) / (having + 0.5)))


def level(count: int, length: int, mean: int) -> int:
    """BM25's weight of a word, in eight levels from .475 up in steps of .15; count and length are in eighths."""
    count, length = min(count, 512), max(length, 160)
    weight = count * 1900 * 1000 // (count * 1000 + 8 * 540 + 360 * length * 16 // mean)
    return max(0, min(7, (weight - 475) // 150))


class Ranks:
    """The answer to one query."""

    def __init__(self, index: Index, words: list[str], weights: dict[str, int] | None):
        self.index = index
        self.words = list(dict.fromkeys(words))[:24]
        rows = [row for row in index.rows if index.counted(row)]
        documents = sum(not row.marked for row in index.rows)
        self.having = {word: sum(word in row.counts for row in rows) for word in self.words}
        own = {word: idf(documents, self.having[word]) if self.having[word] else 0 for word in self.words}
        self.idfs = {word: weights[word] for word in self.words} if weights else own
        self.sum = sum(self.idfs.values()) or 1
        # Each word weighs one at least: the others share what is left of the byte.
        self.scale = 255 - sum(idf * 11 * 255 < 32 * self.sum for idf in self.idfs.values())
        self.documents = documents
        self.rows = index.rows
        # A table that has none of the words is passed over: its rows would only be found by turns in other tables.
        self.searched = {row.place for row in rows if row.in_ram or any(word in row.counts for word in self.words)}
        self.scores = {row.seq: self._words_score(row) for row in self.rows}

    def _words_score(self, row: Row) -> int:
        """B of a row, in one byte."""
        if row.marked:
            return 0
        mean = self.index.mean if row.in_ram else row.mean
        total = 0
        for word in self.words:
            if row.counts[word] and self.idfs[word]:
                weight = LEVELS[level(row.counts[word], row.length, mean)]
                total += max(1, self.idfs[word] * weight * self.scale // (32 * self.sum))
        return total

    def totals(self) -> dict[int, int]:
        """T of each row, times five."""
        before: dict[int, list[Row]] = {}  # session: its last two rows so far, the newest first
        found = {row.seq: 5 * self.scores[row.seq] for row in self.rows}
        for row in self.rows:
            if row.session:
                near = before.setdefault(row.session % SLOTS, [])
                for other, weight in zip(near, (2, 1), strict=False):
                    found[row.seq] += weight * self.scores[other.seq]
                    if other.place == row.place:
                        found[other.seq] += weight * self.scores[row.seq]
                near[:] = [row, *near[:1]]
        return found

    def session_scores(self, wanted: set[int]) -> dict[int, int]:
        """S of some sessions; the ten rarest words count, each up to seven rows."""
        sizes: Counter[int] = Counter()
        counts: dict[int, Counter[str]] = {}
        rarest = sorted(self.words, key=lambda word: (-self.idfs[word], self.words.index(word)))[:10]
        for row in self.rows:
            if row.session:
                sizes[row.session] += 1
                counts.setdefault(row.session, Counter())
                if self.index.counted(row):
                    counts[row.session].update(word for word in rarest if word in row.counts)
        having = {word: sum(bool(count[word]) for count in counts.values()) for word in rarest}
        idfs = {word: idf(len(sizes), having[word]) if having[word] else 0 for word in rarest}
        found = {}
        for session in wanted:
            flat = 720 + 180 * sizes[session] * len(sizes) // max(1, sum(sizes.values()))
            found[session] = 0
            for word in rarest:
                count = min(7, counts[session][word])
                found[session] += idfs[word] * (count * 121600 // (count * 1000 + flat))
        top = max(found.values(), default=0)
        while top >= 1 << 17:
            top >>= 1
            found = {session: score >> 1 for session, score in found.items()}
        return found

    def ranked(self, allowed, speaker: str, live: set[int], asks: bool, limit: int) -> list[list[int]]:
        """[[number, score, evidence, seq], ...] of at most `limit` lines, best first; `allowed` tells of a line."""
        totals = self.totals()
        places = {row.seq: place for place, row in enumerate(self.rows)}
        kept = [row for row in self.rows if totals[row.seq] and not row.marked and row.place in self.searched]
        kept = [row for row in kept if is_entry(row.line) and allowed(row.line)]
        kept = [row for row in kept if not (row.in_ram and not row.length)]
        kept.sort(key=lambda row: (-totals[row.seq], places[row.seq]))
        del kept[KEPT:]
        top = totals[kept[0].seq] if kept else 1
        prior = self.session_scores({row.session for row in kept if row.session})
        prior_top = max(prior.values(), default=0)
        found = []
        for row in kept:
            score = totals[row.seq] * 4096 // top
            if prior_top and row.session:
                score += prior[row.session] * 4096 // prior_top // 2
            if speaker in labels_of(row.line):
                score += score * 2 // 5
            if "reply" in row.line and not asks:
                score //= 2
            evidence = totals[row.seq] * self.sum // 255
            found.append((-score, -places[row.seq], row, evidence * 3 // 4 if row.session else evidence))
        found.sort(key=lambda item: item[:2])
        hits = [[row.line.get("of", row.seq), -score, evidence, row.seq] for score, _, row, evidence in found]
        return [hit for hit in hits if hit[3] in live][:limit]
