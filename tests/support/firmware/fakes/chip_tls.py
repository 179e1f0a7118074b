"""The module `tls` of a chip: this MicroPython's own, over the sockets of chip_socket."""

from io import IOBase

import tls as _host

PROTOCOL_TLS_CLIENT, PROTOCOL_TLS_SERVER = _host.PROTOCOL_TLS_CLIENT, _host.PROTOCOL_TLS_SERVER


class SSLContext:
    """A context whose connections end in chip_socket's sockets."""

    def __init__(self, protocol):
        self._context = _host.SSLContext(protocol)
        self.load_verify_locations = self._context.load_verify_locations

    def wrap_socket(self, sock, **options):
        """TLS over a socket."""
        return self._context.wrap_socket(_Transport(sock), **options)


class _Transport(IOBase):
    """A socket as TLS reads and writes it: what fails there is a number below zero."""

    def __init__(self, sock):
        self._socket = sock
        self.setblocking = sock.setblocking
        self.ioctl = sock.ioctl

    def readinto(self, view):
        try:
            return self._socket.readinto(view)
        except OSError as error:
            return -error.errno

    def write(self, data):
        try:
            return self._socket.write(data)
        except OSError as error:
            return -error.errno
