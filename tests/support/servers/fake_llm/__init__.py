"""An HTTP server on loopback that plays a script in place of a remote LLM.

It speaks POST /v1/chat/completions (OpenAI) and POST /v1/messages (Anthropic), streamed and whole, and
GET /v1/models, to any client of those APIs. What it answers comes from a list of rules; `rules.py` draws
their format and README.md explains it. It needs the standard library only.

    with serving([{"when": {"contains": "hello"}, "reply": "hi"}]) as server:
        ...                                      # server.url, server.requests

How the modules stand on each other:

    rules   script                    a script: what it means, how it is read
    types                             a request and its answer, the same for both APIs
    chat_completions   messages       the two APIs
    player                            what goes out, and the faults
    server                            the server, in a thread
"""

from .rules import ScriptRule
from .script import ScriptError, load, read_rule
from .server import RecordedRequest, Serving, serving

__all__ = [
    "RecordedRequest",
    "ScriptError",
    "ScriptRule",
    "Serving",
    "load",
    "read_rule",
    "serving",
]
