"""The model's tools: permissions, arguments and confirmations. Every call ends with an answer that the
model can use.
"""

from binascii import crc32
from collections import namedtuple

from engram import diag, tables, text
from engram.compat import ticks_diff, ticks_ms
from engram.errors import ArgumentError, EngramError
from engram.schema_check import check_fields, fits
from engram.text.strict_json import loads_lenient

_CALLERS = const(8)  # callers with a pending call
_FAILURES = const(16)  # that are known: bounds the heap
_WAIT_MS = const(600_000)  # for a yes: one that comes later may be of another question

_ENDS = const(",.!;:，。！；：、\n")


def is_yes(said: str) -> bool:
    for end in _ENDS:
        said = said.replace(end, " ")
    said = " ".join(said.split()).lower()
    return bool(said) and "|" not in said and "|" + said + "|" in tables.read("tools/yes")


class Confirmations:
    """Pending calls, one per caller, timed by ticks, as the clock may jump."""

    def __init__(self, ticks=ticks_ms):
        self._ticks_ms = ticks
        self._waiting = {}
        """By caller (name, JSON arguments, ticks)."""

    def tick(self) -> None:
        now = self._ticks_ms()
        for caller, waiting in list(self._waiting.items()):
            if ticks_diff(now, waiting[2]) >= _WAIT_MS:
                self._waiting.pop(caller)

    def begin_turn(self, turn) -> None:
        """Allow the pending call after a yes; end its wait after anything else."""
        self.tick()
        waiting = self._waiting.pop(turn.caller, None)
        turn.confirmed = waiting if waiting and is_yes(turn.said) else None

    def is_confirmed(self, turn, name: str, arguments: dict) -> bool:
        """True, once, if the person confirmed exactly this call."""
        confirmed, turn.confirmed = turn.confirmed, None
        return confirmed is not None and _is_same(confirmed, name, arguments)

    def ask(self, turn, name: str, arguments: dict) -> None:
        """Let a call wait for a yes; EngramError if another waits."""
        self.tick()
        waiting = self._waiting.get(turn.caller)
        if waiting:
            if not _is_same(waiting, name, arguments):
                raise EngramError("one question at a time: %s already waits for the person's yes." % waiting[0])
            return
        if len(self._waiting) >= _CALLERS:
            self._waiting.popitem()
        # As text, since a caller may change the dict.
        self._waiting[turn.caller] = name, text.dumps(arguments), self._ticks_ms()


def _is_same(waiting: tuple, name: str, arguments: dict) -> bool:
    return waiting[0] == name and text.loads(waiting[1]) == arguments


_LEFT_OUT = (None, "", "null", "None")


def read_arguments(call_arguments: str, schema: str) -> dict:
    try:
        values = text.loads(call_arguments) if call_arguments.strip() else {}
    except ValueError:
        raise ArgumentError("arguments", "must be one JSON object; this is not valid JSON.") from None
    if not isinstance(values, dict):
        raise ArgumentError("arguments", "must be one JSON object.")
    rules: dict = text.loads(schema)  # type: ignore
    known = rules["properties"]
    for name, value in list(values.items()):
        rule = known.get(name)
        if rule and value in _LEFT_OUT and fits(None, rule):
            values[name] = None
        elif rule and fits(value, rule):
            continue
        elif value in _LEFT_OUT:
            if name not in rules["required"]:
                values.pop(name)
        elif rule:
            values[name] = _mended(value, rule)
    check_fields(values, known, rules["required"])
    return values


def _mended(value, rule: dict):
    """Return a value converted by its rule; unchanged if it cannot be."""
    for option in rule.get("anyOf", (rule,)):
        for meant in _meanings(value):
            if option["type"] == "array" and isinstance(meant, list):
                meant = [_mended(each, option["items"]) for each in meant]
            if fits(meant, option):
                return meant
    return value


def _meanings(value) -> tuple:
    if isinstance(value, float):
        return (int(value),) if value % 1 == 0 else ()
    if not isinstance(value, str):
        return (value,)
    written = value.strip()
    try:
        if written[:1] == "[":
            return (loads_lenient(written, list),)
        meant = text.loads(written.lower())
        return (meant,) + (_meanings(meant) if isinstance(meant, float) else ())
    except ValueError:
        return () if written[:1] == "[" else ([part.strip() for part in written.split(",")],)


