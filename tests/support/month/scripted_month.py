"""The model of the simulated month: it answers by what it is shown, the same to the same, and looks for words of others."""

import json

import life
from engram import text
from engram.errors import ModelUnavailable
from engram.llm.types import Call, Reply

_LEARNING = "Find in what the person says the facts"
_DISTILLING = "lines of the daily log"
_ALONE = ("group",)  # what a group was told, all may see


class Model:
    """Answers requests, and counts calls and tokens; AssertionError where words are shown of somebody else than who speaks."""

    name = "scripted"
    rounds = 10

    def __init__(self):
        self.calls = self.tokens = 0
        self.on_retry = None
        self._who = ""

    def listens_to(self, who):
        """The next requests are for this person, "" for the board's own."""
        self._who = who

    def tidy(self):
        """There is no link."""

    async def stream(self, request, on_text, on_retry=None):
        """Answer a request, looked at piece by piece as a link sends it: joined it would take heap that no link takes."""
        self.calls += 1
        marks = set()
        kind = ""
        for piece in request.system():
            kind = kind or _kind(piece)
            self._look(piece, marks)
        last = None
        for last in request.messages():
            self._look(last.text, marks)
        self._refuse_others(marks)
        if self.calls % 23 == 11 and self._who:
            raise ModelUnavailable("the link is down in the script.")
        answer, calls = self._answer(kind, last)
        if answer:
            await on_text(answer)
        self.tokens += text.tokens(answer)
        return Reply(answer, calls, "tools" if calls else "end", (-1, -1, -1))

    def _look(self, shown, marks):
        self.tokens += text.tokens(shown)
        for who, mark in life.MARKS.items():
            if who not in _ALONE and mark in shown:
                marks.add(who)

    def _refuse_others(self, marks):
        if len(marks) > 1 or (self._who and marks and marks != {self._who}):
            raise AssertionError("shown to %s: words of %s" % (self._who or "the board", sorted(marks)))

    def _answer(self, kind, last):
        said = last.text
        if kind == _LEARNING:
            return json.dumps(_facts(_between(said, "<said>", "</said>"))), ()
        if kind == _DISTILLING:
            return json.dumps(_distilled(said)), ()
        if last.role == "user" and "likes the" in said and "remember that" in said:
            # What was recalled stands below the message.
            content = _after(said, "remember that ").split("\n")[0]
            arguments = {"content": content, "tags": ["likes"], "importance": 0.8}
            return "", (Call("c1", "memory_store", json.dumps(arguments)),)
        return "All right: " + said[-40:], ()


def _kind(piece):
    for kind in (_LEARNING, _DISTILLING):
        if kind in piece:
            return kind
    return ""


def _after(content, mark):
    return content[content.rfind(mark) + len(mark) :].strip()


def _between(content, begin, end):
    """The pieces of a text between two marks."""
    found = []
    for piece in content.split(begin)[1:]:
        found.append(piece.split(end)[0].strip())
    return found


def _facts(said):
    """Operations for messages of the form "[t12 2026-01-31 ann] ..."."""
    operations = []
    for message in said:
        head, _, content = message[1:].partition("] ")
        turn = head.split(" ")[0]
        if content.startswith("Today"):
            operations.append({"op": "note", "from": turn, "content": content})
        elif content.startswith("The "):
            importance = (len(content) * 7 % 8) / 10
            operations.append(
                {"op": "add", "from": turn, "content": content, "tags": ["thing"], "importance": importance}
            )
    return operations


def _distilled(message):
    """Every third note is worth a memory; the others give nothing."""
    operations = []
    for at, line in enumerate(_between(message, "<notes>", "</notes>")[0].split("\n")):
        head, _, content = line[1:].partition("] ")
        if at % 3 == 0:
            fact = content[6:] if content[2:3] == ":" else content
            operations.append(
                {"op": "add", "from": [head.split(" ")[0]], "content": fact, "tags": ["day"], "importance": 0.6}
            )
    return operations[:10]
