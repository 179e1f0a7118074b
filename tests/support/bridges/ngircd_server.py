"""ngircd, an IRC server, for the tests of the bridge: TLS by an authority of its own, one channel, no services."""

import os
import pwd
from collections.abc import Mapping
from pathlib import Path
from string import Template

import get_chat_servers
from irc_peer import IrcClient, IrcPeer
from local_server import LocalServer

CHANNEL = "#home"
NICKNAME = "engram"

_CONFIGURATION = Template(Path(__file__).with_name("ngircd.conf").read_text(encoding="utf-8"))


def is_usable() -> bool:
    """Whether this machine has an ngircd that runs."""
    return get_chat_servers.usable(get_chat_servers.NGIRCD)


class NgircdServer(LocalServer):
    """An ngircd of its own, which keeps nothing when it ends."""

    def __init__(self, port: int, plain_port: int):
        super().__init__("ngircd", "127.0.0.1")
        self.port = port
        self.plain_port = plain_port
        user = ""
        if os.getuid() == 0:  # it gives up being root, and still has to read its files
            nobody = pwd.getpwnam("nobody")
            user = f"ServerUID = {nobody.pw_uid}\nServerGID = {nobody.pw_gid}"
            self.home.chmod(0o755)
            (self.home / "server.pem").chmod(0o644)
        configuration = _CONFIGURATION.substitute(home=self.home, port=port, plain=plain_port, user=user)
        words = [str(get_chat_servers.NGIRCD), "--nodaemon", "--config"]
        self.run_with(configuration, "ngircd.conf", words, port)

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
