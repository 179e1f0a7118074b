"""Reads a call's arguments by the tool's schema, and converts wrong types that have only one meaning."""

from engram import text
from engram.errors import ArgumentError
from engram.schema_check import check_fields, fits
from engram.text import lenient_json

_LEFT_OUT = (None, "", "null", "None")


def read_arguments(call_arguments: str, schema: str) -> dict:
    try:
        values = text.loads(call_arguments) if call_arguments.strip() else {}
    except ValueError:
        raise ArgumentError("arguments", "must be one JSON object; this is not valid JSON.") from None
    if not isinstance(values, dict):
        raise ArgumentError("arguments", "must be one JSON object.")
    rules: dict = text.loads(schema)  # type: ignore
    known = rules["properties"]
    for name, value in list(values.items()):
        rule = known.get(name)
        if rule and fits(value, rule):
            continue
        if value in _LEFT_OUT:
            if rule and value and fits(None, rule):
                values[name] = None
            elif name not in rules["required"]:
                values.pop(name)
        elif rule:
            values[name] = _mended(value, rule)
    check_fields(values, known, rules["required"])
    return values


def _mended(value, rule: dict):
    """Return a value converted by its rule; unchanged if it cannot be."""
    for option in rule.get("anyOf", (rule,)):
        for meant in _meanings(value):
            if option["type"] == "array" and isinstance(meant, list):
                meant = [_mended(each, option["items"]) for each in meant]
            if fits(meant, option):
                return meant
    return value


def _meanings(value) -> tuple:
    if isinstance(value, float):
        return (int(value),) if value % 1 == 0 else ()
    if not isinstance(value, str):
        return (value,)
    written = value.strip()
    try:
        if written[:1] == "[":
            return (lenient_json.loads(written, list),)
        meant = text.loads(written.lower())
        return (meant,) + (_meanings(meant) if isinstance(meant, float) else ())
    except ValueError:
        return () if written[:1] == "[" else ([part.strip() for part in written.split(",")],)
