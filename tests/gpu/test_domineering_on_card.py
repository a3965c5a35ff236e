"""The judge of the Domineering study on a card, beside the CPU."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rookery.search.domineering_boards import after_openings, random_openings
from rookery.studies.domineering_judge import BoardJudge, LookAhead, unpacked, words_of
from rookery.studies.domineering_play import play_games
from rookery.studies.domineering_rave import RavePlayer, RaveSettings
from rookery.studies.domineering_teaching import Lesson, measured, new_tower, teach
from studies.domineering_samples import some_records

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def states() -> np.ndarray:
    return after_openings(random_openings(300, 41, seed=1))


def judges(rows: int | None = None) -> tuple[BoardJudge, BoardJudge]:
    network = new_tower(32, 2, seed=1).eval()
    return BoardJudge(network, "cpu"), BoardJudge(network, "cuda", rows)


def test_leaves_are_judged_alike(states):
    cpu, card = judges(128)
    for count in (300, 128, 5):
        expected = cpu.leaves(states[:count])
        for found in (card.leaves(states[:count]), card.leaves_by_turns(states[:count])):
            np.testing.assert_allclose(found[0], expected[0], atol=0.02)
            np.testing.assert_allclose(found[1], expected[1], atol=0.005)


def test_answers_of_one_call_outlast_the_next(states):
    card = judges(128)[1]
    first = card.leaves_by_turns(states[:100])
    kept = [array.copy() for array in first]
    card.leaves_by_turns(states[100:200])
    assert all((one == other).all() for one, other in zip(first, kept, strict=True))


def test_a_look_ahead_finds_moves_as_good(states):
    cpu, card = judges(1000)
    covered = unpacked(torch.from_numpy(words_of(states)))
    games, chosen = torch.arange(300), LookAhead(card).choose(states, np.zeros(300, np.int64), 0)[0]
    best = LookAhead(cpu).choose(states, np.zeros(300, np.int64), 0)[0]
    scores = [cpu.successors(covered, games, torch.from_numpy(moves)) for moves in (chosen, best)]
    torch.testing.assert_close(*scores, atol=0.01, rtol=0.0)


def test_a_game_is_the_same_in_any_company():
    card = judges(1000)[1]
    openings, seats = random_openings(40, 16, seed=3), np.zeros((40, 2), np.int64)
    together = play_games(openings, (LookAhead(card),), seats, 1)
    alone = play_games(openings[7:9], (LookAhead(card),), seats[:2], 1, 7)
    assert (together.moves[7:9] == alone.moves).all()


def test_rave_plays_whole_games(states):
    player = RavePlayer(judges(256)[1], RaveSettings(simulations=20), threads=4, draws=True)
    records = play_games(random_openings(64, 16, seed=5), (player,), np.zeros((64, 2), np.int64), 1)
    assert records.lengths.min() > 60


def test_a_lesson_on_a_card_teaches():
    records, device = some_records(200, seed=1), torch.device("cuda")
    before = measured(new_tower(16, 1, 1).eval(), records, device)
    after = measured(teach(new_tower(16, 1, 1), records, Lesson(4, 2e-3, 256), 1, device), records, device)
    assert after.loss < before.loss
