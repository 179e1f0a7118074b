"""A turn: what the person says is on flash first, what came of the answer is kept, whatever ends it."""

import asyncio

from board import ROOM, Board, Script
from support import raises

from engram.agent.agent import Sink
from engram.errors import ArgumentError, ModelCut, ModelError, ModelGarbled, ModelRefused, ModelUnavailable, StoreError
from engram.llm.types import Call
from engram.memory.scope import OWNER

FAILURES = (
    ModelUnavailable("the link to x failed"),
    ModelCut("the answer broke off"),
    ModelGarbled("that is no JSON"),
    ModelRefused(401, "the key was refused"),
    StoreError("the flash could not be read"),
)


class Ear(Sink):
    """Keeps what a turn tells."""

    def __init__(self):
        self.heard = ""
        self.notices = []

    async def text(self, piece):
        self.heard += piece

    async def notice(self, line):
        self.notices.append(line)


def _board(*steps, **settings):
    return Board().serve(Script(*steps), **settings)


async def _turn(board, content="hello", asker=OWNER):
    ear = Ear()
    return await board.agent.turn(asker, content, ear), ear


def _turns(board, asker=OWNER):
    """The turns of the asker's session as they are on flash: (role, text, whether it is marked as cut)."""
    seqs = board.journal.window(board.journal.current(asker), 100)
    turns = [board.journal.turn(seq) for seq in seqs]
    return [(turn["role"], turn["text"], turn.get("cut", False)) for turn in turns]


def _list_call(number=1):
    return Call("c%d" % number, "memory_list", "{}")


async def test_an_answer_streams_out_and_is_kept():
    board = _board(["Good ", "morning."])
    outcome, ear = await _turn(board)
    assert (outcome.reply, outcome.problem, ear.heard) == ("Good morning.", "", "Good morning.")
    board.restart()
    assert _turns(board) == [("user", "hello", False), ("assistant", "Good morning.", False)]


async def test_the_turns_id_is_that_of_the_message():
    board = _board()
    outcome, _ = await _turn(board)
    assert board.journal.get(outcome.turn, OWNER)[0]["text"] == "hello"


async def test_the_message_is_on_flash_before_the_model_is_asked():
    found = []
    board = _board(lambda request: found.append(board.holds("zanzibar")))
    await _turn(board, "zanzibar")
    assert found == [True]


async def test_the_stored_turn_has_nothing_of_what_was_recalled():
    board = _board()
    board.records.store("The bike is green", ["bike"])
    await _turn(board, "what about the bike?")
    assert _turns(board)[0] == ("user", "what about the bike?", False)


async def test_a_message_that_is_refused_is_not_answered():
    board = _board()
    for content in ("", "x" * 15001):
        with raises(ArgumentError):
            await _turn(board, content)
    assert board.agent.model.asked == 0 and board.journal.turns() == 0


async def test_an_empty_answer_is_told_and_not_kept():
    board = _board([])
    outcome, _ = await _turn(board)
    assert outcome.problem == "the model gave an empty answer; ask again."
    assert _turns(board) == [("user", "hello", False)]


# --- tools


async def test_a_tools_result_goes_back_to_the_model():
    seen = []
    board = _board(_list_call(), [lambda request: seen.extend(request.messages()), "There is nothing."])
    outcome, _ = await _turn(board)
    assert [message.role for message in seen] == ["user", "assistant", "tool"]
    assert seen[1].calls == (_list_call(),) and '"there are none yet."' in seen[2].text
    assert outcome.reply == "There is nothing."


async def test_no_tool_traffic_is_kept():
    board = _board(["Let me see.", _list_call()], "Nothing.")
    outcome, ear = await _turn(board)
    assert outcome.reply == ear.heard == "Let me see.\nNothing."
    assert _turns(board) == [("user", "hello", False), ("assistant", "Let me see.\nNothing.", False)]


async def test_what_a_tool_changed_is_told_to_the_person():
    call = Call("c1", "memory_store", '{"content":"The bike is green","tags":["bike"]}')
    board = _board(call, "Saved as m1.")
    _, ear = await _turn(board)
    assert ear.notices == ["remembered m1: The bike is green"]


async def test_a_stored_memory_knows_the_turn_that_it_came_from():
    board = _board(Call("c1", "memory_store", '{"content":"The bike is green","tags":["bike"]}'), "ok")
    outcome, _ = await _turn(board)
    assert board.records.get("m1")["turns"] == [outcome.turn]


async def test_several_calls_of_one_answer_are_run_in_order():
    seen = []
    calls = [_list_call(1), Call("c2", "nonsense", "{}"), _list_call(3)]
    board = _board(calls, lambda request: seen.extend(request.messages()))
    await _turn(board)
    assert [message.call.id for message in seen if message.role == "tool"] == ["c1", "c2", "c3"]
    assert "there is no tool nonsense" in seen[3].text


async def test_after_the_last_round_the_model_is_told_to_answer():
    board = _board(_list_call(1), _list_call(2), "That is all.", llm_tool_rounds=2)
    outcome, ear = await _turn(board)
    assert (outcome.reply, outcome.problem, ear.notices) == ("That is all.", "", [])


async def test_a_model_that_goes_on_calling_is_stopped():
    last = []
    steps = [_list_call(number) for number in range(2)]
    board = _board(*steps, [lambda request: last.extend(request.messages()), _list_call(9)], llm_tool_rounds=2)
    outcome, ear = await _turn(board)
    assert board.agent.model.asked == 3 and last[-1].text.startswith("(No more tools")
    assert outcome.problem and ear.notices == ["the model was stopped: it called more tools than one turn may have."]


