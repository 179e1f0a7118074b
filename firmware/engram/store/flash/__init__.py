"""The store with its index in flash: in the making, measured by tools/bench_store.py, not used by the app yet."""
