"""What the stages of a curriculum came to."""

from __future__ import annotations

import pytest

from rookery.arena.score import elo_of_score
from rookery.studies import generations

LINE = {"step": 1, "seconds": 2.0, "policy_loss": 2.0, "value_loss": 1.0, "watched": {}}


def test_without_a_generation_there_is_nothing_to_show():
    assert list(generations.curriculum_lines({})) == []


def test_a_stage_is_shown_from_its_first_generation_to_its_last():
    last = LINE | {"step": 9, "value_loss": 0.5, "elo": 12.0, "watched": {"random": {"score": 0.75}}}
    rows = [line for line in generations.curriculum_lines({"a": [LINE, last]}) if line.startswith("| a |")]
    assert rows == ["| a | 2 | 9 | 2 | 2.000 to 2.000 | 1.000 to 0.500 | +12 | random 75.0 % |"]


@pytest.mark.parametrize(
    ("more", "below"),
    [
        ({}, []),
        ({"elo": 3.0}, ["Elo over generations"]),
        ({"watched": {"random": {"score": 0.5}}}, ["scores of each generation"]),
        ({"elo": 3.0, "watched": {"random": {"score": 0.5}}}, ["Elo over generations", "scores of each generation"]),
    ],
)
def test_a_curriculum_is_drawn_without_empty_panels(more, below, monkeypatch, tmp_path):
    drawn = []
    monkeypatch.setattr(generations, "save", lambda figure, path: drawn.append(figure))
    generations.draw_generations({"a": [LINE | more]}, tmp_path / "main.png")
    shown = [axis.get_title() for axis in drawn[0].axes if axis.get_visible()]
    assert shown == ["policy loss by generation", "value loss by generation", *below]


def test_elo_has_the_interval_of_the_match_it_comes_from(tmp_path):
    score = {"step": 1, "score": 0.6, "low": 0.5, "high": 0.7, "games": 40}
    line = LINE | {"elo": 120.0, "elo_gain": 70.0, "against_earlier": score}
    assert generations.elo_interval(line) == pytest.approx((50.0, 50 + elo_of_score(0.7)))
    assert generations.gained(line) == "+120 (+50 .. +197)"
    clean = line | {"against_earlier": score | {"high": 1.0}}
    assert generations.elo_interval(clean)[1] == pytest.approx(50 + elo_of_score(1 - 0.5 / 40))  # and stays finite
    assert generations.gained(LINE | {"elo": 0.0, "elo_gain": 0.0}) == "+0"  # the first one, from which it is counted
    generations.draw_generations({"2": [LINE | {"elo": 0.0, "elo_gain": 0.0}, line]}, tmp_path / "main.png")
    assert (tmp_path / "main.png").stat().st_size > 5000
