"""Reads a service's refusal: explains it to a person, or finds what the request may do without.

What a service refuses by name is left out of the next request, or said in another form:

stream_options, stream, tools, cache_control      the field is left out
max_tokens, max_completion_tokens                 the other one is sent, or none if both are refused
temperature, json_schema, json_object             the field is left out; an object is asked for in place of a schema
system       the system text goes before the person's first message
content      "" in place of null where a message of the model has only calls
ids          ids of calls are nine letters and digits
another      a field that the service handed out, which goes back no more
"""

from engram import tables
from engram.errors import ModelRefused
from engram.net.response import describe_status, error_words
from engram.text import part

# Words in the type or code of an error without a status, and the matching status.
_STATUS = (
    ("authentication", 401), ("permission", 403), ("not_found", 404), ("too_large", 413), ("rate_limit", 429),
    ("api_error", 500), ("server", 500), ("timeout", 504), ("unavailable", 503), ("overload", 529), ("insufficient", 402),
)  # fmt: skip
_TOO_LONG = const(("context length", "context window", "context size", "too long", "too large", "too many tokens"))
_OF_CALLS = ("ids", "content")
FORMS = ("temperature", "json_schema", "json_object")
"""Parts of a request whose answer has a schema; a service that refuses one seldom names it."""
_UNNAMED = (400, 422)  # statuses that may refuse one of them without its name
# A request loses much without these: they are left out only if the words deny them, and tell of no other fault.
_DENIED_ONLY = ("stream", "tools")


class Refusal(Exception):
    """A refusal with an HTTP status and the service's words; status 0 for a broken link."""

    def __init__(self, status: int, words: str, retry_after: int = -1):
        super().__init__(words)
        self.status = status
        self.words = words
        self.retry_after = retry_after


def refusal_in(event: dict) -> Refusal:
    """Return the refusal in an error event, with a matching HTTP status."""
    error = event.get("error") or event
    status = 0
    for name in ("code", "status", "status_code"):
        value = str(error.get(name)) if isinstance(error, dict) else ""
        status = status or (int(value) if value.isdigit() else 0)
    if not 400 <= status < 600:
        kind = part(error, "type", str) + part(error, "code", str)
        status = next((meaning for word, meaning in _STATUS if word in kind), 400)
    return Refusal(status, error_words(error), part(error, "retry_after", int) or -1)


def model_error(status: int, words: str, url: str, model: str) -> ModelRefused:
    """Return the error of a permanently refused request."""
    if status < 400:
        problem = url + " redirects, which is not followed; set llm.url to the address that it redirects to"
    elif status in (401, 403):
        problem = "the service refused the key; check llm.key"
    elif status == 402:
        problem = "the account of llm.key has no credit left; add some, or use another key"
    elif status == 404:
        problem = "there is no model " + model + " at " + url + "; check llm.model and llm.url"
    elif status == 413 or _is_too_long(words.lower()):
        problem = "the request is too long for " + model + "; shorten the message or start a new session"
    else:
        problem = "the service refused the request" + ("" if words else "; check llm.model and llm.url")
    return ModelRefused(status, problem + describe_status(status, words))


def refused_name(words: str, request, optional, without, status: int = 400) -> str:
    """Return the name of an optional part that a refusal names, or may mean, or ""."""
    words = words.lower()
    has_calls = False
    for message in request.messages():
        has_calls = has_calls or bool(message.calls)
        for holder in (message,) + tuple(message.calls):
            for name, _ in holder.kept:
                if name not in without and _is_named(words, name.lower()):
                    return name
    # Once a model has called a tool it takes tools: something else is wrong.
    impossible = ("tools",) if has_calls or not request.tools else ()
    if not has_calls:
        impossible += _OF_CALLS
    if not request.schema:
        impossible += FORMS
    for name, _ in named_parts(words):
        if name in optional and name not in without and name not in impossible:
            return name
    may_be_form = request.schema and status in _UNNAMED and not _is_too_long(words)
    return _next_form(optional, without) if may_be_form else ""


def named_parts(words: str):
    """Yield (name, its first phrase in the table) of each part that a refusal's words name, in small letters."""
    denials, faults, *parts = [row.split("|") for row in tables.rows("llm/refusals")]
    is_denied = any(denial in words for denial in denials) and not any(fault in words for fault in faults)
    # The ids come before the tools: theirs are calls of tools.
    for name, *phrases in parts:
        if (is_denied or name not in _DENIED_ONLY) and any(_is_named(words, phrase) for phrase in phrases):
            yield name, phrases[0]


def _next_form(optional, without) -> str:
    return next((name for name in FORMS[1:] + FORMS[:1] if name in optional and name not in without), "")


def _is_too_long(words: str) -> bool:
    return any(phrase in words for phrase in _TOO_LONG)


def _is_named(words: str, phrase: str) -> bool:
    """True if a text has a phrase as whole words."""
    at = words.find(phrase)
    while phrase and at >= 0:
        end = at + len(phrase)
        if not (_is_letter(words[at - 1 : at]) and _is_letter(phrase[0])) and not (
            _is_letter(words[end : end + 1]) and _is_letter(phrase[-1])
        ):
            return True
        at = words.find(phrase, at + 1)
    return False


def _is_letter(mark: str) -> bool:
    return mark == "_" or mark.isalpha() or mark.isdigit()
