"""The board's half of `make bench-store`: runs on the 32-bit build, on a littlefs whose flash is a file of the host.

    store_bench.py FLASH KIND TEXTS QUERIES STEP ...

STEP is put:N (append lines up to N and measure each), open (measure opening), search (measure 200 searches), change
(measure updates and forgets), rebuild (delete the index and measure making it anew), or idle (finish merging). Each
step prints one JSON object.
"""

import gc
import json
import os
import sys
import time

import bench_store_owner
import flash
from engram.store.log import Log
from engram.store.store import Query, Store

SIZE = 6 << 20
CAP = 4 << 20
SESSIONS = 400
START = 1790000000
SEARCHES = 200
FETCHED = 10


def loop_ticks() -> int:
    """The time that the unit of all times here takes, in microseconds."""

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


class Bench:
    """One store on one flash."""

    def __init__(self, device, kind, texts):
        self.device = device
        self.kind = kind
        self.texts = texts
        self.loop = loop_ticks()
        self.store = None
        self.last = {}

    def open(self):
        """Open the store: what that reads and keeps."""
        gc.collect()
        before = gc.mem_alloc()
        reads = self.device.read_bytes
        self.store = Store(Log("/flash", self.kind, cap=CAP), bench_store_owner.owner(self.kind))
        self.store.open()
        read = self.device.read_bytes - reads
        gc.collect()
        print(json.dumps({"open_read_bytes": read, "open_heap_bytes": gc.mem_alloc() - before}))

    def put(self, target):
        """Append lines up to a number of them."""
        device, store, loop = self.device, self.store, self.loop
        count = erases = programmed = most_erases = most_ticks = 0
        with open(self.texts) as texts:
            number = store.next_seq - 1
            for _ in range(number):
                texts.readline()
            while number < target:
                line = bench_store_owner.line(self.kind, json.loads(texts.readline()), number, store, START, SESSIONS)
                before, bytes_before = device.erases, device.programmed_bytes
                start = time.ticks_us()
                store.append(line)
                ticks = time.ticks_diff(time.ticks_us(), start)
                most_ticks = max(most_ticks, ticks)
                most_erases = max(most_erases, device.erases - before)
                erases += device.erases - before
                programmed += device.programmed_bytes - bytes_before
                count += 1
                number += 1
        figures = {"n": target, "put_erases": erases / count, "put_max_erases": most_erases}
        figures["put_max_loops"] = most_ticks / loop
        figures["put_programmed_bytes"] = programmed / count
        figures["log_bytes"] = store.bytes
        figures["index_bytes"] = sum(os.stat(p.path)[6] for p in store._index.pieces)
        figures["index_to_log"] = figures["index_bytes"] / store.bytes
        figures["pieces"] = len(store._index.pieces)
        print(json.dumps(figures))

    def search(self, queries):
        """Ask 200 questions of 3 to 8 words and fetch the ten best lines of each."""
        reads, ticks = [], []
        with open(queries) as file:
            for _ in range(SEARCHES):
                query = Query(file.readline().split(), (), (), 0, 0, "", None)
                before = self.device.read_bytes
                start = time.ticks_us()
                found = self.store.search(query, FETCHED)
                ticks.append(time.ticks_diff(time.ticks_us(), start))
                reads.append(self.device.read_bytes - before)
                assert found
        reads.sort()
        ticks.sort()
        middle, high = SEARCHES // 2, SEARCHES * 95 // 100
        print(
            json.dumps(
                {
                    "search_p50_read_bytes": reads[middle],
                    "search_p95_read_bytes": reads[high],
                    "search_p50_loops": ticks[middle] / self.loop,
                    "search_p95_loops": ticks[high] / self.loop,
                }
            )
        )

    def change(self):
        """Update and forget some lines."""
        device, store = self.device, self.store
        updates, forgets, erases = [], [], []
        count = store.next_seq - 1
        for step in range(20):
            number = 1 + (step * 997) % (count - 50)
            before, before_erases = device.read_bytes, device.erases
            line = store.get(number)
            store.append(bench_store_owner.update(self.kind, line, number), background=False)
            updates.append(device.read_bytes - before)
            number = 1 + (step * 1597 + 13) % (count - 50)
            before, before_erases = device.read_bytes, device.erases
            if store.get(number) is not None:
                store.append(bench_store_owner.forget(self.kind, number), background=False)
                forgets.append(device.read_bytes - before)
                erases.append(device.erases - before_erases)
        print(
            json.dumps(
                {
                    "update_read_bytes": sum(updates) / len(updates),
                    "forget_read_bytes": sum(forgets) / len(forgets),
                    "forget_erases": sum(erases) / len(erases),
                }
            )
        )

    def idle(self):
        """Let the work in the background end."""
        while self.store.tick():
            pass

    def rebuild(self):
        """Lose the index and wait until it is back."""
        self.store.close()
        for name in os.listdir("/flash"):
            if name.startswith(self.kind + ".x") or name == self.kind + ".index":
                os.remove("/flash/" + name)
        start = time.ticks_ms()
        self.store.open()
        self.idle()
        print(json.dumps({"rebuild_seconds": time.ticks_diff(time.ticks_ms(), start) / 1000}))


def main(flash_file, kind, texts, queries, *steps):
    """Run the steps."""
    gc.threshold(20000)
    device = flash.mount(flash_file, SIZE, "/flash")
    bench = Bench(device, kind, texts)
    for step in steps:
        name, _, value = step.partition(":")
        if name == "put":
            bench.put(int(value))
        elif name == "search":
            bench.search(queries)
        else:
            getattr(bench, name)()
        gc.collect()


main(*sys.argv[1:])
