"""ngircd, an IRC server, for the tests of the bridge: TLS by an authority of its own, one channel, no services."""

import os
import pwd
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import trustme

import get_chat_servers
from bridge_peers import Server
from irc_peer import IrcClient, IrcPeer
from server_process import ServerProcess, listens

CHANNEL = "#home"
NICKNAME = "engram"

_CONFIGURATION = """
[Global]
Name = irc.engram.test
Info = tests
Listen = 127.0.0.1
Ports = {plain}
{user}
[Limits]
MaxConnectionsIP = 0
MaxNickLength = 20
MaxPenaltyTime = 0
PingTimeout = 120
[Options]
DNS = no
Ident = no
PAM = no
DefaultUserModes =
[SSL]
CertFile = {home}/server.pem
KeyFile = {home}/server.pem
Ports = {port}
[Channel]
Name = #home
"""


def is_usable() -> bool:
    """Whether this machine has an ngircd that runs."""
    return get_chat_servers.usable(get_chat_servers.NGIRCD)


class _Process(ServerProcess):
    name = "ngircd"

    def __init__(self, home: Path, port: int):
        super().__init__()
        self._home = home
        self._port = port

    def command(self) -> tuple[list[str], dict[str, str]]:
        return [str(get_chat_servers.NGIRCD), "--nodaemon", "--config", str(self._home / "ngircd.conf")], {}

    def is_ready(self) -> bool:
        return listens(self._port)


class NgircdServer(Server):
    """An ngircd of its own, which keeps nothing when it ends."""

    def __init__(self, port: int, plain_port: int):
        self.port = port
        self.plain_port = plain_port
        self.home = Path(tempfile.mkdtemp(prefix="engram-ngircd-"))
        self.authority = self.home / "authority.pem"
        authority = trustme.CA()
        authority.cert_pem.write_to_path(self.authority)
        authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(self.home / "server.pem")
        user = ""
        if os.getuid() == 0:  # it gives up being root, and still has to read its files
            nobody = pwd.getpwnam("nobody")
            user = f"ServerUID = {nobody.pw_uid}\nServerGID = {nobody.pw_gid}"
            self.home.chmod(0o755)
            (self.home / "server.pem").chmod(0o644)
        configuration = _CONFIGURATION.format(home=self.home, port=port, plain=plain_port, user=user)
        (self.home / "ngircd.conf").write_text(configuration)
        self._process = _Process(self.home, port)

    def start(self) -> None:
        self._process.start()

    def kill(self) -> None:
        self._process.kill()

    def stop(self) -> None:
        self._process.kill()
        shutil.rmtree(self.home)

    @property
    def settings(self) -> Mapping[str, str]:
        return {
            "server": f"127.0.0.1:{self.port}",
            "nickname": NICKNAME,
            "channels": CHANNEL,
            "tls": "on",
            "login": "none",
            "pause": "0",
            "authority": str(self.authority),
        }

    def client(self, nickname: str) -> IrcClient:
        """A second connection, not signed in yet."""
        return IrcClient(self.port, self.authority, nickname)

    async def peer(self, name: str) -> IrcPeer:
        peer = IrcPeer(self.client(name), NICKNAME, CHANNEL)
        await peer.sign_in()
        return peer
