"""app.tool(): makes a tool of a function, called with it or as a decorator."""

from engram.errors import ArgumentError
from engram.tools.own_tool import OwnTool

_OPTIONS = ("name", "description", "schema", "who", "groups", "confirm", "seconds", "wants_caller")


def declare(toolbox, function, options: dict):
    """Add the function to a toolbox and give it back; without one, give what does that to the function that follows."""
    for option in options:
        if option not in _OPTIONS:
            raise ArgumentError(option, "is no option; there are " + ", ".join(_OPTIONS) + ".")

    def add(function):
        toolbox.add(_make(function, **options))
        return function

    return add(function) if function else add


def _make(function, name="", description="", schema=None, seconds=10, **more) -> OwnTool:
    milliseconds = int(seconds * 1000) if isinstance(seconds, (int, float)) else 0
    return OwnTool(
        name or getattr(function, "__name__", ""), description, schema or {}, function, timeout_ms=milliseconds, **more
    )
