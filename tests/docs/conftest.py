"""The documentation is tested against the firmware's own tables, imported on CPython; its links run over a chip's sockets."""

from fakes import links

links.install()
