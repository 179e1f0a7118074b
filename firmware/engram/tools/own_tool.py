"""The owner's tools: functions that own.py gives the model, within limits, and own.py itself."""

import asyncio
import sys

from engram import diag, text
from engram.compat import print_trace, wait_for_ms
from engram.errors import ArgumentError, EngramError
from engram.interrupt import start_task
from engram.schema_check import check, rule_of
from engram.tools.toolbox import Tool, object_schema

_NAME_LONGEST = const(32)
_PROBLEM_LONGEST = const(200)  # characters of what a function that failed says
_FIRST = const("abcdefghijklmnopqrstuvwxyz")
_LETTERS = const("abcdefghijklmnopqrstuvwxyz0123456789_")
_SECONDS = {"type": "number", "minimum": 0.1, "maximum": 120}
_KINDS = ("string", "integer", "number", "boolean")


class OwnTool(Tool):
    """A limited tool of the owner's code; `who` may use it, `confirm` asks before each call."""

    is_own = True

    def __init__(
        self,
        run,
        name="",
        description="",
        schema=None,
        who="owner",
        groups=False,
        confirm=False,
        seconds=10,
        wants_caller=False,
    ):
        if not callable(run):
            raise ArgumentError(name, "must be a function.")
        name = check_name("name", name or getattr(run, "__name__", ""))
        if not isinstance(description, str) or not description:
            raise ArgumentError("description", "must say what the tool is for.")
        check("seconds", seconds, _SECONDS)
        names = (who,) if isinstance(who, str) else tuple(who)
        super().__init__(
            name,
            description,
            schema_text(schema or {}),
            run=self._run,
            is_for=lambda caller: (groups or not caller.group) and ("all" in names or caller.principal in names),
            writes=True,
            needs_yes=lambda _arguments: bool(confirm),
        )
        self._timeout_ms = int(seconds * 1000)
        self._function = run
        self._wants_caller = wants_caller

    async def _run(self, arguments: dict, turn) -> tuple:
        if self.task and not self.task.done():
            raise EngramError(self.name + " is still busy with another call: try again later.")
        over, outcome = asyncio.Event(), []
        task = self.task = start_task(self._work, arguments, turn.caller, over, outcome)
        problem = "%s did not end within %d ms and was cancelled." % (self.name, self._timeout_ms)
        try:
            await wait_for_ms(over.wait(), self._timeout_ms)
        except asyncio.TimeoutError:
            pass
        finally:
            # Also where the turn itself was cancelled. It is not awaited: what ignores this runs on, and is busy.
            if not over.is_set():
                task.cancel()
        value, problem = outcome or (None, problem)
        if problem:
            raise EngramError(problem)
        return value, "used " + self.name

    async def _work(self, arguments: dict, caller, over, outcome: list) -> None:
        """Call the function; store its value and a problem or "" in the outcome."""
        value, problem = None, ""
        try:
            value = self._function(caller, **arguments) if self._wants_caller else self._function(**arguments)
            if hasattr(value, "send"):
                value = await value  # pyright: ignore[reportGeneralTypeIssues]  it is a coroutine
            text.dumps(value)  # fails if it is no JSON
        except (Exception, SystemExit) as error:  # noqa: BLE001 the code is a person's own, and may raise anything
            said = text.printable(str(error))[:_PROBLEM_LONGEST]
            problem = "%s failed: %s" % (self.name, said or type(error).__name__)
            if not isinstance(error, ArgumentError):
                diag.failure(self.name, error, "the model was answered with that")
        finally:
            over.set()
        outcome.extend((value, problem))


def declare(toolbox, function, options: dict):
    """Add a function to a toolbox and return it, or return a decorator."""

    def add(function):
        toolbox.add(OwnTool(function, **options))
        return function

    return add(function) if function else add


def load_own_code(app, folder: str) -> None:
    """Run setup(app) of a folder's own.py; print errors and go on."""
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


def check_name(argument: str, name) -> str:
    """Return a valid tool name; ArgumentError."""
    is_name = isinstance(name, str) and 0 < len(name) <= _NAME_LONGEST and name[0] in _FIRST
    if not is_name or not all(letter in _LETTERS for letter in name):
        problem = "must be at most %d of a to z, 0 to 9 and _, and begin with a letter." % _NAME_LONGEST
        raise ArgumentError(argument, problem)
    return name


def schema_text(schema) -> str:
    """Return the JSON Schema of a short form such as {"brightness": "0..100", "note?": "string"}."""
    rules, required = {}, []
    try:
        for argument in sorted(schema):
            name = check_name("schema", argument.rstrip("?"))
            rules[name] = rule_of(str(schema[argument]))
            if rules[name]["type"] not in _KINDS:
                raise ValueError(argument)
            if name == argument:
                required.append(name)
    except (ValueError, TypeError, AttributeError):
        raise ArgumentError("schema", 'must be a dict such as {"brightness": "0..100", "note?": "string"}.') from None
    return object_schema(rules, required)
