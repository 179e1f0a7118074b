"""The key of the model's service, which leaves this process in one header only: finds it in what the service sends, behind
escapes of JSON, and in pieces over the events of a stream.
"""

import logging
import re
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from engram_host.companion.auth.tokens import read_secret
from engram_host.companion.errors import SettingError
from engram_host.companion.gateway.dialects import OPENAI, ModelApi
from engram_host.companion.gateway.errors import ServiceFailed

MASK = "[key]"

HELD_FROM = 4
"""Characters of a possible key after which events are held back; with fewer, a stream would wait at each word that ends
like a key begins.
"""

MOST_A_LETTER = 70
"""Characters of one of the key's, with its backslashes, where the key is in pieces: a long text is looked at from its end."""

MOST_HELD = 1 << 18
"""Characters of strings in events that are held back: protects the memory from a service that never ends what looks like a
key.
"""

MOST_FIELDS = 4096
"""Fields of a stream whose text is joined: protects the memory."""


class KeyPattern:
    """Finds a key in text, also where its characters have backslashes before them or are written as \\u00XX.

    So it is found in JSON inside a string of JSON, such as a tool's arguments, however often that is escaped.
    """

    def __init__(self, key: str):
        self._letters = key.replace("\\", "")
        forms = [rf"\\*+(?:{re.escape(letter)}|u00(?i:{ord(letter):02x}))" for letter in self._letters]
        # Not from the middle of a run of backslashes: each run would be read as often as it is long.
        self._whole = re.compile(r"(?<!\\)" + "".join(forms)) if forms else None
        self._first = re.compile(rf"(?<!\\)\\*+(?:{re.escape(self._letters[:1])}|u|\Z)")

    def __repr__(self) -> str:
        return "KeyPattern()"

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where the key stands."""
        return [found.span() for found in self._whole.finditer(text)] if self._whole else []

    def redact(self, text: str) -> str:
        """A text without the key."""
        return self._whole.sub(MASK, text) if self._whole else text

    def open_start(self, text: str) -> int:
        """Where a key begins that the end of the text cuts off, the text's length if none does."""
        if not self._whole:
            return len(text)
        end_of_text = max(0, len(text) - MOST_A_LETTER * len(self._letters))
        starts = (found.start() for found in self._first.finditer(text, end_of_text))
        return next((start for start in starts if self._is_open(text, start)), len(text))

    def _is_open(self, text: str, start: int) -> bool:
        places = {start}
        for letter in self._letters:
            following: set[int] = set()
            for place in places:
                while text.startswith("\\", place):
                    place += 1
                escaped = f"u00{ord(letter):02x}"
                found = text[place : place + len(escaped)]
                if not found or (len(found) < len(escaped) and escaped.startswith(found.lower())):
                    return True
                if found[0] == letter:
                    following.add(place + 1)
                if found.lower() == escaped:
                    following.add(place + len(escaped))
            if not following:
                return False
            places = following
        return False


class _Event:
    """An event that may be held back: as long as a key may begin in one of its strings."""

    def __init__(self, value: Any):
        self.value = value
        self.waits = 0


class _Piece:
    """A string of an event; it can be changed until its event has been passed on."""

    def __init__(self, event: _Event, place: Any, name: Any):
        self._event = event
        self._place = place
        self._name = name
        self._is_held = False
        self.text: str = place[name]

    def hold(self) -> None:
        """Let its event wait."""
        if not self._is_held:
            self._is_held = True
            self._event.waits += 1

    def release(self) -> None:
        """Let its event go on."""
        if self._is_held:
            self._is_held = False
            self._event.waits -= 1

    def change(self, text: str) -> None:
        """Put another text in its place."""
        self.text = self._place[self._name] = text


