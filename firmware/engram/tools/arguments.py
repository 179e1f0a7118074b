"""Reads the arguments of a model's call, by the tool's schema.

Values that are not as the schema has them are mended where they can mean one thing only.
"""

from engram import text
from engram.errors import ArgumentError
from engram.schema_check import check_fields, fits
from engram.text import lenient_json

_LEFT_OUT = (None, "", "null", "None")
_BOOLEANS = {"true": True, "false": False}


def read_arguments(call_arguments: str, schema: str) -> dict:
    """Return the arguments of a call; ArgumentError names the first that is wrong."""
    try:
        values = text.loads(call_arguments) if call_arguments.strip() else {}
    except ValueError:
        raise ArgumentError("arguments", "must be one JSON object; this is not valid JSON.") from None
    if not isinstance(values, dict):
        raise ArgumentError("arguments", "must be one JSON object.")
    rules: dict = text.loads(schema)  # type: ignore
    known = rules["properties"]
    for name in list(values):
        if name not in known or not fits(values[name], known[name]):
            _mend(values, name, known.get(name), name in rules["required"])
    check_fields(values, known, rules["required"])
    return values


def _mend(values: dict, name: str, rule, is_required: bool) -> None:
    """Mend a value that does not fit, where it can mean one thing only."""
    value = values[name]
    is_left_out = value is None or (isinstance(value, str) and value in _LEFT_OUT)
    if rule and value and is_left_out and fits(None, rule):
        values[name] = None
    elif is_left_out:
        if not is_required:
            values.pop(name)
    elif rule:
        values[name] = _coerced(value, rule)


def _coerced(value, rule: dict):
    """The value in the form that the rule of a schema wants; unchanged if it has another meaning, or more than one."""
    if "anyOf" in rule:
        for other in rule["anyOf"]:
            if value != _coerced(value, other):
                return _coerced(value, other)
        return value
    kind = rule["type"]
    if kind == "integer" and isinstance(value, float) and value % 1 == 0:
        return int(value)
    if kind == "array" and isinstance(value, list):
        return [_coerced(each, rule["items"]) for each in value]
    if not isinstance(value, str):
        return value
    if kind == "array":
        return _list(value, rule)
    if kind == "boolean":
        return _BOOLEANS.get(value.strip().lower(), value)
    if kind in ("integer", "number"):
        return _number(value, rule)
    return value


def _list(written: str, rule: dict):
    """The elements of a list as JSON, or between commas."""
    if written.strip()[:1] != "[":
        elements = [part.strip() for part in written.split(",")]
    else:
        try:
            elements = lenient_json.loads(written, list)
        except ValueError:
            return written
    return _coerced(elements, rule)


def _number(written: str, rule: dict):
    try:
        value = text.loads(written.strip())
    except ValueError:
        return written
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return _coerced(value, rule) if is_number else written
