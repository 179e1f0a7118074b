"""The link: root certificates and what is told when one does not pass. Connections: test_llm_http.py."""

from engram.errors import ArgumentError
from engram.llm.http.transport import _certificates, _why_refused, tls_context
from support import raises


def _der(size):
    return b"\x30\x82" + bytes((size >> 8, size & 255)) + b"x" * size


def test_roots_that_are_no_certificates_are_refused():
    for roots in (b"", b"hello", b"\x30\x82\x01", _der(5), _der(300)[:100], _der(5) + b"x"):
        with raises(ArgumentError) as caught:
            tls_context(roots)
        assert caught.error.argument == "roots", roots


def test_der_certificates_are_taken_apart():
    parts = [_der(5), _der(300), _der(256)]
    assert list(_certificates(b"".join(parts))) == parts


def test_pem_text_is_taken_as_it_is():
    assert list(_certificates(b"-----BEGIN CERTIFICATE-----\n")) == [b"-----BEGIN CERTIFICATE-----\n"]


def test_a_clock_that_is_not_set_is_the_reported_reason():
    for reason in ("The certificate validity starts in the future", "expired", "not trusted"):
        assert "clock is not set" in _why_refused("example.org", reason, 2000)


def test_a_date_that_does_not_fit_lets_the_clock_be_checked():
    assert _why_refused("example.org", "The certificate validity\nhas expired\n", 2026) == (
        "the certificate of example.org was refused (The certificate validity has expired); is the clock right?"
    )


def test_another_reason_lets_url_and_roots_be_checked():
    assert "root certificates" in _why_refused("example.org", "wrong name", 2026)
