"""Records against a plain dict, over random operations, restarts and compactions."""

import random

from board import Board
from engram.text import words
from support import rounds

WORDS = ("apple", "boat", "猫狗鱼", "دلفين", "🎉", "ember", "flint", "grove")


class Model:
    """What is remembered: live records by id, and for each one's id those that it superseded."""

    def __init__(self):
        self.live = {}
        self.undo = []

    def remember(self):
        """Keep the present state for undo."""
        self.undo.append(dict(self.live))


def _content():
    return " ".join(random.choice(WORDS) for _ in range(3)) + f" {random.getrandbits(20)}"


def _step(board, model):
    choice = random.random()
    if choice < 0.4 or not model.live:
        content = _content()
        model.remember()
        model.live[board.records.store(content, ["a"]).id] = content
        return
    ref = random.choice(sorted(model.live))
    content = _content()
    if choice < 0.55:
        model.remember()
        board.records.update(ref, {"content": content})
        model.live[ref] = content
    elif choice < 0.7:
        model.remember()
        del model.live[ref]
        model.live[board.records.store(content, ["a"], supersedes=ref).id] = content
    elif choice < 0.8:
        model.remember()
        board.records.forget(ref)
        del model.live[ref]
    elif choice < 0.9:
        if model.undo:
            board.undo.undo()
            model.live = model.undo.pop()
    elif choice < 0.96:
        board.restart()
    else:
        board.compact()
        model.undo = []


def _agree(board, model):
    assert {record["id"]: record["content"] for record in board.records.newest()} == model.live
    for word in WORDS:
        found = sorted(record["id"] for _, record in board.search(word, 200))
        having = [ref for ref, content in model.live.items() if set(words(word)) & set(words(content))]
        assert found == sorted(having)


def test_random_operations_agree_with_a_plain_dict():
    for seed in range(rounds(3, 1)):
        random.seed(seed)
        board = Board(segment_bytes=2000)
        model = Model()
        for number in range(60):
            _step(board, model)
            if number % 10 == 9:
                _agree(board, model)
        board.restart()
        _agree(board, model)
