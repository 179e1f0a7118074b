"""The gist of a session that is longer than its window: made by a call that reads messages anyway, shown, and forgotten."""

import json

from board import ANN, Script
from engram import files, text
from engram.errors import StoreFull
from engram.memory.access import OWNER, Caller
from learners import learn, learner

MOST = 12


class Teller(Script):
    """A model that answers messages with ok, reads no facts, and tells as the gist the numbers that it was shown."""

    told = ""

    def __init__(self, on_gist=None):
        super().__init__()
        self.gists = 0
        self.on_gist = on_gist

    async def stream(self, request, on_text, on_retry=None):
        asked = [message.text for message in request.messages()][-1]
        answer = "[]" if "<said>" in asked else "ok"
        if "<session>" in asked:
            self.gists += 1
            numbers = [
                part.split()[0] for part in asked.partition("</session>")[0].split("gist")[1:] if part[:1] == " "
            ]
            answer = self.told or "gist " + " gist ".join(numbers)
            if "op" in " ".join(request.system()) and not request.tools:
                answer = json.dumps([{"op": "gist", "content": answer}])
            if self.on_gist:
                self.on_gist()
        self.steps = [answer]
        return await super().stream(request, on_text, on_retry)


def _board(model, **settings):
    return learner().learn(model, session_messages=MOST, **settings)


async def _talk(board, count, caller=OWNER, first=0):
    for number in range(first, first + count):
        await learn(board, "gist %d is the number" % number, caller)


def _prompts(board):
    """The messages of each turn's prompt, as one text."""
    return ["\n".join(request[1:]) for request in board.model.requests if "<said>" not in request[-1]]


async def test_what_left_the_window_is_in_the_gist_without_a_call_more():
    for settings in ({"recall_tokens": 0}, {"recall_tokens": 0, "extract_on": False}):
        model = Teller()
        board = _board(model, **settings)
        await _talk(board, 30)
        for turn, prompt in enumerate(_prompts(board)):
            seen = [number for number in range(turn + 1) if "gist %d " % number in prompt.replace(")", " ")]
            assert seen == list(range(turn + 1)), (turn, prompt)
            assert ("(earlier in this session: " in prompt) == (turn >= MOST // 2), (turn, prompt)
        assert 3 <= model.gists <= 12 and model.asked <= 60


async def test_a_gist_is_cut_and_survives_a_restart():
    model = Teller()
    model.told = "a long word " * 400
    board = _board(model)
    await _talk(board, 8)
    board.restart()
    _, kept = board.journal.gists.of(board.journal.current(OWNER), "")
    assert 250 < text.tokens(kept) <= 300


def _supersede(board):
    board.records.store("Gist 0 is the number", ["note"], turns=["t3"])
    board.records.store("Gist 0 is the letter", ["note"], supersedes="m1")


def _redact_on_a_full_flash(board):
    write = files.write

    def refuse(path, content):
        raise StoreFull("the flash is full")

    files.write = refuse
    try:
        board.journal.redact("t5", OWNER)
    finally:
        files.write = write


async def test_a_gist_is_forgotten_with_a_turn_that_it_tells_and_with_its_session():
    for forget in (
        lambda board: board.journal.redact("t5", OWNER),
        lambda board: board.journal.add(
            Caller(OWNER.principal, "other", False, ""), "user", "owner", "No", redacts=(5,)
        ),
        _redact_on_a_full_flash,
        _supersede,
        lambda board: board.journal.begin(OWNER),
        lambda board: board.journal.delete(OWNER, board.journal.current(OWNER)),
    ):
        model = Teller()
        model.told = "The zebra is striped"
        board = _board(model)
        await _talk(board, 8)
        assert board.holds("zebra")
        forget(board)
        assert not board.holds("zebra")
        board.restart()
        assert not board.holds("zebra")


async def test_a_gist_of_a_turn_that_was_forgotten_meanwhile_is_not_kept():
    model = Teller(lambda: board.journal.redact("t5", OWNER))
    board = _board(model)
    await _talk(board, 6)
    assert model.gists and board.journal.gists.of(board.journal.current(OWNER), "") == (0, "")


async def test_a_short_session_has_none_and_a_workspace_has_its_own():
    board = _board(Teller())
    garden = Caller(ANN.principal, ANN.room, False, "garden")
    await _talk(board, 4)
    for number in range(20):
        await _talk(board, 1, garden if number % 2 else ANN, number)
    assert board.journal.gists.of(board.journal.current(OWNER), "") == (0, "")
    for workspace, odd in (("", 0), ("garden", 1)):
        _, kept = board.journal.gists.of(board.journal.current(ANN), workspace)
        told = [int(number) for number in kept.split() if number != "gist"]
        assert told[:3] == [odd, 2 + odd, 4 + odd] and {number % 2 for number in told} == {odd}
