"""The last look at some turns (flush.py): a silent turn, in which the model has the tools that keep something and no others."""

from engram import diag
from engram.agent import tool_loop
from engram.agent.agent import Sink, Turn
from engram.compat import const
from engram.memory.access import Caller

_KEEPING = const(
    ("memory_store", "memory_update", "memory_recall", "note_add", "file_read", "file_append", "file_edit")
)

_SYSTEM = const("These turns are about to leave your view. Keep what should last; nobody reads your answer.")
_PROMPT = const(
    "(No message of the person: keep what in the turns above will matter later and is not kept yet, with your tools; "
    "then answer NO_REPLY. If there is nothing to keep, answer NO_REPLY at once.)"
)


class LastLook:
    """Shows turns of one session to the model; `tools` are its agent.tools.Tools, `prompts` is a prompt.PromptBuilder."""

    def __init__(self, config, records, journal, cursor, tools, prompts, model):
        self._config = config
        self._records = records
        self._journal = journal
        self._cursor = cursor
        self._tools = tools
        self._prompts = prompts
        self._model = model

    async def show(self, caller, sid: str, turns: list) -> bool:
        """Show turns of a session, of those the first that were said in one workspace; False if no person spoke in them."""
        config, cursor, journal = self._config, self._cursor, self._journal
        caller, turns = self._in_one_workspace(caller, turns)
        last = turns[-1]
        turns = self._without_others(turns)
        spoken = [seq for seq in turns if (journal.turn(seq) or {}).get("role") == "user"]
        if not spoken:
            cursor.note_flush(sid, last)
            return False
        self._records.check_room()
        prompt = self._prompts.last_look(caller, turns, _SYSTEM, _PROMPT)

        def note() -> None:
            cursor.note_flush(sid, last)

        keeping = _Keeping(self._tools, note)
        turn = Turn(caller, spoken[-1])
        await tool_loop.run(self._model, keeping, config, prompt, turn, Sink(), _Unheard())
        if not keeping.has_kept:
            # Was it the room that was missing?
            self._records.check_room()
        note()
        diag.info("flush", "t%d to t%d had a last look" % (turns[0], last))
        return True

    def _without_others(self, turns: list) -> list:
        """Turns but for those with others' words, and the replies to them: nothing is learned of these."""
        own, others = [], []
        for seq in turns:
            turn = self._journal.turn(seq) or {}
            is_reply = turn.get("role") == "assistant" and turn.get("re", turn.get("prev")) in others
            (others if is_reply or "forwarded" in turn or "sensed" in turn else own).append(seq)
        return own

    def _in_one_workspace(self, caller, turns: list) -> tuple:
        """(the caller as they said the first turns, those of them in the same workspace): what is kept belongs there."""
        workspaces = [(self._journal.turn(seq) or {}).get("workspace", "") for seq in turns]
        count = 1
        while count < len(turns) and workspaces[count] == workspaces[0]:
            count += 1
        return Caller(caller.principal, caller.room, caller.group, workspaces[0]), turns[:count]


class _Keeping:
    """The tools with which something is kept, and no others; `note()` is called when they have kept something.

    At once: to see the turns again after a cut would keep it again.
    """

    def __init__(self, tools, note):
        self._tools = tools
        self._note = note
        self.has_kept = False

    def offered(self, _caller) -> tuple:
        """As Tools.listed."""
        return self._tools.listed(_KEEPING)

    async def answer(self, call, turn):
        """As Tools.run: the companion is not asked."""
        done = self._tools.run(call, turn, _KEEPING)
        if done.notice:
            self.has_kept = True
            self._note()
        return done


class _Unheard:
    """Takes an answer that nobody sees."""

    async def text(self, piece: str) -> None:
        """Let a piece go."""

    def end_part(self, text: str) -> bool:
        """There are no parts."""
        return False
