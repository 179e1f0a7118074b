"""Rewrites a log's sealed segments without the lines that are no longer wanted, in slices between other work.

Segments are taken from old to new. What is kept of as many neighbours as fill a segment goes into one file, which takes the
place of the first of them in one step; then the others go. A cut in between leaves lines in two places, of which one is
read. Lines keep their seqs.
"""

import os

from engram import files, log_line
from engram.store.index import merge_policy


def compacting(store, decide):
    """See Store.compacting."""
    store.ready()
    store.release_reserve()
    while store.is_partial and store.tick(may_seal=False):
        yield
    store.begin_compaction()
    is_over = False
    try:
        yield from store.entry_states.settling()
        # In a header before the first line goes: whoever copies the log learns of a compaction that was cut, too.
        store.log.begin_rewrite()
        yield from store.upkeep.sealing_segment()
        # The segment's first, and not the next line: one may have come since the segment began.
        following = store.log.first
        yield from compact(store.log, decide)
        # Before the manifest is written: a cut does not make it forget what is to be done.
        store.index.mark_untidy()
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
        store.end_compaction(is_over)


def compact(segments, decide):
    """A generator that compacts the sealed segments of a Log and pauses between slices.

    decide(line) gives True to keep a line, False to drop it, or pairs that take its place.
    """
    segments.settle()
    # What was set aside may hold a text that was forgotten since.
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
    """Copies what is kept of segments; `size` is that of the file that was filled last."""

    def __init__(self, segments, decide):
        self._segments = segments
        self._decide = decide
        self._last = 0  # seq of the last line that was looked at: one that stands twice is taken once
        self.size = 0

    def fill(self, left: list):
        """Write the draft of the first of `left`, (number, first seq, first seq after it) each, and of those after it while
        they fit; how many were taken.
        """
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
            for _, line, ended in self._segments.lines(source, 0):
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
    """Let the draft of `size` bytes take the place of some segments."""
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
