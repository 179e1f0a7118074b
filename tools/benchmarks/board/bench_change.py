"""Changing what is in the store of the benchmark, and its index made anew."""

import os
import time

import bench_store_owner

CHANGES = 40


class Costs:
    """What some changes cost: the middle one, and the mean with the seals and littlefs's searches for free blocks that fell
    on them.
    """

    def __init__(self):
        self.reads = []
        self.erases = 0
        self.programmed = 0

    def take(self, bench, work):
        """Do a change and count it."""
        device = bench.device
        reads, erases, programmed = device.read_bytes, device.erases, device.programmed_bytes
        work()
        self.reads.append(device.read_bytes - reads)
        self.erases += device.erases - erases
        self.programmed += device.programmed_bytes - programmed

    def tell(self, name):
        """Print the figures."""
        self.reads.sort()
        count = len(self.reads)
        figures = (name, self.reads[count // 2], name, sum(self.reads) / count, name, self.erases / count)
        print('{"%s_read_bytes":%d,"%s_all_read_bytes":%f,"%s_erases":%f}' % figures)
        print('{"%s_programmed_bytes":%f}' % (name, self.programmed / count))


def change(bench, _):
    """Update and forget some lines; the work in the background is counted with the puts."""
    store = bench.store
    count = store.next_seq - 1
    # The first write after a start looks through all files for free blocks.
    store.append(bench_store_owner.forget(bench.kind, count), background=False)
    updates, forgets = Costs(), Costs()
    for step in range(CHANGES):
        number = 1 + (step * 997) % (count - 50)
        if store.get(number) is not None:

            def update(number=number):
                line = bench_store_owner.update(bench.kind, store.get(number), number)
                store.append(line, background=False)

            updates.take(bench, update)
        number = 1 + (step * 1597 + 13) % (count - 50)
        if store.get(number) is not None:

            def forget(number=number):
                store.append(bench_store_owner.forget(bench.kind, number), background=False)

            forgets.take(bench, forget)
    updates.tell("update")
    forgets.tell("forget")


def idle(bench, _):
    """Let the work in the background end."""
    while bench.store.tick():
        pass


def rebuild(bench, _):
    """Lose the index and wait until it is back."""
    store = bench.store
    store.close()
    for name in os.listdir("/flash"):
        if name.startswith(bench.kind + ".") and not name.endswith(".jsonl"):
            os.remove("/flash/" + name)
    start = time.ticks_ms()
    store.open()
    while store.tick():
        pass
    assert not store.partial
    print('{"rebuild_seconds":%f}' % (time.ticks_diff(time.ticks_ms(), start) / 1000))
