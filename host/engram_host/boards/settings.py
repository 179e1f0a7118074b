"""config.json for a board: the profile's limits and what a person gave, checked by the firmware's own rules."""

import json
import tempfile
from pathlib import Path
from typing import Any

from engram_host.boards.errors import BadRequest, NoFile

Settings = dict[str, Any]
"""Settings by dotted name."""


def read_settings(path: Path) -> Settings:
    """The settings in a file of a person; BadRequest if it cannot be read or is no JSON object, NoFile."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        kind = NoFile if isinstance(error, FileNotFoundError) else BadRequest
        raise kind(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise BadRequest(f"{path} is not UTF-8.") from None
    return parse_settings(text, str(path))


def parse_settings(text: str, name: str) -> Settings:
    """The settings in the text of a config.json; BadRequest, with `name`, if it is no JSON object."""
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
    """The text of config.json: later layers go before earlier ones. BadRequest if the firmware would not take it."""
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


def check_settings(name: str, content: bytes) -> None:
    """BadRequest, with the firmware's own sentence, if it would not start with such a config.json or secrets.json."""
    from engram.config import Config
    from engram.errors import EngramError

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_bytes(content)
        try:
            Config(folder)
        except EngramError as problem:
            raise BadRequest(str(problem).replace(folder + "/", "")) from None
