"""The documentation is tested against the firmware's own tables, imported on CPython; its links run over a chip's sockets."""

import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "firmware"), str(TOP / "tests" / "unit")]

from fakes import links  # noqa: E402

links.install()
