"""Events in one sentence each, as people read them."""

from engram.senses.values import value_text


def describe(fields: dict, sense) -> str:
    """What an event is, when it begins, with what explains it."""
    name, value = fields["name"], sense.text(fields["value"])
    kind = fields["kind"]
    if kind in ("low", "high"):
        return "%s: %s, %s the limit of %s" % (name, value, _side(kind), sense.text(fields["limit"]))
    if kind == "silent":
        lasted = duration(fields["told"] - fields["start"])
        return "no reading of %s for %s; its interval is %s" % (name, lasted, duration(60 * fields["usual"][1]))
    return "%s is unusual: %s, where %s would be usual at this hour" % (name, value, _usual(fields, sense))


def summary(fields: dict, sense, clock) -> str:
    """An event that is over, as a memory of it."""
    name, value, kind = fields["name"], sense.text(fields["value"]), fields["kind"]
    span = "from %s to %s" % (clock.minute(fields["start"]), clock.minute(fields["end"]))
    if kind in ("low", "high"):
        said = "%s was %s %s %s, %s at the %sest" % (name, _side(kind), sense.text(fields["limit"]), span, value, kind)
    elif kind == "silent":
        said = "no reading of %s came %s" % (name, span)
    else:
        said = "%s was unusual %s: %s, where %s was usual" % (name, span, value, _usual(fields, sense))
    return "%s (%s)" % (said, fields["id"])


def duration(seconds: int) -> str:
    """A time in words, such as "45 min" or "3 h"."""
    minutes = max(0, seconds) // 60
    if minutes < 120:
        return "%d min" % minutes
    return "%d h" % (minutes // 60) if minutes < 2880 else "%d days" % (minutes // 1440)


def _side(kind: str) -> str:
    return "below" if kind == "low" else "above"


def _usual(fields: dict, sense) -> str:
    low, high = fields["usual"]
    return "%s to %s" % (value_text(low, sense.decimals), sense.text(high))
