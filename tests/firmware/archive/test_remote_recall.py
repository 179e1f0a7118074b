"""memory_search asks the companion, too, and says what is with it where it cannot be asked."""

import json

from archiving import Archiving
from engram.agent.agent import Turn
from engram.errors import NetError
from engram.link.remote_search import RemoteSearch
from engram.llm.types import Call
from engram.memory.access import OWNER
from samples import distinct_content

_KITE = "the red kite hangs in the hall"


class Recalling(Archiving):
    """A board that archived one memory, the only one about a kite."""

    def connect(self):
        super().connect()
        self.board.with_tools()

    async def run(self, name, caller=OWNER, **arguments):
        call = Call("c", name, json.dumps(arguments))
        return json.loads((await self.board.toolbox.answer(call, Turn(caller, 1))).result)

    def finds_the_kite(self):
        self.companion.finds = [["m1", 900, 1600000000, "", _KITE]]


async def _without_the_kite(when="weak"):
    linked = Recalling(records_most=10)
    linked.board.remote_search = RemoteSearch(linked.exchange, linked.sync, when, 500, linked.board.archived)
    linked.board.with_tools()
    linked.board.records.store(_KITE, ["kite"], importance=0)
    for at in range(11):
        linked.board.now += 1
        linked.board.records.store(distinct_content(at), ["books"])
        await linked.work()
    assert 1 in linked.kept()
    return linked


async def test_an_archived_memory_is_found_by_its_words_and_tag():
    linked = await _without_the_kite()
    linked.finds_the_kite()
    (found,) = (await linked.run("memory_search", query="kite", tags=["kite"]))["found"]
    assert (found["id"], found["text"]) == ("m1", _KITE)


async def test_a_list_says_that_more_may_be_with_the_companion():
    linked = await _without_the_kite()
    listed = await linked.run("memory_search", query="", tags=["books"])
    assert listed["memories"] and listed["older"] == "more may be with the companion."


async def test_what_the_companion_is_not_sure_of_is_told_and_does_not_count_as_used():
    linked = await _without_the_kite()
    linked.finds_the_kite()
    used = []
    linked.board.archived.add_use = lambda number, caller: used.append(number)
    for confidence, is_used in ((50, False), (800, True)):
        linked.companion.sure = (confidence,)
        answer = await linked.run("memory_search", query="red kite")
        assert answer["found"][0]["id"] == "m1" and answer["confidence"] == confidence // 10
        assert ("uncertain" not in answer) is bool(used) is is_used


async def test_a_board_that_is_alone_says_what_is_with_the_companion():
    linked = await _without_the_kite()
    linked.exchange.close(NetError("gone"))
    more = " More may be with the companion, which is not connected."
    for arguments in ({"query": "red kite"}, {"query": "red kite", "since": "2020-01-01"}):
        answer = await linked.run("memory_search", **arguments)  # pyright: ignore[reportArgumentType]
        assert answer["found"] == [] and "not connected" in answer["note"]
        assert answer["reason"].startswith("on the board, ") and answer["reason"].endswith(more)
    answer = await linked.run("memory_search", query="", tags=["kite"])
    assert answer["reason"] == "on the board, there are none yet." + more and "books (" in answer["tags"]
