"""Messages with lines of a log: all lines are checked before any is stored."""

from collections.abc import Iterable

from engram import log_line
from engram.link import messages
from engram_host.companion.errors import Refused
from engram_host.companion.replication.messages import DAMAGED_SECONDS, LinesHead, SpanHead
from engram_host.companion.types import LineBatch, Sender, SeqRange


def read_span(device: str, head: SpanHead) -> SeqRange:
    """Return the span of a message; raises Refused."""
    if head["after"] > head["to"]:
        raise Refused("a message ends before it begins: the board's firmware is at fault.")
    return SeqRange(device, head["log"], head["epoch"], head["after"], head["to"])


def read_batch(device: str, sender: Sender, head: LinesHead, body: memoryview) -> LineBatch:
    """Return a batch of checked lines; raises Refused if one is damaged or not of the span."""
    span = read_span(device, head)
    try:
        lines = list(_numbered(span, _lines(body)))
    except messages.BadMessage as damage:
        raise Refused(str(damage), DAMAGED_SECONDS) from None
    if len(lines) != head["count"]:
        raise Refused(
            f"the number of lines in a message ({len(lines)}) is not the one in its head ({head['count']}).",
            DAMAGED_SECONDS,
        )
    return LineBatch(sender, span, lines)


def _lines(body: memoryview) -> Iterable[memoryview]:
    data = bytes(body)
    start = 0
    while start < len(data):
        end = data.find(b"\n", start) + 1
        line = body[start:end]
        if not end or not log_line.check(line):
            raise messages.BadMessage(f"a line at byte {start} is damaged.")
        yield line
        start = end


def _numbered(span: SeqRange, lines: Iterable[memoryview]) -> Iterable[tuple[int, bytes]]:
    last = span.after
    for line in lines:
        try:
            seq = log_line.decode(line).get("seq")
        except ValueError as error:
            raise Refused(f"a line after seq {last} cannot be read: {error}.", DAMAGED_SECONDS) from None
        if type(seq) is not int or not last < seq <= span.to:
            raise Refused(f"the seqs of a message do not rise within its span, after {last}.", DAMAGED_SECONDS)
        last = seq
        yield seq, bytes(line)
