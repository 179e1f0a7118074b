"""The figures of an evaluation, counted by hand."""

import math

from engram_host.evaluation.run import RankedAnswer, all_figures, auroc, figures, fit_budget
from engram_host.evaluation.sets import Question

LENGTHS = {"a": 300, "b": 400, "c": 200, "d": 100}


def _answer(ranked: str, evidence: str, category: int = 1) -> RankedAnswer:
    return RankedAnswer(Question("?", tuple(evidence), category), list(ranked), {**dict.fromkeys(ranked, 0), **LENGTHS})


def test_a_hit_is_any_evidence_among_the_first():
    found = figures([_answer("xad", "ab"), _answer("axd", "d")])
    assert (found["hit@1"], found["hit@5"]) == (0.0, 1.0)


def test_frac_is_the_mean_share_of_the_evidence_among_the_first_ten():
    assert figures([_answer("xa", "ab"), _answer("a", "a"), _answer("efghijklmna", "a")])["frac@10"] == 0.5


def test_ndcg_counts_a_place_by_the_logarithm_of_its_number():
    third, both = figures([_answer("xya", "a")]), figures([_answer("axb", "ab")])
    assert (third["ndcg@10"], both["ndcg@10"]) == (0.5, round(1.5 / (1 + 1 / math.log2(3)), 4))


def test_lmeb_is_the_mean_of_the_categories_ndcg():
    result = all_figures(
        {"one": [_answer("a", "a", 1), _answer("x", "a", 1), _answer("xya", "a", 2), _answer("", "a", 5)]}
    )
    assert (result["ndcg@10"], result["lmeb"]) == (0.5, 0.5)


def test_a_category_without_evidence_has_no_part_in_lmeb():
    assert all_figures({"one": [_answer("a", "a", 1), _answer("x", "", 9)]})["lmeb"] == 1.0


def test_a_turn_that_does_not_fit_is_skipped_and_the_next_one_taken():
    assert fit_budget(_answer("abcd", "a"), 150) == ["a", "c", "d"]


def test_hits_inside_a_budget_are_those_of_the_turns_that_fit():
    found = figures([_answer("abcd", "b"), _answer("abcd", "d")])
    assert (found["hit@150t"], found["hit@300t"]) == (0.5, 1.0)


def test_the_fifth_category_stands_apart():
    result = all_figures({"one": [_answer("a", "a", 1), _answer("b", "a", 5)]})
    assert (result["hit@1"], result["categories"]) == (
        1.0,
        {"1": figures([_answer("a", "a", 1)]), "5": figures([_answer("b", "a", 5)])},
    )


def _sure(confidence: float, evidence: str) -> RankedAnswer:
    return RankedAnswer(Question("?", tuple(evidence), 1), [], {}, confidence)


def test_auroc_is_the_share_of_pairs_in_which_the_question_with_evidence_is_the_surer():
    given = [_sure(0.9, "a"), _sure(0.3, "a"), _sure(0.5, ""), _sure(0.1, "")]
    assert auroc(given) == 0.75


def test_questions_without_evidence_change_auroc_only():
    alone, beside = (
        all_figures({"one": [_answer("a", "a")]}),
        all_figures({"one": [_answer("a", "a"), _answer("b", "")]}),
    )
    assert (alone["hit@1"], alone["auroc"]) == (beside["hit@1"], None) and beside["auroc"] == 0.5
