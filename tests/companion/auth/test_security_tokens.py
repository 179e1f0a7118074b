"""Tokens: how they are kept, and whose they are."""

import os
import re
import stat
import time
from pathlib import Path

import pytest

from engram_host.companion.auth import tokens
from engram_host.companion.errors import SettingError
from engram_host.companion.store import CompanionStore
from one_case import in_one_case


def test_the_database_does_not_have_the_token(store: CompanionStore):
    token = tokens.new_token()
    store.tokens.add_token(tokens.stored_token("kitchen", token))
    assert all(token not in str(vars(kept)) and token.encode() not in kept.digest for kept in store.tokens.tokens())


def test_a_device_keeps_its_first_token_until_it_is_replaced(store: CompanionStore):
    first, second = tokens.new_token(), tokens.new_token()
    store.tokens.add_token(tokens.stored_token("kitchen", first))
    assert not store.tokens.add_token(tokens.stored_token("kitchen", second))
    assert store.tokens.device_of(tokens.token_digest(second)) == ""
    assert store.tokens.replace_token(tokens.stored_token("kitchen", second))
    assert [store.tokens.device_of(tokens.token_digest(each)) for each in (first, second)] == ["", "kitchen"]


def test_the_operators_token_is_made_once_for_its_owner_alone(tmp_path: Path):
    first = tokens.operator_token(tmp_path)
    assert tokens.operator_token(tmp_path) == first and tokens.LOOKS_LIKE_TOKEN.fullmatch(first)
    assert stat.S_IMODE((tmp_path / tokens.OPERATOR_FILE).stat().st_mode) == 0o600


@in_one_case("mode", [0o640, 0o604, 0o644, 0o660])
def test_a_secret_that_others_may_read_is_refused_unread(tmp_path: Path, mode: int):
    path = tmp_path / "secret"
    path.write_text("abc\n")
    path.chmod(mode)
    with pytest.raises(SettingError, match="chmod 600") as refused:
        tokens.read_secret(path)
    assert "abc" not in str(refused.value)


@in_one_case("content", [b"", b"\n", b"abc-two words", b"abc\nmore", b"abc\xff"])
def test_a_secret_that_is_not_one_word_is_refused_unshown(tmp_path: Path, content: bytes):
    path = tmp_path / "secret"
    path.touch(0o600)
    path.write_bytes(content)
    with pytest.raises(SettingError) as refused:
        tokens.read_secret(path)
    assert not re.search("abc", str(refused.value))


def test_drafts_that_a_kill_left_are_removed_and_files_of_others_stay(tmp_path: Path):
    fresh = ".new-" + 8 * "a0"
    for name, age in ((".new-" + 8 * "b1", 7200), (fresh, 0), (".new-recipes.txt", 7200)):
        draft = tmp_path / name
        draft.write_bytes(b"a secret")
        at = time.time() - age
        os.utime(draft, (at, at))
    tokens.write_private(tmp_path / "key", b"another")
    assert {path.name for path in tmp_path.iterdir()} == {fresh, ".new-recipes.txt", "key"}
