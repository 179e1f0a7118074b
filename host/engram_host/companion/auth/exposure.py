"""Where the companion listens, whether tokens are asked for there, and TLS."""

import ipaddress
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from engram_host.companion.errors import SettingError
from engram_host.companion.settings import HttpSettings, MqttSettings, SecuritySettings


@dataclass(frozen=True)
class Listener:
    """One place to listen: the settings' table, the host, and whether it has TLS."""

    table: str
    host: str
    is_secure: bool

    @property
    def is_wide(self) -> bool:
        """Whether others than this computer reach it."""
        return not is_loopback(self.host)


def listeners(http: HttpSettings, mqtt: MqttSettings) -> list[Listener]:
    """Where a companion with these settings listens."""
    found = [Listener("http", http.host, bool(http.certificate))]
    if mqtt.on and not mqtt.url:
        found.append(Listener("mqtt", mqtt.host, bool(mqtt.certificate)))
    return found


def tokens_required(security: SecuritySettings, places: Iterable[Listener]) -> bool:
    """Whether tokens are asked for: with `auto`, where others than this computer reach any of the places."""
    return security.tokens == "on" or any(place.is_wide for place in places)


def check_exposure(security: SecuritySettings, places: Iterable[Listener], *, has_devices: bool) -> None:
    """Refuse to listen where others reach it without what protects it; SettingError."""
    for place in places:
        if place.is_wide and not has_devices:
            raise SettingError(
                f"{place.table}.host",
                f"{place.host} is reached from other computers, and no board has a token yet: make one with "
                "`engram device add NAME`, or listen at 127.0.0.1.",
            )
        if place.is_wide and not place.is_secure and security.tokens != "on":
            raise SettingError(
                f"{place.table}.host",
                f"{place.host} is reached from other computers, where tokens and memories would be sent in the clear: give "
                f'{place.table}.certificate and {place.table}.key, or set security.tokens = "on" if the network is your own.',
            )


def is_loopback(host: str) -> bool:
    """Whether only this computer reaches a host's address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False  # a name: whoever it leads to


def listener_tls(table: str, certificate: str, key: str, home: Path) -> ssl.SSLContext | None:
    """TLS for a listener with a certificate and its key (PEM files, relative to `home`), None without; SettingError."""
    if not certificate and not key:
        return None
    if not (certificate and key):
        raise SettingError(f"{table}.certificate", f"needs {table}.key, and the other way round.")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    files = [home / Path(name).expanduser() for name in (certificate, key)]
    try:
        # An empty password: a key that is locked is an error, and asks nobody at a terminal.
        context.load_cert_chain(files[0], files[1], password="")
    except (OSError, ssl.SSLError) as error:
        raise SettingError(
            f"{table}.certificate",
            f"{files[0]} and {files[1]} are not a certificate and its key: {error.strerror or error}.",
        ) from None
    return context
