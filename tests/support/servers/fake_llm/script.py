"""Reads a script and refuses what it does not know, as a rule with a misspelt field would fit anything."""

import json
from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from .rules import DEFAULT_REPLY, CallTemplate, Fault, ScriptRule, When
from .types import Piece

RULE = ("note", "when", "reply", "calls", "stop", "usage", "ascii", "fault", "times")
WHEN = ("contains", "equals", "system", "api", "request", "result", "result_has", "recalled", "offers")
USAGE = ("input", "cached", "output")
STOPS = ("end", "tools", "length", "filter")
FAULTS = {
    "cut": ("after",),
    "stall": ("after",),
    "silent": (),
    "malformed": ("after",),
    "error": ("after",),
    "huge": ("size", "piece"),
    "slow": ("delay",),
    "no_done": (),
    "refuse": (),
}
"""Each kind of fault, but for statuses, and the fields that belong to it."""

_HUGE = 1024 * 1024
_HUGE_PIECE = 4096
_LONGEST_REPLY = 64 * 1024 * 1024
"""Characters that a script may ask for; protects the machine from a slip of the pen."""
_SLOW = 0.001


class ScriptError(Exception):
    """A script is not what it has to be; the text says where and what would be right."""


def load(name: str | Path) -> list[ScriptRule]:
    """The rules of a script: a JSON file's, or those of a script that ships with the package."""
    try:
        value: object = json.loads(_source(name).read_text(encoding="utf-8"))
    except OSError as error:
        raise ScriptError(f"{name}: the script cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ScriptError(f"{name}: this is not JSON in UTF-8: {error}") from error
    if isinstance(value, dict):
        value = _Fields(value, str(name), ("note", "rules")).read_field("rules", list, "a list of rules", [])
    if not isinstance(value, list):
        raise ScriptError(f'{name}: a script is a list of rules, or an object with such a list as "rules"')
    return [read_rule(rule, f"{name}: rule {number}") for number, rule in enumerate(value, 1)]


def read_rule(value: "ScriptRule | Mapping[str, object]", where: str = "rule") -> ScriptRule:
    """A rule from its JSON form."""
    if isinstance(value, ScriptRule):
        return value
    fields = _Fields(value, where, RULE)
    silent = "" if fields.has("calls") else DEFAULT_REPLY
    usage = _Fields(fields.read_field("usage", Mapping, "an object", {}), f"{where}: usage", USAGE)
    return ScriptRule(
        when=_when(fields.read_field("when", Mapping, "an object", {}), f"{where}: when"),
        reply=_reply(fields.read_field("reply", (str, list), "a text or a list of pieces", silent), where),
        calls=tuple(_call(call, where) for call in fields.read_field("calls", list, "a list of calls", [])),
        stop=fields.one_of("stop", STOPS),
        usage=tuple((name, usage.count(name)) for name in USAGE if usage.has(name)),
        ascii=fields.read_field("ascii", bool, "true or false", False),
        fault=_fault(fields.read_field("fault", (str, int, Mapping), "a kind of fault", ""), f"{where}: fault"),
        times=fields.count("times", least=1),
    )


def _source(name: str | Path) -> Traversable:
    """The file `name`; if there is none and `name` has no folder, the shipped script of that name."""
    path = Path(name)
    shipped = resources.files(__package__ or "").joinpath(path.name)
    return shipped if not path.is_file() and str(name) == path.name and shipped.is_file() else path


def _when(value: Mapping[str, object], where: str) -> When:
    fields = _Fields(value, where, WHEN)
    return When(
        contains=fields.texts("contains"),
        equals=fields.texts("equals"),
        system=fields.texts("system"),
        api=fields.one_of("api", ("openai", "anthropic")),
        request=fields.numbers("request"),
        result=fields.read_field("result", (bool, str), "true, false or a tool's name", None),
        result_has=fields.read_field("result_has", str, "a field's name", ""),
        recalled=fields.read_field("recalled", bool, "true or false", None),
        offers=fields.read_field("offers", (bool, str), "true, false or a tool's name", None),
    )


def _reply(value: str | list[object], where: str) -> str | tuple[Piece, ...]:
    if isinstance(value, str):
        return value
    return tuple(_piece(piece, f"{where}: reply, piece {number}") for number, piece in enumerate(value, 1))


def _piece(value: object, where: str) -> Piece:
    if isinstance(value, str):
        return Piece(value)
    fields = _Fields(value, where, ("text", "delay"))
    return Piece(fields.read_field("text", str, "a text", ""), fields.seconds("delay"))


def _call(value: object, where: str) -> CallTemplate:
    fields = _Fields(value, f"{where}: calls", ("name", "arguments", "id"))
    name = fields.read_field("name", str, "a tool's name", "")
    if not name:
        raise ScriptError(f"{where}: calls: name: a tool's name is required")
    arguments = fields.read_field("arguments", (dict, str), "an object, or a text that is sent as it is", {})
    return CallTemplate(name, arguments, fields.read_field("id", str, "a text", ""))


def _fault(value: str | int | Mapping[str, object], where: str) -> Fault | None:
    if value == "":
        return None
    table = value if isinstance(value, Mapping) else {"kind": value}
    kind = str(table.get("kind", ""))
    if kind.isdigit() and 400 <= int(kind) <= 599:
        fields = _Fields(table, where, ("kind", "retry_after"))
        wait = fields.read_field("retry_after", (int, str), "seconds, or a text", 1 if kind == "429" else "")
        if not str(wait).isascii() or not str(wait).isprintable():
            raise ScriptError(f"{where}: retry_after: a header has printable ASCII only")
        return Fault(kind=kind, status=int(kind), retry_after=str(wait))
    if kind not in FAULTS:
        raise ScriptError(f"{where}: kind: this is {', '.join(FAULTS)} or a status from 400 to 599")
    fields = _Fields(table, where, ("kind", *FAULTS[kind]))
    return Fault(
        kind=kind,
        status=401 if kind == "refuse" else 0,
        after=fields.count("after"),
        size=fields.count("size", _HUGE, most=_LONGEST_REPLY),
        piece=fields.count("piece", _HUGE_PIECE, least=1),
        delay=fields.seconds("delay", _SLOW),
    )


class _Fields:
    """The fields of a JSON object; an unknown one is an error."""

    def __init__(self, value: object, where: str, known: tuple[str, ...]):
        if not isinstance(value, Mapping):
            raise ScriptError(f"{where}: this has to be an object")
        for name in value:
            if name not in known:
                raise ScriptError(f"{where}: there is no field {name}; the fields are {', '.join(known)}")
        self._value: Mapping[str, object] = value
        self._where = where

    def has(self, name: str) -> bool:
        return name in self._value

    def read_field(self, name: str, kinds: type | tuple[type, ...], expected: str, default: Any) -> Any:
        """The field `name` if it is of one of `kinds`; `default` if it is absent."""
        if name not in self._value:
            return default
        value = self._value[name]
        wanted = kinds if isinstance(kinds, tuple) else (kinds,)
        if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
            raise self._wrong(name, expected)
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        expected = "a text, or a list of texts"
        value = self.read_field(name, (str, list), expected, [])
        texts = [value] if isinstance(value, str) else value
        if not all(isinstance(text, str) and text for text in texts):
            raise self._wrong(name, expected)
        return tuple(texts)

    def numbers(self, name: str) -> tuple[int, ...]:
        expected = "a number from 1, or a list of them"
        value = self.read_field(name, (int, list), expected, [])
        numbers = value if isinstance(value, list) else [value]
        if not all(isinstance(number, int) and number >= 1 for number in numbers):
            raise self._wrong(name, expected)
        return tuple(numbers)

    def one_of(self, name: str, allowed: tuple[str, ...]) -> str:
        expected = "one of " + ", ".join(allowed)
        value = self.read_field(name, str, expected, "")
        if value and value not in allowed:
            raise self._wrong(name, expected)
        return value

    def count(self, name: str, default: int = 0, *, least: int = 0, most: int = 1 << 31) -> int:
        expected = f"a whole number from {least} to {most}"
        value = self.read_field(name, int, expected, default)
        if name in self._value and not least <= value <= most:
            raise self._wrong(name, expected)
        return value

    def seconds(self, name: str, default: float = 0.0) -> float:
        expected = "seconds: a number, 0 or more"
        value = self.read_field(name, (int, float), expected, default)
        if not value >= 0:
            raise self._wrong(name, expected)
        return float(value)

    def _wrong(self, name: str, expected: str) -> ScriptError:
        return ScriptError(f"{self._where}: {name}: this has to be {expected}")
