"""What the frozen build of this board has in its flash beside MicroPython: all of the official image, and Engram."""

include("$(PORT_DIR)/boards/manifest.py")  # noqa: F821  # pyright: ignore  the build gives the function
include("../../firmware/manifest.py")  # noqa: F821  # pyright: ignore
