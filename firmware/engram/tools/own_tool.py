"""Tools of a person's own: functions that own.py gives the model, within limits, and own.py itself."""

import asyncio
import gc
import sys

from engram import diag, text
from engram.compat import const, print_trace, wait_for_ms
from engram.errors import ArgumentError, EngramError
from engram.interrupt import start_task
from engram.memory.access import OWNER
from engram.schema_check import check, check_fields, rule_of
from engram.text.utf8 import is_printable_ascii
from engram.tools.pin_config import WHO
from engram.tools.toolbox import Tool

NAME_LONGEST = const(32)
_DESCRIPTION_LONGEST = const(300)  # characters: each request to the model has all of them
_SCHEMA_LONGEST = const(1000)
_RESULT_LONGEST = const(2000)  # characters: it stays in the heap until the turn is over
_PROBLEM_LONGEST = const(200)  # characters of what a function that failed says
_CUT = const(" … [cut]")
_OPTIONS = ("name", "description", "schema", "who", "groups", "confirm", "seconds", "wants_caller")
_TIMEOUT = const("100..120000")  # ms: a turn waits for the tool, and other turns wait for this one
_FIRST = const("abcdefghijklmnopqrstuvwxyz")
_LETTERS = const("abcdefghijklmnopqrstuvwxyz0123456789_")
_RULE = {
    "type": "string|integer|number|boolean|array|null", "description": "string",
    "enum": {"type": "array", "items": {"type": "string"}},
    "minItems": "number", "maxItems": "number", "minimum": "number", "maximum": "number", "maxLength": "number",
}  # fmt: skip
"""The rules of a rule, beside items and anyOf."""
_SHORT_FORM = const('must be such as "0..100", "on|off", "string", "integer", "number" or "boolean", or a JSON Schema.')


class OwnTool(Tool):
    """A function that the model may call, within limits.

    run(**arguments), or run(caller, **arguments) if it `wants_caller`, is a function or a coroutine function. `who` may use it:
    "owner", "all", or a tuple of principals; in a group nobody unless `groups`. With `confirm` it runs only after a yes of the
    person in their next message. One that does not end when it is cancelled is left behind, and not called again before it
    has ended.
    """

    def __init__(
        self,
        name,
        description,
        schema,
        run,
        who="owner",
        groups=False,
        confirm=False,
        timeout_ms=10_000,
        wants_caller=False,
    ):
        check_name("name", name)
        if not isinstance(description, str) or not 0 < len(description) <= _DESCRIPTION_LONGEST:
            problem = "must say in 1 to %d characters what the tool is for." % _DESCRIPTION_LONGEST
            raise ArgumentError("description", problem)
        if not callable(run):
            raise ArgumentError(name, "must be a function.")
        check("milliseconds", timeout_ms, _TIMEOUT)
        who = check_who(who)
        super().__init__(
            name,
            description,
            schema_text(schema),
            run=self._run,
            is_for=lambda caller: may_use(caller, who, groups),
            writes=True,
            needs_yes=lambda _arguments: bool(confirm),
        )
        self.timeout_ms = timeout_ms
        self.task = None
        self._function = run
        self._wants_caller = wants_caller

    async def _run(self, arguments: dict, turn) -> tuple:
        if self.task and not self.task.done():
            raise EngramError(self.name + " is still busy with another call: try again later.")
        work = _Work(self, arguments, turn.caller)
        task = self.task = start_task(work.run)
        try:
            await wait_for_ms(work.over.wait(), self.timeout_ms)
        except asyncio.TimeoutError:
            if not work.over.is_set():
                work.problem = "%s did not end within %d ms and was cancelled." % (self.name, self.timeout_ms)
        finally:
            # Also where the turn itself was cancelled. It is not awaited: what ignores this runs on, and is busy.
            if not work.over.is_set():
                task.cancel()
        if work.problem:
            raise EngramError(work.problem)
        return work.value, "used " + self.name

    def call(self, arguments: dict, caller):
        """Call the function; what it returns, perhaps a coroutine."""
        return self._function(caller, **arguments) if self._wants_caller else self._function(**arguments)


class _Work:
    """One call of a function."""

    def __init__(self, tool, arguments: dict, caller):
        self._tool = tool
        self._arguments = arguments
        self._caller = caller
        self.over = asyncio.Event()
        self.value = None
        self.problem = tool.name + " was cancelled and gave no result."

    async def run(self) -> None:
        name = self._tool.name
        try:
            value = self._tool.call(self._arguments, self._caller)
            if hasattr(value, "send"):
                value = await value
            self.value, self.problem = _checked(value), ""
        except MemoryError:
            gc.collect()
            self.problem = name + " failed: the board has not enough free memory."
        except (Exception, SystemExit) as error:  # noqa: BLE001 the code is a person's own, and may raise anything
            said = text.printable(str(error))[:_PROBLEM_LONGEST]
            self.problem = "%s failed: %s" % (name, said or type(error).__name__)
            if not isinstance(error, ArgumentError):
                diag.failure(name, error, "the model was answered with that")
        finally:
            self.over.set()


