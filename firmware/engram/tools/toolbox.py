"""Tools of a person's own on one board: who may call them, with which arguments, and for how long.

Whatever a tool does, its call ends with an answer that the model can use: an error, a result that is no JSON, and a time limit
among them. A tool that does not end when it is cancelled is left behind and not called again before it has ended.
"""

import asyncio
import gc

from engram import diag, text
from engram.compat import const, wait_for_ms
from engram.errors import ArgumentError
from engram.interrupt import start_task
from engram.tools.confirmation import Confirmations

_MOST = const(24)  # tools
_A_TOOL = const(25)  # tokens that an API puts around a tool's description and schema
_RESULT_LONGEST = const(2000)  # characters: it stays in the heap until the turn is over
_PROBLEM_LONGEST = const(200)  # characters of what a tool that failed says
_SHOWN_LONGEST = const(300)  # characters of the arguments that a person says yes to
_CUT = const(" … [cut]")
_ASKED = const(
    '{"needs":"a yes of the person in their next message","next":"Ask them plainly whether you shall do exactly this. '
    'After their yes call it again with the same arguments."}'
)


class Toolbox:
    """The tools beside the memory's, whose names are `reserved`.

    check_arguments(text, schema) gives a call's arguments, see agent/arguments.py. All descriptions and schemas
    together have at most `most_tokens`.
    """

    def __init__(self, reserved, check_arguments, most_tokens: int):
        self._reserved = reserved
        self._check_arguments = check_arguments
        self._most_tokens = most_tokens
        self._tools = []
        self._confirmations = Confirmations()

    def add(self, tool, is_own: bool = True) -> None:
        """Add an OwnTool; ArgumentError if its name is taken or there is no room for it. One that `is_own` is a person's."""
        if (is_own and tool.name in self._reserved) or self._find(tool.name):
            raise ArgumentError("name", "there is a tool %s already: give another name." % tool.name)
        if len(self._tools) >= _MOST:
            raise ArgumentError("name", "at most %d tools of your own fit." % _MOST)
        tokens = sum([_tokens(each) for each in self._tools]) + _tokens(tool)
        if tokens > self._most_tokens:
            problem = "all tools of your own together have %d tokens, at most %d fit into the model's window."
            raise ArgumentError("description", problem % (tokens, self._most_tokens))
        self._tools.append(tool)

    def remove(self, name: str) -> None:
        """Remove a tool; nothing if there is none."""
        self._tools = [tool for tool in self._tools if tool.name != name]

    def restart(self) -> None:
        """The app's loop begins again: tools that were left behind in the last one do not run any more."""
        for tool in self._tools:
            tool.task = None

    def listed(self, caller) -> tuple:
        """What the model is offered for a caller."""
        found = [tool.for_caller(caller) for tool in self._tools]
        return tuple([offer for offer in found if offer])

    def begin_turn(self, turn) -> str:
        """A person says something: what waits for their yes is confirmed by it, or no longer waits. A sentence if it was too
        late, or ""."""
        return self._confirmations.begin_turn(turn)

    def tick(self) -> None:
        """What is to be done now and then: questions expire."""
        self._confirmations.tick()

    async def answer(self, call, turn):
        """(result as JSON text, a line for the person or "") of a model's call; None if no tool here has its name."""
        tool = self._find(call.name)
        if not tool:
            return None
        try:
            arguments = self._check_arguments(call.arguments, self._offer(tool, turn.caller).schema)
        except ArgumentError as error:
            return text.dumps({"error": {"problem": str(error), "argument": error.argument}}), ""
        if tool.confirm and not self._confirmations.is_confirmed(turn, tool.name, arguments):
            return self._ask(tool, arguments, turn)
        work = await self._run(tool, arguments, turn.caller)
        if work.problem:
            return _error(work.problem), ""
        return '{"result":%s}' % work.result, tool.notice(arguments, work.value)

    def _ask(self, tool, arguments: dict, turn) -> tuple:
        """Let a call wait for a yes: the person reads from the board itself what is to be done, whatever the model asks."""
        shown = text.dumps(arguments)
        if len(shown) > _SHOWN_LONGEST:
            return _error("the arguments are too long to be shown to the person: shorten them."), ""
        problem = self._confirmations.ask(turn, tool.name, arguments)
        if problem:
            return _error(problem), ""
        return _ASKED, "%s waits for your yes: %s" % (tool.name, shown)

    def check(self, name: str, arguments: dict, caller, is_confirmed: bool = False):
        """(tool, arguments) of a call that no model makes; ArgumentError if this caller may not make it."""
        tool = self._find(name)
        if not tool:
            raise ArgumentError("tool", "there is no tool %s." % text.printable(name)[:40])
        checked = self._check_arguments(text.dumps(arguments), self._offer(tool, caller).schema)
        if tool.confirm and not is_confirmed:
            raise ArgumentError(name, "runs only after a yes of the person.")
        return tool, checked

    async def call(self, name: str, arguments: dict, caller, is_confirmed: bool = False) -> tuple:
        """(whether it went well, its result as JSON or the problem) of a call that no model makes, such as a timer's."""
        try:
            tool, checked = self.check(name, arguments, caller, is_confirmed)
        except ArgumentError as error:
            return False, str(error)
        work = await self._run(tool, checked, caller)
        return not work.problem, work.problem or work.result

    def _find(self, name: str):
        for tool in self._tools:
            if tool.name == name:
                return tool
        return None

    def _offer(self, tool, caller):
        offer = tool.for_caller(caller)
        if not offer:
            where = "here, where others read along" if caller.group else "for this person"
            raise ArgumentError("tool", "%s may not be used %s." % (tool.name, where))
        return offer

    async def _run(self, tool, arguments: dict, caller):
        """The finished _Work of a call."""
        work = _Work(tool, arguments, caller)
        if tool.task and not tool.task.done():
            work.problem = tool.name + " is still busy with another call: try again later."
            return work
        task = tool.task = start_task(work.run)
        try:
            await wait_for_ms(work.over.wait(), tool.timeout_ms)
        except asyncio.TimeoutError:
            if not work.over.is_set():
                work.problem = "%s did not end within %d ms and was cancelled." % (tool.name, tool.timeout_ms)
        finally:
            # Also where the turn itself was cancelled. It is not awaited: what ignores this runs on, and is busy.
            if not work.over.is_set():
                task.cancel()
        return work


