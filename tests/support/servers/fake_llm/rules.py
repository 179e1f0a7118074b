"""A script's rules: when one fits, and what it answers; README.md has their fields.

A script is a list of rules. For each request to a model the first rule that fits and has not been used up answers;
with none, DEFAULT_REPLY does.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .types import ModelAnswer, ModelRequest, Piece, TokenUsage, ToolCall, fragments

DEFAULT_REPLY = "This is a script, not a language model, and none of its rules fits this message."

_PLACEHOLDER = re.compile(r"\{(last|rest|recalled|request|result)(?:(?<=result)\.(\w+))?\}")

Rule = Mapping[str, Any]
"""A rule in its JSON form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """The conditions of a rule; None and an empty text or tuple ask for nothing."""

    contains: tuple[str, ...] = ()
    equals: tuple[str, ...] = ()
    system: tuple[str, ...] = ()
    result: bool | str | None = None
    result_has: str = ""
    recalled: bool | None = None
    offers: bool | str | None = None

    def fits(self, asked: ModelRequest) -> bool:
        last = asked.last.casefold()
        tools_used = [result.tool for result in asked.results[-1:]]
        has = self.result_has
        return (
            (not self.contains or bool(_found(self.contains, asked.last)))
            and (not self.equals or any(last == text.strip().casefold() for text in self.equals))
            and (not self.system or bool(_found(self.system, asked.system)))
            and _present(self.result, tools_used)
            and (not has or (bool(asked.results) and asked.results[-1].field(has) is not None))
            and self.recalled in (None, bool(asked.recalled))
            and _present(self.offers, asked.tools)
        )


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault to play; `status` is that of a refusal, else 0. See player.py for each kind."""

    kind: str
    status: int = 0
    retry_after: str = ""
    after: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptRule:
    """One rule; a text as `reply` is sent word by word, pieces are sent as they are."""

    when: When = field(default_factory=When)
    reply: str | tuple[Piece, ...] = DEFAULT_REPLY
    calls: tuple[Mapping[str, Any], ...] = ()
    usage: Mapping[str, int] = field(default_factory=dict)
    fault: Fault | None = None
    times: int = 0

    def answer(self, asked: ModelRequest, number: int, size: int) -> ModelAnswer:
        """The answer to a request of `size` bytes, with its placeholders filled."""
        filler = _Filler(asked, number, self.when.contains)
        if isinstance(self.reply, str):
            pieces = fragments(filler.text(self.reply))
        else:
            pieces = tuple(Piece(filler.text(piece.text), piece.delay) for piece in self.reply)
        calls = tuple(_call(call, filler, index) for index, call in enumerate(self.calls, 1))
        characters = sum(len(piece.text) for piece in pieces) + sum(len(call.arguments) for call in calls)
        estimate = {"input": size // 4 + 1, "cached": 0, "output": characters // 4 + 1}
        usage = TokenUsage(**{**estimate, **self.usage})
        return ModelAnswer(pieces=pieces, calls=calls, stop="tools" if calls else "end", usage=usage)


class Script:
    """Rules in order, each with how often it was used."""

    def __init__(self, rules: Iterable[Rule]):
        self._rules: list[list[Any]] = [[read_rule(rule), 0] for rule in rules]

    def add(self, rule: Rule, *, first: bool = False) -> None:
        """Put a rule behind all others, or before them."""
        self._rules.insert(0 if first else len(self._rules), [read_rule(rule), 0])

    def choose_rule(self, asked: ModelRequest) -> ScriptRule:
        """Return the rule that answers; this counts as a use of it."""
        for entry in self._rules:
            rule, uses = entry
            if (not rule.times or uses < rule.times) and rule.when.fits(asked):
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


def _call(call: Mapping[str, Any], filler: _Filler, index: int) -> ToolCall:
    arguments = call.get("arguments", {})
    if not isinstance(arguments, str):
        arguments = json.dumps(filler.value(arguments), ensure_ascii=False)
    ident = call.get("id") or f"call_{filler.text('{request}')}_{index}"
    return ToolCall(ident, call["name"], arguments)


def _found(texts: tuple[str, ...], where: str) -> re.Match[str] | None:
    """Find the first of `texts` in `where`, upper and lower case being equal."""
    matches = (re.search(re.escape(text), where, re.IGNORECASE) for text in texts)
    return next((match for match in matches if match), None)


def _present(wanted: bool | str | None, names: Iterable[str]) -> bool:
    """Check for any name (None), some (True), none (False) or one of this name."""
    if wanted is None:
        return True
    return wanted in names if isinstance(wanted, str) else wanted == bool(list(names))


# --- reading


def load(name: str) -> list[Rule]:
    """The rules of a script beside this file."""
    return json.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))


def read_rule(rule: Rule) -> ScriptRule:
    """Read a rule; TypeError for a field that does not exist."""
    fields = dict(rule)
    when = dict(fields.pop("when", {}))
    for name in ("contains", "equals", "system"):
        if isinstance(when.get(name), str):
            when[name] = (when[name],)
    if "calls" in fields:
        fields.setdefault("reply", "")
    if not isinstance(fields.get("reply", ""), str):
        fields["reply"] = tuple(Piece(one) if isinstance(one, str) else Piece(**one) for one in fields["reply"])
    if "fault" in fields:
        fields["fault"] = _read_fault(fields["fault"])
    return ScriptRule(when=When(**when), **fields)


def _read_fault(value: str | Mapping[str, Any]) -> Fault:
    fields: dict[str, Any] = {"kind": value} if isinstance(value, str) else dict(value)
    kind = fields["kind"]
    if kind.isdigit():
        fields = {"retry_after": 1 if kind == "429" else "", **fields}
        return Fault(kind, status=int(kind), retry_after=str(fields["retry_after"]))
    return Fault(status=401 if kind == "refuse" else 0, **fields)
