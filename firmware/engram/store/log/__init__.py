"""The append-only log: segments of lines, recovery, compaction."""
