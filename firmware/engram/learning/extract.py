"""Extracts facts from people's messages with a model, after the reply.

Unread messages wait in the journal, and the read position is on flash with its results (see cursor.py), so a
turn survives a lost link or a power cut and is read once. Each proposed operation is checked against the
known records, or refused with a reason. Only people's words are learned from; known memories and the agent's
words are fenced as data.

In lightweight mode, and with extract.on off, messages have a last look before they leave the window: in a silent turn the
model keeps what should last with its tools.
"""

from engram import diag, tables, text
from engram.agent.agent import Sink, Turn
from engram.agent.answer import Reply, run_tool_loop
from engram.agent.prompt import beginning
from engram.errors import ArgumentError
from engram.learning import operations
from engram.learning.cursor import SPENT
from engram.learning.jobs import Job
from engram.learning.operations import SNIPPET, fenced
from engram.memory import access
from engram.memory.journal.journal import step
from engram.memory.line_meaning import attributed_text
from engram.memory.recall import snippet
from engram.memory.records import fields
from engram.text.light_words import content_terms
from engram.text.openers import asks, is_question, own_words

_TURNS = const(6)  # messages read in one call: they share its instructions, and fit its window
_BATCH_TOKENS = const(1500)  # of these messages: they stand in one prompt

_FACTS = const(3)  # from one message: a model that invents facts fills the memory with few
_REPLY_TOKENS = const(800)  # of the list of facts: what a model that does not stop costs
_TAGS = const(150)  # tokens of the tags in use
_KNOWN = const(8)  # records that the new facts may touch
_SAID = const(3000)  # characters of one message
_FENCE = const(20)  # tokens around one
_SHORT = const(8)  # words of an answer such as "yes, that is right"

_GIST_TOKENS = const(450)  # of an answer with a gist, more than without
_GIST = const('\n(Add {"op":"gist"} to the facts, with the content: %s.)')
_LOOK_GIST = const("(When you are done, do not answer NO_REPLY, but tell %s.)")
_KEEPING = const("memory_store memory_update memory_search file_read file_edit")


class Extraction(Job):
    name = "learning"

    def __init__(self, prompts, clock, records, journal, notes, cursor, model):
        super().__init__(cursor)
        self._prompts = prompts
        self._clock = clock
        self._records = records
        self._journal = journal
        self._notes = notes
        self._model = model
        self.stored = 0
        self.read = 0

    # --- when

    def is_due(self) -> bool:
        # A window of as many messages as it may have moves later than this.
        least = self._prompts.config.get("session.messages") // 2 if self._has_last_look() else 1
        return self._cursor.behind >= least and self.pause.is_over and not self._stopped_by()

    def _has_last_look(self) -> bool:
        """True if messages are kept with tools as they leave the window, and not read for facts."""
        return self._prompts.config.get("mode") != "full" or not self._prompts.config.get("extract.on")

    def _stopped_by(self) -> str:
        if self._has_last_look() and self._model.no_tools:
            return "the model calls no tools, and they are not read for facts (extract.on, mode)"
        if self._has_last_look() and not self._prompts.config.get("flush.on"):
            return "flush.on is false, and they are not read for facts (extract.on, mode)"
        return SPENT if self._cursor.is_spent(self._prompts.config) else ""

    # --- one batch

    async def _step(self) -> None:
        cursor = self._cursor
        gone = cursor.missed()
        if gone:
            diag.warning("learning", "%d lines of the journal left before they were read for facts" % gone)
        # One alone after a failure: it may be the only one that the model cannot take.
        batch = cursor.batch(1 if self._attempts else _TURNS, _room(self._prompts))
        turns = [turn for turn in batch.turns if content_terms(turn["text"])]  # no greeting or thanks
        if not turns:
            cursor.until = batch.until  # seen again after a restart: that needs no write
            return
        self._records.check_room()
        reading = ExtractBatch(self._prompts, self._clock, self._records, self._journal, self._notes, turns)
        reading.gist.turns = self._untold(turns[0]["sid"], reading.caller)
        asking = self._look(reading) if self._has_last_look() else reading.ask(self._model, cursor)
        reading.apply(await self._answered(asking, reading.name))
        for problem in reading.refused:
            self._refuse(reading.name, problem)
        reading.write_notes()
        reading.gist.keep()
        cursor.keep(reading.changes, batch.until)
        self.stored += sum([not draft.id for draft in reading.changes])
        self.read += len(turns)

    def _untold(self, sid: str, caller) -> list:
        """Return the turns that a session's gist is to tell next, [] while the window keeps the first until the next call."""
        journal, most = self._journal, self._prompts.config.get("session.messages")
        ahead = most // 2 if self._has_last_look() else step(most)
        untold = journal.untold(sid, caller.workspace, most)
        window = self._prompts.window(caller, sid, 0).turns if len(untold) > step(most) else ()
        if not window:
            return []
        first = untold[0]["seq"]
        is_full = len(window) + ahead > most or first < window[0]
        return untold if is_full and first < window[min(ahead, len(window) - 1)] else []

    async def _look(self, reading) -> list:
        """Let the model keep what should last with its tools; return no elements. StoreFull, ModelError."""
        prompts, turn = self._prompts, Turn(reading.caller, reading.last)
        if turn.caller.group and prompts.config.get("mode") != "full":
            return []  # MEMORY.md is private
        turn.only = tuple(_KEEPING.split())  # type: ignore
        room = _room(prompts)
        message = "\n".join(reading.gist.lines(room) + reading.said(2 * room) + [tables.read("learning/look")])
        message += _LOOK_GIST % tables.read("learning/gist").strip() if reading.gist.turns else ""
        self._cursor.spend(text.tokens(message))
        prompt = prompts.last_look(turn.caller, message)
        reply = Reply(Sink())
        await run_tool_loop(self._model, prompts.toolbox, prompt, turn, Sink(), reply)
        reading.gist.text = "" if "NO_REPLY" in reply.all() else reply.all()
        if not turn.has_obeyed:
            # Was it the room that was missing?
            self._records.check_room()
        return []

    # --- reports

    def status_lines(self):
        counts = (self.stored, self.read) + self._cursor.spent()
        yield "%d facts from %d messages since the start; today %d calls, %d tokens" % counts
        reason = self._stopped_by() or self.pause.why
        if reason and self._cursor.behind:
            yield "messages wait: " + reason
        yield from self.refusal_lines()


