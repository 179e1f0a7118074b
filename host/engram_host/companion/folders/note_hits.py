"""Hits in notes: stored as passages of a Markdown folder, shown as lines of a board's notes."""

from dataclasses import replace
from typing import Protocol

from engram.memory import principal_files
from engram_host.companion.search.request import Hit, SearchResult
from engram_host.companion.types import LEFT_NOTES, NOTES, KeptFile


class NoteSource(Protocol):
    def file(self, folder: str, path: str) -> KeptFile | None: ...


def with_citations(store: NoteSource, result: SearchResult) -> SearchResult:
    shown = [_with_citation(store, hit) for hit in result.hits]
    return replace(result, hits=tuple(hit for hit in shown if hit))


def _with_citation(store: NoteSource, hit: Hit) -> Hit | None:
    for prefix in (NOTES, LEFT_NOTES):
        if hit.device.startswith(prefix):
            file = store.file(hit.device, hit.path)
            line = next((first for seq, first, _ in file.places if seq == hit.seq), 0) if file else 0
            name, _ = principal_files.principal_of(hit.path)
            citation = f"{name}#{line}"
            found = replace(hit, device=hit.device.removeprefix(prefix), id=citation, path=name, citation=citation)
            return replace(found, is_on_board=prefix == NOTES) if line else None
    return hit