async def test_tools_stay_listed_in_the_last_round():
    listed = []
    board = _board(
        [lambda request: listed.append(request.tools), _list_call()],
        lambda request: listed.append(request.tools),
        llm_tool_rounds=1,
    )
    await _turn(board)
    assert len(listed) == 2 and listed[0] == listed[1] and listed[0]


async def test_calls_and_results_of_a_turn_are_bounded():
    sizes = []
    board = _board(llm_context_tokens=1000000)
    for number in range(9):
        board.records.store("fact %d: " % number + "word " * 100, ["a"])

    def measure(request):
        sizes.append(sum(len(message.text) for message in request.messages()))

    board.agent.model.steps = [[measure] + _calls() if number < 10 else measure for number in range(11)]
    await _turn(board)
    assert sizes[-1] < 20000


def _calls():
    return [_list_call(number) for number in range(3)]


async def test_a_result_for_which_there_is_no_room_is_replaced_by_advice():
    seen = []
    board = _board(*[_list_call(number) for number in range(4)], lambda request: seen.extend(request.messages()))
    for number in range(9):
        board.records.store("fact %d: " % number + "word " * 100, ["a"])
    board.agent._context.build = _narrow(board.agent._context.build)
    await _turn(board)
    assert "does not fit any more" in seen[-1].text or "does not fit any more" in seen[-2].text


def _narrow(build):
    def narrow(*arguments):
        prompt = build(*arguments)
        return type(prompt)(prompt.system, prompt.messages, prompt.notice, 1500)

    return narrow


# --- what goes wrong


async def test_a_failure_before_any_text_is_told_and_keeps_the_message():
    for failure in FAILURES:
        board = _board(failure)
        outcome, _ = await _turn(board)
        assert outcome.problem == str(failure) and outcome.reply == ""
        assert _turns(board) == [("user", "hello", False)]


async def test_a_failure_in_the_middle_keeps_what_came_and_marks_it():
    for failure in FAILURES:
        board = _board(["Once upon", failure])
        outcome, _ = await _turn(board)
        assert (outcome.problem, outcome.reply) == (str(failure), "Once upon")
        board.restart()
        assert _turns(board) == [("user", "hello", False), ("assistant", "Once upon", True)]


async def test_a_failure_after_a_tool_round_keeps_what_came_and_what_was_stored():
    call = Call("c1", "memory_store", '{"content":"The bike is green","tags":["bike"]}')
    for failure in FAILURES:
        board = _board(["Let me see.", call], failure)
        outcome, _ = await _turn(board)
        assert outcome.problem == str(failure)
        assert board.records.count() == 1 and _turns(board)[1] == ("assistant", "Let me see.", True)


async def test_after_a_failure_the_next_turn_is_answered():
    board = _board(["Once", ModelCut("broke off")], "Here I am.")
    await _turn(board)
    outcome, _ = await _turn(board, "again?")
    assert outcome.reply == "Here I am." and (board.agent.turns, board.agent.failed) == (2, 1)


async def test_a_channel_that_is_gone_loses_nothing_that_came():
    class Gone(Ear):
        async def text(self, piece):
            if self.heard:
                raise OSError(104)
            self.heard += piece

    board = _board(["Once ", "upon"])
    with raises(OSError):
        await board.agent.turn(OWNER, "hello", Gone())
    assert _turns(board)[1] == ("assistant", "Once upon", True)


async def test_a_reply_that_cannot_be_kept_ends_no_turn():
    board = _board(["Hello.", lambda request: _break(board.journal)])
    outcome, _ = await _turn(board)
    assert outcome.reply == "Hello." and outcome.problem == ""


def _break(journal):
    def add(*arguments, **more):
        raise StoreError("the flash could not be written")

    journal.add = add


async def test_a_cancelled_turn_keeps_what_came():
    class Slow(Ear):
        async def text(self, piece):
            self.heard += piece
            await asyncio.sleep(5)

    board = _board(["Once", "upon"])
    task = asyncio.create_task(board.agent.turn(OWNER, "hello", Slow()))
    await asyncio.sleep(0.05)
    task.cancel()
    with raises(asyncio.CancelledError):
        await task
    assert _turns(board) == [("user", "hello", False), ("assistant", "Once", True)]
    outcome, _ = await _turn(board, "again?")
    assert outcome.problem == ""


# --- several at once


async def test_turns_at_once_are_answered_one_after_the_other():
    class Patient(Ear):
        async def text(self, piece):
            await asyncio.sleep(0.01)
            order.append(piece)

    order = []
    board = _board(["a1", "a2"], ["b1", "b2"])
    tasks = [asyncio.create_task(board.agent.turn(asker, "hi", Patient())) for asker in (OWNER, ROOM)]
    for task in tasks:
        await task
    assert order == ["a1", "a2", "b1", "b2"]
    assert _turns(board, ROOM)[1] == ("assistant", "b1b2", False)


async def test_too_many_at_once_are_refused():
    class Patient(Ear):
        async def text(self, piece):
            await asyncio.sleep(0.05)

    board = _board()
    tasks = [asyncio.create_task(board.agent.turn(OWNER, "hi %d" % number, Patient())) for number in range(4)]
    await asyncio.sleep(0.01)
    with raises(ModelError) as caught:
        await _turn(board, "one more")
    assert "too many messages are waiting" in str(caught.error)
    for task in tasks:
        await task
    outcome, _ = await _turn(board, "now")
    assert outcome.problem == "" and len(_turns(board)) == 10
