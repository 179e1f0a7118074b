"""Where this project keeps what goes to a board."""

import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[3]
FIRMWARE = _ROOT / "firmware"
BOARDS = _ROOT / "boards"


def let_firmware_be_imported() -> None:
    """Make `import engram` work here: the firmware's own rules say what it will take."""
    if str(FIRMWARE) not in sys.path:
        sys.path.append(str(FIRMWARE))
