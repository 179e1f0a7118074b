"""Security headers of all answers, and redirects without a host."""

from urllib.parse import urlsplit

from starlette.types import Message, Send

_OWN = ((b"x-content-type-options", b"nosniff"), (b"cross-origin-resource-policy", b"same-origin"))


def with_headers(send: Send) -> Send:
    """Return a sender that adds the headers and strips hosts from redirects."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = list(message["headers"])
            if message["status"] // 100 == 3:
                headers = [(name, _path_of(value) if name.lower() == b"location" else value) for name, value in headers]
            names = {name.lower() for name, _ in headers}
            message["headers"] = headers + [(name, value) for name, value in _OWN if name not in names]
        await send(message)

    return sent


def _path_of(location: bytes) -> bytes:
    try:
        parts = urlsplit(location.decode("latin-1"))
    except ValueError:
        return b"/"
    path = "/" + parts.path.lstrip("/")
    where = f"{path}?{parts.query}" if parts.query else path
    return (f"{where}#{parts.fragment}" if parts.fragment else where).encode("latin-1")
