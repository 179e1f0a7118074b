"""The rounds of one answer: ask the model and run its tool calls until there are none."""

from engram import text
from engram.compat import const
from engram.llm.types import Request, assistant, result, user

_EXCHANGE_TOKENS = const(2500)  # of tool calls and their results in one turn: all of them are on the heap
_SMALL_RESULT = const(400)  # characters: a report of a change always fits

_KEEPING = const(
    ("memory_store", "memory_update", "note_add", "profile_edit", "file_write", "file_append", "file_edit")
)
_NO_ROOM = '{"error":{"problem":"the result does not fit any more: ask for less, or answer with what you have."}}'
_NOW_ANSWER = const("(No more tools in this turn: answer now with what you have.)")
_SPENT = const("the model spent all its tokens before it answered, perhaps on thinking; raise llm.reply_tokens.")
_AS_TEXT = const(
    "the model wrote a tool call as text, which was not run. It may not know tools: ask again, or change llm.model."
)
_THOUGHT = const("the first part above was the model's thinking; it is not kept.")


async def run(model, tools, config, prompt, turn, sink, reply) -> str:
    """Run the model and its tools for a Turn; return the reason for a missing answer, or ""."""
    exchanged = []

    async def tell_retry(problem: str, wait_ms: int) -> None:
        await sink.notice("%s; trying again in %d s" % (problem, (wait_ms + 999) // 1000) if wait_ms else problem)

    def messages():
        yield from prompt.messages()
        yield from exchanged

    request = Request(prompt.system, messages, tools.listed(turn.caller, turn.only), config.get("llm.reply_tokens"), "")
    left = model.rounds
    room = min(prompt.room, _EXCHANGE_TOKENS)
    spare = prompt.room - room
    while True:
        is_last = not left or room <= 0
        if is_last:
            # The tools stay listed: an API wants those that were called, and its cache begins with them.
            exchanged.append(_with_last_word(exchanged.pop()) if exchanged else user(_NOW_ANSWER))
        answer = await model.stream(request, reply.text, tell_retry)
        if reply.end_part(answer.text):
            await sink.notice(_THOUGHT)
        if not answer.calls:
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
            exchanged.append(result(call, await _result(tools, call, turn, sink, room)))
            room -= text.tokens(call.arguments) + text.tokens(exchanged[-1].text)


def _with_last_word(message):
    """Put the final request into the last tool result: some services refuse a message behind it."""
    return result(message.call, message.text + "\n" + _NOW_ANSWER)


async def _end(answer, sink) -> str:
    if answer.stop == "length":
        if not answer.text.strip():
            return _SPENT
        await sink.notice("the answer reached its longest length and ends here.")
    return _AS_TEXT if answer.stop == "as_text" else ""


async def _result(tools, call, turn, sink, room: int) -> str:
    done = await tools.answer(call, turn)
    if call.name in _KEEPING:
        is_error = done.result.startswith('{"error":')
        turn.unkept = text.loads(done.result)["error"]["problem"] if is_error else ""  # type: ignore
    if done.notice:
        await sink.notice(done.notice)
    fits = len(done.result) <= _SMALL_RESULT or text.tokens(done.result) <= room
    return done.result if fits else _NO_ROOM