class _Work:
    """One call of a tool."""

    def __init__(self, tool, arguments: dict, caller):
        self._tool = tool
        self._arguments = arguments
        self._caller = caller
        self.over = asyncio.Event()
        self.value = None
        self.result = ""
        self.problem = tool.name + " was cancelled and gave no result."

    async def run(self) -> None:
        tool = self._tool
        try:
            value = tool.run(self._caller, **self._arguments) if tool.wants_caller else tool.run(**self._arguments)
            if hasattr(value, "send"):
                value = await value
            self._finish(value)
        except MemoryError:
            gc.collect()
            self.problem = tool.name + " failed: the board has not enough free memory."
        except (Exception, SystemExit) as error:  # noqa: BLE001 the code is a person's own, and may raise anything
            said = text.printable(str(error))[:_PROBLEM_LONGEST]
            self.problem = "%s failed: %s" % (tool.name, said or type(error).__name__)
            if not isinstance(error, ArgumentError):
                diag.failure(tool.name, error, "the model was answered with that")
        finally:
            self.over.set()

    def _finish(self, value) -> None:
        if isinstance(value, str) and len(value) > _RESULT_LONGEST // 2:
            value = text.cut(value, _RESULT_LONGEST // 2) + _CUT
        # Before it is made to text, for which a huge one would need the heap several times.
        if _room(value, _RESULT_LONGEST, 0) < 0 or len(result := text.dumps(value)) > _RESULT_LONGEST:
            raise ArgumentError("result", "is longer than %d characters: let it return less." % _RESULT_LONGEST)
        self.value, self.result, self.problem = value, result, ""


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


def _tokens(tool) -> int:
    return text.tokens(tool.description) + text.tokens(tool.schema) + _A_TOOL


def _error(problem: str) -> str:
    return text.dumps({"error": {"problem": problem}})
