"""How many tokens a call used: what the service says, or an estimate of what came."""

import json
from typing import Any

from engram_host.companion.gateway.request import estimate_tokens

MOST_LINE = 1 << 20
"""Bytes of one event that are read; a longer one is counted by its length."""

_MOST_TOKENS = 1 << 32


class TokenCounter:
    """Reads an answer as it passes by; `used` is the tokens of the call up to now."""

    def __init__(self, prompt: int):
        self._prompt = prompt
        self._answer = 0
        self._told = -1
        self._line = bytearray()
        self._skipped = 0

    @property
    def used(self) -> int:
        """As the service told, or as estimated."""
        return self._told if self._told >= 0 else self._prompt + self._answer

    def nothing(self) -> None:
        """The service did not take the request."""
        self._told = 0

    def feed(self, piece: bytes) -> None:
        """Take a piece of a stream of events."""
        start = 0
        while start < len(piece):
            end = piece.find(b"\n", start)
            self._add(piece[start : end if end >= 0 else len(piece)])
            if end < 0:
                return
            self._end_line()
            start = end + 1

    def whole(self, body: bytes) -> None:
        """Take an answer that is not a stream."""
        self._read(body)

    def _add(self, part: bytes) -> None:
        room = MOST_LINE - len(self._line)
        self._line += part[:room]
        self._skipped += max(0, len(part) - room)

    def _end_line(self) -> None:
        line, self._line = bytes(self._line), bytearray()
        skipped, self._skipped = self._skipped, 0
        if skipped:
            self._answer += (len(line) + skipped) // 4
        elif line.startswith(b"data:"):
            self._read(line[5:])

    def _read(self, data: bytes) -> None:
        try:
            answer = json.loads(data)
        except (ValueError, RecursionError):
            return  # also the [DONE] at the end of a stream
        if not isinstance(answer, dict):
            return
        self._note_usage(answer.get("usage"))
        choices = answer.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict):
                self._answer += sum(
                    estimate_tokens(part) for part in _texts(choice.get("delta", choice.get("message")))
                )

    def _note_usage(self, usage: Any) -> None:
        if not isinstance(usage, dict):
            return
        parts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
        total = usage.get("total_tokens")
        numbers = [part for part in parts if isinstance(part, int) and not isinstance(part, bool) and part >= 0]
        if isinstance(total, int) and not isinstance(total, bool) and total >= 0:
            numbers = [max(total, sum(numbers))]
        if numbers:
            self._told = min(sum(numbers), _MOST_TOKENS)


def _texts(message: Any) -> list[str]:
    """All that a model wrote in a message or a part of one."""
    if not isinstance(message, dict):
        return []
    found = [message.get("content"), message.get("refusal"), message.get("reasoning_content")]
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            found += [function.get("name"), function.get("arguments")]
    return [each for each in found if isinstance(each, str) and each]
