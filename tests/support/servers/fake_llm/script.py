"""Reads a script and refuses what it does not know, as a rule with a misspelt field would fit anything."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .rules import CallTemplate, Fault, ScriptRule, When
from .types import Piece

Reader = Callable[[Any, str], Any]
"""Reads a value; the text says where it stands, for a ScriptError."""


class ScriptError(Exception):
    """A script is not what it has to be; the text says where and what would be right."""


def load(name: str | Path) -> list[ScriptRule]:
    """The rules of a script: a JSON file's, or those of a script that ships with the package."""
    shipped = Path(__file__).parent / name
    path = shipped if shipped.is_file() else Path(name)
    try:
        value: object = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ScriptError(f"{name}: the script cannot be read: {error}") from error
    if isinstance(value, Mapping):
        value = _fields(value, str(name), {"note": _anything, "rules": _of("a list of rules", list)}).get("rules")
    if not isinstance(value, list):
        raise ScriptError(f'{name}: a script is a list of rules, or an object with such a list as "rules"')
    return [read_rule(rule, f"{name}: rule {number}") for number, rule in enumerate(value, 1)]


def read_rule(value: "ScriptRule | Mapping[str, object]", where: str = "rule") -> ScriptRule:
    """A rule from its JSON form."""
    if isinstance(value, ScriptRule):
        return value
    fields = _fields(value, where, RULE)
    fields.pop("note", None)
    if "calls" in fields:
        fields.setdefault("reply", "")
    return ScriptRule(**fields)


def _fields(value: object, where: str, readers: Mapping[str, Reader]) -> dict[str, Any]:
    """The fields of a JSON object; an unknown one is an error."""
    if not isinstance(value, Mapping):
        raise ScriptError(f"{where}: this has to be an object")
    for name in value:
        if name not in readers:
            raise ScriptError(f"{where}: there is no field {name}; the fields are {', '.join(readers)}")
    return {name: readers[name](one, f"{where}: {name}") for name, one in value.items()}


# --- values


def _anything(value: Any, where: str) -> Any:
    return value


def _of(expected: str, *kinds: type, is_sound: Callable[[Any], bool] = lambda value: True) -> Reader:
    """What reads a value of some types."""

    def read(value: Any, where: str) -> Any:
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds) or not is_sound(value):
            raise ScriptError(f"{where}: this has to be {expected}")
        return value

    return read


def _count(least: int, most: int = 1 << 31) -> Reader:
    return _of(f"a whole number from {least} to {most}", int, is_sound=lambda value: least <= value <= most)


def _one_of(*allowed: str) -> Reader:
    return _of("one of " + ", ".join(allowed), str, is_sound=lambda value: value in allowed)


def _some(reader: Reader) -> Reader:
    """What reads one value, or a list of them."""

    def read(value: Any, where: str) -> tuple[Any, ...]:
        return tuple(reader(each, where) for each in (value if isinstance(value, list) else [value]))

    return read


def _record(kind: Callable[..., Any], readers: Mapping[str, Reader]) -> Reader:
    return lambda value, where: kind(**_fields(value, where, readers))


_text = _of("a text", str, is_sound=bool)
_flag = _of("true or false", bool)
_presence = _of("true, false or a tool's name", bool, str)
_seconds = _of("seconds: a number, 0 or more", int, float, is_sound=lambda value: value >= 0)

WHEN: Mapping[str, Reader] = {
    "contains": _some(_text),
    "equals": _some(_text),
    "system": _some(_text),
    "api": _one_of("openai", "anthropic"),
    "request": _some(_count(1)),
    "result": _presence,
    "result_has": _text,
    "recalled": _flag,
    "offers": _presence,
}
_PIECE = {"text": _of("a text", str), "delay": _seconds}
_CALL = {"name": _text, "arguments": _of("an object, or a text that is sent as it is", dict, str), "id": _text}
FAULTS: Mapping[str, Mapping[str, Reader]] = {
    "cut": {"after": _count(0)},
    "stall": {"after": _count(0)},
    "silent": {},
    "malformed": {"after": _count(0)},
    "error": {"after": _count(0)},
    "huge": {"size": _count(0, 64 << 20), "piece": _count(1)},
    "slow": {"delay": _seconds},
    "no_done": {},
    "refuse": {},
}
"""Each kind of fault, but for statuses, and the fields that belong to it."""


def _reply(value: Any, where: str) -> str | tuple[Piece, ...]:
    if not isinstance(value, list):
        return _of("a text or a list of pieces", str)(value, where)
    read = _record(Piece, _PIECE)
    return tuple(Piece(one) if isinstance(one, str) else read(one, f"{where}, piece") for one in value)


def _calls(value: Any, where: str) -> tuple[CallTemplate, ...]:
    calls = [_fields(call, where, _CALL) for call in _of("a list of calls", list)(value, where)]
    if not all("name" in call for call in calls):
        raise ScriptError(f"{where}: name: a tool's name is required")
    return tuple(CallTemplate(**call) for call in calls)


def _fault(value: Any, where: str) -> Fault:
    fields = dict(value) if isinstance(value, Mapping) else {"kind": value}
    kind = str(fields.pop("kind", ""))
    if kind.isdigit() and 400 <= int(kind) <= 599:
        fields = {"retry_after": 1 if kind == "429" else "", **fields}
        read = _fields(fields, where, {"retry_after": _of("seconds, or a text", int, str)})
        return Fault(kind, status=int(kind), retry_after=str(read["retry_after"]))
    if kind not in FAULTS:
        raise ScriptError(f"{where}: kind: this is {', '.join(FAULTS)} or a status from 400 to 599")
    return Fault(kind, status=401 if kind == "refuse" else 0, **_fields(fields, where, FAULTS[kind]))


RULE: Mapping[str, Reader] = {
    "note": _anything,
    "when": _record(When, WHEN),
    "reply": _reply,
    "calls": _calls,
    "stop": _one_of("end", "tools", "length", "filter"),
    "usage": lambda value, where: _fields(value, where, dict.fromkeys(("input", "cached", "output"), _count(0))),
    "ascii": _flag,
    "fault": _fault,
    "times": _count(1),
}
