"""Facts that change, and boards that were told them."""

from board import Board, say
from engram.memory.access import OWNER

FACTS = (
    (
        "remember that the gate code is 1234",
        "the gate code is %s",
        ("1234", "9876"),
        "what is the gate code?",
        ("Your gate code is 1234. Anything else?", "It is 1234."),
    ),
    (
        "By the way, I live in Paris.",
        "The user lives in %s",
        ("Paris", "Berlin"),
        "in which city do I live?",
        ("You live in Paris.", "I noted that you live in Paris!"),
    ),
    ("Ich wohne in Köln.", "Ich wohne in %s.", ("Köln", "Bonn"), "Wo wohne ich?", ("Du wohnst in Köln.",)),
    (
        "覚えておいて。犬の名前はポチです。",
        "犬の名前は%sです。",
        ("ポチ", "ハチ"),
        "犬の名前は何ですか?",
        ("犬の名前はポチです。",),
    ),
)
"""What is said; the memory of it, its value before and after; a question, and answers before the change."""


def edit(board, ref, content):
    """Change a memory; its id."""
    board.records.update(ref, {"content": content})
    return ref


def replace(board, ref, content):
    """Let another memory take the place of one; its id."""
    turn = "t%d" % say(board, content)
    return board.records.store(content, ["note"], OWNER, turns=[turn], supersedes=ref).id


def told(fact):
    """A board that was told a fact and asked for it; (board, the id of its memory)."""
    said, form, (old, _), question, replies = fact
    board = Board()
    say(board, "my bike is green and stands in the cellar")
    turn = "t%d" % say(board, said)
    ref = board.records.store(form % old, ["note"], OWNER, turns=[turn]).id
    for reply in replies:
        say(board, question)
        say(board, reply, "assistant")
    return board, ref
