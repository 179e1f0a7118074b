"""Checks a tool call's arguments against the tool's schema, as far as these schemas go.

Knows type, enum, items, minItems, maxItems, minimum, maximum, maxLength, required, additionalProperties and anyOf.
"""

from engram import text
from engram.agent import lenient
from engram.compat import const
from engram.errors import ArgumentError

_MOST_SHOWN = const(40)

_KINDS = {
    "string": (str, "a text"),
    "integer": (int, "a whole number"),
    "number": ((int, float), "a number"),
    "boolean": (bool, "true or false"),
    "array": (list, "a list"),
    "null": (type(None), "null"),
}


def arguments(call_arguments: str, schema: str) -> dict:
    """The arguments of a call as a dict; ArgumentError names the first that is wrong and says what would be right."""
    try:
        values = text.loads(call_arguments) if call_arguments.strip() else {}
    except ValueError:
        raise ArgumentError("arguments", "must be one JSON object; this is not valid JSON.") from None
    if not isinstance(values, dict):
        raise ArgumentError("arguments", "must be one JSON object.")
    rules: dict = text.loads(schema)  # type: ignore
    known = rules["properties"]
    for name in list(values):
        if name not in known or not _fits(values[name], known[name]):
            _mend(values, name, known.get(name), name in rules["required"])
    for name in rules["required"]:
        if values.get(name) is None:
            raise ArgumentError(name, "is missing; it must be " + _wanted(known[name]) + ".")
    for name, value in values.items():
        if name not in known:
            problem = "there is no such argument; there are %s." % ", ".join(sorted(known))
            raise ArgumentError(name[:_MOST_SHOWN], problem)
        if not _fits(value, known[name]):
            raise ArgumentError(name, "must be " + _wanted(known[name]) + ".")
    return values


def _mend(values: dict, name: str, rule, is_required: bool) -> None:
    """Mend a value that does not fit, where it can mean one thing only."""
    value = values[name]
    if rule and value and lenient.is_left_out(value) and _fits(None, rule):
        values[name] = None
    elif lenient.is_left_out(value):
        if not is_required:
            values.pop(name)
    elif rule:
        values[name] = lenient.coerced(value, rule)


def _fits(value, rule: dict) -> bool:
    if "anyOf" in rule:
        return any(_fits(value, other) for other in rule["anyOf"])
    kind = rule["type"]
    # Python's True is a number, JSON's true is none.
    if not isinstance(value, _KINDS[kind][0]) or isinstance(value, bool) != (kind == "boolean"):
        return False
    if "enum" in rule:
        return value in rule["enum"]
    if kind == "string":
        return len(value) <= rule.get("maxLength", len(value))
    if kind == "array":
        has_room = rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", len(value))
        return has_room and all(_fits(each, rule["items"]) for each in value)
    if kind in ("integer", "number"):
        return rule.get("minimum", value) <= value <= rule.get("maximum", value)
    return True


def _wanted(rule: dict) -> str:
    if "anyOf" in rule:
        return " or ".join(_wanted(other) for other in rule["anyOf"])
    if "enum" in rule:
        return "one of " + ", ".join(rule["enum"])
    wanted = _KINDS[rule["type"]][1]
    if "maxItems" in rule:
        wanted += " of %d to %d texts" % (rule.get("minItems", 0), rule["maxItems"])
    if "maximum" in rule:
        wanted += " from %s to %s" % (rule["minimum"], rule["maximum"])
    elif "minimum" in rule:
        wanted += " from %s on" % rule["minimum"]
    if "maxLength" in rule:
        wanted += " of at most %d characters" % rule["maxLength"]
    if "description" in rule:
        wanted += ", " + rule["description"]
    return wanted
