"""A script's rules: when one fits, and what it answers.

A script is a JSON list of rules, or an object with that list as "rules". For each request to a model the
first rule that fits and has not been used up answers; with none, DEFAULT_REPLY does. All fields are optional;
unknown ones are an error.

    {"note": any text, for people
     "when": {                       all of these hold:
        "contains": text or list      the person's last message has one of these (upper and lower case
        "equals": text or list        the person's last message is one of these     are equal in
        "system": text or list        the system prompt has one of these            all three)
        "api": "openai" or "anthropic"
        "request": number or list     it is the n-th request to a model since the start, from 1
        "result": true, false, tool   the request brings a tool result after the person's last message (true),
                                      none (false), or the last such result is this tool's
        "result_has": text            the last such result is a JSON object with this field
        "recalled": true or false     the last message brings recalled memories
        "offers": true, false, tool   the request offers tools (this tool)
     },
     "reply": text, or a list of pieces: text or {"text": text, "delay": seconds}
                                     without it: nothing if there are calls, else DEFAULT_REPLY
     "calls": [{"name": tool, "arguments": object, or a text that is sent as it is, "id": text}]
     "stop": "end", "tools", "length" or "filter"
     "usage": {"input": n, "cached": n, "output": n}
     "ascii": true                   other characters come as \\u escapes, some of them as surrogate pairs
     "fault": kind, or {"kind": kind, and what belongs to it}, see player.py
     "times": n}                     used at most so often

In "reply" and in texts of "arguments" stand for parts of the request:

    {last}          the person's last message, without what was recalled
    {rest}          what follows, in {last}, the text that "contains" found, without the mark at its end
    {recalled}      the recalled lines
    {result}        the last tool result of this round;  {result.id}  its field, when it is a JSON object
    {request}       the request's number
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .types import ModelAnswer, ModelRequest, Piece, TokenUsage, ToolCall, fragments

DEFAULT_REPLY = "This is a script, not a language model, and none of its rules fits this message."

_PLACEHOLDER = re.compile(r"\{(last|rest|recalled|request|result)(?:(?<=result)\.(\w+))?\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """The conditions of a rule; None, 0 and an empty text or tuple ask for nothing."""

    contains: tuple[str, ...] = ()
    equals: tuple[str, ...] = ()
    system: tuple[str, ...] = ()
    api: str = ""
    request: tuple[int, ...] = ()
    result: bool | str | None = None
    result_has: str = ""
    recalled: bool | None = None
    offers: bool | str | None = None

    def fits(self, asked: ModelRequest, number: int) -> bool:
        """Whether the request, the `number`-th, is one that the rule is for."""
        last = asked.last.casefold()
        tools_used = [result.tool for result in asked.results[-1:]]
        has = self.result_has
        return (
            (not self.contains or bool(_found(self.contains, asked.last)))
            and (not self.equals or any(last == text.strip().casefold() for text in self.equals))
            and (not self.system or bool(_found(self.system, asked.system)))
            and self.api in ("", asked.api)
            and (not self.request or number in self.request)
            and _present(self.result, tools_used)
            and (not has or (bool(asked.results) and asked.results[-1].field(has) is not None))
            and self.recalled in (None, bool(asked.recalled))
            and _present(self.offers, asked.tools)
        )


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong; `status` is that of a refusal, else 0. See player.py for each kind."""

    kind: str
    status: int = 0
    retry_after: str = ""
    after: int = 0
    size: int = 1024 * 1024
    piece: int = 4096
    delay: float = 0.001


