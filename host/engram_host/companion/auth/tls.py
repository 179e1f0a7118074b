"""TLS trust for connections to other services."""

import re
import ssl
from pathlib import Path

from engram_host.companion.errors import SettingError

_CERTIFICATE = re.compile("-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)


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
