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

# Places where services tell it, from the root of their address, the key that begins an entry in a list of models, and the
# names that they give it.
_PLACES = (
    (
        "GET",
        "%s/models",
        b'"id"',
        b"n_ctx loaded_context_length max_model_len context_length context_window max_context_length",
    ),
    ("GET", "/props%.0s", b"", b"n_ctx"),
    ("GET", "/api/v0/models%.0s", b'"id"', b"loaded_context_length"),
    ("GET", "/api/ps%.0s", b'"name"', b"context_length"),
    ("POST", "/api/show%.0s", b"", b"num_ctx"),
)
_NAME_ENDS = (b'"', b':latest"', b'.gguf"')
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
        """The service's words on it, for /stats."""

    async def ask(self) -> None:
        """Ask once, and once more if the service did not know it; failures are only told in `said`."""
        if not self._tries or self._config.is_set(SETTING):
            return
        self._tries -= 1
        for method, path, key, names in _PLACES:
            try:
                body = await wait_for_ms(self._fetch(method, path % self._prefix, key), _WITHIN_MS)
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

    async def _fetch(self, method: str, path: str, key: bytes) -> bytes:
        """Return the beginning of a JSON answer, of a list of models this one's entry; b"" without one."""
        body = (lambda: (('{"model":"%s"}' % self._name).encode(),)) if method == "POST" else None
        answer = await self._client.ask(method, path, self._headers, body, first_ms=_WITHIN_MS)
        kept, is_cut = bytearray(), False
        try:
            while answer.status == 200 and not answer.ended and len(kept) < _MOST:
                kept.extend(await answer.read())
                if not is_cut and bytes(kept[:_OVERLAP]).lstrip()[:1] not in (b"{", b"["):
                    return b""  # a page
                at = self._find(kept) if key else 0
                if at > 0 or (at < 0 and len(kept) > _KEPT):
                    kept, is_cut = kept[at if at > 0 else -_OVERLAP :], True
                elif key and not at and len(kept) > _KEPT:
                    break
        finally:
            self._client.release(answer)
        # A server of one model may call it otherwise.
        is_only = not key or (key == b'"id"' and not is_cut and kept.count(key) < 2)
        return b"\n".join(self._entries(bytes(kept), key)) or (bytes(kept) if is_only else b"")

    def _find(self, data) -> int:
        """Return the place of the model's name in a list, -1 if it is not there."""
        found = [data.find(('"' + self._name).encode() + end) for end in _NAME_ENDS]
        return min([at for at in found if at >= 0] or [-1])

    def _entries(self, data: bytes, key: bytes):
        """Yield the rest of the model's entry behind each of its names."""
        at = self._find(data) if key else -1
        while at >= 0:
            data = data[at + 1 :]
            yield data.split(key)[0]
            at = self._find(data)


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
