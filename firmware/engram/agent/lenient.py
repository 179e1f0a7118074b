"""Values of arguments that are not as the tool's schema has them, but can mean one thing only."""

from engram import text
from engram.text import lenient_json

_LEFT_OUT = (None, "", "null", "None")
_BOOLEANS = {"true": True, "false": False}


def is_left_out(value) -> bool:
    """True if a value that does not fit stands for none at all."""
    return value is None or (isinstance(value, str) and value in _LEFT_OUT)


def coerced(value, rule: dict):
    """The value in the form that the rule of a schema wants; unchanged if it has another meaning, or more than one."""
    if "anyOf" in rule:
        for other in rule["anyOf"]:
            if value != coerced(value, other):
                return coerced(value, other)
        return value
    kind = rule["type"]
    if kind == "integer" and isinstance(value, float) and value % 1 == 0:
        return int(value)
    if kind == "array" and isinstance(value, list):
        return [coerced(each, rule["items"]) for each in value]
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
    return coerced(elements, rule)


def _number(written: str, rule: dict):
    try:
        value = text.loads(written.strip())
    except ValueError:
        return written
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return coerced(value, rule) if is_number else written
