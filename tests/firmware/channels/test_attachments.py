"""Files that come with a message: the owner's .jsonl is kept for /import, all else is refused in a sentence."""

import asyncio

from board import Board, Script, lines_of
from channel import Network, message
from engram import files
from engram.channels import attachments
from engram.memory.access import OWNER, Caller


class _Source:
    """A file of a network, that breaks off after some bytes or not."""

    def __init__(self, content, breaks=False):
        self.content = content
        self.breaks = breaks
        self.is_closed = False

    async def open(self):
        return self

    async def read(self):
        if not self.content and self.breaks:
            raise OSError(104)
        piece, self.content = self.content[:1024], self.content[1024:]
        return piece

    async def close(self):
        self.is_closed = True


async def _send(board, name, source, text="", caller=OWNER, size=0):
    said = message("net:1:%d" % board.journal.newest, text, caller, (name, size or len(source.content), source.open))
    chat = await Network(board.inbox).offer(said)
    assert chat.told.pop() == "end"
    return chat.told


async def test_the_owner_sends_memories_and_imports_them():
    board = Board().serve()
    source = _Source(b'{"content":"my bike is green","tags":["bike"]}\n')
    told = await _send(board, "mine.jsonl", source)
    assert told == ["line mine.jsonl is kept (47 bytes): /import mine.jsonl brings it in"] and source.is_closed
    lines_of(board, "/import mine.jsonl")
    assert board.records.count() == 1


async def test_markdown_and_lists_are_refused_with_the_command_that_imports_them():
    board = Board().serve()
    for name in ("notes.md", "mine.json", "config.json"):
        told = await _send(board, name, _Source(b"- my bike is green #bike\n"))
        assert told[0].startswith("refused ") and "`engram import FILE` on a computer" in told[0]
        assert files.size(board.place + "/" + name) < 0


async def test_what_is_not_taken_is_named_and_its_caption_is_answered():
    board = Board().serve(Script("Nice.", "Nice."))
    told = await _send(board, "cat.png", _Source(b"x"), "my cat")
    assert told[0].startswith("refused cat.png: only .jsonl files are taken") and told[-1] == "Nice."
    for caller in (Caller("ann", "net 5", False, ""), Caller("owner", "net -7", True, "")):
        told = await _send(board, "mine.jsonl", _Source(b"x"), "", caller)
        assert told == ["refused mine.jsonl: files are taken from the owner only, in private."]
    assert files.size(board.place + "/mine.jsonl") < 0


async def test_a_file_that_is_too_long_or_breaks_off_leaves_nothing():
    board = Board().serve()
    for source, size in ((_Source(b"x"), 262145), (_Source(bytes(262145)), 1), (_Source(b"x" * 5000, True), 0)):
        told = await _send(board, "mine.jsonl", source, size=size)
        assert told[0].startswith("refused "), told
    assert files.size(board.place + "/mine.jsonl") < 0 and files.size(board.place + "/mine.jsonl.new") < 0


async def test_a_name_that_leads_elsewhere_is_not_used():
    board = Board().serve()
    for name in ("../../x.jsonl", ".x.jsonl", "a b.jsonl", "x" * 70 + ".jsonl", "é.jsonl"):
        told = await _send(board, name, _Source(b"{}\n"))
        assert told == ["line received.jsonl is kept (3 bytes): /import received.jsonl brings it in"]


async def test_a_file_that_takes_too_long_is_given_up_and_closed():
    board = Board().serve()

    class Slow(_Source):
        async def read(self):
            await asyncio.Event().wait()

    source, attachments.FILE_MS = Slow(b"x"), 20
    told = await _send(board, "mine.jsonl", source)
    assert "takes too long over this link: send it in parts." in told[0] and source.is_closed
