"""Rounds of tools within a turn: their results go back to the model, and there is an end to them."""

from engram.agent.prompt import PromptBuilder
from engram.llm.types import Call
from turns import kept, say, scripted


def _list_call(number=1):
    return Call(f"c{number}", "memory_search", '{"query":""}')


async def test_a_tools_result_goes_back_to_the_model():
    seen = []
    board = scripted(_list_call(), [lambda request: seen.extend(request.messages()), "There is nothing."])
    outcome, _ = await say(board)
    assert [message.role for message in seen] == ["user", "assistant", "tool"]
    assert seen[1].calls == (_list_call(),) and '"there are none yet."' in seen[2].text
    assert outcome.reply == "There is nothing."


async def test_no_tool_traffic_is_kept():
    board = scripted(["Let me see.", _list_call()], "Nothing.")
    outcome, ear = await say(board)
    assert outcome.reply == ear.heard == "Let me see.\nNothing."
    assert kept(board) == [("user", "hello", False), ("assistant", "Let me see.\nNothing.", False)]


async def test_several_calls_of_one_answer_are_run_in_order():
    seen = []
    calls = [_list_call(1), Call("c2", "nonsense", "{}"), _list_call(3)]
    board = scripted(calls, lambda request: seen.extend(request.messages()))
    await say(board)
    assert [message.call.id for message in seen if message.role == "tool"] == ["c1", "c2", "c3"]
    assert "there is no tool nonsense" in seen[3].text


async def test_a_model_that_goes_on_calling_is_stopped():
    last = []
    steps = [_list_call(number) for number in range(2)]
    board = scripted(*steps, [lambda request: last.extend(request.messages()), _list_call(9)])
    board.model.rounds = 2
    outcome, ear = await say(board)
    assert board.model.asked == 3 and "\n(No more tools" in last[-1].text
    assert outcome.problem and ear.notices == ["the model was stopped: it called more tools than one turn may have."]


async def test_thoughts_that_go_back_count_towards_the_window():
    board = scripted(*[_list_call(at) for at in range(11)])
    board.model.kept = (("reasoning", "x" * 8000),)
    await say(board)
    assert board.model.asked < 6


async def test_tools_stay_listed_in_the_last_round():
    listed = []
    board = scripted(
        [lambda request: listed.append(request.tools), _list_call()],
        lambda request: listed.append(request.tools),
    )
    board.model.rounds = 1
    await say(board)
    assert len(listed) == 2 and listed[0] == listed[1] and listed[0]


async def test_calls_and_results_of_a_turn_are_bounded():
    sizes = []
    board = scripted(llm_context_tokens=1000000)
    for number in range(4):
        board.records.store(f"fact {number}: " + "word " * 60, ["a"])

    def measure(request):
        sizes.append(sum(len(message.text) for message in request.messages()))

    board.model.steps = [[measure] + _calls() if number < 10 else measure for number in range(11)]
    await say(board)
    assert sizes[-1] < 14000


def _calls():
    return [_list_call(number) for number in range(3)]


async def test_a_result_for_which_there_is_no_room_is_replaced_by_advice():
    seen = []

    def look(request):
        seen.append([message.text for message in request.messages()][-2:])

    board = scripted(*[[look, _list_call(number)] for number in range(6)])
    for number in range(4):
        board.records.store(f"fact {number}: " + "word " * 60, ["a"])
    real = PromptBuilder.build
    PromptBuilder.build = _narrow(real)
    try:
        await say(board)
    finally:
        PromptBuilder.build = real
    assert "does not fit any more" in seen[-1][1] and "\n(No more tools" in seen[-1][1]


def _narrow(build):
    def narrow(*arguments, **named):
        prompt = build(*arguments, **named)
        return type(prompt)(prompt.system, prompt.messages, prompt.notice, 900, 1024, prompt.note_usage)

    return narrow