def _checked(value):
    """The value of a call, as far as it may be long; ArgumentError if it is too long, ValueError if it is no JSON."""
    if isinstance(value, str) and len(value) > _RESULT_LONGEST // 2:
        value = text.cut(value, _RESULT_LONGEST // 2) + _CUT
    # Before it is made to text, for which a huge one would need the heap several times.
    if _room(value, _RESULT_LONGEST, 0) < 0 or len(text.dumps(value)) > _RESULT_LONGEST:
        raise ArgumentError("result", "is longer than %d characters: let it return less." % _RESULT_LONGEST)
    return value


def _room(value, room: int, depth: int) -> int:
    """The characters that are left of a room when a value is in it, less than none if it does not fit."""
    if isinstance(value, str):
        return room - len(value)
    if isinstance(value, (list, tuple, dict)) and depth < 16:
        for item in value.items() if isinstance(value, dict) else value:
            room = _room(item, room - 1, depth + 1)
            if room < 0:
                break
    return room - 1


def declare(toolbox, function, options: dict):
    """Add a function to a toolbox, and give it back; without one, give what does that to the function that follows."""
    for option in options:
        if option not in _OPTIONS:
            raise ArgumentError(option, "is no option; there are " + ", ".join(_OPTIONS) + ".")

    def add(function):
        more = dict(options)
        seconds = more.pop("seconds", 10)
        milliseconds = int(seconds * 1000) if isinstance(seconds, (int, float)) else 0
        name = more.pop("name", "") or getattr(function, "__name__", "")
        described = name, more.pop("description", ""), more.pop("schema", None) or {}
        toolbox.add(OwnTool(*described, function, timeout_ms=milliseconds, **more))
        return function

    return add(function) if function else add


def load_own_code(app, folder: str) -> None:
    """Import own.py of a folder and call its setup(app), if it has one; an error there is shown, and the board goes on."""
    if folder and folder not in sys.path:
        sys.path.append(folder)
    try:
        sys.modules.pop("own", None)  # what another folder had
        module = __import__("own")
        if hasattr(module, "setup"):
            module.setup(app)
    except Exception as error:  # noqa: BLE001 the code is a person's own, and may raise anything
        print_trace(error)
        diag.failure("own.py", error, "the board goes on without the rest of it")


def may_use(caller, who, groups: bool) -> bool:
    """Return True if a caller is one of `who`, where they are."""
    if caller.group and not groups:
        return False
    return who == "all" or caller.principal == OWNER.principal if isinstance(who, str) else caller.principal in who


def check_who(who):
    """Return who may use something: "owner", "all", or a tuple of principals."""
    listed = list(who) if isinstance(who, tuple) else who
    check("who", listed, WHO)
    return tuple(listed) if isinstance(listed, list) else listed


def check_name(argument: str, name) -> None:
    """ArgumentError if a name is none that a model can call."""
    is_name = isinstance(name, str) and 0 < len(name) <= NAME_LONGEST and is_printable_ascii(name)
    if not is_name or name[0] not in _FIRST or not all(letter in _LETTERS for letter in name):
        problem = "must be at most %d of a to z, 0 to 9 and _, and begin with a letter." % NAME_LONGEST
        raise ArgumentError(argument, problem)


def schema_text(schema) -> str:
    """The arguments' JSON Schema as text; from a schema, its text, or the short form {"brightness": "0..100"}."""
    if isinstance(schema, str):
        try:
            schema = text.loads(schema)
        except ValueError:
            raise ArgumentError("schema", "is not valid JSON.") from None
    if not isinstance(schema, dict) or not all(isinstance(name, str) for name in schema):
        raise ArgumentError("schema", 'must be a dict such as {"brightness": "0..100"}, {} if there are no arguments.')
    if isinstance(schema.get("properties"), dict):
        rules, required = schema["properties"], schema.get("required", [])
    else:
        rules = {name.rstrip("?"): _rule(name, short) for name, short in schema.items()}
        required = [name for name in schema if name[-1:] != "?"]
    for name, rule in rules.items():
        check_name("schema", name)
        _check_rule(name, rule)
    if not isinstance(required, list) or not all(name in rules for name in required):
        raise ArgumentError("schema", "required must be a list of names in properties.")
    properties = ",".join(['"%s":%s' % (name, text.dumps(rules[name])) for name in sorted(rules)])
    found = '{"type":"object","properties":{%s},"required":%s,"additionalProperties":false}'
    found = found % (properties, text.dumps(sorted(required)))
    if len(found) > _SCHEMA_LONGEST:
        raise ArgumentError("schema", "has %d characters as JSON, at most %d fit." % (len(found), _SCHEMA_LONGEST))
    return found


def _rule(name: str, short) -> dict:
    """Return the JSON Schema of one argument."""
    try:
        return rule_of(short)
    except ValueError:
        raise ArgumentError(name, _SHORT_FORM) from None


def _check_rule(name: str, rule) -> None:
    """ArgumentError if a rule is none that a call's arguments are checked by."""
    if not isinstance(rule, dict):
        raise ArgumentError(name, _SHORT_FORM)
    if isinstance(rule.get("anyOf"), list):
        for other in rule["anyOf"]:
            _check_rule(name, other)
        return
    try:
        check_fields({key: value for key, value in rule.items() if key != "items"}, _RULE, ("type",))
    except ArgumentError as error:
        raise ArgumentError(name, str(error)) from None
    if rule["type"] == "array":
        _check_rule(name, rule.get("items"))
