"""Hits in notes: in the store they are passages of a Markdown folder, and are shown as lines of their board's notes."""

from dataclasses import replace
from typing import Protocol

from engram.memory import principal_files
from engram_host.companion.search.request import Hit, SearchResult
from engram_host.companion.types import LEFT_NOTES, NOTES, KeptFile


class NoteSource(Protocol):
    """Where it is known in which line of its note a passage stands."""

    def file(self, folder: str, path: str) -> KeptFile | None:
        """A file of a folder, None if it is not here."""
        ...


def with_citations(store: NoteSource, result: SearchResult) -> SearchResult:
    """A result whose hits in notes are those of their boards, cited 2026-01-31.md#3."""
    shown = [_with_citation(store, hit) for hit in result.hits]
    return replace(result, hits=tuple(hit for hit in shown if hit))


def _with_citation(store: NoteSource, hit: Hit) -> Hit | None:
    """The hit as it is shown, None if its note has changed since it was found."""
    for prefix in (NOTES, LEFT_NOTES):
        if hit.device.startswith(prefix):
            file = store.file(hit.device, hit.path)
            line = next((first for seq, first, _ in file.places if seq == hit.seq), 0) if file else 0
            name, _ = principal_files.principal_of(hit.path)
            citation = f"{name}#{line}"
            found = replace(hit, device=hit.device.removeprefix(prefix), id=citation, path=name, citation=citation)
            return replace(found, is_on_board=prefix == NOTES) if line else None
    return hit
