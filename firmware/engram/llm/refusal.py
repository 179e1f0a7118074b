"""Explains a service's refusal to a person."""

from engram.compat import const
from engram.errors import ModelRefused
from engram.net.response import describe_status, error_words
from engram.text import part

# Words in the type or the code of an error without a status, and the status that it stands for.
_STATUS = (
    ("authentication", 401), ("permission", 403), ("not_found", 404), ("too_large", 413), ("rate_limit", 429),
    ("api_error", 500), ("server", 500), ("timeout", 504), ("unavailable", 503), ("overload", 529), ("insufficient", 402),
)  # fmt: skip
_TOO_LONG = const(("context length", "context window", "context size", "too long", "too large", "too many tokens"))


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
