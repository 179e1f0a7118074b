"""Sessions of browsers and codes of links in the database: used once, bounded, and over in the end."""

import time

import pytest

from engram_host.companion.auth.sessions import CODE_SECONDS
from engram_host.companion.store import CompanionStore, tokens
from engram_host.companion.store.tokens import PageCode, PageSession


def test_a_session_ends_after_its_days(store: CompanionStore):
    now = int(time.time())
    store.sessions.add_session(PageSession(b"d" * 32, b"t" * 32, False, now, now, now + 10))
    assert store.sessions.page_session(b"d" * 32, now + 9) and store.sessions.page_session(b"d" * 32, now + 10) is None


def test_of_two_browsers_with_one_link_one_is_signed_in(store: CompanionStore):
    code = PageCode(b"c" * 32, b"t" * 32, True, int(time.time()) + 60)
    store.sessions.add_page_code(code, 0)
    now = int(time.time())
    assert [store.sessions.take_page_code(code.digest, now, is_local=True) for _ in range(2)] == [code, None]


def test_a_link_for_this_computer_opens_on_no_other_and_stays_for_this_one(store: CompanionStore):
    now = int(time.time())
    local, any_ = PageCode(b"l" * 32, b"t" * 32, True, now + 60), PageCode(b"a" * 32, b"t" * 32, False, now + 60)
    for code in (local, any_):
        store.sessions.add_page_code(code, now)
    assert store.sessions.take_page_code(local.digest, now, is_local=False) is None
    assert store.sessions.take_page_code(local.digest, now, is_local=True) == local
    assert store.sessions.take_page_code(any_.digest, now, is_local=False) == any_


def test_a_link_ends_after_ten_minutes(store: CompanionStore):
    now = int(time.time())
    code = PageCode(b"o" * 32, b"t" * 32, False, now + CODE_SECONDS)
    store.sessions.add_page_code(code, now)
    assert store.sessions.take_page_code(code.digest, now + CODE_SECONDS, is_local=True) is None
    assert store.sessions.take_page_code(code.digest, now + CODE_SECONDS - 1, is_local=True) == code


MOST = 10


def test_sessions_of_browsers_without_cookies_are_bounded(store: CompanionStore, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tokens, "MOST_SESSIONS", MOST)
    now = int(time.time())
    for number in range(MOST + 5):
        store.sessions.add_session(PageSession(number.to_bytes(32, "big"), b"", False, now, now + number, now + 86400))
    assert store.sessions.page_session((MOST + 4).to_bytes(32, "big"), now)
    assert store.sessions.page_session((0).to_bytes(32, "big"), now) is None


def test_codes_that_nobody_uses_are_bounded(store: CompanionStore, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tokens, "MOST_CODES", MOST)
    now = int(time.time())
    for number in range(MOST + 5):
        store.sessions.add_page_code(PageCode(number.to_bytes(32, "big"), b"t" * 32, False, now + 60 + number), now)
    assert store.sessions.take_page_code((0).to_bytes(32, "big"), now, is_local=True) is None
    assert store.sessions.take_page_code((MOST + 4).to_bytes(32, "big"), now, is_local=True)


def test_all_sessions_of_a_token_end_together_and_no_other(store: CompanionStore):
    now = int(time.time())
    for number, token in enumerate((b"a" * 32, b"a" * 32, b"b" * 32)):
        store.sessions.add_session(PageSession(number.to_bytes(32, "big"), token, False, now, now, now + 60))
    for digest, token in ((b"c" * 32, b"a" * 32), (b"d" * 32, b"b" * 32)):
        store.sessions.add_page_code(PageCode(digest, token, False, now + 60), now)
    assert store.sessions.end_sessions_of(b"a" * 32) == 2
    left = [store.sessions.take_page_code(digest, now, is_local=False) for digest in (b"c" * 32, b"d" * 32)]
    assert [each is not None for each in left] == [False, True]
    found = [store.sessions.page_session(number.to_bytes(32, "big"), now) for number in range(3)]
    assert [each is not None for each in found] == [False, False, True]
    store.sessions.mark_session_used((2).to_bytes(32, "big"), now + 9)
    last = store.sessions.page_session((2).to_bytes(32, "big"), now)
    assert last and last.used == now + 9
    assert store.sessions.end_session((2).to_bytes(32, "big")) and not store.sessions.end_session(
        (2).to_bytes(32, "big")
    )