@dataclass(frozen=True, slots=True)
class CallTemplate:
    """A call before its placeholders are filled."""

    name: str
    arguments: Mapping[str, object] | str = field(default_factory=dict)
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptRule:
    """One rule; a text as `reply` is sent word by word, pieces are sent as they are."""

    when: When = field(default_factory=When)
    reply: str | tuple[Piece, ...] = DEFAULT_REPLY
    calls: tuple[CallTemplate, ...] = ()
    stop: str = ""
    usage: Mapping[str, int] = field(default_factory=dict)
    ascii: bool = False
    fault: Fault | None = None
    times: int = 0

    def answer(self, asked: ModelRequest, number: int, size: int) -> ModelAnswer:
        """The answer to a request of `size` bytes, with its placeholders filled."""
        filler = _Filler(asked, number, self.when.contains)
        if isinstance(self.reply, str):
            pieces = fragments(filler.text(self.reply))
        else:
            pieces = tuple(Piece(filler.text(piece.text), piece.delay) for piece in self.reply)
        calls = tuple(_call(template, filler, index) for index, template in enumerate(self.calls, 1))
        characters = sum(len(piece.text) for piece in pieces) + sum(len(call.arguments) for call in calls)
        estimate = {"input": size // 4 + 1, "cached": 0, "output": characters // 4 + 1}
        return ModelAnswer(
            pieces=pieces,
            calls=calls,
            stop=self.stop or ("tools" if calls else "end"),
            usage=TokenUsage(**{**estimate, **self.usage}),
            ascii=self.ascii,
        )


class Script:
    """Rules in order, each with how often it was used."""

    def __init__(self, rules: Iterable[ScriptRule]):
        self._rules: list[list[Any]] = [[rule, 0] for rule in rules]

    def add(self, rule: ScriptRule, *, first: bool = False) -> None:
        """Put a rule behind all others, or before them."""
        self._rules.insert(0 if first else len(self._rules), [rule, 0])

    def choose_rule(self, asked: ModelRequest, number: int) -> ScriptRule:
        """The rule that answers; this counts as a use of it."""
        for entry in self._rules:
            rule, uses = entry
            if (not rule.times or uses < rule.times) and rule.when.fits(asked, number):
                entry[1] += 1
                return rule
        return ScriptRule()


class _Filler:
    """Puts parts of a request where placeholders stand; one pass, so that what is put in stays as it is."""

    def __init__(self, asked: ModelRequest, number: int, contains: tuple[str, ...]):
        self._result = asked.results[-1] if asked.results else None
        found = _found(contains, asked.last)
        self._values = {
            "last": asked.last,
            "rest": asked.last[found.end() :].strip().rstrip(".!?。！？").rstrip() if found else "",
            "recalled": "\n".join(asked.recalled),
            "request": str(number),
            "result": self._result.text if self._result else "",
        }

    def text(self, template: str) -> str:
        return _PLACEHOLDER.sub(self._value, template)

    def value(self, template: object) -> object:
        if isinstance(template, str):
            return self.text(template)
        if isinstance(template, list):
            return [self.value(item) for item in template]
        if isinstance(template, dict):
            return {name: self.value(item) for name, item in template.items()}
        return template

    def _value(self, found: re.Match[str]) -> str:
        name, field_name = found.groups()
        if not field_name:
            return self._values[name]
        value = self._result.field(field_name) if self._result else None
        return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def _call(template: CallTemplate, filler: _Filler, index: int) -> ToolCall:
    arguments = template.arguments
    if not isinstance(arguments, str):
        arguments = json.dumps(filler.value(arguments), ensure_ascii=False)
    return ToolCall(template.id or f"call_{filler.text('{request}')}_{index}", template.name, arguments)


def _found(texts: tuple[str, ...], where: str) -> re.Match[str] | None:
    """The first of `texts` that stands in `where`, upper and lower case being equal."""
    matches = (re.search(re.escape(text), where, re.IGNORECASE) for text in texts)
    return next((match for match in matches if match), None)


def _present(wanted: bool | str | None, names: Iterable[str]) -> bool:
    """Whether `names` are as wanted: any (None), some (True), none (False) or one of this name."""
    if wanted is None:
        return True
    return wanted in names if isinstance(wanted, str) else wanted == bool(list(names))
