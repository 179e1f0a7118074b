"""Rewrites a log's sealed segments without unwanted lines, in slices between other work.

Segments are taken from old to new. The kept lines of neighbours that fill a segment go into one file, which
replaces the first of them in one step; then the others are removed. After a power cut in between, repeated
lines are read once. Lines keep their seqs.
"""

import os

from engram import files, log_line
from engram.errors import StoreError
from engram.store.index import merge_policy


def compacting(store, decide):
    """Rewrite a store's log by decide(line), see compact(); pause between slices for other calls."""
    store.ready()
    if store.is_compacting:
        raise StoreError("a compaction is under way: wait until it is done.")
    if store.reserve:
        store.reserve.release()
        store.is_reserve_due = False
    while store.upkeep.unindexed and store.tick(may_seal=False):
        yield
    store.is_compacting = True
    store.upkeep.filling = None
    is_over = False
    try:
        yield from store.entry_states.settling()
        # Written before the first line goes, so that copies notice an interrupted compaction too.
        store.log.rewrites += 1
        store.log.may_mend = False
        yield from store.upkeep.sealing_segment()
        # The segment's first, and not the next line: one may have come since the segment began.
        following = store.log.first
        yield from compact(store.log, decide)
        # Before the manifest is written, so that a power cut loses no work.
        store.index.tidy_below = store.index.next_number
        if store.log.next_seq > following:
            yield from store.upkeep.sealing_segment()
        else:
            store.upkeep.rewrite_header()
        store.upkeep.retry()
        while merge_policy.untidy(store.index) and not store.upkeep.obstacle:
            store.tick(may_seal=False)
            yield
        while store.reserve and store.reserve.allocate_some():
            yield
        is_over = True
    finally:
        store.is_compacting = False
        store.log.may_mend = True
        # The reserve is not kept here and now: Ctrl-C may have ended it, and waits.
        store.is_reserve_due = store.reserve is not None and not is_over


def compact(segments, decide):
    """Compact a Log, pausing between slices; decide(line) gives True, False or new pairs."""
    segments.settle()
    # Damage set aside may hold a text forgotten since.
    files.discard(segments.base + ".bad")
    for number in [segment[0] for segment in segments.sealed]:
        segments.file_of(number)  # drops one without a file: after a compaction that was cut another has its lines
    following = [segment[1] for segment in segments.sealed[1:]] + [segments.first]
    left = [(segment[0], segment[1], end) for segment, end in zip(segments.sealed, following)]
    for number, _, _ in left:
        # A compaction that was cut may have left it.
        files.discard(_draft(segments, number))
    copier = _Copier(segments, decide)
    while left:
        try:
            taken = yield from copier.fill(left)
            _replace(segments, [segment[0] for segment in left[:taken]], copier.size)
        except OSError as error:
            files.discard(_draft(segments, left[0][0]))
            raise files.failure(error, segments.base) from None
        left = left[taken:]
    # Damage that was met on the way may be of a text that has gone.
    files.discard(segments.base + ".bad")


def _draft(segments, number: int) -> str:
    return segments.sealed_path(number) + ".kept"


class _Copier:
    def __init__(self, segments, decide):
        self._segments = segments
        self._decide = decide
        self._last = 0  # seq of the latest line, to take repeated ones once
        self.size = 0

    def fill(self, left: list):
        """Write a draft of the first of `left` and those that fit behind it; return their number."""
        taken = self.size = 0
        with open(_draft(self._segments, left[0][0]), "wb") as target:
            for number, first, self._following in left:
                self._last = max(self._last, first - 1)
                path = self._segments.sealed_path(number)
                if taken and self.size + files.size(path) > self._segments.segment_bytes:
                    break
                yield from self._copy(path, target)
                taken += 1
        return taken

    def _copy(self, path: str, target):
        with open(path, "rb") as source:
            for _, line, ended in log_line.lines(source):
                if log_line.is_whole(line, ended):
                    self._copy_line(bytes(line), target)
                else:
                    for saved in self._segments.repair.set_aside(line, ended):
                        self._copy_line(saved, target)
                # After each: what became of one may take a hundred reads of the index.
                yield

    def _copy_line(self, line: bytes, target) -> None:
        values = log_line.decode(line)
        # Headers have no seq: the live one has all that they had. A seq of another segment does not belong here.
        if not self._last < values.get("seq", 0) < self._following:
            return
        self._last = values["seq"]
        verdict = self._decide(values)
        if verdict:
            self.size += target.write(line if verdict is True else log_line.encode(verdict))


def _replace(segments, numbers: list, size: int) -> None:
    segments.moves += 1
    for number in numbers:
        segments.close_sealed(number)
    first = numbers[0]
    if size:
        os.rename(_draft(segments, first), segments.sealed_path(first))
    else:
        os.remove(_draft(segments, first))
    gone = numbers[1:] if size else numbers
    for number in gone:
        files.remove(segments.sealed_path(number))
    segments.sealed = [segment for segment in segments.sealed if segment[0] not in gone]
    segments.note_size(first, size)
