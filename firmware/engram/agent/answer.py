"""The answer to one turn: save the message, ask the model, run tools, stream and save the reply."""

from collections import namedtuple

from engram import diag, tables, text
from engram.agent.agent import Origin, Outcome, Sink, Turn, UnkeptOrigin
from engram.compat import sleep_ms
from engram.errors import EngramError, ModelRefused
from engram.interrupt import start_task
from engram.llm.types import Request, assistant, result, user
from engram.memory.forgetting import take_back
from engram.memory.journal.unkept import BEGUN, NOTICE
from engram.memory.line_meaning import CORRECTED, with_origin
from engram.text.openers import goes_on, is_question, own_words, parse, wants_reminder

_EXCHANGE_TOKENS = const(2500)  # of tool calls and their results in one turn: all of them are on the heap
_SMALL_RESULT = const(400)  # characters: a report of a change always fits

_KEEPING = const("memory_store memory_update file_edit")
(
    _NO_ROOM, _NOW_ANSWER, _SPENT, _AS_TEXT, _THOUGHT, _NO_TOOLS, _UNLEARNED, _LEARNED, _NOT_CALLED,
    _UNFORGOTTEN, _NO_TIMER, _NOT_THEIRS, _UNKEPT_RULE,
) = tables.rows("agent/answer")  # fmt: skip


