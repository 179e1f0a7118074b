"""Pairs of facts with the verdict that is expected, written by hand in several rounds, each before the rules had seen it.

A set's text has two lines a pair. The old fact follows a mark, `=` same, `>` changed, `|` different; below it is the new one.
With `?` behind the mark the comparison does not see it yet, and says different: a fact is kept that could go.
"""

import sys

SETS = ["set_%02d" % number for number in range(1, 16)]
_VERDICTS = {"=": "same", ">": "changed", "|": "different"}


def pairs(name: str):
    """Yield (old, new, expected, is seen) for each pair of a set, and let go of its text."""
    module = "fact_pairs." + name
    lines = iter(__import__(module, None, None, ("PAIRS",)).PAIRS.strip().split("\n"))
    del sys.modules[module]
    for line in lines:
        yield line[3:], next(lines).strip(), _VERDICTS[line[0]], line[1] != "?"
