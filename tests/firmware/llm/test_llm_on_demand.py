"""A model that is made when it is asked: how long its code and its link stay."""

from engram import lazy
from engram.errors import ModelUnavailable
from engram.llm import on_demand
from engram.llm.on_demand import ModelOnDemand
from support import raises


class Reply:
    """Of a reply what tells whether the model will be asked again: the calls of tools; and what it took."""

    def __init__(self, *calls, usage=(-1, -1, -1)):
        self.calls = calls
        self.usage = usage


class Model:
    """A model with a link, which is open from the first request on; `replies` are given, or raised, in turn."""

    addresses = None

    def __init__(self, replies):
        self._replies = replies
        self.is_open = False

    async def stream(self, request, on_text, on_retry):
        self.is_open = True
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        if on_text:
            await on_text()
        return reply

    def tidy(self, at_once):
        if at_once:
            self.is_open = False
        return not self.is_open


class Heap:
    """A heap that is small or large, with a model on demand in it; `made` are the models, newest last."""

    def __init__(self, *replies, is_small=True):
        self.made = []
        self._replies = list(replies)
        self._real = lazy.is_heap_small
        lazy.is_heap_small = on_demand.is_heap_small = lambda: is_small
        self.model = ModelOnDemand("m", self._make, None)

    def _make(self, tls, addresses):
        self.made.append(Model(self._replies))
        return self.made[-1]

    def is_open(self):
        return self.made[-1].is_open

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        lazy.is_heap_small = on_demand.is_heap_small = self._real


async def test_on_a_small_heap_link_and_code_go_with_the_answer():
    with Heap(Reply(), Reply()) as heap:
        await heap.model.stream(None, None)
        assert not heap.is_open()
        await heap.model.stream(None, None)
        assert len(heap.made) == 3  # the first one was made to check the settings


async def test_on_a_small_heap_the_link_stays_while_tools_run():
    with Heap(Reply("memory_search"), Reply()) as heap:
        await heap.model.stream(None, None)
        assert heap.is_open()
        await heap.model.stream(None, None)
        assert not heap.is_open() and len(heap.made) == 2


async def test_on_a_small_heap_the_link_goes_with_a_failure():
    with Heap(OSError()) as heap:
        with raises(OSError):
            await heap.model.stream(None, None)
        assert not heap.is_open()


async def test_requests_and_the_tokens_that_the_service_counts_are_counted():
    with Heap(Reply(usage=(120, 30, 100)), Reply(), ModelUnavailable("it is down"), is_small=False) as heap:
        await heap.model.stream(None, None)
        await heap.model.stream(None, None)
        with raises(ModelUnavailable):
            await heap.model.stream(None, None)
        assert (heap.model.calls, heap.model.tokens) == (3, 150)


async def test_why_the_latest_request_failed_is_known_until_one_succeeds():
    with Heap(ModelUnavailable("it is down"), Reply(), is_small=False) as heap:
        with raises(ModelUnavailable):
            await heap.model.stream(None, None)
        assert heap.model.problem == "it is down"
        await heap.model.stream(None, None)
        assert heap.model.problem == ""


async def test_the_link_stays_while_somebody_else_asks():
    with Heap(Reply(), Reply()) as heap:

        async def ask_too():
            await heap.model.stream(None, None)
            assert heap.is_open()

        await heap.model.stream(None, ask_too)
        assert not heap.is_open()


async def test_on_a_large_heap_the_link_stays_for_the_next_turn():
    with Heap(Reply(), is_small=False) as heap:
        await heap.model.stream(None, None)
        assert heap.is_open() and len(heap.made) == 1


async def test_a_link_that_is_not_idle_for_long_stays_when_it_is_tidied():
    with Heap(Reply("memory_search")) as heap:
        await heap.model.stream(None, None)
        heap.model.tidy()
        assert heap.is_open()
