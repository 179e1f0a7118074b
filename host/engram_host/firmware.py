"""Where the firmware's code is: what board and host do alike, both do with the same code.

An installed package has it; in a clone it stands beside host/.
"""

import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "firmware"


def add_to_path() -> None:
    """Let `engram` be imported from a clone."""
    if str(SOURCE) not in sys.path:
        sys.path.append(str(SOURCE))
