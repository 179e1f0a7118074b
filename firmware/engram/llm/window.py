"""The window of a model as its service tells it, for people who did not set llm.context_tokens."""

import asyncio

from engram.compat import wait_for_ms
from engram.errors import NetError

SETTING = const("llm.context_tokens")
_SMALLEST = const(2048)  # a service that tells less is not believed, as no prompt would fit
_LARGEST = const(32_768)  # a larger one would make long sessions slow and dear; people may set more
_WITHIN_MS = const(5000)  # for one place: the person waits
_TRIES = const(2)  # Ollama tells it once the model is loaded, which is after the first request
_KEPT = const(8192)  # bytes of a list of models from one's name on: that of a large service has megabytes
_MOST = const(65_536)  # bytes of any other answer, which may begin with a licence
_OVERLAP = const(256)

# Where services tell it, from the root of their address, and the names that they give it.
_PLACES = (
    ("GET", "%s/models", b"n_ctx loaded_context_length max_model_len context_length context_window max_context_length"),
    ("GET", "/props%.0s", b"n_ctx"),
    ("GET", "/api/ps%.0s", b"context_length"),
    ("POST", "/api/show%.0s", b"num_ctx"),
)
# Before the number in a refusal of a prompt that is too long.
_REFUSED = (b"context size (", b"context length is ", b"context window of ")


class WindowFinder:
    """The window of the model `name` behind `client`, which asks the root of the service; it corrects `config`."""

    def __init__(self, config, client, prefix: str, name: str, headers: list):
        self._config = config
        self._client = client
        self._prefix = prefix
        self._name = name
        self._headers = headers
        self._tries = _TRIES
        self.said = ""
        """What the service told, for /stats."""

    async def ask(self) -> None:
        """Ask once, and once more if the service did not know it; failures are only told in `said`."""
        if not self._tries or self._config.is_set(SETTING):
            return
        self._tries -= 1
        for method, path, names in _PLACES:
            try:
                body = await wait_for_ms(self._fetch(method, path % self._prefix), _WITHIN_MS)
            except (NetError, asyncio.TimeoutError) as error:
                self.said = "not told: %s" % (str(error) or "no answer")
                return
            finally:
                self._client.tidy()
            if self._take(_number(body, names.split())):
                return
        self.said = "not told by the service"

    def correct(self, refusal: str, prompts) -> bool:
        """Take the window that a refusal names, or let `prompts` estimate more if it is known; False if it names none."""
        window = _number(refusal.encode(), _REFUSED)
        if window < _SMALLEST:
            return False
        if self._config.is_set(SETTING) or window >= self._config.get(SETTING):
            prompts.estimate_more()
            return True
        return self._take(window)

    def _take(self, window: int) -> bool:
        if window < _SMALLEST:
            return False
        self._tries = 0
        self.said = "%d tokens, as the service says" % window
        self._config.assume(SETTING, min(window, _LARGEST))
        return True

    async def _fetch(self, method: str, path: str) -> bytes:
        """Return the beginning of an answer, of a list of models the part from this one's name on; b"" without one."""
        body = (lambda: (('{"model":"%s"}' % self._name).encode(),)) if method == "POST" else None
        answer = await self._client.ask(method, path, self._headers, body, first_ms=_WITHIN_MS)
        kept, is_list, is_cut, name = bytearray(), path[-7:] == "/models", False, ('"' + self._name).encode()
        try:
            while answer.status == 200 and not answer.ended and len(kept) < _MOST:
                kept.extend(await answer.read())
                at = kept.find(name) if is_list else 0
                if at > 0:
                    kept = kept[at:]
                elif at < 0 and len(kept) > _KEPT:
                    kept, is_cut = kept[-_OVERLAP:], True
                elif is_list and not at and len(kept) > _KEPT:
                    break
        finally:
            self._client.release(answer)
        is_other = is_list and name not in kept and (is_cut or kept.count(b'"id"') > 1)
        return b"" if is_other else bytes(kept)


def _number(data: bytes, names) -> int:
    """Return the first number behind one of the names, 0 if there is none."""
    for name in names:
        for rest in data.split(name)[1:]:
            digits = rest[:_OVERLAP].lstrip(b"\"': ")
            end = 0
            while digits[end : end + 1].isdigit():
                end += 1
            if end:
                return int(digits[:end])
    return 0
