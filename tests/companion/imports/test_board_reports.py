"""A board's reports of an import are read however they were damaged on their way: what is left has the right form."""

import json
import random

from engram_host.transfer.report import NOTHING_DONE, parse_reports, read_reports
from one_case import in_one_case

OUTCOME = {"counts": {"stored": 1}, "files": [], "unknown": ["colour"], "notes": ["a note"]}
REFUSAL = {"code": "tags", "why": "tags: too many."}
OTHERS = [None, 5, "text", [], {}, [5], {"stored": "many"}]


def test_an_outcome_or_a_refusal_is_read():
    for report, found in ((OUTCOME, (OUTCOME, [])), (REFUSAL, (NOTHING_DONE, [REFUSAL])), ({}, (None, []))):
        assert read_reports(parse_reports([json.dumps({"recalled": []}), json.dumps(report)])) == found


def test_a_report_of_counts_alone_is_read():
    outcome, _ = read_reports([{"counts": {"changed": 1}}])
    assert outcome == {"counts": {"changed": 1}, "files": [], "unknown": [], "notes": []}


@in_one_case("text", ["", "{broken", "[]", "5", '{"counts":', "null", "[" * 3000, "9" * 5000])
def test_what_is_no_report_is_left_out(text: str):
    assert parse_reports([text, json.dumps(OUTCOME)]) == [OUTCOME]


def test_numbers_beyond_all_bounds_are_no_report():
    texts = ['{"counts": {"changed": 1e999}}', json.dumps(OUTCOME)]
    assert read_reports(parse_reports(texts)) == (OUTCOME, [])


@in_one_case("seed", range(40))
def test_a_report_with_a_field_of_another_form_is_passed_over_or_has_the_right_one(seed: int):
    chance = random.Random(seed)
    outcome, refusal = dict(OUTCOME), dict(REFUSAL)
    for report in (outcome, refusal):
        name = chance.choice([*report])
        report[name] = chance.choice(OTHERS)
        if chance.random() < 0.3:
            del report[name]
    found, refused = read_reports([refusal, outcome])
    if found is not None:
        assert all(type(count) is int for count in found["counts"].values())
        lists = found["files"], found["unknown"], found["notes"]
        assert all(type(each) is str for values in lists for each in values)
    assert all([type(part) for part in each.values()] == [str, str] for each in refused)
