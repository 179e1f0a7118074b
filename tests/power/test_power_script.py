"""The script whose power is cut: it has all kinds of operations, and all that the store does at times happens in it."""

import re
from collections import Counter
from itertools import pairwise

from cuts import Story


def _listings(story: Story) -> list[tuple[int, set[str]]]:
    """(number of the operation, names of the files that there were) wherever they were listed."""
    return [
        (number, {name for name, _ in story.results[number]})
        for number, operation in enumerate(story.operations)
        if operation["do"] == "files"
    ]


def _compactions(story: Story) -> set[int]:
    return {number for number, operation in enumerate(story.operations) if operation["do"] == "compact"}


def test_both_logs_are_sealed_several_times(story: Story):
    names = set.union(*[listed for _, listed in _listings(story)])
    for log in ("memory_records", "journal"):
        sealed = {name for name in names if re.search(rf"/{log}\.\d\d\d\d\.jsonl$", name)}
        assert len(sealed) >= 3, sorted(names)


def test_pieces_of_both_indexes_are_merged(story: Story):
    compactions = _compactions(story)
    merged: Counter[str] = Counter()
    listings = _listings(story)
    for (start, before), (end, after) in pairwise(listings):
        if compactions.isdisjoint(range(start, end)):
            merged.update(name.split("/")[0] for name in before - after if re.search(r"\.x\d+$", name))
    assert merged["memory"] >= 2 and merged["journal"] >= 2
