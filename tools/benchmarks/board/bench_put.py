"""Appending to the store of the benchmark."""

import json
import os
import time

import bench_store_owner

SESSIONS = 400
START = 1790000000
CHATS = 400


def _each(bench, count, lines_at_once):
    """Append lines with one flush each, and yield (erases, bytes programmed, bytes read, microseconds) of each flush."""
    device, store = bench.device, bench.store
    number = store.next_seq - 1
    with open(bench.texts) as texts:
        for _ in range(number):
            texts.readline()
        for _ in range(count):
            lines = []
            for _ in range(lines_at_once):
                source = json.loads(texts.readline())
                lines.append(bench_store_owner.line(bench.kind, source, number, store, START, SESSIONS))
                number += 1
            erases, programmed, read = device.erases, device.programmed_bytes, device.read_bytes
            start = time.ticks_us()
            store.append(*lines)
            ticks = time.ticks_diff(time.ticks_us(), start)
            yield device.erases - erases, device.programmed_bytes - programmed, device.read_bytes - read, ticks


def put(bench, target):
    """Append lines up to a number of them."""
    loop = bench.loop()
    store = bench.store
    count = erases = programmed = read = most_erases = most_ticks = 0
    for erased, bytes_programmed, bytes_read, ticks in _each(bench, int(target) - store.next_seq + 1, 1):
        count += 1
        erases += erased
        programmed += bytes_programmed
        read += bytes_read
        most_erases = max(most_erases, erased)
        most_ticks = max(most_ticks, ticks)
    figures = {"puts": count, "erases": erases, "programmed_bytes": programmed, "read_bytes": read}
    figures["put_max_erases"] = most_erases
    figures["put_max_loops"] = most_ticks / loop
    figures["index_to_log"] = index_bytes(bench) / store.bytes
    print(json.dumps(figures))


def index_bytes(bench):
    """Bytes of all files of the index."""
    total = 0
    for name in os.listdir("/flash"):
        if name.startswith(bench.kind + ".") and not name.endswith(".jsonl"):
            total += os.stat("/flash/" + name)[6]
    return total


def chat(bench, count):
    """Append whole chat turns: the user's line and, later, the agent's, as the journal does it."""
    turns = int(count or CHATS)
    erases = programmed = read = 0
    for erased, bytes_programmed, bytes_read, _ in _each(bench, 2 * turns, 1):
        erases += erased
        programmed += bytes_programmed
        read += bytes_read
    print('{"chat_turn_erases":%f}' % (erases / turns))
    print('{"chat_turn_programmed_bytes":%f,"chat_turn_read_bytes":%f}' % (programmed / turns, read / turns))
