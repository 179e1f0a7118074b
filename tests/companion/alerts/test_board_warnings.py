"""Warnings of a board by what it told: each has its cause, and none comes without."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engram_host.companion.alerts.board_warnings import board_warnings
from engram_host.companion.store.boards.status import BoardStatus
from one_case import in_one_case

WELL = BoardStatus(
    run=1, firmware="0.2.0", flash=89, flash_size=100, model="m", telegram="on", reset="power", heap=1, heap_size=2
)


def found(flash_percent: int = 90, **changed: Any) -> Sequence[str]:
    return board_warnings(replace(WELL, **changed), flash_percent, newest="0.2.0")


def test_a_board_that_is_well_has_no_warning():
    assert found() == []


@in_one_case(
    "changed, begins, advice",
    [
        ({"flash": 90}, "Its flash is 90 % full", "/compact"),
        ({"model": ""}, "It has no model", "engram board setup"),
        ({"model_problem": "the key is refused"}, "Its model gave no answer", "the key is refused."),
        (
            {"telegram": "stopped", "telegram_problem": "no such bot."},
            "Telegram is stopped",
            "no such bot. Then restart",
        ),
        ({"telegram": "away", "telegram_problem": "no network"}, "Telegram is not reached", "no network."),
        ({"reset": "watchdog"}, "Its watchdog restarted it", "/stats"),
        ({"firmware": "0.1.9"}, "Its firmware is 0.1.9, and 0.2.0 is here", "engram board deploy"),
        ({"firmware": ""}, "Its firmware is unknown", "engram board deploy"),
    ],
)
def test_what_is_wrong_is_one_sentence_that_says_what_to_do(changed: dict[str, Any], begins: str, advice: str):
    (warning,) = found(**changed)
    assert warning.startswith(begins) and advice in warning


def test_a_newer_firmware_than_this_computers_is_no_warning():
    assert found(firmware="0.10.0") == []


def test_without_a_bound_no_flash_is_too_full():
    assert found(flash=100, flash_percent=0) == []


def test_a_board_that_does_not_tell_its_flash_has_no_warning_of_it():
    assert found(flash=0, flash_size=0) == []
