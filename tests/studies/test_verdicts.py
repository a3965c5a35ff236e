"""Verdicts as they are shown and written."""

from __future__ import annotations

from rookery.studies.verdicts import OPEN, YES, Answer, Verdict, answers_table


def test_a_verdict_is_shown_with_its_reason():
    assert str(Verdict(OPEN, "not played")) == "**open**: not played"


def test_an_answer_is_laid_out_and_written_in_the_words_of_reports():
    answer = Answer(YES, "0.1", "Is it low?", "below 0.2")
    assert answers_table([answer])[-2] == "| Is it low? | below 0.2 | 0.1 | **yes** |"
    assert answer.facts() == {"question": "Is it low?", "said": "below 0.2", "measured": "0.1", "verdict": "yes"}
