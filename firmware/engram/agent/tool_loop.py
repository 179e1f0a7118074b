"""The rounds of one answer: the model is asked, the tools that it calls run, and it is asked again, until it calls no more."""

from engram import text
from engram.compat import const
from engram.llm.types import Request, assistant, result, user

_EXCHANGE_TOKENS = const(2500)  # of tool calls and their results in one turn: all of them are on the heap
_SMALL_RESULT = const(400)  # characters: a report of a change always fits

_NO_ROOM = '{"error":{"problem":"the result does not fit any more: ask for less, or answer with what you have."}}'
_NOW_ANSWER = const("(No more tools in this turn: answer now with what you have.)")


async def run(model, tools, config, prompt, turn, sink, reply) -> None:
    """Let a model answer a prompt in a Turn, which memories will name as where they came from.

    `reply` takes the text and the ends of its parts, `sink` takes notices.
    """
    exchanged = []

    async def tell_retry(problem: str, wait_ms: int) -> None:
        await sink.notice("%s; trying again in %d s" % (problem, (wait_ms + 999) // 1000))

    def messages():
        yield from prompt.messages()
        yield from exchanged

    request = Request(prompt.system, messages, tools.offered(turn.caller), config.get("llm.reply_tokens"), "")
    left = config.get("llm.tool_rounds")
    room = min(prompt.room, _EXCHANGE_TOKENS)
    spare = prompt.room - room
    while True:
        is_last = not left or room <= 0
        if is_last:
            # The tools stay listed: an API wants those that were called, and its cache begins with them.
            exchanged.append(_with_last_word(exchanged.pop()) if exchanged else user(_NOW_ANSWER))
        answer = await model.stream(request, reply.text, tell_retry)
        if answer.stop == "length":
            await sink.notice("the answer reached its longest length and ends here.")
        if not answer.calls:
            return
        if is_last:
            await sink.notice("the model was stopped: it called more tools than one turn may have.")
            return
        reply.end_part()
        left -= 1
        exchanged.append(assistant(answer.text, answer.calls, answer.kept))
        # Thoughts, for the most part: they take what the window has beside the exchange, and then from the exchange.
        spare -= sum([len(value) // 4 for _, value in answer.kept])
        room += min(0, spare)
        spare = max(0, spare)
        for call in answer.calls:
            done = await tools.answer(call, turn)
            if done.notice:
                await sink.notice(done.notice)
            fits = len(done.result) <= _SMALL_RESULT or text.tokens(done.result) <= room
            exchanged.append(result(call, done.result if fits else _NO_ROOM))
            room -= text.tokens(call.arguments) + text.tokens(exchanged[-1].text)


def _with_last_word(message):
    """The last result of a tool with the request to answer: some services refuse a message of the person right behind it."""
    return result(message.call, message.text + "\n" + _NOW_ANSWER)
