"""Explains a service's refusal to a person. Loaded only when one came."""

from engram.compat import const
from engram.errors import ModelRefused
from engram.llm.reply import part
from engram.text import cut, decode, loads, printable

# How much of a service's own words is shown: enough for its first sentence, and no page of HTML.
_WORDS = const(200)
_TOO_LONG = const(("context length", "context window", "context size", "too long", "too large", "too many tokens"))


def error_text(body: bytes) -> str:
    """The service's own words in the body of its refusal, "" if there are none."""
    try:
        document = loads(body)
    except ValueError:
        return "" if body.strip().startswith(b"<") else decode(body)
    error = document.get("error") if isinstance(document, dict) else None
    if isinstance(error, str):
        return error
    return part(error, "message", str) or part(document, "message", str) or part(document, "detail", str)


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
        problem = "the service refused the request; check llm.model and llm.url"
    return ModelRefused(status, problem + describe_status(status, words))
