"""Style and script of the page, with content hashes in their names for long-term caching."""

import hashlib
from importlib import resources

STATIC = "/static/"

_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}


class Assets:
    """Static files, read once."""

    def __init__(self) -> None:
        folder = resources.files("engram_host.companion.page") / "static"
        self.files: dict[str, tuple[bytes, str]] = {}
        self._names: dict[str, str] = {}
        for file in sorted(folder.iterdir(), key=lambda file: file.name):
            stem, dot, ending = file.name.rpartition(".")
            if dot + ending in _TYPES:
                content = file.read_bytes()
                name = f"{stem}.{hashlib.sha256(content).hexdigest()[:10]}.{ending}"
                self.files[name] = content, _TYPES[dot + ending]
                self._names[file.name] = name

    def url(self, name: str) -> str:
        return STATIC + self._names[name]
