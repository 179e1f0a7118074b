"""The model of the simulated month: it answers by what it is shown, the same to the same, and looks for words of others."""

import json

import life
from engram import text
from engram.errors import ModelUnavailable
from engram.llm.types import Call, Reply

_ALONE = ("group",)  # what a group was told, all may see


class Model:
    """Answers requests, and counts calls and tokens; AssertionError where words are shown of somebody else than who speaks."""

    name = "scripted"

    def __init__(self):
        self.calls = self.tokens = 0
        self.on_retry = None
        self._who = ""

    def listens_to(self, who):
        """The next requests are for this person, "" for the board's own."""
        self._who = who

    def tidy(self):
        """There is no link."""

    async def stream(self, request, on_text):
        """Answer a request."""
        self.calls += 1
        system = "\n".join(request.system())
        messages = list(request.messages())
        shown = system + "\n".join([message.text for message in messages])
        self.tokens += text.tokens(shown)
        self._look_for_others(shown)
        if self.calls % 23 == 11 and self._who:
            raise ModelUnavailable("the link is down in the script.")
        answer, calls = self._answer(system, messages)
        if answer:
            await on_text(answer)
        self.tokens += text.tokens(answer)
        return Reply(answer, calls, "tools" if calls else "end", (-1, -1, -1))

    def _look_for_others(self, shown):
        found = [who for who, mark in life.MARKS.items() if mark in shown and who not in _ALONE]
        if len(found) > 1 or (self._who and found and found != [self._who]):
            raise AssertionError("shown to %s: words of %s" % (self._who or "the board", found))

    def _answer(self, system, messages):
        last = messages[-1].text
        if "Find in what the person says the facts" in system:
            return json.dumps(_facts(_between(last, "<said>", "</said>"))), ()
        if "lines of the daily log" in system:
            return json.dumps(_distilled(last)), ()
        if messages[-1].role == "user" and "likes the" in last and "remember that" in last:
            content = _after(last, "remember that ")
            arguments = {"content": content, "tags": ["likes"], "importance": 0.8}
            return "", (Call("c1", "memory_store", json.dumps(arguments)),)
        return "All right: " + last[-40:], ()


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
