"""The documentation is tested against the firmware's own tables, imported on CPython."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "firmware"))
