"""Lines that a companion streams, such as an export, arrive whole, whatever is in them and however they are cut."""

from hypothesis import given
from hypothesis import strategies as st

from engram_host.cli.api_client import lines_of

LINES = st.lists(st.text('a"猫 \x0b\x0c\x1c\x85\u2028\u2029', min_size=1, max_size=8), max_size=5)


@given(LINES, st.integers(1, 7))
def test_a_line_ends_at_a_newline_only(lines: list[str], size: int):
    data = "".join(line + "\n" for line in lines).encode()
    assert list(lines_of(data[at : at + size] for at in range(0, len(data), size))) == lines
