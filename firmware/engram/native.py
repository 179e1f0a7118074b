"""The functions of engram.loops, as native code where the runtime loads it."""

try:
    from engram import native_loops  # pyright: ignore

    loops = native_loops
except (ImportError, ValueError, MemoryError):
    # None was made, it is for another chip, or the memory for code is full.
    from engram import loops

IS_NATIVE = loops.__name__ != "engram.loops"
