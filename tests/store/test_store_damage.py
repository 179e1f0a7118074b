"""A store with damaged files: nothing is raised, what was not touched stays, and what is lost is told."""

import pytest

from store_boards import run

AT_ONCE = 50
"""Mutations of one store, in one process."""

SOME = 6
"""Mutations of a store in `make test`."""


def _survives(path, bits: str, kind: str, first: int, last: int) -> None:
    where = [path / "flash.bin"] if bits == "32" else []
    told = run(bits, "damage_board", path, kind, first, last, *where, seconds=900)
    assert told.splitlines()[-1].startswith("checked ")


@pytest.mark.parametrize("kind", ["turns", "records"])
def test_some_random_mutations_leave_what_they_did_not_touch(kind, tmp_path):
    _survives(tmp_path, "64", kind, 0, SOME)


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["turns", "records"])
@pytest.mark.parametrize("first", range(0, 1000, AT_ONCE))
def test_random_mutations_leave_what_they_did_not_touch(kind, first, tmp_path):
    _survives(tmp_path, "64", kind, first, first + AT_ONCE)


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["turns", "records"])
def test_random_mutations_on_the_chips_file_system_leave_what_they_did_not_touch(kind, tmp_path):
    _survives(tmp_path, "32", kind, 2000, 2000 + AT_ONCE)
