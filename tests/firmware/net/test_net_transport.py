"""Links: base URLs, root certificates and what is told when one does not pass. Connections: test_net_http.py."""

from engram.errors import ArgumentError
from engram.net.transport import _certificates, _refusal, split_url, tls_context
from support import raises

_BAD = (
    "", "example.org", "ftp://example.org", "http://", "http://example.org:", "http://example.org:0",
    "http://example.org:65536", "http://example.org:80:80", "http://example.org/a b", "http://example.org\r\nX: y",
    "http://example.org/\x00", "http://example.org\\v1", "http://exämple.org", "http://user:secret@example.org/v1",
    "http://example.org/v1?key=secret", "http://example.org#x", "http://[::1]:80", "http://[example.org]",
    "http://" + "a" * 400,
)  # fmt: skip


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


def test_a_clock_that_is_not_set_is_the_reported_reason():
    for reason in ("The certificate validity starts in the future", "expired", "not trusted"):
        assert "clock is not set" in str(_refusal("example.org", reason, 2000))


def test_a_date_that_does_not_fit_lets_the_clock_be_checked():
    assert str(_refusal("example.org", "The certificate validity\nhas expired\n", 2026)) == (
        "the certificate of example.org was refused (The certificate validity has expired); is the clock right?"
    )


def test_a_prefix_loses_the_slashes_at_its_end():
    assert split_url("https://example.org/api/v1//") == (True, "example.org", 443, "/api/v1")
    assert split_url("https://example.org/") == (True, "example.org", 443, "")


def test_nonsense_is_refused():
    for url in _BAD:
        with raises(ArgumentError) as caught:
            split_url(url)
        assert caught.error.argument == "url", url


def test_a_password_does_not_appear_in_the_error():
    for url in ("http://user:secret@example.org/v1", "http://example.org/v1?key=secret", "secret"):
        with raises(ArgumentError) as caught:
            split_url(url)
        assert "secret" not in str(caught.error)
