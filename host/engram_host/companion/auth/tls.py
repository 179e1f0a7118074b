"""Whose certificates are believed, where the companion or the command connects to somebody else."""

import re
import ssl
from pathlib import Path

from engram_host.companion.errors import SettingError

_CERTIFICATE = re.compile("-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)


def trust_certificate(name: str, certificate: Path) -> ssl.SSLContext:
    """TLS to a listener of the companion with this certificate, which is believed, and no other; SettingError of `name`.

    It is the first one of its file. Those behind it are of the authorities that signed it, and have signed others.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # Nobody else has the certificate's key, so its names need not be the host's names here.
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        found = _CERTIFICATE.search(certificate.read_text(encoding="latin-1"))
        context.load_verify_locations(cadata=found[0] if found else "")
    except (OSError, ValueError) as error:
        raise SettingError(name, f"{certificate} has no certificate: {_why(error)}.") from None
    return context


def trust_authority(name: str, authority: Path) -> ssl.SSLContext:
    """TLS to whoever shows a certificate for its name that one of the authorities in a PEM file signed, and to nobody else;
    SettingError of `name`.
    """
    try:
        return ssl.create_default_context(cafile=str(authority))
    except OSError as error:
        raise SettingError(name, f"{authority} has no certificate of an authority: {_why(error)}.") from None


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
