"""`tools/benchmarks/compare_facts.py` as it is typed: a verdict for each line, from the firmware's code under MicroPython."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import compare_facts
import get_micropython

TOOL = Path(compare_facts.__file__)
PAIRS = [
    {"old": "User likes apples", "new": "I like apples.", "expected": "same"},
    {"old": "用户喜欢苹果", "new": "用户不再喜欢苹果", "expected": "changed"},
    {"old": "The alarm is at 7:00 🎉", "new": "The alarm is at 7 am 🎉", "expected": "same"},
    {"old": "The lamp is on", "new": "The lamp is off", "expected": "different"},
]
VERDICTS = ["same", "changed", "similar", "changed"]

needs_micropython = pytest.mark.skipif(
    not any(get_micropython.usable(get_micropython.HOME / str(bits), bits) for bits in (32, 64)),
    reason="there is no MicroPython",
)


def _lines(pairs: list) -> str:
    return "".join(json.dumps(pair) + "\n" for pair in pairs)


def _run(given: str, *arguments: object) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, TOOL, *map(str, arguments)], input=given, capture_output=True, text=True, encoding="utf-8"
    )


@needs_micropython
def test_each_line_has_a_verdict_in_order():
    done = _run(_lines(PAIRS))
    assert [json.loads(line) for line in done.stdout.splitlines()] == [{"verdict": verdict} for verdict in VERDICTS]
    assert (done.returncode, done.stderr) == (0, "")


@needs_micropython
def test_lines_can_come_from_files(tmp_path):
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    first.write_text(_lines(PAIRS[:1]), encoding="utf-8")
    second.write_text(_lines(PAIRS[1:2]), encoding="utf-8")
    assert _run("", first, second).stdout == '{"verdict": "same"}\n{"verdict": "changed"}\n'


@needs_micropython
def test_a_bad_line_has_an_error_and_the_others_a_verdict():
    good = _lines(PAIRS[:1])
    done = _run(good + "{\n" + good + '{"old": "a"}\n')
    first, second, third, fourth = [json.loads(line) for line in done.stdout.splitlines()]
    assert first == third == {"verdict": "same"}
    assert second["error"].startswith("line 2: is no JSON")
    assert fourth == {"error": "line 4: new: is missing."}
    assert done.returncode == 1


@needs_micropython
def test_a_table_shows_what_was_expected_and_what_was_not():
    done = _run(_lines(PAIRS), "--table")
    assert len(done.stdout.splitlines()) == len(PAIRS)
    head, *rows, summary, wrong = done.stderr.splitlines()
    assert [head.split()[1:]] + [row.split() for row in rows] == [
        ["same", "changed", "similar", "different"],
        ["same", "1", "0", "1", "0"],
        ["changed", "0", "1", "0", "0"],
        ["different", "0", "1", "0", "0"],
    ]
    assert summary == "wrongly same 0, wrongly changed 1, changes found 1 of 1, 100.0 %"
    assert wrong == "changed, not different: 'The lamp is on', 'The lamp is off'"


def test_a_file_that_is_not_there_is_reported_in_one_line(tmp_path):
    done = _run("", tmp_path / "none")
    assert done.returncode == 1
    assert done.stderr.startswith("compare_facts: ") and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("[1]", "is no JSON object"),
        ('{"old": 1, "new": "a"}', "old: must be a text."),
        ('{"old": "a", "new": null}', "new: must be a text."),
        ('{"old": "a", "new": "\\ud800"}', "new: is no valid Unicode."),
        ('{"old": "a", "new": "b", "expected": "equal"}', "expected: must be one of same, changed, different."),
    ],
)
def test_a_bad_line_says_what_would_be_right(line, problem):
    with pytest.raises(compare_facts.BadLine, match=problem):
        compare_facts.read(line)


@given(st.text(), st.text())
def test_any_two_texts_make_a_pair(old, new):
    pair = compare_facts.read(json.dumps({"old": old, "new": new}))
    assert (pair.old, pair.new, pair.expected) == (old, new, None)


def test_empty_lines_are_skipped_and_bad_bytes_reported():
    pairs = compare_facts.read_all([b"", b'{"old": "a", "new": "b"}', b"  ", b"\xff"])
    assert [(pair.old, pair.error) for pair in pairs] == [("a", ""), ("", "line 4: is no valid UTF-8.")]
