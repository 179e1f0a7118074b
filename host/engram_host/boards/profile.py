"""What differs between boards: boards/NAME/board.json."""

import json
from dataclasses import dataclass
from typing import Any

from engram_host.boards.errors import BadRequest
from engram_host.firmware import BOARDS

CHIPS = {"esp32": 0x1000, "esp32s3": 0x0}
"""Chips that Engram knows: where in the flash MicroPython's image begins."""

BLOCK = 4096
"""The flash is erased in blocks of so many bytes, which are littlefs's blocks too."""


@dataclass(frozen=True)
class Region:
    """A part of the flash, in bytes."""

    offset: int
    size: int

    @property
    def end(self) -> int:
        """The first byte behind it."""
        return self.offset + self.size


@dataclass(frozen=True)
class Profile:
    """One kind of board. `filesystem` is where the official image has it; `settings` are by dotted name."""

    name: str
    chip: str
    micropython_board: str
    micropython_variant: str
    flash_bytes: int
    filesystem: Region
    psram: bool
    settings: dict[str, Any]

    @property
    def download(self) -> str:
        """How the official image's file is called, but for date and version."""
        return self.micropython_board + (f"-{self.micropython_variant}" if self.micropython_variant else "")


def names() -> list[str]:
    """All boards that there is a profile for."""
    return sorted(path.parent.name for path in BOARDS.glob("*/board.json"))


def load(name: str) -> Profile:
    """The profile of that name; BadRequest if there is none or it cannot be used."""
    if name not in names():
        asked = f"there is no profile {name!r}" if name else "no board is named"
        raise BadRequest(f"{asked}: BOARD takes {', '.join(names())} (see boards/README.md).")
    given = json.loads((BOARDS / name / "board.json").read_text(encoding="utf-8"))
    try:
        place = Region(int(given["filesystem"]["offset"]), int(given["filesystem"]["bytes"]))
        profile = Profile(
            name,
            str(given["chip"]),
            str(given["micropython_board"]),
            str(given["micropython_variant"]),
            int(given["flash_bytes"]),
            place,
            bool(given["psram"]),
            dict(given["settings"]),
        )
    except (KeyError, TypeError, ValueError) as problem:
        raise BadRequest(f"boards/{name}/board.json lacks a field or has a wrong one: {problem}.") from None
    if profile.chip not in CHIPS:
        raise BadRequest(f"boards/{name}/board.json: chip must be one of {', '.join(CHIPS)}.")
    if place.offset % BLOCK or place.size % BLOCK or place.end > profile.flash_bytes:
        raise BadRequest(f"boards/{name}/board.json: the file system must be whole blocks inside the flash.")
    return profile
