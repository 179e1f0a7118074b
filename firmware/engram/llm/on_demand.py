"""A model that is made when it is asked, and leaves a small heap with its code once its link has been idle."""

from engram.lazy import is_heap_small, release


class ModelOnDemand:
    """The Model called `name` that make() gives; what make() raises comes from here at once, not with the first message."""

    def __init__(self, name: str, make):
        self.name = name
        self._make = make
        self._asked = 0
        self._model = make()
        self._leave_small_heap()

    async def stream(self, request, on_text, on_retry=None):
        """As Model.stream."""
        self._asked += 1
        try:
            self._model = self._model or self._make()
            return await self._model.stream(request, on_text, on_retry)
        finally:
            self._asked -= 1

    def tidy(self) -> None:
        """Close an idle link, and let a small heap have the room; to be called now and then."""
        if self._model and self._model.tidy() and not self._asked:
            self._leave_small_heap()

    def _leave_small_heap(self) -> None:
        if is_heap_small():
            self._model = None
            release("llm.model", "llm.http", "llm.openai", "llm.anthropic", "llm.reply", "llm.answering")
