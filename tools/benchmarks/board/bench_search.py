"""Searching in the store of the benchmark."""

import time
from array import array

from engram.store.types import Query

SEARCHES = 200
FETCHED = 10


def search(bench, count):
    """Ask questions of 3 to 8 words and fetch the ten best lines of each."""
    searches = int(count or SEARCHES)
    loop = bench.loop()
    device, store = bench.device, bench.store
    reads, ticks = array("I", bytes(4 * searches)), array("I", bytes(4 * searches))
    programmed, erases = device.programmed_bytes, device.erases
    with open(bench.queries) as file:
        for at in range(searches):
            terms = file.readline().split()
            before = device.read_bytes
            start = time.ticks_us()
            found = list(store.search(Query(terms, (), (), 0, 0, "", None, bench.kind == "records"), FETCHED))
            ticks[at] = time.ticks_diff(time.ticks_us(), start)
            reads[at] = device.read_bytes - before
            assert found
            found = None
    reads, ticks = sorted(reads), sorted(ticks)
    for share in (50, 95):
        at = searches * share // 100
        print('{"search_p%d_read_bytes":%d,"search_p%d_loops":%f}' % (share, reads[at], share, ticks[at] / loop))
    written = device.programmed_bytes - programmed, device.erases - erases
    print('{"search_programmed_bytes":%d,"search_erases":%d}' % written)
