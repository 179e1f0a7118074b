"""Tool calls that a model has written as text, since its service does not know the model's form.

JSON          {"name": "..", "arguments": {..}} or a list of them, also with parameters, or inside "function" or "tool_calls"
names         NAME {..}, between marks that differ from model to model
parameters    <function=NAME><parameter=KEY>..</parameter>, <invoke name="NAME"><parameter name="KEY">..</parameter>,
              NAME <arg_key>KEY</arg_key><arg_value>..</arg_value>

All marks between them are passed over; one word more, and the text is no call.
"""

from engram.llm.types import plain_name
from engram.text import dumps, encode, strict_json

_NAMES = const(("name", "function", "tool", "tool_name"))
_ARGUMENTS = const(("arguments", "parameters", "args", "input"))
_WORDS = const((b"function", b"functions", b"json", b"assistant", b"commentary", b"call", b"tool_call"))
_OPENING = const((b"function=", b"invoke "))
_PARAMETER = const((b"parameter=", b"parameter "))
# Marks of a tool's result, which is never a call.
_RESULTS = const((b"result", b"response", b"output", b"observation"))
# Marks of calls in a message.
_CALL_LIKE = const(
    ('"name"', "'name'", '"function"', "arguments", "<tool_", "<|tool", "<invoke ", "function=", "[TOOL_", "<｜")
)
_SPACE = const(b" \t\r\n`,;")
_WORD_ENDS = const(b" \t\r\n`<{[")


def read(written: str, names):
    """Return (name, JSON arguments) of each call; None unless the text is only calls of `names`."""
    reader = _Reader(encode(written.replace("｜DSML｜", "")), names)
    try:
        reader.read()
    except ValueError:
        return None
    return [(name, dumps(arguments)) for name, arguments in reader.calls] or None


def is_quoted(calls, text: str) -> bool:
    """True if a message has a call and names its tool."""
    return any(mark in text for mark in _CALL_LIKE) and any(name in text for name, _ in calls)


class _Reader:
    def __init__(self, data: bytes, names):
        self.calls = []
        self._data = data
        self._names = names
        self._at = 0
        self._has_mark = False
        self._arguments = None  # of the call that has only a name yet

    def read(self) -> None:
        data = self._data
        while self._at < len(data):
            byte = data[self._at : self._at + 1]
            if byte in _SPACE:
                self._at += 1
            elif byte == b"<":
                self._has_mark = True
                self._take_mark(self._until(b">")[1:])
            elif byte == b"[" and data[self._at + 1 : self._at + 2].isupper():
                self._has_mark = True
                mark = self._until(b"]")
                _refuse_result(mark)
                if mark == b"[CALL_ID":
                    self._until(b"[ARGS]")
            elif byte in b"{[":
                value, self._at = strict_json.read_lenient(data, self._at)
                self._take_value(value)
            else:
                self._take_word()

    def _until(self, mark: bytes) -> bytes:
        start = self._at
        end = self._data.find(mark, start)
        if end < 0:
            raise ValueError
        self._at = end + len(mark)
        return self._data[start:end]

    def _take_mark(self, mark: bytes) -> None:
        if any(mark.startswith(opening) for opening in _OPENING):
            self._begin_call(_attribute(mark))
        elif any(mark.startswith(opening) for opening in _PARAMETER):
            self._add({_attribute(mark): _text(self._until(b"</parameter>"))})
        elif mark == b"arg_key":
            key = _text(self._until(b"</arg_key>"))
            self._until(b"<arg_value>")
            self._add({key: _text(self._until(b"</arg_value>"))})
        else:
            _refuse_result(mark)

    def _take_word(self) -> None:
        start = self._at
        while self._at < len(self._data) and self._data[self._at : self._at + 1] not in _WORD_ENDS:
            self._at += 1
        word = self._data[start : self._at]
        if b"(" in word:
            raise ValueError  # a call as a programming language has it
        if word not in _WORDS:
            self._begin_call(str(word.split(b"=")[-1], "utf-8"))

    def _take_value(self, value) -> None:
        if self._arguments is not None and isinstance(value, dict):
            self._add(value)
            self._arguments = None
        elif isinstance(value, list):
            for each in value:
                self._take_value(each)
        elif not isinstance(value, dict):
            raise ValueError
        elif isinstance(value.get("tool_calls") or value.get("function"), (list, dict)):
            self._take_value(value.get("tool_calls") or value["function"])
        else:
            self._begin_call(_first(value, _NAMES))
            if (len(value) > 1 or not self._has_mark) and not any(key in value for key in _ARGUMENTS):
                raise ValueError  # an answer that has a name in it
            arguments = _first(value, _ARGUMENTS)
            if isinstance(arguments, dict) and arguments.get("type") == "object":
                raise ValueError  # the definition of a tool
            is_text = isinstance(arguments, str)
            self._take_value(strict_json.loads_lenient(arguments, dict) if is_text else arguments or {})

    def _begin_call(self, name) -> None:
        """Begin a call of a tool; ValueError if it is unknown."""
        if not isinstance(name, str) or plain_name(name) not in self._names:
            raise ValueError
        self._arguments = {}
        self.calls.append((plain_name(name), self._arguments))

    def _add(self, arguments: dict) -> None:
        if self._arguments is None:
            raise ValueError
        self._arguments.update(arguments)


def _refuse_result(mark: bytes) -> None:
    if any(word in mark.lower() for word in _RESULTS):
        raise ValueError


def _first(value: dict, keys):
    return next((value[key] for key in keys if key in value), None)


def _attribute(mark: bytes) -> str:
    """Return NAME of `function=NAME`, `parameter name="NAME" string="true"` and the like."""
    name = mark.split(b"=", 1)[1]
    quoted = name.split(b'"')
    return str(quoted[1] if len(quoted) > 1 else name.split()[0], "utf-8")


def _text(data: bytes) -> str:
    return str(data, "utf-8").strip("\r\n")
