"""The versions of all that is not a Python package: the one place where they are pinned.

Python packages are pinned in requirements.lock. One exception: where python3 has no pip, the pip that installs those
is the one of the machine's own Debian release.
"""

MICROPYTHON_OLDEST = (1, 25, 0)
"""The oldest MicroPython that the firmware supports."""

MICROPYTHON_SUITE = "trixie"
MICROPYTHON_PACKAGE = "1.25.0+ds-1"
"""The Debian suite and package version used where PATH has no `micropython` that is new enough."""
