"""Small files are whole or unchanged."""

import os

from engram import files
from engram.errors import StoreError
from support import folder, raises


def test_what_was_written_is_read():
    path = folder() + "/a.txt"
    files.write(path, "héllo 你好")
    assert files.read(path, 100) == "héllo 你好".encode()


def test_a_file_over_its_limit_is_refused():
    path = folder() + "/a"
    files.write(path, "12345")
    with raises(StoreError) as caught:
        files.read(path, 4)
    assert "longer than 4 bytes" in str(caught.error)


def test_a_write_leaves_no_draft_behind():
    place = folder()
    files.write(place + "/a", "1")
    files.write(place + "/a", "2")
    assert os.listdir(place) == ["a"]


def test_a_draft_left_by_a_power_cut_is_written_over():
    path = folder() + "/a"
    with open(path + ".new", "w") as file:
        file.write("half of someth")
    files.write(path, "whole")
    assert files.read(path, 100) == b"whole"


def test_a_jump_into_the_end_of_the_next_block_reads_what_stands_there():
    path = folder() + "/numbers"
    with open(path, "wb") as file:
        for number in range(2600):
            file.write(b"%07d\n" % number)
    ends = (4096, 8188, 12276, 16368)  # of littlefs's blocks of data: each begins with links to those before
    with open(path, "rb") as file:
        for end, following in zip(ends, ends[1:]):
            for back in range(8, 400, 8):
                files.seek(file, end - 16)
                file.read(16)
                files.seek(file, (following - back) // 8 * 8)
                assert int(file.read(8)) == (following - back) // 8
