"""Editing small texts: what the profile and the notes share."""

from engram import files, text
from engram.errors import ArgumentError


def read(path: str, largest: int) -> str:
    """A file's text, "" if there is none; bytes that are no UTF-8 show as U+FFFD."""
    data = files.read(path, largest)
    return "" if data is None else text.decode(data)


def check(argument: str, content, limit: int, name: str) -> None:
    """ArgumentError unless `content` is a text that fits into the file called `name`."""
    if not isinstance(content, str):
        raise ArgumentError(argument, "must be a text.")
    if "\0" in content:
        raise ArgumentError(argument, "must not contain a NUL character.")
    if len(content) > limit:
        problem = "%s would have %d characters, at most %d are kept: shorten it or remove what is out of date."
        raise ArgumentError(argument, problem % (name, len(content), limit))


def appended(content: str, line: str) -> str:
    """The content with one more line."""
    if not isinstance(line, str) or not line.strip():
        raise ArgumentError("text", "must be a text that is not empty.")
    if content and not content.endswith("\n"):
        content += "\n"
    return content + line.rstrip("\n") + "\n"


def replaced(content: str, old: str, new: str, name: str) -> str:
    """The content with `new` in the place of `old`; ArgumentError unless `old` stands there exactly once."""
    if not isinstance(old, str) or not old:
        raise ArgumentError("old", "must be the text to replace, exactly as it stands in %s." % name)
    if not isinstance(new, str):
        raise ArgumentError("text", "must be a text.")
    found = content.count(old)
    if found != 1:
        times = "%d times" % found if found else "not at all"
        problem = "stands %s in %s; give a piece of it that stands there exactly once." % (times, name)
        raise ArgumentError("old", problem)
    return content.replace(old, new)
