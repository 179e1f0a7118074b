"""Reads a service's refusal, and explains it to a person. Loaded only when one came."""

from engram.compat import const
from engram.errors import ModelRefused
from engram.llm.types import part
from engram.text import cut, decode, loads, printable

# How much of a service's own words is shown: enough for its first sentence, and no page of HTML.
_WORDS = const(200)
_SAID = ("error", "message", "detail", "msg", "errors", "error_msg", "status_msg", "base_resp", "description", "title")
_MOST_LISTED = const(3)  # entries of a list of errors: the line has no room for more
# Words in the type or the code of an error without a status, and the status that it stands for.
_STATUS = (
    ("authentication", 401), ("permission", 403), ("not_found", 404), ("too_large", 413), ("rate_limit", 429),
    ("api_error", 500), ("server", 500), ("timeout", 504), ("unavailable", 503), ("overload", 529), ("insufficient", 402),
)  # fmt: skip
_TOO_LONG = const(("context length", "context window", "context size", "too long", "too large", "too many tokens"))


def error_text(body: bytes) -> str:
    """The service's own words in the body of its refusal, "" if there are none."""
    try:
        words = error_words(loads(body))
    except ValueError:
        words = ""
    return words or ("" if body.strip().startswith(b"<") else decode(body))


def error_words(error) -> str:
    """The service's own words in an error, which is a text, an object or a list of these, with the field that is meant."""
    if isinstance(error, str):
        return error
    if isinstance(error, list):
        return "; ".join([words for words in [error_words(each) for each in error[:_MOST_LISTED]] if words])
    words = ""
    for name in _SAID if isinstance(error, dict) else ():
        words = words or error_words(error.get(name))
    raw = part(part(error, "metadata", dict), "raw", str)
    if raw:
        words += " (" + error_text(raw.encode()) + ")"  # of the service behind this one
    place = part(error, "loc", list)
    field = ".".join([str(each) for each in place if each != "body"]) if place else part(error, "param", str)
    return field + ": " + words if words and field not in words else words


def refusal_in(event: dict) -> tuple:
    """(status, words) of an event that is an error: the status that it would have had as an answer."""
    error = event.get("error") or event
    status = 0
    for name in ("code", "status", "status_code"):
        value = error.get(name) if isinstance(error, dict) else None
        status = status or (int(value) if isinstance(value, int) or (isinstance(value, str) and value.isdigit()) else 0)
    if not 400 <= status < 600:
        kind = part(error, "type", str) + part(error, "code", str)
        status = 400
        for word, meaning in _STATUS:
            if word in kind:
                status = meaning
    return status, error_words(error)


def is_busy(status: int) -> bool:
    """Whether the same request may pass later."""
    return status in (408, 425, 429) or status >= 500


def describe_status(status: int, words: str) -> str:
    """The status and the service's own words, fit for the end of a line of text."""
    words = cut(" ".join(printable(words).split()), _WORDS)
    return " (HTTP " + str(status) + (": " + words if words else "") + ")"


def model_error(status: int, words: str, url: str, model: str) -> ModelRefused:
    """The error for a request that will not pass unchanged."""
    if status < 400:
        problem = url + " redirects, which is not followed; set llm.url to the address that it redirects to"
    elif status in (401, 403):
        problem = "the service refused the key; check llm.key"
    elif status == 402:
        problem = "the account of llm.key has no credit left; add some, or use another key"
    elif status == 404:
        problem = "there is no model " + model + " at " + url + "; check llm.model and llm.url"
    elif status == 413 or any(phrase in words.lower() for phrase in _TOO_LONG):
        problem = "the request is too long for " + model + "; shorten the message or start a new session"
    else:
        problem = "the service refused the request" + ("" if words else "; check llm.model and llm.url")
    return ModelRefused(status, problem + describe_status(status, words))
