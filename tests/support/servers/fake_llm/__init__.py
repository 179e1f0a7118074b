"""An HTTP server on loopback that plays a script in place of a remote LLM.

It speaks POST /v1/chat/completions (OpenAI) and POST /v1/messages (Anthropic), streamed and whole, and
GET /v1/models, to any client of those APIs. What it answers comes from a list of rules; README.md explains
them. It needs the standard library only.

    with serving([{"when": {"contains": "hello"}, "reply": "hi"}]) as server:
        ...                                      # server.url, server.requests

How the modules stand on each other:

    rules                             a script: how it is read, what it means
    types                             a request and its answer, the same for both APIs
    chat_completions   messages       the two APIs
    player                            what goes out, and the faults
    server                            the server, in a thread
"""

from .rules import load
from .server import RecordedRequest, Serving, serving

__all__ = ["RecordedRequest", "Serving", "load", "serving"]
