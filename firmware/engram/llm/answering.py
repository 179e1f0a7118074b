"""One answer of the model that nobody hears: collected whole, bounded, and counted for the day."""

from engram import text
from engram.errors import ArgumentError


async def answer(model, cursor, request, asked: int, most_bytes: int) -> bytes:
    """The model's answer to a request of about `asked` tokens; ArgumentError if it is too long, or a ModelError."""
    collected = bytearray()

    async def collect(piece: str) -> None:
        collected.extend(piece.encode())
        if len(collected) > most_bytes:
            raise ArgumentError("answer", "is longer than %d bytes." % most_bytes)

    # Counted before: a call that a new message breaks off was one too.
    cursor.spend(asked)
    reply = await model.stream(request, collect)
    if reply.stop == "length":
        raise ArgumentError("answer", "reached its longest length (%d tokens)." % request.max_tokens)
    used = reply.usage[0] + reply.usage[1]
    cursor.correct(used - asked if min(reply.usage[:2]) >= 0 else text.tokens(reply.text))
    return bytes(collected)
