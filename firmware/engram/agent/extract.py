"""Facts by themselves: what people said is read by a model, after the reply, and what it finds is kept.

What is to be read waits in the journal; how far it was read is on flash with what it gave (memory/learning.py), so a turn
waits through a link that is down and a power cut, and is read once. A model's answer is no more than a proposal: each
operation is checked, compared with what is known, and refused with a reason if it does not hold.
"""

from engram import log, text
from engram.agent import operations
from engram.agent.extract_prompt import Asking
from engram.agent.pause import Pause
from engram.compat import const
from engram.errors import ArgumentError, EngramError, ModelGarbled, ModelRefused, NotFound
from engram.memory import scope

_ATTEMPTS = const(3)  # with which a model may give no answer that can be read, before the messages are passed over
_SHORT = const(8)  # words of an answer such as "yes, that is right"
_NOTED = const(6)  # refusals that /stats shows
_UNREADABLE = (400, 413, 422)  # the service refuses these messages, not us

_SMALL_TALK = (
    "hi hello hey thanks thank you ok okay bye goodbye good morning evening night cool nice great lol haha please "
    "你好 您好 谢谢 多谢 再见 早上 上好 早安 晚安 好的"
)


class Extraction:
    """Reads what people said for facts; `parts` has learning, records, journal, clock and config."""

    name = "learning"

    def __init__(self, parts, model):
        self._parts = parts
        self._model = model
        self._learning = parts.learning
        self._pause = Pause("learning")
        self._attempts = 0
        self.stored = 0
        self.read = 0
        self.lost = 0  # messages that were not read
        self.refused = 0
        self._refusals = []

    # --- when

    def is_due(self) -> bool:
        """Whether there is something to read now."""
        return self._learning.is_behind and self._is_on() and self._pause.is_over and not self._spent_up()

    def can_read(self) -> bool:
        """Whether what waits will be read before long."""
        return self._is_on() and not self._pause.why and not self._spent_up()

    def _is_on(self) -> bool:
        config = self._parts.config
        return config.get("extract.on") and config.get("mode") == "full"

    def _spent_up(self) -> bool:
        config = self._parts.config
        calls, tokens = self._learning.spent()
        return calls >= config.get("extract.calls_a_day") or tokens >= config.get("extract.tokens_a_day")

    def link_is_up(self) -> None:
        """The model has answered somebody: what waited for it waits no longer."""
        if not self._attempts:
            self._pause.end()

    # --- one batch

    async def step(self) -> None:
        """Read the next messages of one session."""
        try:
            await self._step()
        except EngramError as error:
            self._pause.begin(error)
        else:
            self._pause.end()
            self._attempts = 0

    async def _step(self) -> None:
        learning = self._learning
        gone = learning.missed()
        if gone:
            self.lost += gone
            log.warning("learning", "%d lines of the journal left before they were read for facts" % gone)
        # One alone after a failure: it may be the only one that the model cannot take.
        batch = learning.batch(1 if self._attempts else self._parts.config.get("extract.turns"))
        turns = [turn for turn in batch.turns if not _is_small_talk(turn["text"])]
        if not turns:
            learning.pass_over(batch.until)
            return
        self._parts.records.check_room()
        asker = scope.teller(turns[0])
        asking = Asking(self._parts, turns, asker)
        for seq in asking.cut:
            log.info("learning", "only the beginning of t%d was read for facts: it is long" % seq)
        try:
            answer = await self._ask(asking)
            elements = operations.read(answer)
        except (ArgumentError, ModelGarbled, ModelRefused) as error:
            if isinstance(error, ModelRefused) and error.status not in _UNREADABLE:
                raise
            self._note(turns, str(error))
            self._attempts += 1
            if self._attempts < _ATTEMPTS:
                raise
            self.lost += len(turns)
            log.warning("learning", "%s: no answer that could be read in %d attempts" % (_named(turns), _ATTEMPTS))
            elements = []
        drafts = self._drafts(elements, turns, asking, asker)
        self.stored += len(learning.keep(drafts, batch.until))
        self.read += len(turns)

    async def _ask(self, asking) -> bytes:
        config = self._parts.config
        answer = bytearray()

        async def collect(piece: str) -> None:
            answer.extend(piece.encode())
            if len(answer) > operations.MOST_BYTES:
                raise ModelGarbled("the list of facts is longer than %d bytes" % operations.MOST_BYTES)

        # Counted before: a call that a new message breaks off was one too.
        asked = asking.tokens()
        self._learning.spend(asked)
        self._model.on_retry = None
        request = asking.request(config.get("extract.facts"), config.get("extract.reply_tokens"))
        reply = await self._model.stream(request, collect)
        used = reply.usage[0] + reply.usage[1]
        self._learning.correct(used - asked if min(reply.usage[:2]) >= 0 else text.tokens(reply.text))
        return bytes(answer)

    # --- what the model proposes

    def _drafts(self, elements: list, turns: list, asking, asker) -> list:
        """What is to be kept of a model's operations."""
        drafts = []
        left = {"t%d" % turn["seq"]: self._parts.config.get("extract.facts") for turn in turns}
        said = _Said(turns, asking)
        for element in elements:
            try:
                wanted = operations.check(element, left, asking.known)
                if wanted is None:
                    continue
                # Taken back or forgotten since: nothing is learned from it.
                self._parts.journal.get(wanted.turn, asker)
                if not left[wanted.turn]:
                    raise ArgumentError("answer", "has more facts than a message may give.")
                said.check(wanted.values["content"])
                draft = self._draft(wanted, asker)
                if draft is None or self._is_told(draft, drafts):
                    continue
            except (ArgumentError, NotFound) as error:
                self._note(turns, str(error))
                continue
            left[wanted.turn] -= 1
            drafts.append(draft)
        return drafts

    def _draft(self, wanted, asker):
        """An operation as a change of the records, None if they have it."""
        records = self._parts.records
        values = dict(wanted.values)
        if wanted.kind == "update":
            return records.draft_update(wanted.id, values, asker)
        values["source"], values["turns"] = "auto_llm", [wanted.turn]
        content, tags = values.pop("content"), values.pop("tags", ())
        if wanted.kind == "supersede":
            return records.draft(
                content, tags or records.get(wanted.id, asker)["tags"], asker, supersedes=wanted.id, **values
            )
        draft = records.draft(content, tags, asker, **values)
        if draft.same:
            records.used(draft.same)
            return None
        for ref in draft.similar:
            record = records.get(ref, asker)
            if record.get("source") == "auto_rule" and wanted.turn in record.get("turns", ()):
                # A rule kept the same words of the same message: the model's wording takes their place.
                values.update({"content": content, "tags": tags})
                return records.draft_update(ref, values, asker)
        return draft

    def _is_told(self, draft, drafts: list) -> bool:
        """Whether an answer says so already; what it says otherwise gives way to what it says later."""
        from engram.memory.compare import CHANGED, SAME, compare

        for place, earlier in enumerate(drafts):
            changed = draft.id or draft.values.get("supersedes")
            if changed and changed in (earlier.id, earlier.values.get("supersedes")):
                raise ArgumentError("id", "is changed twice in one answer.")
            verdict = compare(earlier.values["content"], draft.values["content"])
            if verdict == SAME:
                return True
            if verdict == CHANGED and not earlier.id and not draft.id and "supersedes" not in earlier.values:
                drafts.pop(place)
                return False
        return False

    # --- what is told

    def _note(self, turns: list, problem: str) -> None:
        """Keep why something was refused; it has no word of what people said."""
        self.refused += 1
        self._refusals.append("%s: %s" % (_named(turns), problem))
        if len(self._refusals) > _NOTED:
            self._refusals.pop(0)
        log.info("learning", "refused: " + self._refusals[-1])

    def told(self):
        """Yield lines on how it goes, for /stats."""
        calls, tokens = self._learning.spent()
        waiting = self._learning.waiting()
        yield "%d facts from %d messages since the start; today %d calls, %d tokens" % (
            self.stored,
            self.read,
            calls,
            tokens,
        )
        if waiting:
            yield "%d messages wait%s" % (waiting, ": " + self._reason() if self._reason() else "")
        if self.lost:
            yield "%d messages were not read" % self.lost
        if self.refused:
            yield "%d proposals of the model were refused; the last ones:" % self.refused
            for line in self._refusals:
                yield "  " + line

    def _reason(self) -> str:
        if not self._is_on():
            return "extract.on is false" if self._parts.config.get("mode") == "full" else "the mode is lightweight"
        if self._spent_up():
            return "the day's calls or tokens are spent (extract.calls_a_day, extract.tokens_a_day)"
        return self._pause.why


