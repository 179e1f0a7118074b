"""The board's half of compare_facts.py: PAIRS has a JSON list [old, new] in each line; a verdict is printed for each."""

import json
import sys

from engram.memory.records.dedup import compare


def main(pairs) -> None:
    """Compare each pair."""
    with open(pairs) as file:
        for line in file:
            print(compare(*json.loads(line)))


main(*sys.argv[1:])
