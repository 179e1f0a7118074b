"""What a MicroPython build of one's own freezes."""

package("engram", base_path=".")  # noqa: F821 the build gives the function
