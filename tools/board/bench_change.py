"""Changing what is in the store of the benchmark, and its index made anew."""

import os
import time

import bench_store_owner

CHANGES = 40


def change(bench, _):
    """Update and forget some lines; the work in the background is counted with the puts."""
    device, store = bench.device, bench.store
    count = store.next_seq - 1
    updated = forgotten = update_reads = forget_reads = update_erases = forget_erases = 0
    for step in range(CHANGES):
        number = 1 + (step * 997) % (count - 50)
        line = store.get(number)
        if line is not None:
            reads, erases = device.read_bytes, device.erases
            line = store.get(number)
            store.append(bench_store_owner.update(bench.kind, line, number), background=False)
            updated += 1
            update_reads += device.read_bytes - reads
            update_erases += device.erases - erases
        number = 1 + (step * 1597 + 13) % (count - 50)
        if store.get(number) is not None:
            reads, erases = device.read_bytes, device.erases
            store.append(bench_store_owner.forget(bench.kind, number), background=False)
            forgotten += 1
            forget_reads += device.read_bytes - reads
            forget_erases += device.erases - erases
    print('{"update_read_bytes":%f,"update_erases":%f}' % (update_reads / updated, update_erases / updated))
    print('{"forget_read_bytes":%f,"forget_erases":%f}' % (forget_reads / forgotten, forget_erases / forgotten))


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
