"""Base URLs of services: http(s)://host[:port][/path]; nothing that could reach into a header gets through."""

from engram.compat import const
from engram.errors import ArgumentError
from engram.text.utf8 import encode, is_printable_ascii

# Protects the heap and the request line: no service has a longer base URL.
_LONGEST = const(300)
_DIGITS = b"0123456789"
_HOST = b"abcdefghijklmnopqrstuvwxyz0123456789-._"
_ADDRESS = b"0123456789abcdef:."


WEB = (("http", 80), ("https", 443))
"""The scheme of a plain link and that of one over TLS, with their usual ports."""


def split(url: str, schemes=WEB) -> tuple:
    """(secure, host, port, prefix) of a base URL; the prefix has no slash at its end.

    The URL is not put in the error, since a password may stand in it.
    """
    scheme, _, rest = url.partition("://")
    authority, _, prefix = rest.partition("/")
    host, port = _split_authority(authority.lower())
    scheme = scheme.lower()
    secure = scheme == schemes[1][0]
    is_wrong = not (secure or scheme == schemes[0][0]) or not host or not 0 <= port < 65536 or len(url) > _LONGEST
    if is_wrong or not is_printable_ascii(url) or any(code in b' "?#<>\\' for code in encode(url)):
        problem = "must be %s(s)://host[:port][/path], without user name, query or space"
        raise ArgumentError("url", problem % schemes[0][0])
    prefix = prefix.strip("/")
    return secure, host, port or schemes[secure][1], "/" + prefix if prefix else ""


def _split_authority(authority):
    """Host and port; no host if it is none, port 0 if none is named, -1 if it is none."""
    if authority.startswith("["):
        host, _, port = authority[1:].partition("]")
        alphabet = _ADDRESS if ":" in host and authority.endswith("]" + port) else b""
    else:
        host, colon, port = authority.partition(":")
        port = colon + port
        alphabet = _HOST
    if not _consists_of(host, alphabet):
        host = ""
    if not port:
        return host, 0
    is_number = port[0] == ":" and 1 < len(port) < 7 and _consists_of(port[1:], _DIGITS)
    return host, int(port[1:]) or -1 if is_number else -1


def _consists_of(text, alphabet):
    return all(code in alphabet for code in encode(text))