async def run_tool_loop(model, tools, prompt, turn, sink, reply) -> str:
    """Run the model and its tools for a Turn; return the reason for a missing answer, or ""."""
    exchanged, told = [], []

    async def tell_retry(problem: str, wait_ms: int) -> None:
        if problem not in told:
            told.append(problem)
            await sink.notice("%s; trying again in %d s" % (problem, (wait_ms + 999) // 1000))

    def messages():
        yield from prompt.messages()
        yield from exchanged

    request = Request(prompt.system, messages, tools.listed(turn.caller, turn.only), prompt.reply_tokens, "")
    left = model.rounds
    room = min(prompt.room, _EXCHANGE_TOKENS)
    spare = prompt.room - room
    while True:
        is_last = not left or room <= 0
        if is_last:
            # The tools stay listed: an API wants those that were called, and its cache begins with them.
            # Put into the last tool result: some services refuse a message behind it.
            last = exchanged.pop() if exchanged else None
            exchanged.append(result(last.call, last.text + "\n" + _NOW_ANSWER) if last else user(_NOW_ANSWER))
        answer = await model.stream(request, reply.text, tell_retry)
        prompt.note_usage(0 if exchanged else answer.usage[0])
        if reply.end_part(answer.text):
            await sink.notice(_THOUGHT)
        if not answer.calls:
            reply.stop = answer.stop
            return await _end(answer, sink)
        if is_last:
            await sink.notice("the model was stopped: it called more tools than one turn may have.")
            return ""
        left -= 1
        exchanged.append(assistant(answer.text, answer.calls, answer.kept))
        # Thoughts, for the most part: they take what the window has beside the exchange, and then from the exchange.
        spare -= sum([text.tokens(text.dumps(value)) for _, value in answer.kept])
        room += min(0, spare)
        spare = max(0, spare)
        for call in answer.calls:
            exchanged.append(result(call, await _result(model, tools, call, turn, sink, room)))
            room -= text.tokens(call.arguments) + text.tokens(exchanged[-1].text)


async def _end(answer, sink) -> str:
    if answer.stop == "length":
        if not answer.text.strip():
            return _SPENT
        await sink.notice("the answer reached its longest length and ends here.")
    return _AS_TEXT if answer.stop == "as_text" else ""


async def _result(model, tools, call, turn, sink, room: int) -> str:
    turn.has_called = True
    done = await tools.answer(call, turn)
    is_keeping, is_error = call.name in _KEEPING.split(), done.result.startswith('{"error":')
    if is_keeping:
        turn.unkept = text.loads(done.result)["error"]["problem"] if is_error else ""  # type: ignore
    turn.has_obeyed = turn.has_obeyed or bool(done.notice) or (is_keeping and not is_error)
    if not is_error:
        model.note_call()
    if done.notice:
        await sink.notice(done.notice)
    fits = len(done.result) <= _SMALL_RESULT or text.tokens(done.result) <= room
    return done.result if fits else _NO_ROOM


_SILENT = const(10)  # seconds until a person sees that the model is at work
_BETWEEN_SIGNS = const(5)


async def _show_work(model, sink: Sink, reply) -> None:
    """Show a person that a silent model is at work, unless a part of the reply that has begun shows it."""
    last, quiet = None, 0
    while True:
        await sleep_ms(reply.second_ms)
        quiet = 0 if reply.start >= 0 else quiet + 1
        if quiet >= _SILENT and not quiet % _BETWEEN_SIGNS:
            sign = model.work
            await sink.working(sign, (sign, len(reply.kept)) != last)
            last = sign, len(reply.kept)


_FOUND = const(24)  # that a companion is asked for: as many as recall takes into account
_ORDERS = const(("remember", "forget"))  # they trigger no reminder
_UNKEPT_ANSWERS = {"unkept": BEGUN, "remember": "I do not remember that: " + NOTICE + "."}


_Parts = namedtuple(
    "_Parts", "config turn_queue records journal recall prompts toolbox timers offline model jobs window remote_search"
)


class Agent(_Parts):
    """The agent of a board, which answers one turn at a time, with or without a model; its last four parts may be None."""

    turns = failed = 0
    _told_no_tools = ""  # name of the latest model that the person knows of

    async def turn(self, caller, content: str, sink: Sink, origin=None) -> Outcome:
        """Answer a message; its Origin keeps it in the journal first, whatever happens to the reply."""
        origin = origin or Origin()
        # Before it waits: a message stays kept, or not kept, whatever the person says meanwhile.
        if origin.is_new and self.begin_unkept(caller, content, origin.is_said):
            origin = UnkeptOrigin(origin.forwarded, origin.quoted)
        outcome = await self.turn_queue.run(sink.may_exceed_queue, self._run, caller, content, sink, origin)
        self.failed += bool(outcome.problem)
        return outcome

    async def _run(self, caller, content: str, sink: Sink, origin) -> Outcome:
        self.turns += 1
        said = own_words(content)
        command = parse(said)
        if command.kind == "unkept" and command.content and isinstance(origin, UnkeptOrigin) and origin.is_said:
            content, said = content.replace(said, command.content), command.content
            command = parse(said)
        is_order = origin.is_said and command.kind in _ORDERS
        # With a further sentence the model has something to answer.
        is_alone = is_order and not goes_on(command.content)
        is_offline = not self.model or (is_alone and bool(self.model.no_tools))
        is_command = is_offline and origin.is_said and bool(command.kind)
        seq = origin.keep(self.journal, caller, content, is_command)
        turn = Turn(caller, seq, said if origin.is_said else "", origin.forwarded, command)
        if origin.is_said:
            self.toolbox.confirmations.begin_turn(turn)
        if turn.is_kept:
            await sink.on_saved(turn.id)
        else:
            turn.only = self.toolbox.names_that_keep_nothing()
        try:
            return await self._answer_turn(turn, content, sink, origin, is_offline)
        finally:
            if turn.has_acted and origin.mid and turn.is_kept:
                try:
                    self.journal.note_acted(seq)
                except EngramError as error:
                    diag.error("agent", "a correction of t%d may do its work once more: %s" % (seq, error))

    def begin_unkept(self, caller, content: str, is_said: bool) -> bool:
        """Let a person's sentence begin a conversation that is not kept; True if the message belongs to one."""
        if is_said and parse(own_words(content)).kind == "unkept":
            self.journal.unkept.begin(caller)
        return self.journal.unkept.is_on(caller)

    async def _answer_turn(self, turn: Turn, content: str, sink: Sink, origin, is_offline: bool) -> Outcome:
        if origin.corrects:
            for line in take_back(self.records, "t%d" % origin.corrects, turn.caller):
                await sink.notice(line)
        # To look at the keyboard between the flash's work for the message and the search for its answer.
        await sleep_ms(0)
        reply = _UNKEPT_ANSWERS.get(turn.command.kind, "") if turn.said and not turn.is_kept else ""
        reminders = ""
        if not (turn.is_kept or reply):
            await sink.notice(NOTICE)
            reminders = _UNKEPT_RULE
        if origin.is_said and not reply and turn.command.kind not in _ORDERS:
            reminders = await self.timers.remind(turn, turn.said, sink) + reminders
        if is_offline and not reply:
            reply = _NOT_THEIRS % turn.forwarded if turn.forwarded else await self._obey(turn)
        if reply:
            # A command's answer repeats stored text: as a searchable turn it would be found instead of it.
            if origin.mid or not turn.is_kept:
                self._keep(turn, origin, reply, False, command=True)
            await sink.text(reply)
            return Outcome(turn.id, reply, "")
        return await self._answer(turn, content, sink, reminders, origin)

    async def _answer(self, turn: Turn, content: str, sink: Sink, reminders: str, origin) -> Outcome:
        jobs = self.jobs
        reply = Reply(sink)
        is_whole = False
        if jobs:
            await jobs.preempt()  # a message goes first
        problem = ""
        work = start_task(_show_work, self.model, sink, reply)
        try:
            problem = await self._converse_in_window(turn, content, sink, reply, reminders, origin)
            if not reply.all():
                problem = problem or "the model gave an empty answer; ask again."
            is_whole = True
        except EngramError as error:
            problem = str(error)
            diag.info("agent", problem)  # kept for /stats; the channel informs the person
        finally:
            work.cancel()
            # Whatever ended it, a task that was cancelled or a channel that is gone: what came of it is kept.
            self._keep(turn, origin, reply.all(), not is_whole)
        if jobs:
            if is_whole:
                jobs.on_model_ok()
            jobs.turn_over()
        if turn.said:
            await self._check_order(turn, sink, reply, is_whole)
        if turn.unkept:
            await sink.notice(("not all was kept: " if turn.has_obeyed else "nothing was kept: ") + turn.unkept)
        return Outcome(turn.id, reply.all(), problem)

    async def _check_order(self, turn: Turn, sink: Sink, reply, is_whole: bool) -> None:
        """Carry out a command that the model left and cannot carry out, or tell that nothing was done."""
        model, kind, said = self.model, turn.command.kind, reply.all()
        is_learning = self.config.get("mode") == "full" and self.config.get("extract.on")
        is_order = kind in _ORDERS and any(True for _ in text.terms(turn.command.content))
        is_left = is_order and not turn.has_obeyed
        is_denied = is_left and is_whole and not is_question(said)
        if is_denied and (reply.stop == "as_text" or (kind == "remember" and said and reply.stop == "end")):
            model.note_no_call()
        if (is_left and model.no_tools) or (kind and not (is_whole or said)):
            turn.unkept = ""
            await sink.notice(await self._obey(turn))
        elif is_denied and kind == "forget":
            await sink.notice(_UNFORGOTTEN)
        elif is_left and kind == "remember" and not is_learning:
            turn.unkept = turn.unkept or _NOT_CALLED
        if model.no_tools and self._told_no_tools != model.name:
            self._told_no_tools = model.name
            await sink.notice(_NO_TOOLS % (model.name, model.no_tools, _LEARNED if is_learning else _UNLEARNED))
        if model.no_tools and wants_reminder(turn.said):
            await sink.notice(_NO_TIMER)

    async def _obey(self, turn: Turn) -> str:
        """Return the board's own answer to a command."""
        return await self.offline.answer(turn.caller, turn.command, turn.id, turn.act)

    async def _converse_in_window(self, turn: Turn, *parts) -> str:
        """Converse; once more if the service refuses the prompt as longer than its window, which it names."""
        window = self.window
        if window:
            await window.ask()
        try:
            return await self._converse(turn, *parts)
        except ModelRefused as error:
            is_too_long = window and window.correct(str(error), self.prompts)  # for the next turns, too
            if turn.has_called or not is_too_long:
                raise
        return await self._converse(turn, *parts)

    async def _converse(self, turn: Turn, content: str, sink: Sink, reply, reminders: str, origin) -> str:
        """Ask the model until it calls no more tools; return the reason for a missing answer, or ""."""
        prompts = self.prompts
        remote = self.remote_search if turn.is_kept and self.config.get("mode") == "full" else None
        sid = self.journal.current(turn.caller)
        window = prompts.window(turn.caller, sid, turn.seq)
        ranked = prompts.rank(turn.caller, content, window, turn.seq)
        if remote and ranked:
            ranked = self.recall.with_remote(ranked, await remote.found(ranked, _FOUND))
        shown = []
        content = (CORRECTED if origin.corrects else "") + with_origin(content, turn.forwarded, origin.quoted)
        prompt = prompts.build(turn.caller, sid, turn.seq, content, window, reminders, ranked, shown)
        if shown:
            await sink.recalled(shown)
        if prompt.notice:
            await sink.notice(prompt.notice)
        return await run_tool_loop(self.model, self.toolbox, prompt, turn, sink, reply)

    def _keep(self, turn: Turn, origin, reply: str, cut: bool, command: bool = False) -> None:
        if not reply:
            return
        try:
            origin.keep_reply(self.journal, turn.caller, reply, cut=cut, command=command, answers=turn.seq)
        except EngramError as error:
            # The person has read it, and their own turn is on flash: the conversation goes on.
            diag.error("agent", "the reply could not be kept: " + str(error))


class Reply:
    """The text of a reply, joined by line ends between tool calls."""

    second_ms = 1000
    stop = ""
    """The Reply.stop of a model that called nothing more."""

    def __init__(self, sink: Sink):
        self._sink = sink
        self.kept = bytearray()  # pieces are a few letters long: as strings they would take ten times the heap
        self.start = -1  # of the present part, once it has begun

    async def text(self, piece: str) -> None:
        if self.start < 0:
            if self.kept:
                self.kept.extend(b"\n")
                await self._sink.text("\n")
            self.start = len(self.kept)
        self.kept.extend(piece.encode())
        await self._sink.text(piece)

    def end_part(self, text: str) -> bool:
        """Keep `text` as this part and start a new line; False if the part equals `text`."""
        start, self.start = self.start, -1
        if start < 0 or len(self.kept) - start == len(text.encode()):
            return False
        self.kept = self.kept[:start]
        self.kept.extend(text.encode())
        return True

    def all(self) -> str:
        return str(self.kept, "utf-8").strip()