class _Said:
    """What people said in a batch, against which a proposed fact is held."""

    def __init__(self, turns: list, asking):
        self._turns = turns
        self._terms = set()
        for turn in turns:
            found = set(text.terms(turn["text"]))
            self._terms |= found
            if len(found) < _SHORT:
                self._terms |= set(text.terms(asking.before(turn)))

    def check(self, content: str) -> None:
        """ArgumentError if a fact has nothing of what was said, or a secret that the person did not ask to be kept."""
        from engram.memory.secrets import secrets

        if self._terms.isdisjoint(text.terms(content)):
            raise ArgumentError("content", "has no word of what the person said.")
        for piece in secrets(content):
            if not self._was_asked_for(piece):
                raise ArgumentError("content", "holds what looks like a secret; people have to ask for it to be kept.")

    def _was_asked_for(self, piece: str) -> bool:
        from engram.agent import rules

        for turn in self._turns:
            rule = rules.match(turn["text"])
            if rule and rule.kind == "remember" and rule.asked and piece in rule.content:
                return True
        return False


def _named(turns: list) -> str:
    first, last = turns[0]["seq"], turns[-1]["seq"]
    return "t%d" % first if first == last else "t%d to t%d" % (first, last)


def _is_small_talk(said: str) -> bool:
    """Whether a message is nothing but a greeting or thanks."""
    return set(_SMALL_TALK.split()).issuperset(text.words(said))
