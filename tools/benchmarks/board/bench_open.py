"""Opening the store of the benchmark."""

import gc

import bench_store_owner
from engram.store.log.segments import Log
from engram.store.store import Store

CAP = 4 << 20


def open(bench, _):
    """Open the store: what that reads and keeps."""
    gc.collect()
    before = gc.mem_alloc()
    device = bench.device
    reads, programmed, erases = device.read_bytes, device.programmed_bytes, device.erases
    bench.store = Store(Log("/flash", bench.kind, cap=CAP), bench_store_owner.owner(bench.kind))
    bench.store.open()
    read = device.read_bytes - reads
    written = device.programmed_bytes - programmed, device.erases - erases
    gc.collect()
    print('{"open_read_bytes":%d,"open_heap_bytes":%d}' % (read, gc.mem_alloc() - before))
    print('{"open_programmed_bytes":%d,"open_erases":%d}' % written)