class KeyFilter:
    """Takes a key out of JSON values that come one after the other: out of each string, and out of the text that the strings
    of one field make together. Of a key in pieces, fewer than HELD_FROM characters may have been passed on.
    """

    def __init__(self, pattern: KeyPattern):
        self._pattern = pattern
        self._fields: dict[tuple[Any, ...], list[_Piece]] = {}
        self._queue: deque[_Event] = deque()

    def feed(self, value: Any) -> list[Any]:
        """Take a value; those that can be passed on now, in their order. ServiceFailed if too much had to be held back."""
        event = _Event(redact_names(value, self._pattern))
        self._queue.append(event)
        for path, place, name in _strings(event.value, (), ""):
            piece = _Piece(event, place, name)
            piece.change(self._pattern.redact(piece.text))
            if piece.text and (kept := self._look_at([*self._fields.pop(path, ()), piece])):
                self._fields[path] = kept
        held = sum(len(piece.text) for pieces in self._fields.values() for piece in pieces)
        if held > MOST_HELD or len(self._fields) > MOST_FIELDS:
            sentence = "the model's service sent a stream that cannot be checked for the gateway's key."
            raise ServiceFailed(502, sentence, "upstream_failed")
        return list(self._passable())

    def end(self) -> list[Any]:
        """The values that were held back, when nothing more comes."""
        found = [event.value for event in self._queue]
        self._queue.clear()
        self._fields.clear()
        return found

    def _passable(self) -> Iterator[Any]:
        while self._queue and not self._queue[0].waits:
            yield self._queue.popleft().value

    def _look_at(self, pieces: list[_Piece]) -> list[_Piece]:
        """Take the key out of the text of a field; the pieces in which another one may begin."""
        for start, end in reversed(self._pattern.spans("".join(piece.text for piece in pieces))):
            _mask(pieces, start, end)
        text = "".join(piece.text for piece in pieces)
        start = self._pattern.open_start(text)
        is_long = len(text) - start >= HELD_FROM
        end, kept = len(text), list[_Piece]()
        for piece in reversed(pieces):
            begin = end - len(piece.text)
            if end > start:
                kept.insert(0, piece)
            if end > start and is_long:
                piece.hold()
            else:
                piece.release()
            end = begin
        return kept


def redact_names(value: Any, pattern: KeyPattern) -> Any:
    """A JSON value without the key in the names of its fields; RecursionError if it is too deep."""
    if isinstance(value, dict):
        return {pattern.redact(name): redact_names(each, pattern) for name, each in value.items()}
    return [redact_names(each, pattern) for each in value] if isinstance(value, list) else value


def _mask(pieces: list[_Piece], start: int, end: int) -> None:
    begin, mask = sum(len(piece.text) for piece in pieces), MASK
    for piece in reversed(pieces):  # the last one has not been passed on
        begin -= len(piece.text)
        first, last = max(start - begin, 0), min(end - begin, len(piece.text))
        if first < last:
            piece.change(piece.text[:first] + mask + piece.text[last:])
            mask = ""


def _strings(value: Any, path: tuple[Any, ...], name: str) -> Iterator[tuple[tuple[Any, ...], Any, Any]]:
    """(field, object or list, name or place in it) of each string. A field is the numbers on the way to it and its name: so
    those of a whole message and of the pieces that go on with it are one.
    """
    if isinstance(value, dict):
        index = value.get("index")
        path = (*path, index) if isinstance(index, int) else path
        for key, each in value.items():
            if isinstance(each, str):
                yield (*path, key), value, key
            else:
                yield from _strings(each, path, key)
    elif isinstance(value, list):
        for place, each in enumerate(value):
            if isinstance(each, str):
                yield (*path, place, name), value, place
            else:
                has_index = isinstance(each, dict) and isinstance(each.get("index"), int)
                yield from _strings(each, path if has_index else (*path, place), name)


_log = logging.getLogger("engram.gateway")

VARIABLE = "ENGRAM_GATEWAY_KEY"
FILE = "gateway.key"
KEYRING = ("engram", "gateway")
"""Service and user name in the keyring of the system."""

_KEY = re.compile(r"[!-~]{1,4096}")


class ApiKey:
    """A key that shows itself to nobody by mistake; an empty one is none."""

    __slots__ = ("_value", "pattern")

    def __init__(self, value: str = ""):
        self._value = value
        self.pattern = KeyPattern(value)
        """Finds it in what the service sends."""

    def __repr__(self) -> str:
        return "ApiKey(set)" if self._value else "ApiKey(none)"

    def __bool__(self) -> bool:
        return bool(self._value)

    def headers(self, api: ModelApi = OPENAI, asked: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
        """Headers that show it to a service with an API; `asked` are those of the request that is passed on."""
        return api.key_headers(self._value, asked)

    def redact(self, text: str) -> str:
        """A text without it."""
        return self.pattern.redact(text)


def find_api_key(home: Path, environment: Mapping[str, str]) -> ApiKey:
    """The key from the environment, else from gateway.key, else from the keyring; none if it is nowhere. SettingError."""
    value = environment.get(VARIABLE, "").strip()
    path = home / FILE
    if value:
        where = VARIABLE
    elif path.exists():
        where, value = str(path), read_secret(path)
    else:
        where, value = "the keyring", _from_keyring()
    if value and not _KEY.fullmatch(value):
        raise SettingError(where, "has no key for the gateway: it has to be one word of ASCII.")
    return ApiKey(value)


def _from_keyring() -> str:
    import keyring
    from keyring.errors import KeyringError

    try:
        return keyring.get_password(*KEYRING) or ""
    except KeyringError as error:
        _log.info("no keyring can be used here: %s", type(error).__name__)
        return ""
