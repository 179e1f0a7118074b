"""The networks that bridges are proven with: a server of each, or a strict fake, and what differs between them for a person."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import get_environment
import ngircd_server
import prosody_server
from bridge_peers import Server
from discord_fake import DiscordServer
from matrix_server import MatrixServer
from ngircd_server import NgircdServer
from peers import free_port
from prosody_server import ProsodyServer
from slack_fake import SlackServer
from telegram_server import TelegramServer


@dataclass(frozen=True)
class ChatNetwork:
    """How tests use a network. `group_of(server, peer)` is the network's id of the group that all are in. `is_fake`: people can
    write while the server is down. `sign` is what people type before a command. `keeps` is whether what is said while the
    bridge is away comes later.
    """

    name: str
    make: Callable[[], Server]
    group_of: Callable[[Any, Any], str]
    is_usable: Callable[[], bool] = lambda: True
    is_fake: bool = False
    has_edits: bool = True
    keeps: bool = True
    sign: str = "!"


NETWORKS: Mapping[str, ChatNetwork] = {
    each.name: each
    for each in (
        ChatNetwork(
            "xmpp",
            lambda: ProsodyServer((free_port(), free_port())),
            lambda server, peer: prosody_server.ROOM,
            prosody_server.is_usable,
        ),
        ChatNetwork(
            "irc",
            lambda: NgircdServer(free_port(), free_port()),
            lambda server, peer: ngircd_server.CHANNEL,
            ngircd_server.is_usable,
            has_edits=False,
            keeps=False,
        ),
        ChatNetwork(
            "matrix", MatrixServer, lambda server, peer: peer.group, lambda: get_environment.usable("synapse"), sign="/"
        ),
        ChatNetwork("telegram", TelegramServer, lambda server, peer: str(server.forum.id), is_fake=True, sign="/"),
        ChatNetwork("discord", DiscordServer, lambda server, peer: str(server.house.id), is_fake=True),
        ChatNetwork("slack", SlackServer, lambda server, peer: server.house.id, is_fake=True),
    )
}
