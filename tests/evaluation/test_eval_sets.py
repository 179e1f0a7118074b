"""The sets of an evaluation: what is read, and what is told of one that is wrong."""

from pathlib import Path

import pytest

from engram_host.evaluation.sets import FOREIGN, BadSet, Question, load_conversations, with_foreign
from eval_samples import QUESTIONS, TURNS, write


def _told(folder: Path) -> str:
    with pytest.raises(BadSet) as caught:
        load_conversations(folder, pytest.fail)
    return str(caught.value)


def _changed(lines, **fields):
    return [{**lines[0], **fields}, *lines[1:]]


def test_a_set_is_read_with_times_in_greenwich(tmp_path: Path):
    (one,) = load_conversations(write(tmp_path), pytest.fail)
    assert (one.name, one.turns[0].at, one.turns[2].caption) == ("one", 1709373600, "a photo of a yellow kayak 🛶")


def test_a_folder_that_is_not_there_is_reported(tmp_path: Path):
    assert "is not a folder" in _told(tmp_path / "none")


def test_a_missing_file_is_reported_by_its_name(tmp_path: Path):
    (write(tmp_path) / "one" / "questions.jsonl").unlink()
    assert "questions.jsonl cannot be read" in _told(tmp_path)


def test_a_line_that_is_no_json_is_reported_with_its_number(tmp_path: Path):
    with (write(tmp_path) / "one" / "turns.jsonl").open("a") as file:
        file.write("{oh\n")
    assert _told(tmp_path).endswith("line 5: is not JSON.")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"session": "1"}, "session is missing or is not of the kind int."),
        ({"session": 0}, "session must be 1 or more."),
        ({"text": None}, "text is missing or is not of the kind str."),
        ({"date": "yesterday"}, "the date 'yesterday' is none, such as 2023-05-08T13:56:00."),
        ({"id": "a2"}, "the id a2 stands there twice."),
    ],
)
def test_a_wrong_turn_is_reported_with_its_reason(tmp_path: Path, fields, sentence: str):
    write(tmp_path, turns=_changed(TURNS, **fields))
    assert _told(tmp_path).endswith(sentence)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"evidence": "a1"}, "evidence is missing or is not of the kind list."),
        ({"evidence": [1]}, "evidence must be a list of ids."),
        ({"category": True}, "category is missing or is not of the kind int."),
    ],
)
def test_a_wrong_question_is_reported_with_its_reason(tmp_path: Path, fields, sentence: str):
    write(tmp_path, questions=_changed(QUESTIONS, **fields))
    assert _told(tmp_path).endswith(sentence)


def test_evidence_that_is_no_turn_is_reported_and_does_not_stop_the_evaluation(tmp_path: Path):
    told: list[str] = []
    load_conversations(write(tmp_path, questions=_changed(QUESTIONS, evidence=["a1", "z9"])), told.append)
    assert [line.rpartition(": ")[2] for line in told] == [
        "the evidence z9 is not among the turns; it counts as not found."
    ]


# --- questions of the other conversations


def _pair(folder: Path):
    """Ann and Ben, and Cid, who says most, and Dora."""
    names = {"Ann": "Dora", "Ben": "Cid"}
    others = [{**turn, "speaker": names[turn["speaker"]]} for turn in TURNS[1:]]
    write(folder, turns=[*TURNS, {**TURNS[0], "id": "c"}], name="a")
    write(
        folder, turns=others, questions=[{"question": "Is Cidonia Cid's?", "evidence": ["a2"], "category": 1}], name="b"
    )
    return load_conversations(folder, pytest.fail)


def test_a_foreign_question_has_no_evidence_and_the_names_of_those_who_speak_here(tmp_path: Path):
    first, second = with_foreign(_pair(tmp_path), 10)
    assert first.questions[len(QUESTIONS) :] == [Question("Is Cidonia Ann's?", (), FOREIGN)]
    assert second.questions[1] == Question("What did Cid plant?", (), FOREIGN)


@pytest.mark.parametrize("count", range(5))
def test_as_many_foreign_questions_come_as_are_asked_for_and_there_are(tmp_path: Path, count: int):
    _, second = with_foreign(_pair(tmp_path), count)
    assert len(second.questions) == 1 + min(count, 3)
    assert len(set(second.questions)) == len(second.questions)
