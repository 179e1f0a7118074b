"""Messages name a command as the person called it: make's target and variables, or `engram board` and its options."""

import ast
from pathlib import Path

import pytest

from engram_host import firmware
from engram_host.boards import errors

HOST = Path(firmware.__file__).parent


def test_under_make_a_message_names_its_target_and_variable(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(errors.VARIABLE, "1")
    names = (errors.command_name("backup"), errors.option_name("PORT"), errors.option_name("ERASE_MEMORY"))
    assert names == ("`make backup`", "PORT=...", "ERASE_MEMORY=1")


def test_else_a_message_names_the_command_and_its_option(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(errors.VARIABLE, raising=False)
    names = (errors.command_name("backup"), errors.option_name("PORT"), errors.option_name("ERASE_MEMORY"))
    assert names == ("`engram board backup`", "--port", "--erase-memory")
    assert errors.option_name("BOARD", "ESP32_GENERIC_SPIRAM") == "--board ESP32_GENERIC_SPIRAM"


def _texts(path: Path) -> list[str]:
    """The texts in a module, without its docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    constants = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in documents]
    return [node.value for node in constants if isinstance(node.value, str)]


OF_MAKE = ("`make backup", "`make restore", "`make flash", "`make deploy", "`make monitor", "`make setup", "PORT=...")


def test_no_message_names_a_command_of_make_by_itself():
    texts = [(path.name, text) for path in HOST.rglob("*.py") for text in _texts(path)]
    assert [(name, words) for name, text in texts for words in OF_MAKE if words in text] == []
