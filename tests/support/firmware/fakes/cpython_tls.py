"""The module `tls` of MicroPython on CPython, as far as there is a use for it: root certificates are taken or refused."""

import ssl

PROTOCOL_TLS_CLIENT = ssl.PROTOCOL_TLS_CLIENT


class SSLContext:
    """A context that takes root certificates."""

    def __init__(self, protocol):
        self._context = ssl.SSLContext(protocol)

    def load_verify_locations(self, roots):
        """Take one certificate as DER, or several as PEM."""
        self._context.load_verify_locations(cadata=roots if roots[:1] == b"\x30" else roots.decode())
