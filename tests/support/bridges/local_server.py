"""What chat servers for tests have in common that run as a process: a folder, and TLS by an authority of their own."""

import shutil
import tempfile
from pathlib import Path

import trustme

from bridge_peers import Server
from server_process import ServerProcess, listens


class _Process(ServerProcess):
    """A program that listens at a port once it is ready."""

    def __init__(self, name: str, words: list[str], port: int):
        super().__init__()
        self.name = name
        self._words = words
        self._port = port

    def command(self) -> tuple[list[str], dict[str, str]]:
        return self._words, {}

    def is_ready(self) -> bool:
        return listens(self._port)


class LocalServer(Server):
    """A server of its own in `home`, with the certificate `server.pem` for some names there. A subclass calls run_with() at the
    end of its making.
    """

    def __init__(self, name: str, *names: str):
        self._name = name
        self.home = Path(tempfile.mkdtemp(prefix=f"engram-{name}-"))
        self.authority = self.home / "authority.pem"
        authority = trustme.CA()
        authority.cert_pem.write_to_path(self.authority)
        authority.issue_cert(*names).private_key_and_cert_chain_pem.write_to_path(self.home / "server.pem")

    def run_with(self, configuration: str, file: str, words: list[str], port: int) -> None:
        """Keep the configuration; `words` and its path are the command, and `port` is where it listens."""
        path = self.home / file
        path.write_text(configuration)
        self._process = _Process(self._name, [*words, str(path)], port)

    def start(self) -> None:
        self._process.start()

    def kill(self) -> None:
        self._process.kill()

    def stop(self) -> None:
        self._process.kill()
        shutil.rmtree(self.home)
