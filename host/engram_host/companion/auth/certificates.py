"""A private certificate authority and a companion's certificate, for TLS in a private network.

The authority is made once. Boards trust it by their roots.pem, so a new certificate needs no
change on a board.
"""

import datetime
import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from engram_host.companion.auth.tokens import write_private
from engram_host.companion.errors import SettingError
from engram_host.root_certificates import root_bundle

LOCAL = ("localhost", "127.0.0.1", "::1")

AUTHORITY_DAYS = 3650
CERTIFICATE_DAYS = 730
"""Short-lived, unlike the authority, whose replacement needs a visit to every board."""

_EARLIER = datetime.timedelta(days=1)

_MOST_NAMES = 50

_HOST = re.compile(
    r"(?=.{1,253}$)(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*"
)


@dataclass(frozen=True)
class TlsFiles:
    folder: Path

    @property
    def authority(self) -> Path:
        return self.folder / "authority.pem"

    @property
    def authority_key(self) -> Path:
        return self.folder / "authority.key"

    @property
    def certificate(self) -> Path:
        return self.folder / "companion.pem"

    @property
    def key(self) -> Path:
        return self.folder / "companion.key"

    @property
    def roots(self) -> Path:
        return self.folder / "roots.pem"


@dataclass(frozen=True)
class Issued:
    """Names of a new certificate, its end in Unix seconds, and True if the authority is new."""

    names: list[str]
    ends: int
    is_new_authority: bool


def issue_certificate(files: TlsFiles, names: Sequence[str]) -> Issued:
    """Issue a certificate for names, or the former names by default. Raise SettingError."""
    try:
        files.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_new = not files.authority.exists()  # written last
        wanted = _checked_names(names) or (certificate_names(files.certificate) if files.certificate.exists() else [])
        if not wanted:
            raise SettingError("NAME", "name the hosts or addresses under which boards reach the companion.")
        wanted = list(dict.fromkeys([*wanted, *LOCAL]))
        authority, key = _new_authority(files) if is_new else _read_authority(files)
        made, own_key = _signed(wanted, authority, key)
        write_private(files.key, _pem_of_key(own_key))
        write_private(files.certificate, made.public_bytes(serialization.Encoding.PEM), 0o644)
        write_private(files.roots, _roots(authority), 0o644)
    except OSError as error:
        raise SettingError(str(error.filename or files.folder), f"cannot be used: {error.strerror}.") from None
    return Issued(wanted, int(made.not_valid_after_utc.timestamp()), is_new)


def certificate_end(path: Path) -> int:
    """Return the expiry of a PEM certificate in Unix seconds. Raise SettingError."""
    return int(_read_certificate(path).not_valid_after_utc.timestamp())


def certificate_names(path: Path) -> list[str]:
    """Return the hosts and addresses of a PEM certificate. Raise SettingError."""
    try:
        found = _read_certificate(path).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    return [str(each.value) for each in found]


def _checked_names(names: Sequence[str]) -> list[str]:
    if len(names) > _MOST_NAMES:
        raise SettingError("NAME", f"a certificate has at most {_MOST_NAMES} names.")
    found = []
    for name in names:
        try:
            found.append(str(ipaddress.ip_address(name)))
        except ValueError:
            if not _HOST.fullmatch(name.lower()):
                problem = "is neither a host name nor an address: leave out the scheme and the port."
                raise SettingError(repr(name[:100]), problem) from None
            found.append(name.lower())
    return found


def _new_authority(files: TlsFiles) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    key = ec.generate_private_key(ec.SECP256R1())
    # Boards compare authorities by name, so those of two companions must differ.
    number = x509.random_serial_number()
    name = _name(f"Engram authority {number % 16**8:08x}")
    builder = _builder(name, name, key.public_key(), AUTHORITY_DAYS).serial_number(number)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(_usage(signs_certificates=True), critical=True)
    made = builder.sign(key, hashes.SHA256())
    write_private(files.authority_key, _pem_of_key(key))
    write_private(files.authority, made.public_bytes(serialization.Encoding.PEM), 0o644)
    return made, key


def _read_authority(files: TlsFiles) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    made = _read_certificate(files.authority)
    try:
        key = serialization.load_pem_private_key(files.authority_key.read_bytes(), None)
    except FileNotFoundError:
        problem = (
            "is not there, and a certificate cannot be signed without it: put it back, or move the folder away and run"
        )
        raise SettingError(str(files.authority_key), f"{problem} `engram tls` again.") from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise SettingError(str(files.authority_key), "is not the key of an authority in PEM form.") from None
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.public_key() != made.public_key():
        raise SettingError(str(files.authority_key), f"is not the key of {files.authority.name}.")
    return made, key


def _signed(
    names: Sequence[str], authority: x509.Certificate, signer: ec.EllipticCurvePrivateKey
) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    key = ec.generate_private_key(ec.SECP256R1())
    builder = _builder(_name("Engram companion"), authority.subject, key.public_key(), CERTIFICATE_DAYS)
    builder = builder.serial_number(x509.random_serial_number())
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    builder = builder.add_extension(_usage(signs_certificates=False), critical=True)
    builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    builder = builder.add_extension(
        x509.SubjectAlternativeName([_general_name(name) for name in names]), critical=False
    )
    issuer = authority.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    builder = builder.add_extension(
        x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(issuer), critical=False
    )
    return builder.sign(signer, hashes.SHA256()), key


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, days: int
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key)
    builder = builder.not_valid_before(now - _EARLIER).not_valid_after(now + datetime.timedelta(days=days))
    return builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _roots(authority: x509.Certificate) -> bytes:
    own = authority.public_bytes(serialization.Encoding.PEM)
    return b"# the authority of the companion, made by `engram tls`\n" + own + root_bundle().encode("ascii")


def _pem_of_key(key: ec.EllipticCurvePrivateKey) -> bytes:
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


def _read_certificate(path: Path) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificate(path.read_bytes())
    except OSError as error:
        raise SettingError(str(path), f"cannot be read: {error.strerror}.") from None
    except ValueError:
        raise SettingError(str(path), "is not a certificate in PEM form.") from None
