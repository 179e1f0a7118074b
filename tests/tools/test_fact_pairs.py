"""The comparison of facts on 1,689 pairs whose right verdict is known: same, changed or different.

The pairs of tests/data/fact_pairs were written by hand before any rule had seen them. A wrong `same` loses a
fact; a similar one is only named.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from engram.memory.records.dedup import SAME, SIMILAR, compare

FOLDER = Path(__file__).resolve().parent.parent / "data" / "fact_pairs"
LEAST_SAME = 57
LEAST_NEAR = 818
MOST_WRONGLY_NEAR = 233


@pytest.fixture(scope="module")
def pairs() -> list[dict[str, str]]:
    return [json.loads(line) for path in sorted(FOLDER.glob("*.jsonl")) for line in path.open() if line.strip()]


@pytest.fixture(scope="module")
def verdicts(pairs: list[dict[str, str]]) -> Counter[tuple[str, str]]:
    return Counter((pair["expected"], compare(pair["old"], pair["new"])) for pair in pairs)


def test_no_pair_that_says_different_things_is_the_same(pairs: list[dict[str, str]]):
    assert len(pairs) == 1689
    assert not [pair for pair in pairs if pair["expected"] != "same" and compare(pair["old"], pair["new"]) == SAME]


def test_pairs_that_say_the_same_are_found(verdicts: Counter[tuple[str, str]]):
    assert verdicts["same", SAME] >= LEAST_SAME


def test_most_pairs_about_one_thing_are_near_and_few_others_are(verdicts: Counter[tuple[str, str]]):
    near = {expected: sum(verdicts[expected, verdict] for verdict in (SAME, SIMILAR)) for expected, _ in verdicts}
    assert near["same"] + near["changed"] >= LEAST_NEAR
    assert near["different"] <= MOST_WRONGLY_NEAR
