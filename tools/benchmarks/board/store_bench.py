"""The board's half of `make bench-store`: runs on the 32-bit build, on a littlefs whose flash is a file of the host.

    store_bench.py FLASH KIND TEXTS QUERIES STEP ...

STEP is one of those in the table below; each prints one JSON object. The code of a step is loaded with it, so that what is
measured in one does not carry the others.
"""

import gc
import random
import sys
import time

from engram.compat import collect_often

collect_often()  # as the app does

STEPS = {
    "open": "bench_open",  # what opening reads and keeps
    "put": "bench_put",  # put:N appends lines up to N and measures each
    "chat": "bench_put",  # appends 400 whole chat turns; chat:N: so many
    "search": "bench_search",  # 200 searches; search:N: so many
    "change": "bench_change",  # updates and forgets
    "rebuild": "bench_change",  # the index is lost and made anew
    "idle": "bench_change",  # the work in the background ends
}


class Bench:
    """One store on one flash."""

    def __init__(self, device, kind, texts, queries):
        self.device = device
        self.kind = kind
        self.texts = texts
        self.queries = queries
        self.store = None

    def loop(self):
        """The time that the unit of all times here takes, in microseconds: the best of some."""

        def count():
            s = 0
            for i in range(100000):
                s += i
            return s

        best = 1 << 30
        for _ in range(5):
            start = time.ticks_us()
            count()
            best = min(best, time.ticks_diff(time.ticks_us(), start))
            gc.collect()
        return best


def main(flash_file, kind, texts, queries, *steps):
    """Run the steps."""
    import flash

    random.seed(1)  # of which a log's epoch comes: so all counts are the same in each run
    bench = Bench(flash.mount(flash_file, 6 << 20, "/flash"), kind, texts, queries)
    for step in steps:
        name, _, value = step.partition(":")
        module = __import__(STEPS[name])
        getattr(module, name)(bench, value)
        gc.collect()


main(*sys.argv[1:])