class ExtractBatch(operations.Batch):
    """Turns of one session, read together; `notes` go into the day's note."""

    source = "auto_llm"

    def __init__(self, prompts, clock, records, journal, notes, turns: list):
        super().__init__(prompts, records, access.turn_principal(turns[0]), ["t%d" % turn["seq"] for turn in turns])
        self._clock = clock
        self._journal = journal
        self._notes = notes
        # The names of attachments are others' words.
        self._turns = turns = [dict(turn, text=own_words(turn["text"])) for turn in turns]
        self._before = {}  # by a message's id, what the agent had said before: the person may have confirmed it
        self._left = dict.fromkeys(self._refs, _FACTS)
        self.last = turns[-1]["seq"]
        self.name = "t%d" % self.last if len(turns) == 1 else "t%d to t%d" % (turns[0]["seq"], self.last)
        self.notes = []
        self.gist = _NextGist(journal, turns[0]["sid"], self.caller.workspace)

    async def ask(self, model, cursor) -> list:
        """Return the elements of the model's answer; ArgumentError, ModelError."""
        most = _REPLY_TOKENS + (_GIST_TOKENS if self.gist.turns else 0)
        message = await self.message(operations.room(self._prompts, "extract", most))
        kinds = "add event none note" + (" update forget" if self.known else "")
        if self.gist.turns:
            message += _GIST % tables.read("learning/gist").strip()
            kinds += " gist"
        return await self._ask(model, cursor, "extract", message, kinds, most)

    async def message(self, room: int) -> str:
        """Return the prompt, of about `room` tokens, of the messages with the known facts."""
        each = max(2, _KNOWN // len(self._turns))
        texts = [turn["text"] + "\n" + self._said_before(turn) for turn in self._turns]
        lines = self.gist.lines(_room(self._prompts))
        said = "\n".join(lines + self.said(room - text.tokens("\n".join(lines))))
        known = await self._show_known(texts, each, _KNOWN, _TAGS, room - text.tokens(said))
        return "\n".join(known + [said])

    def said(self, room: int) -> list:
        """Return prompt lines of the messages in `room` tokens, and if they fit of what the agent had said before each."""
        lines, texts = [], [beginning(text.cut(turn["text"], _SAID), room - _FENCE, "") for turn in self._turns]
        spare = (room - sum([text.tokens(said) + _FENCE for said in texts])) // 2 // len(texts)
        for at, turn in enumerate(self._turns):
            ref, said = self._refs[at], texts[at]
            before = self._before[ref] = beginning(self._said_before(turn), spare - _FENCE, "")
            if before:
                lines += ["<before>", fenced(before), "</before>"]
            if len(said) < len(turn["text"]):
                diag.info("learning", "only the beginning of %s was read for facts: it is long" % ref)
            day = "day unknown" if turn.get("guess") else self._clock.day(turn["at"])
            lines.append("<said>%s</said>" % fenced("[%d %s %s] %s" % (at + 1, day, turn["who"], said)))
        return lines

    def _said_before(self, turn: dict) -> str:
        earlier = self._journal.turn(turn["prev"]) if turn.get("prev") else None
        before = snippet(earlier["text"], SNIPPET) if earlier and earlier["role"] == "assistant" else ""
        return before if content_terms(before) else ""

    def _apply(self, element: dict) -> None:
        if self.gist.turns and element.get("op") == "gist":
            self.gist.text = str(element.get("content") or "")
            return
        sources = self._named(element)
        if self.caller.group:
            sources = sources[-1:]  # others have said the earlier ones
        source = sources[-1]
        if element.get("op") == "forget":
            self._forget(element.get("id"), source)
            return
        wanted = operations.check(element, source, self.known, self._clock, self._day_of(source))
        for each in sources:  # taken back or forgotten since: nothing is learned from it
            self._journal.get(each, self.caller)
        if not self._left[source]:
            raise ArgumentError("answer", "has more facts than a message may give.")
        self._require_said(wanted, sources)
        wanted.values["content"] = access.with_speaker(wanted.values["content"], self._turn(source)["who"], self.caller)
        if wanted.kind == "note":
            self.notes.append(self._checked_note(wanted))
        elif not self._change(wanted, turns=sources):
            return
        self._left[source] -= 1

    def _forget(self, ref, turn: str) -> None:
        """Let a memory that a model made expire, as the person denies it."""
        if ref not in self.known:
            raise ArgumentError("id", "is none of the memories that were shown.")
        self._journal.get(turn, self.caller)
        record = self._records.get(ref, self.caller)
        if operations.is_protected(record) or self._terms(turn).isdisjoint(text.terms(record["content"])):
            raise ArgumentError("id", "is a person's own memory, or not what this message is about.")
        self._deny(record, turn)

    def _day_of(self, ref: str) -> int:
        turn = self._turn(ref)
        return -1 if turn.get("guess") else self._clock.day_number(turn["at"])

    def _turn(self, ref: str) -> dict:
        return self._turns[self._refs.index(ref)]

    def _checked_note(self, wanted) -> str:
        if self.caller.group:
            raise ArgumentError("op", "must not be note: notes are private and stay out of group rooms.")
        if not self._notes.people.has_room(access.notebook_of(self.caller)):
            raise ArgumentError(
                "op", "must not be note: no more people and workspaces can have files of their own (principals.most)."
            )
        return fields.check("content", wanted.values["content"], operations.CONTENT_CHARS)  # type: ignore

    def write_notes(self) -> None:
        """Append the proposed notes; existing lines were written before a power cut."""
        if self.notes:
            notebook = self._notes.for_caller(self.caller)
            there = notebook.text(notebook.today())
            for note in self.notes:
                if " ".join(note.split()) not in there:
                    notebook.note(note)

    # --- what people said, against which a proposed fact is held

    def _require_said(self, wanted, sources) -> None:
        """Refuse a content with more words of the model's own than of the person's; ArgumentError."""
        content = wanted.values["content"]
        words, said = set(text.terms(content)), set(text.terms(self._turn(wanted.turn)["who"]))
        for each in sources:
            said |= self._terms(each)
        if wanted.id:
            said |= set(text.terms(self._records.get(wanted.id, self.caller)["content"]))
        # To a question a model tells what it knows itself, or the question.
        is_asked = all(is_question(self._turn(each)["text"]) for each in sources)
        is_telling = words and not (asks if is_asked else is_question)(content)
        if not is_telling or len(words - said) > (0 if is_asked else len(words) // 2):
            raise ArgumentError("content", "has too many words that the person did not say.")

    def _terms(self, ref: str) -> set:
        said = self._turn(ref)["text"]
        found = set(text.terms(said))
        if len(found) < _SHORT and not is_question(said):
            # "Yes, that is right" may refer to the agent's words.
            found |= set(text.terms(self._before[ref]))
        return found


class _NextGist:
    """The next gist of a session: what a model is shown for it, and the `text` that it answers."""

    text = ""

    def __init__(self, journal, sid: str, workspace: str):
        self._journal = journal
        self._of = sid, workspace
        self._before = 0, ""
        self.turns = []
        """Those that it is to tell beside the gist before; [] if none is asked for."""

    def lines(self, room: int) -> list:
        """Return prompt lines of the turns, about `room` tokens, and of the gist before."""
        if not self.turns:
            return []
        self._before = self._journal.gists.of(*self._of)
        lines = ["<gist>", fenced(beginning(self._before[1], room, "")), "</gist>", "<session>"]
        for turn in self.turns:
            told = beginning(snippet(attributed_text(turn), _SAID), room // len(self.turns), "…")
            lines.append(fenced("[%s] %s" % (turn["who"], told)))
        return lines + ["</session>"]

    def keep(self) -> None:
        """Keep the text, unless something that it tells was forgotten since, or the session is over."""
        journal = self._journal
        is_whole = journal.gists.of(*self._of) == self._before and all(
            journal.live_turn(turn["seq"]) for turn in self.turns
        )
        if self.text and self.turns and is_whole and journal.untold(*self._of, 1):
            journal.gists.put(*self._of, self.turns[-1]["seq"], self.text)


def _room(prompts) -> int:
    """Return the tokens that messages may have in one prompt."""
    return min(_BATCH_TOKENS, prompts.room(0) // 8)
