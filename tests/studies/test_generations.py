"""What the stages of a curriculum came to."""

from __future__ import annotations

import pytest

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
