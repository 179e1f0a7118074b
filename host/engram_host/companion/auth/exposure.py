"""Listen addresses, the need for tokens there, and TLS, also for connections to other services."""

import ipaddress
import re
import ssl
from pathlib import Path

from engram_host.companion.errors import SettingError
from engram_host.companion.settings import HttpSettings, SecuritySettings

_CERTIFICATE = re.compile("-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)


def tokens_required(security: SecuritySettings, host: str) -> bool:
    """True if tokens are required: with `auto`, if other computers reach the host."""
    return security.tokens == "on" or not is_loopback(host)


def check_exposure(security: SecuritySettings, http: HttpSettings, *, has_devices: bool) -> None:
    """Refuse to listen publicly without protection. Raise SettingError."""
    if is_loopback(http.host):
        return
    if not has_devices:
        raise SettingError(
            "http.host",
            f"{http.host} is reached from other computers, and no board has a token yet: make one with "
            "`engram device add NAME`, or listen at 127.0.0.1.",
        )
    if not http.certificate and security.tokens != "on":
        raise SettingError(
            "http.host",
            f"{http.host} is reached from other computers, where tokens and memories would be sent in the clear: give "
            'http.certificate and http.key, or set security.tokens = "on" if the network is your own.',
        )


def is_loopback(host: str) -> bool:
    """True if only this computer reaches a host's address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False  # a name may lead anywhere


def http_tls(http: HttpSettings, home: Path) -> ssl.SSLContext | None:
    """Return TLS with a certificate relative to `home`, or None. Raise SettingError."""
    if not http.certificate and not http.key:
        return None
    if not (http.certificate and http.key):
        raise SettingError("http.certificate", "needs http.key, and the other way round.")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    files = [home / Path(name).expanduser() for name in (http.certificate, http.key)]
    try:
        # An empty password makes a locked key an error instead of a prompt.
        context.load_cert_chain(files[0], files[1], password="")
    except (OSError, ssl.SSLError) as error:
        raise SettingError(
            "http.certificate",
            f"{files[0]} and {files[1]} are not a certificate and its key: {error.strerror or error}.",
        ) from None
    return context


def trust_certificate(name: str, certificate: Path) -> ssl.SSLContext:
    """Return TLS that trusts only a file's first certificate. Raise SettingError of `name`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # Only this companion has the key, so host names need not match.
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        found = _CERTIFICATE.search(certificate.read_text(encoding="latin-1"))
        context.load_verify_locations(cadata=found[0] if found else "")
    except (OSError, ValueError) as error:
        raise SettingError(name, f"{certificate} has no certificate: {_why(error)}.") from None
    return context


def trust_authority(name: str, authority: Path) -> ssl.SSLContext:
    """Return TLS that trusts only the authorities of a PEM file. Raise SettingError of `name`."""
    try:
        return ssl.create_default_context(cafile=str(authority))
    except OSError as error:
        raise SettingError(name, f"{authority} has no certificate of an authority: {_why(error)}.") from None


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
