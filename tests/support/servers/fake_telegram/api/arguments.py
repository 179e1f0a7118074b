"""Arguments of a call: read from a query, a form, a multipart body or JSON, and checked by their type.

Stricter than the service, which ignores what it does not know, takes most types for each other and clamps numbers.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from ..errors import ApiError
from ..text.entities import check_unicode

NAMES = {
    "int": "an Integer",
    "bool": "a Boolean",
    "text": "a String",
    "chat": "an Integer or @username",
    "object": "a JSON object",
    "list": "a JSON array",
    "file": "a file or a file_id",
}
"""The types of arguments, and what a refusal calls them."""

_INTEGER = re.compile(r"-?\d{1,19}")
_DISPOSITION = re.compile(r'([\w*]+)="((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class Upload:
    """A file of a multipart body."""

    name: str
    mime: str
    data: bytes


Raw = dict[str, object]
"""Arguments before their check: texts of a form, values of JSON, uploads."""


def read_arguments(query: str, content_type: str, body: bytes) -> tuple[Raw, bool]:
    """The arguments of a request, and whether they are values of JSON. ApiError if they cannot be read."""
    given: Raw = dict(_pairs(query))
    kind = content_type.partition(";")[0].strip().lower()
    if not body:
        return given, False
    if kind == "application/json":
        return {**given, **_read_json(body)}, True
    if kind == "multipart/form-data":
        return {**given, **_read_multipart(content_type, body)}, False
    if kind == "application/x-www-form-urlencoded":
        return {**given, **dict(_pairs(_text(body)))}, False
    raise ApiError(400, f"Bad Request: strict fake: a body of the type {kind or 'unknown'} is not read")


def _pairs(text: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(text, keep_blank_values=True, strict_parsing=bool(text), errors="strict")
    except ValueError:
        raise ApiError(400, "Bad Request: strict fake: the arguments are no form") from None


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ApiError(400, "Bad Request: strings must be encoded in UTF-8") from None


def _read_json(body: bytes) -> Raw:
    value = _parse_json(_text(body))
    if not isinstance(value, dict):
        raise ApiError(400, "Bad Request: can't parse request JSON object")
    return value


def _parse_json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ApiError(400, "Bad Request: can't parse request JSON object") from None


def _read_multipart(content_type: str, body: bytes) -> Raw:
    match = re.search(r'boundary="?([^";]+)"?', content_type)
    if match is None:
        raise ApiError(400, "Bad Request: strict fake: a multipart body has no boundary")
    mark = b"--" + match[1].encode("latin-1")
    first, *parts = (b"\r\n" + body).split(b"\r\n" + mark)
    if first or not parts or not parts[-1].startswith(b"--"):
        raise ApiError(400, "Bad Request: strict fake: a multipart body does not end with its boundary")
    return dict(_read_part(part) for part in parts[:-1])


def _read_part(part: bytes) -> tuple[str, object]:
    head, separator, data = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
    if not separator:
        raise ApiError(400, "Bad Request: strict fake: a part of a multipart body has no head")
    headers: dict[str, str] = {}
    for line in _text(head).split("\r\n"):
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    fields = dict(_DISPOSITION.findall(headers.get("content-disposition", "")))
    if "name" not in fields:
        raise ApiError(400, "Bad Request: strict fake: a part of a multipart body has no name")
    if "filename" in fields:
        mime = headers.get("content-type", "application/octet-stream")
        return fields["name"], Upload(fields["filename"], mime, data)
    return fields["name"], _text(data)


# --- checks


@dataclass(frozen=True, slots=True)
class Arguments:
    """The checked arguments of one call."""

    values: Mapping[str, object]
    uploads: Mapping[str, Upload]

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def integer(self, name: str, default: int = 0, least: int | None = None, most: int | None = None) -> int:
        """A number; ApiError if it is not within the bounds."""
        value = self.values.get(name, default)
        assert isinstance(value, int)
        if (least is not None and value < least) or (most is not None and value > most):
            raise ApiError(400, f"Bad Request: strict fake: {name} must be from {least} to {most}")
        return value

    def flag(self, name: str) -> bool:
        return self.values.get(name) is True

    def text(self, name: str) -> str:
        value = self.values.get(name, "")
        assert isinstance(value, str)
        return value

    def value(self, name: str) -> object:
        return self.values.get(name)

    def json_object(self, name: str) -> dict[str, object]:
        value = self.values.get(name, {})
        assert isinstance(value, dict)
        return value

    def json_list(self, name: str) -> list[object]:
        value = self.values.get(name, [])
        assert isinstance(value, list)
        return value


def check_arguments(method: str, types: Mapping[str, str], raw: Raw, *, is_json: bool) -> Arguments:
    """Check all arguments by their types; ApiError for an unknown one, or a wrong one."""
    uploads = {name: value for name, value in raw.items() if isinstance(value, Upload)}
    attached = {str(value).removeprefix("attach://") for value in raw.values() if str(value).startswith("attach://")}
    values: dict[str, object] = {}
    for name, value in raw.items():
        if name in attached and name in uploads:
            continue
        if name not in types:
            raise ApiError(400, f"Bad Request: strict fake: {method} has no argument {name}")
        if value is not None:
            values[name] = _check(name, types[name], value, is_json=is_json)
    return Arguments(values, uploads)


def _check(name: str, kind: str, value: object, *, is_json: bool) -> object:
    if isinstance(value, str):
        check_unicode(value)
        found = _from_text(kind, value, is_json=is_json)
    else:
        found = _from_value(kind, value)
    if found is None:
        raise ApiError(400, f"Bad Request: strict fake: {name} must be {NAMES[kind]}")
    return found


def _from_text(kind: str, text: str, *, is_json: bool) -> object:
    if kind in ("text", "file"):
        return text
    if kind == "chat":
        return int(text) if _INTEGER.fullmatch(text) else text
    if kind in ("object", "list"):
        value = _parse_json(text) if text else None
        return _from_value(kind, value)
    if is_json:
        return None
    if kind == "bool":
        return {"true": True, "false": False}.get(text.lower())
    return int(text) if _INTEGER.fullmatch(text) else None


def _from_value(kind: str, value: object) -> object:
    if kind in ("int", "chat"):
        return value if isinstance(value, int) and not isinstance(value, bool) else None
    if kind == "file":
        return value if isinstance(value, Upload) else None
    expected = {"bool": bool, "object": dict, "list": list, "text": str}[kind]
    return value if isinstance(value, expected) else None


def check_fields(
    what: str, value: object, types: Mapping[str, type], required: tuple[str, ...] = ()
) -> dict[str, object]:
    """Check an object within an argument, in the same way."""
    if not isinstance(value, dict):
        raise ApiError(400, f"Bad Request: object expected as {what}")
    for name, one in value.items():
        if name not in types:
            raise ApiError(400, f"Bad Request: strict fake: {what} has no field {name}, or it is not offered here")
        if not isinstance(one, types[name]) or (isinstance(one, bool) and types[name] is int):
            raise ApiError(400, f"Bad Request: strict fake: the field {name} of {what} is of a wrong type")
        if isinstance(one, str):
            check_unicode(one)
    for name in required:
        if name not in value:
            raise ApiError(400, f"Bad Request: can't parse {what}: can't find field \"{name}\"")
    return value
