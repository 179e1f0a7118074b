"""A kind of board (boards/NAME/board.json), and the config.json made of its limits and a person's
settings."""

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engram_host.boards.errors import BadRequest, NoFile
from engram_host.firmware import BOARDS

CHIPS = {"esp32": 0x1000, "esp32s3": 0x0}

BLOCK = 4096


@dataclass(frozen=True)
class Region:
    """A part of the flash, in bytes."""

    offset: int
    size: int

    @property
    def end(self) -> int:
        return self.offset + self.size


@dataclass(frozen=True)
class BoardProfile:
    """A kind of board; no setting may use its `forbidden_pins` (flash, PSRAM, boot, serial line)."""

    name: str
    chip: str
    micropython_board: str
    micropython_variant: str
    flash_bytes: int
    filesystem: Region
    forbidden_pins: tuple[int, ...]
    settings: dict[str, Any]

    @property
    def download(self) -> str:
        return self.micropython_board + (f"-{self.micropython_variant}" if self.micropython_variant else "")


def profile_names() -> list[str]:
    return sorted(path.parent.name for path in BOARDS.glob("*/board.json"))


def load_profile(name: str) -> BoardProfile:
    """Load a profile; raises BadRequest if it is missing or invalid."""
    if name not in profile_names():
        asked = f"there is no profile {name!r}" if name else "no board is named"
        raise BadRequest(f"{asked}: BOARD takes {', '.join(profile_names())} (see boards/README.md).")
    given = json.loads((BOARDS / name / "board.json").read_text(encoding="utf-8"))
    try:
        place = Region(given["filesystem"]["offset"], given["filesystem"]["bytes"])
        pins = tuple(given["forbidden_pins"])
        profile = BoardProfile(**{**given, "name": name, "filesystem": place, "forbidden_pins": pins})
    except (KeyError, TypeError) as problem:
        raise BadRequest(f"boards/{name}/board.json lacks a field or has a wrong one: {problem}.") from None
    if profile.chip not in CHIPS:
        raise BadRequest(f"boards/{name}/board.json: chip must be one of {', '.join(CHIPS)}.")
    if place.offset % BLOCK or place.size % BLOCK or place.end > profile.flash_bytes:
        raise BadRequest(f"boards/{name}/board.json: the file system must be whole blocks inside the flash.")
    return profile


# --- config.json


Settings = dict[str, Any]


def read_settings(path: Path) -> Settings:
    """Read a person's settings; raises NoFile, or BadRequest if they are no JSON object."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        kind = NoFile if isinstance(error, FileNotFoundError) else BadRequest
        raise kind(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise BadRequest(f"{path} is not UTF-8.") from None
    return parse_settings(text, str(path))


def parse_settings(text: str, name: str) -> Settings:
    """Parse a config.json; raises BadRequest, with `name`, if it is no JSON object."""
    try:
        values = json.loads(text or "{}")
    except ValueError as problem:
        raise BadRequest(f"{name} is not valid JSON: {problem}.") from None
    if not isinstance(values, dict):
        raise BadRequest(f"{name} must be a JSON object; see docs/reference/settings.md.")
    flat: Settings = {}
    for group, value in values.items():
        flat.update(
            {f"{group}.{key}": inner for key, inner in value.items()} if isinstance(value, dict) else {group: value}
        )
    return flat


def config_json(*layers: Settings) -> bytes:
    """Merge layers into config.json, the last wins; raises BadRequest if the firmware would refuse
    it."""
    merged: Settings = {}
    for layer in layers:
        merged.update(layer)
    nested: dict[str, Any] = {}
    for name, value in sorted(merged.items()):
        group, _, key = name.rpartition(".")
        if group:
            nested.setdefault(group, {})[key] = value
        else:
            nested[name] = value
    content = (json.dumps(nested, ensure_ascii=False, indent=1) + "\n").encode()
    check_settings("config.json", content)
    return content


def check_hardware(board: BoardProfile, content: bytes) -> None:
    """Raise BadRequest if config.json names pins or senses that the board would refuse."""
    from engram.errors import EngramError
    from engram.senses.sense_config import parse_senses
    from engram.tools.pin_config import parse_pins

    values = json.loads(content)
    pins = values.get("pins", {})
    group = values.get("senses", {})
    senses = {name: entry for name, entry in group.items() if isinstance(entry, dict)}
    try:
        parse_pins(pins, board.forbidden_pins)
        parse_senses(senses, pins, board.forbidden_pins)
    except EngramError as problem:
        raise BadRequest(str(problem)) from None


def check_settings(name: str, content: bytes) -> None:
    """Raise BadRequest if the firmware would not start with this config.json or secrets.json."""
    from engram.config import Config
    from engram.errors import EngramError
    from engram.net.transport import split_url

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_bytes(content)
        try:
            if url := Config(folder).get("llm.url"):
                split_url(url)
        except EngramError as problem:
            raise BadRequest(str(problem).replace(folder + "/", "")) from None
