"""prosody, an XMPP server, for the tests: accounts, a room, TLS by an authority of its own, messages kept offline."""

from collections.abc import Mapping
from pathlib import Path
from string import Template
from types import MappingProxyType

import get_chat_servers
from local_server import LocalServer
from peers import free_port
from xmpp_peer import XmppPeer

DOMAIN = "engram.test"
ROOM = f"home@rooms.{DOMAIN}"
PASSWORDS = {"kitchen": "Tea-at-4", "ann": "Ann's own", "ben": "Ben's own", "cleo": "Cleo's own", "dora": "Dora's own"}

_CONFIGURATION = Template(Path(__file__).with_name("prosody.cfg.lua").read_text(encoding="utf-8"))


def is_usable() -> bool:
    """Whether this machine has a prosody that runs."""
    return get_chat_servers.usable(get_chat_servers.PROSODY)


class ProsodyServer(LocalServer):
    """A prosody of its own. `is_archived`: its rooms number their messages; `has_public_jids`: they tell who is who."""

    def __init__(
        self,
        ports: tuple[int, int],
        *,
        is_archived: bool = True,
        has_public_jids: bool = True,
        more: Mapping[str, str] = MappingProxyType({}),
    ):
        """`more` has the passwords of more accounts by name."""
        super().__init__("prosody", DOMAIN, f"rooms.{DOMAIN}", f"files.{DOMAIN}", "127.0.0.1")
        self._passwords = {**PASSWORDS, **more}
        self.port, self.direct_port = ports
        accounts = self.home / "data" / DOMAIN.replace(".", "%2e") / "accounts"
        accounts.mkdir(parents=True)
        for name, password in self._passwords.items():
            (accounts / f"{name}.dat").write_text(f'return {{ ["password"] = "{password}"; }};\n')
        configuration = _CONFIGURATION.substitute(
            home=self.home,
            domain=DOMAIN,
            starttls=self.port,
            direct=self.direct_port,
            files=free_port(),
            room_modules='"muc_mam"' if is_archived else "",
            public="true" if has_public_jids else "false",
        )
        self.run_with(
            configuration, "prosody.cfg.lua", [str(get_chat_servers.PROSODY), "--no-daemonize", "--config"], self.port
        )

    @property
    def settings(self) -> Mapping[str, str]:
        return {
            "address": f"kitchen@{DOMAIN}",
            "password": PASSWORDS["kitchen"],
            "server": f"127.0.0.1:{self.port}",
            "rooms": ROOM,
            "nickname": "engram",
            "authority": str(self.authority),
        }

    async def peer(self, name: str) -> XmppPeer:
        peer = XmppPeer(f"{name}@{DOMAIN}", self._passwords[name], self.port, self.authority, f"kitchen@{DOMAIN}", ROOM)
        await peer.sign_in()
        return peer
