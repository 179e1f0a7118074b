"""Reads the lines of found entries and drops those that are gone or hidden by now."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Protocol

import numpy as np

from engram import log_line, text
from engram.memory import ALL, access, line_meaning
from engram.memory.access import Caller
from engram_host.companion.entries.embedding_text import embedding_text
from engram_host.companion.search.confidence import parts_shown, value_of, with_record
from engram_host.companion.search.fusion import mmr_order
from engram_host.companion.search.ranking import Found
from engram_host.companion.search.request import Hit, SearchRequest
from engram_host.companion.types import LogName

Line = dict[str, Any] | None


class LineSource(Protocol):
    def lines_at(
        self, device: str, log: LogName, epoch: int, seqs: Sequence[int], archived: bool = False
    ) -> Mapping[int, bytes]:
        """Return the existing lines by seq; `archived` includes the archive."""
        ...


class HitReader:
    def __init__(self, lines: LineSource, request: SearchRequest):
        self._source = lines
        self._request = request
        self._lines: dict[tuple[str, LogName, int], Line] = {}

    def read(self, found: Iterable[Found]) -> list[Hit]:
        order = iter(found if self._request.mmr is None else self._reordered(list(found), self._request.mmr))
        hits: list[Hit] = []
        while next_ones := list(islice(order, self._request.shown - len(hits))):
            hits += [self._make_hit(one, line) for one, line in self._with_lines(next_ones) if line is not None]
        return hits

    def _reordered(self, found: list[Found], share: float) -> list[Found]:
        if len(found) < 2:
            return found
        known = [one.vector() for one in found]
        has_vector = np.array([vector is not None for vector in known], np.bool_)
        size = next((len(vector) for vector in known if vector is not None), 1)
        vectors = np.zeros((len(found), size))
        for at, vector in enumerate(known):
            if vector is not None:
                vectors[at] = vector
        words = [frozenset[str]()] * len(found)
        if not has_vector.all():
            words = [_word_set(line) for _, line in self._with_lines(found)]
        scores = [one.candidate.score for one in found]
        return [found[at] for at in mmr_order(scores, vectors, has_vector, words, self._request.limit, share)]

    def _with_lines(self, found: Sequence[Found]) -> Iterator[tuple[Found, Line]]:
        unread: dict[tuple[str, LogName], list[Found]] = {}
        for one in found:
            if one.key not in self._lines:
                unread.setdefault((one.device.name, one.log), []).append(one)
        for (name, log), wanted in unread.items():
            epoch = wanted[0].device.logs[log].epoch
            lines = self._source.lines_at(name, log, epoch, [one.seq for one in wanted], archived=True)
            for one in wanted:
                there = one.seq in lines
                self._lines[one.key] = shown_fields(lines[one.seq], self._request.caller) if there else None
        return ((one, self._lines[one.key]) for one in found)

    def _make_hit(self, found: Found, line: dict[str, Any]) -> Hit:
        device, log, candidate = found.device, found.log, found.candidate
        parts = candidate.confidence_parts
        if log == "records":
            parts = with_record(parts, line)
        explanation = found.explain() if self._request.explain else None
        return Hit(
            device.name,
            candidate.id,
            found.seq,
            candidate.at,
            line.get("who", ""),
            _text(line),
            candidate.score,
            found.state,
            candidate.coverage,
            candidate.cosine,
            replace(explanation, confidence=parts_shown(parts)) if explanation else None,
            str(line.get("path", "")),
            str(line.get("heading", "")),
            document=embedding_text(log, line, device.zone.standard) if self._request.reranked else "",
            is_on_board=found.state != "archived" and found.seq >= device.logs[log].oldest,
            confidence=float(value_of(np.array([parts]))[0]),
        )


def shown_fields(line: bytes, caller: Caller) -> Line:
    fields = log_line.decode(line)
    has_text = "text" in fields or "content" in fields
    return fields if has_text and access.may_see(caller, fields.get("scope", ALL)) else None


def _word_set(line: Line) -> frozenset[str]:
    return frozenset(text.terms(_text(line))) if line else frozenset()


def _text(line: dict[str, Any]) -> str:
    return line_meaning.attributed_text(line) if "text" in line else line["content"]
