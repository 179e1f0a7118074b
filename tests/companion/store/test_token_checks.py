"""Rows of tokens and of the audit log that a database gives back damaged: refused, or shown as such, and told."""

from engram_host.companion.auth import tokens
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.tokens import DAMAGED
from engram_host.companion.types import AuditEntry, OperatorToken


def harm(store: CompanionStore, sql: str) -> None:
    """Change a row behind the store's back, as a failing disk does."""
    store.database.write(lambda rows: rows.run(sql))


def test_what_is_whole_is_taken_and_nothing_is_said(store: CompanionStore):
    store.add_token(tokens.stored_token("hall", "first"))
    store.replace_token(tokens.stored_token("hall", "second"), former_ends=100)
    store.add_operator_token(OperatorToken("ops", b"o" * 32, True, 1, 0))
    store.add_audit(AuditEntry(1, "ops", "GET /v1/devices", "allowed", "127.0.0.1"))
    assert [store.device_of(tokens.stored_token("hall", each).digest, 50) for each in ("first", "second")] == [
        "hall"
    ] * 2
    assert store.operator_of(b"o" * 32, 1) == OperatorToken("ops", b"o" * 32, True, 1, 0)
    assert [entry.outcome for entry in store.audit(9)] == ["allowed"]
    assert store.damaged_rows() == []


def test_an_operators_token_of_which_a_bit_was_flipped_gives_no_more_than_before(store: CompanionStore):
    store.add_operator_token(OperatorToken("ops", b"o" * 32, True, 1, 0))
    harm(store, "UPDATE operator_tokens SET is_read_only = 0")
    assert store.operator_of(b"o" * 32, 1) is None
    (said,) = store.damaged_rows()
    assert said.startswith("1 operator's token in the database is damaged: it is refused")


def test_a_boards_token_is_not_taken_for_that_of_another_board(store: CompanionStore):
    token = tokens.stored_token("hall", "first")
    store.add_token(token)
    harm(store, "UPDATE device_tokens SET device = 'attic'")
    assert store.device_of(token.digest) == ""
    (said,) = store.damaged_rows()
    assert said.startswith("1 board's token in the database is damaged") and "engram device rotate" in said


def test_a_former_token_does_not_last_longer_than_it_was_given(store: CompanionStore):
    store.add_token(tokens.stored_token("hall", "first"))
    store.replace_token(tokens.stored_token("hall", "second"), former_ends=100)
    harm(store, "UPDATE former_tokens SET ends = 2000000000")
    assert store.device_of(tokens.stored_token("hall", "first").digest, 50) == ""
    assert store.device_of(tokens.stored_token("hall", "second").digest, 50) == "hall"


def test_an_entry_of_the_audit_log_that_was_changed_is_shown_as_damaged(store: CompanionStore):
    store.add_audit(AuditEntry(1, "ops", "DELETE /v1/devices/hall", "refused", ""))
    store.add_audit(AuditEntry(2, "ops", "GET /v1/devices", "allowed", ""))
    harm(store, "UPDATE audit SET outcome = 'allowed' WHERE at = 1")
    assert [entry.outcome for entry in store.audit(9)] == ["allowed", DAMAGED]
    (said,) = store.damaged_rows()
    assert said.startswith("1 entry of the audit log in the database is damaged")


def test_a_look_tells_what_the_last_check_found(store: CompanionStore):
    store.add_audit(AuditEntry(1, "ops", "GET /v1/devices", "allowed", ""))
    harm(store, "UPDATE audit SET who = 'ann'")
    store.check()
    assert any("entry of the audit log" in said for said in store.probe())
