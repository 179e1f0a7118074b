"""Whose certificate is believed: the companion's own and no other, that of an authority that a person named."""

import ssl
from pathlib import Path

import pytest
import trustme

from engram_host.companion.auth.exposure import trust_authority, trust_certificate
from engram_host.companion.errors import SettingError
from one_case import in_one_case


def _shakes_hands(client: ssl.SSLContext, shown: trustme.LeafCert, name: str = "companion.example") -> bool:
    """Whether a client believes somebody who shows a certificate."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    shown.configure_cert(server)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = [
        client.wrap_bio(to_client, to_server, server_hostname=name),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    for _ in range(10):
        for side in list(sides):
            try:
                side.do_handshake()
                sides.remove(side)
            except ssl.SSLWantReadError:
                pass
            except ssl.SSLCertVerificationError:
                return False
    return not sides


@pytest.fixture
def authority() -> trustme.CA:
    """One that signs by another one in between, as public ones do."""
    return trustme.CA().create_child_ca()


def _file(folder: Path, *parts: trustme.Blob) -> Path:
    path = folder / "chain.pem"
    path.write_bytes(b"".join(part.bytes() for part in parts))
    return path


def test_the_companions_own_certificate_is_believed_under_any_name(tmp_path: Path, authority: trustme.CA):
    own = authority.issue_cert("companion.example")
    for path in (_file(tmp_path, own.private_key_and_cert_chain_pem), _file(tmp_path, *own.cert_chain_pems)):
        assert _shakes_hands(trust_certificate("http.certificate", path), own, name="127.0.0.1")


def test_another_certificate_of_the_same_authority_is_not_believed(tmp_path: Path, authority: trustme.CA):
    own = authority.issue_cert("companion.example")
    client = trust_certificate("http.certificate", _file(tmp_path, *own.cert_chain_pems, authority.cert_pem))
    assert not _shakes_hands(client, authority.issue_cert("evil.example"))
    assert not _shakes_hands(client, authority.issue_cert("companion.example"))


@in_one_case("content", [b"", b"no certificate", b"\xff", b"-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----"])
def test_a_file_without_a_certificate_is_reported(tmp_path: Path, content: bytes):
    path = tmp_path / "chain.pem"
    path.write_bytes(content)
    with pytest.raises(SettingError, match=r"http\.certificate.*chain\.pem"):
        trust_certificate("http.certificate", path)
    with pytest.raises(SettingError, match=r"mqtt\.authority.*chain\.pem"):
        trust_authority("mqtt.authority", path)


def test_an_authority_is_believed_for_the_names_that_it_signed(tmp_path: Path):
    authority = trustme.CA()
    client = trust_authority("mqtt.authority", _file(tmp_path, authority.cert_pem))
    assert _shakes_hands(client, authority.issue_cert("companion.example"))
    assert not _shakes_hands(client, authority.issue_cert("other.example"))
    assert not _shakes_hands(client, trustme.CA().issue_cert("companion.example"))
