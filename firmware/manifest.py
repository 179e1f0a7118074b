"""What a MicroPython build of one's own freezes."""

package("engram", base_path=".")  # noqa: F821  # pyright: ignore  the build gives the function