_SHARE = const(8)  # of the model's window, the part that tools beside the memory's may take
_A_TOOL = const(25)  # tokens that an API puts around a tool's description and schema
_RESULT_LONGEST = const(6000)  # characters of a result: it stays in the heap until the turn is over
_SHOWN_LONGEST = const(300)  # characters of the arguments that a person says yes to
_TOO_LONG, _NOT_THEIRS, _ASKED = tables.rows("tools/toolbox")

Done = namedtuple("Done", "result notice")

Listed = namedtuple("Listed", "name description schema")
"""A tool as a request has it."""

_Unsaid = namedtuple("_Unsaid", "caller id is_kept")


class Tool:
    """A tool with run(arguments, turn); `writes` excludes forwarded words, `is_memory` ones are unlimited."""

    task = None
    """Task of a call that exceeded its time."""

    is_own = False
    """True for the owner's tools and pins, which write nothing on the board."""

    # `schema` has one for all, or lines: as sent, as sent in full, and as calls are checked.
    def __init__(self, name, description: str, schema: str, run, is_for, writes: bool, is_memory=False, needs_yes=None):
        self.name = name
        self.description = description
        self.schema, self.full_schema, self.rules = (schema.split("\n") * 3)[:3]
        self.run = run
        self.is_for = is_for
        self.writes = writes
        self.is_memory = is_memory
        self.needs_yes = needs_yes or (lambda _arguments: False)


