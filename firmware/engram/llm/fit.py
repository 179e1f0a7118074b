"""Requests that fit a service: what it refuses by name is left out of them, or said in another form.

stream_options, stream, tools, cache_control      the field is left out
max_tokens, max_completion_tokens                 the other one is sent, or none if both are refused
system       the system text goes before the person's first message
content      "" in place of null where a message of the model has only calls
ids          ids of calls are nine letters and digits
another      a field that the service handed out, which goes back no more

Loaded only when a service refused something.
"""

# What a refusal calls each of them. The ids come before the tools: theirs are calls of tools.
_NAMES = (
    ("stream_options", ("stream_options", "include_usage")),
    ("stream", ("'stream'", '"stream"', "`stream`", "stream:", "to stream", "streaming")),
    ("max_tokens", ("max_tokens", "max tokens")),
    ("max_completion_tokens", ("max_completion_tokens",)),
    ("cache_control", ("cache_control",)),
    ("ids", ("call id", "call ids", "call_id", "tool_calls.id", "].id", "tool_use.id", "tool_use_id")),
    ("content", ("content",)),
    (
        "system",
        ("system role", "role system", "'system'", '"system"', "`system`", "system message", "system prompt",
         "system instruction", "system instructions", "developer instruction", "developer role", "must alternate",
         "user and assistant roles"),
    ),
    (
        "tools",
        ("tool", "tools", "tool use", "tool_use", "tool calls", "tool calling", "tool choice", "tool_choice", "function call",
         "function calls", "function calling", "functions"),
    ),
)  # fmt: skip
_OF_CALLS = ("ids", "content")
# A request loses much without these: they are left out only if the words deny them, and tell of no other fault.
_DENIED_ONLY = ("stream", "tools")
_DENIALS = (
    "not support", "n't support", "unsupported", "that support", "not allow", "not enabled", "not permitted", "not available",
    "unknown field", "unknown param", "unknown name", "unknown argument", "unrecognized", "extra input", "extra field",
    "extra_forbidden", "requires --", "must be verified", "no tools",
)  # fmt: skip
_FAULTS = ("parse", "parsing", "json", "validation", "failed_generation", "context")


def refused_name(words: str, request, optional, without) -> str:
    """The name of what a refusal names and a request may do without; "" if there is none beside those already left out."""
    words = words.lower()
    kept = []
    has_calls = False
    for message in request.messages():
        has_calls = has_calls or bool(message.calls)
        kept.extend(message.kept)
        for call in message.calls:
            kept.extend(call.kept)
            kept.extend(call.kept_inside)
    for name, _ in kept:
        if name not in without and _is_named(words, name.lower()):
            return name
    is_denied = any(denial in words for denial in _DENIALS) and not any(fault in words for fault in _FAULTS)
    for name, phrases in _NAMES:
        may_change = name in optional and name not in without
        if name == "tools":
            # Once it has called one it takes tools: something else is wrong.
            may_change = may_change and not has_calls and bool(request.tools)
        elif name in _OF_CALLS:
            may_change = may_change and has_calls
        if name in _DENIED_ONLY:
            may_change = may_change and is_denied
        if may_change and any(_is_named(words, phrase) for phrase in phrases):
            return name
    return ""


def _is_named(words, phrase) -> bool:
    """True if a phrase stands in a text, not as a part of longer words."""
    at = words.find(phrase)
    while phrase and at >= 0:
        end = at + len(phrase)
        if not (_goes_on(words[at - 1 : at], phrase[0]) or _goes_on(words[end : end + 1], phrase[-1])):
            return True
        at = words.find(phrase, at + 1)
    return False


def _goes_on(beside, edge) -> bool:
    return _is_letter(beside) and _is_letter(edge)


def _is_letter(mark) -> bool:
    return mark == "_" or (mark != "" and (mark.isalpha() or mark.isdigit()))
