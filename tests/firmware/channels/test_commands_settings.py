"""/setting: lists what is set, sets something as config.json would have it, and shows no secret."""

import json

from board import ANN, Board, commands_of, error_of, lines_of
from engram import files
from engram.config import Config
from engram.memory.access import OWNER, Caller


def _board(**settings):
    board = Board().with_tools(**settings)
    commands_of(board)
    return board


def _stored(board, file="config.json"):
    return json.loads(files.read(board.place + "/" + file, 8192) or b"{}")


def test_what_is_set_is_listed_with_its_values():
    board = _board(llm_retries=5, log_level="debug")
    assert lines_of(board, "/setting")[:-1] == ["llm.retries 5", 'log.level "debug"']
    assert lines_of(board, "/setting llm")[0] == "llm.retries 5"
    assert lines_of(_board(), "/setting") == ["0 of all settings are set, the others have their defaults"]


def test_a_setting_is_written_to_the_settings_of_the_board():
    board = _board()
    files.write(board.place + "/config.json", '{"llm":{"model":"a"}}')
    for line in ("llm.retries 5", "extract.on false", "log.level debug", 'llm.url ""', "senses.tell two words"):
        assert "is set" in lines_of(board, "/setting " + line)[0], line
    stored = _stored(board)
    assert stored["llm"] == {"model": "a", "retries": 5, "url": ""}
    assert stored["extract"]["on"] is False and stored["senses"]["tell"] == "two words"
    assert Config(board.place).get("log.level") == "debug"


def test_a_value_that_would_stop_the_start_is_refused_and_changes_nothing():
    board = _board()
    for line in ("llm.retries many", "llm.retries 99", "extract.on yes", "log.level loud", "urll x", "timezone noon"):
        assert error_of(board, "/setting " + line), line
    assert _stored(board) == {}


def test_a_secret_is_written_and_never_shown():
    board = _board()
    answer = (
        lines_of(board, "/setting llm.key sk-42") + lines_of(board, "/setting") + lines_of(board, "/setting llm.key")
    )
    assert "llm.key is set" in answer and not [line for line in answer if "sk-42" in line]
    lines_of(board, '/setting wifi [{"ssid":"Home","password":"12345678"}]')
    assert _stored(board, "secrets.json") == {
        "llm": {"key": "sk-42"},
        "wifi": [{"ssid": "Home", "password": "12345678"}],
    }
    assert _stored(board) == {}
    for line in ("llm.key two words", 'wifi [{"ssid":""}]', "wifi none"):
        problem = error_of(board, "/setting " + line)
        assert problem and "two words" not in problem


def test_who_may_speak_over_the_link_is_set_on_the_console_only():
    board = _board()
    assert "on the console only" in error_of(
        board, "/setting companion.chat owner", Caller("owner", "net 1", False, "")
    )
    lines_of(board, "/setting companion.chat owner")
    assert board.config.get("companion.chat") == "owner"


def test_only_the_owner_sees_and_changes_settings():
    board = _board()
    for caller in (ANN, Caller(OWNER.principal, "tg:-1", True, "")):
        for line in ("/setting", "/setting llm.retries 5"):
            assert "only the owner" in error_of(board, line, caller)
