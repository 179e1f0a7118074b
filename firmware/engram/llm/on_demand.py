"""A model that is made when it is asked. It leaves a small heap with its code and its link when it has answered."""

from engram.errors import ModelError
from engram.lazy import is_heap_small, lazy


class ModelOnDemand:
    """The Model called `name` that make(tls, addresses) gives; what make() raises comes from here at once.

    The TLS context and the host's addresses outlive the model: to read the roots again takes a large piece of the heap, and to
    ask for the name again stops the board.
    """

    def __init__(self, name: str, make, tls):
        self.name = name
        self._make = make
        self._tls = tls
        self._addresses = None
        self._code = lazy("llm")
        self._asked = 0
        self._model = None
        self.calls = 0
        """Requests since the start."""
        self.tokens = 0
        """Tokens that they took, both ways, as far as the service counts them."""
        self.problem = ""
        """Why the latest request failed, "" if it did not."""
        self._model_made()
        self._leave_small_heap()

    async def stream(self, request, on_text, on_retry=None):
        """As Model.stream."""
        self._asked += 1
        self.calls += 1
        will_ask = False
        try:
            reply = await self._model_made().stream(request, on_text, on_retry)
            will_ask = bool(reply.calls)  # the results of the tools go over the same link
            self.problem = ""
            self.tokens += max(0, reply.usage[0]) + max(0, reply.usage[1])
            return reply
        except ModelError as error:
            self.problem = str(error)
            raise
        finally:
            self._asked -= 1
            if is_heap_small() and not will_ask:
                self.tidy(at_once=True)

    def tidy(self, at_once: bool = False) -> None:
        """Close an idle link, and let a small heap have the room; to be called now and then."""
        if self._model and not self._asked and self._model.tidy(at_once):
            self._leave_small_heap()

    def _model_made(self):
        if self._model is None:
            self._code.begin()
            try:
                self._model = self._make(self._tls, self._addresses)
            finally:
                if self._model is None:
                    self._code.end()
        return self._model

    def _leave_small_heap(self) -> None:
        if is_heap_small():
            self._addresses = self._model.addresses
            self._model = None
            self._code.end()
