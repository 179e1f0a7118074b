"""The supported networks: their settings, and the module of each.

A network's library is imported once a bridge of it is made.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import cast

from engram_host.companion.bridges.errors import BridgeUnavailable
from engram_host.companion.bridges.network import Network
from engram_host.extras import missing_package


@dataclass(frozen=True)
class BridgeField:
    """A setting of a bridge."""

    name: str
    question: str
    default: str = ""  # "": must be given, unless optional
    is_secret: bool = False  # never in companion.toml
    is_optional: bool = False


@dataclass(frozen=True)
class NetworkKind:
    """A network: its title, settings and module; `hint` says where to get its credentials."""

    name: str
    title: str
    fields: tuple[BridgeField, ...]
    hint: str = ""


KINDS: dict[str, NetworkKind] = {
    kind.name: kind
    for kind in (
        NetworkKind(
            "xmpp",
            "XMPP",
            (
                BridgeField("address", "address of the board's account, such as kitchen@example.org"),
                BridgeField("password", "its password", is_secret=True),
                BridgeField("server", "host:port of the server, if not the one that DNS tells", is_optional=True),
                BridgeField("rooms", "addresses of rooms to join, with spaces between", is_optional=True),
                BridgeField("nickname", "nickname in rooms", "engram"),
                BridgeField(
                    "authority", "file with the server's certificate authority, if it is your own", is_optional=True
                ),
            ),
            "Any XMPP server gives accounts; take one that nobody else uses.",
        ),
        NetworkKind(
            "irc",
            "IRC",
            (
                BridgeField("server", "host:port of the server, such as irc.libera.chat:6697"),
                BridgeField("nickname", "nickname", "engram"),
                BridgeField("channels", "channels to join, with spaces between", is_optional=True),
                BridgeField("tls", "TLS: on or off", "on"),
                BridgeField("account", "account for SASL, if it has another name than the nickname", is_optional=True),
                BridgeField("password", "password for SASL; empty: no account", is_secret=True, is_optional=True),
                BridgeField(
                    "pause", "seconds between lines after the first five; 0 on a server without flood control", "2"
                ),
                BridgeField(
                    "authority", "file with the server's certificate authority, if it is your own", is_optional=True
                ),
            ),
        ),
        NetworkKind(
            "matrix",
            "Matrix",
            (
                BridgeField("server", "address of the homeserver, such as https://matrix.example.org"),
                BridgeField("account", "the account, such as @kitchen:example.org"),
                BridgeField(
                    "password",
                    "its password; an access token goes into the next field",
                    is_secret=True,
                    is_optional=True,
                ),
                BridgeField("token", "an access token in place of the password", is_secret=True, is_optional=True),
            ),
        ),
        NetworkKind(
            "telegram",
            "Telegram",
            (
                BridgeField("token", "the bot's token, from @BotFather", is_secret=True),
                BridgeField("url", "address of the Bot API", "https://api.telegram.org"),
            ),
            "Write /newbot to @BotFather in Telegram.",
        ),
        NetworkKind(
            "discord",
            "Discord",
            (
                BridgeField("token", "the bot's token", is_secret=True),
                BridgeField("url", "address of the API", "https://discord.com/api"),
            ),
            "Make an application with a bot in Discord's developer portal, and switch on its message content intent.",
        ),
        NetworkKind(
            "slack",
            "Slack",
            (
                BridgeField("token", "the bot's token (xoxb-...)", is_secret=True),
                BridgeField("app_token", "the app's token for Socket Mode (xapp-...)", is_secret=True),
                BridgeField("url", "address of the Web API", "https://slack.com/api/"),
            ),
            "Make an app with Socket Mode in Slack's app settings.",
        ),
    )
}


def make_network(kind: str, values: Mapping[str, str]) -> Network:
    """Create a network's connection from all its fields, or raise BridgeUnavailable."""
    return cast(Callable[[Mapping[str, str]], Network], load_network(kind).connect)(values)


def load_network(kind: str) -> ModuleType:
    """Import a network's module and library, which takes seconds; may raise BridgeUnavailable."""
    try:
        return importlib.import_module(f"engram_host.companion.bridges.{KINDS[kind].name}.bridge")
    except ModuleNotFoundError as error:
        raise BridgeUnavailable(missing_package(error.name)) from None
