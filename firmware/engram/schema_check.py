"""Checks values by rules: those of config.json, the arguments of tools, and the fields of the link's messages.

A rule is a dict of JSON Schema with type, enum, items, minItems, maxItems, minimum, maximum,
minLength, maxLength, properties, description and anyOf; {"format": "line"} wants a text that can be shown in
one line. A short form makes one: "0..100", "on|off", "string", "integer", "number", "boolean".
"""

from engram import text
from engram.errors import ArgumentError

_KINDS = {
    "string": (str, "a text"),
    "integer": (int, "a whole number"),
    "number": ((int, float), "a number"),
    "boolean": (bool, "true or false"),
    "array": ((list, tuple), "a list"),
    "object": (dict, "an object"),
    "null": (type(None), "null"),
}


def rule_of(short) -> dict:
    if isinstance(short, dict):
        return short
    if not isinstance(short, str):
        raise ValueError
    low, dots, high = short.partition("..")
    if dots:
        return {"type": "integer", "minimum": int(low), "maximum": int(high)}
    if "|" in short:
        return {"type": "string", "enum": short.split("|")}
    return {"type": short}


def check_fields(values: dict, rules: dict, required=()) -> None:
    """Check an object's fields by their rules; ArgumentError."""
    for name in required:
        if values.get(name) is None:
            raise ArgumentError(name, "is missing; it must be " + wanted(rules[name]) + ".")
    for name, value in values.items():
        if name not in rules:
            problem = "is not known; there are %s." % ", ".join(sorted(rules))
            raise ArgumentError(text.printable(name)[:40], problem)
        check(name, value, rules[name])


def check(name: str, value, rule) -> None:
    """Check one value; ArgumentError."""
    if not fits(value, rule):
        raise ArgumentError(name, "must be " + wanted(rule) + ".")


def fits(value, short) -> bool:
    rule: dict = rule_of(short)
    if "anyOf" in rule:
        return any(fits(value, other) for other in rule["anyOf"])
    kind = rule["type"]
    # Python's True is a number, JSON's true is none.
    if not isinstance(value, _KINDS[kind][0]) or isinstance(value, bool) != (kind == "boolean"):
        return False
    if "enum" in rule:
        return value in rule["enum"]
    if kind == "string":
        is_line = "format" not in rule or (text.printable(value) == value and "\n" not in value)
        return is_line and rule.get("minLength", 0) <= len(value) <= rule.get("maxLength", len(value))
    if kind == "array":
        has_room = rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", len(value))
        return has_room and ("items" not in rule or all(fits(each, rule["items"]) for each in value))
    if kind == "object":
        return all(name in rule["properties"] and fits(each, rule["properties"][name]) for name, each in value.items())
    if kind in ("integer", "number"):
        is_finite = value - value == 0
        return is_finite and rule.get("minimum", value) <= value <= rule.get("maximum", value)
    return True


def wanted(short) -> str:
    rule: dict = rule_of(short)
    if "anyOf" in rule:
        return " or ".join([wanted(other) for other in rule["anyOf"]])
    if "enum" in rule:
        return "one of " + ", ".join(rule["enum"])
    said = _KINDS[rule["type"]][1]
    if "maxItems" in rule:
        kind = _KINDS[rule["items"]["type"]][1].split()[-1] if "items" in rule else "element"
        said += " of %d to %d %ss" % (rule.get("minItems", 0), rule["maxItems"], kind)
    if "maximum" in rule:
        said += " from %s to %s" % (rule["minimum"], rule["maximum"])
    elif "minimum" in rule:
        said += " from %s on" % rule["minimum"]
    if "minLength" in rule:
        said += " of %d to %d characters" % (rule["minLength"], rule["maxLength"])
    elif "maxLength" in rule:
        said += " of at most %d characters" % rule["maxLength"]
    if "description" in rule:
        said += ", " + rule["description"]
    return said