class Toolbox:
    """The tools of a board; those beyond memory have a share of the model's window for their descriptions."""

    def __init__(self, config, events):
        self._config = config
        self._left_out = 0
        self._events = events
        self._failed = []
        """The crc32 of the latest calls that failed, twice for those that failed more than once in a row."""
        self._tools = []
        self.confirmations = Confirmations()

    def add(self, tool) -> None:
        if any(other.name == tool.name for other in self._tools):
            raise ArgumentError("name", "there is a tool %s already: give another name." % tool.name)
        if not tool.is_memory:
            others = [other for other in self._tools if not other.is_memory]
            tokens = sum([tokens_of(each) for each in others]) + tokens_of(tool)
            if tokens > self._room():
                problem = "all tools of your own together have %d tokens, at most %d fit into the model's window."
                raise ArgumentError("description", problem % (tokens, self._room()))
        self._tools.append(tool)

    def restart(self) -> None:
        """Forget abandoned tasks of the last event loop."""
        for tool in self._tools:
            tool.task = None

    def _room(self) -> int:
        return self._config.get("llm.context_tokens") // _SHARE

    def listed(self, caller, only=()) -> tuple:
        """Return a caller's tools as Listed, limited to `only` if not empty, and to those that the window has room for."""
        is_full = caller.workspace or any(tool.is_own for tool in self._tools)
        room, tools, left_out = self._room(), [], []
        for tool in self._offered(caller, only):
            room -= 0 if tool.is_memory else tokens_of(tool)
            (tools if tool.is_memory or room >= 0 else left_out).append(tool)
        if len(left_out) > self._left_out:  # the service told a smaller window than that of the start
            names = ", ".join([tool.name for tool in left_out])
            diag.warning("tools", "the model is not shown %s: its window has no room for them" % names)
            self._left_out = len(left_out)
        return tuple(
            [Listed(each.name, each.description, each.full_schema if is_full else each.schema) for each in tools]
        )

    def _offered(self, caller, only) -> list:
        return [tool for tool in self._tools if (not only or tool.name in only) and tool.is_for(caller)]

    def names_that_keep_nothing(self) -> tuple:
        """Return the names of the owner's tools and pins, and of all others that only read."""
        return tuple([tool.name for tool in self._tools if tool.is_own or not tool.writes])

    async def answer(self, call, turn) -> Done:
        """Run a model's call in a Turn; an EngramError becomes its result."""
        try:
            tool, arguments = self._checked(call.name, call.arguments, turn.caller, turn.only)
            if turn.forwarded and tool.writes:
                raise EngramError(_NOT_THEIRS % turn.forwarded)
            needs_yes = tool.needs_yes(arguments)
            if needs_yes and not self.confirmations.is_confirmed(turn, tool.name, arguments):
                return self._ask(tool, arguments, turn)
            if tool.is_own and tool.writes:
                turn.act()  # also if it fails, or the turn is cancelled meanwhile
            result, notice = await self._run(tool, arguments, turn)
        except EngramError as error:
            problem = {"problem": str(error)}
            if isinstance(error, ArgumentError):
                problem["argument"] = error.argument
            return Done(text.dumps({"error": problem}), "")
        if needs_yes:
            self._note(turn, tool, arguments, "Used %s, confirmed by %s", turn.caller.principal)
        turn.has_acted = turn.has_acted or (bool(notice) and tool.name != "memory_store")
        return Done(result if tool.is_memory else '{"result":%s}' % result, notice)

    async def _run(self, tool, arguments: dict, turn) -> tuple:
        """Run a tool; a call's second failure in a row becomes an event."""
        call = crc32(text.encode("%s %s %s" % (turn.caller, tool.name, text.dumps(arguments))))
        try:
            done = await _run(tool, arguments, turn)
        except EngramError as error:
            # A wrong argument is no failure of the tool.
            count = 2 if isinstance(error, ArgumentError) else self._failed.count(call)
            if count == 1:
                self._note(turn, tool, arguments, "%s, tried twice: %s", error)
            if count < 2:
                self._failed = self._failed[1 - _FAILURES :] + [call]
            raise
        self._failed = [each for each in self._failed if each != call]
        return done

    def _note(self, turn, tool, arguments: dict, sentence: str, more) -> None:
        """Write an event of an own tool or a pin, in a conversation that is kept."""
        if turn.is_kept and tool.is_own:
            given = ", ".join(["%s %s" % pair for pair in sorted(arguments.items())])
            called = "%s (%s)" % (tool.name, given) if given else tool.name
            self._events.add(turn.caller, sentence % (called, more), "tool", "tool", turn.id)

    def _ask(self, tool, arguments: dict, turn) -> Done:
        """Let a call wait for a yes; the board itself shows the person the call."""
        shown = text.dumps(arguments)
        if len(shown) > _SHOWN_LONGEST:
            raise EngramError("the arguments are too long to be shown to the person: shorten them.")
        self.confirmations.ask(turn, tool.name, arguments)
        return Done(_ASKED, "%s waits for your yes: %s" % (tool.name, shown))

    def check(self, name: str, arguments: dict, caller):
        """Return (tool, arguments) of a call without a model; ArgumentError."""
        tool, checked = self._checked(name, text.dumps(arguments), caller, ())
        if tool.is_memory:
            raise ArgumentError("tool", "there is no tool %s." % name)
        if tool.needs_yes(checked):
            raise ArgumentError(name, "runs only after a yes of the person.")
        return tool, checked

    async def call(self, name: str, arguments: dict, caller) -> tuple:
        """Return (success, JSON result or problem) of a call without a model, such as a timer's."""
        try:
            tool, checked = self.check(name, arguments, caller)
            return True, (await self._run(tool, checked, _Unsaid(caller, "", True)))[0]
        except EngramError as error:
            return False, str(error)

    def _checked(self, name: str, arguments: str, caller, only) -> tuple:
        tools = self._offered(caller, only)
        for tool in tools:
            if tool.name == name:
                return tool, read_arguments(arguments, tool.rules)
        names = ", ".join([tool.name for tool in tools])
        raise ArgumentError("tool", "there is no tool %s; there are %s." % (text.printable(name)[:40], names))


async def _run(tool, arguments: dict, turn) -> tuple:
    found = tool.run(arguments, turn)
    if hasattr(found, "send"):
        found = await found
    result = text.dumps(found[0])
    if len(result) > _RESULT_LONGEST:
        raise EngramError(_TOO_LONG)
    return result, found[1]


def object_schema(properties: dict, required: list) -> str:
    schema = '{"type":"object","properties":%s,"required":%s,"additionalProperties":false}'
    return schema % (text.dumps(properties), text.dumps(required))


def tokens_of(tool) -> int:
    """Return the tokens of a tool in a prompt."""
    return text.tokens(tool.description) + text.tokens(tool.schema) + _A_TOOL
