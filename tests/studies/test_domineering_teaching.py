"""Teaching a tower the games of the Domineering study."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rookery import load
from rookery.arena.evaluator import steady
from rookery.games.position import Position
from rookery.studies.domineering_batches import GameTable, Positions
from rookery.studies.domineering_teaching import Lesson, loss_of, measured, new_tower, pace, questions, teach
from studies.domineering_samples import some_records

pytestmark = pytest.mark.xdist_group("domineering")
CPU = torch.device("cpu")
GAME = load("domineering")


@pytest.fixture(autouse=True)
def one_thread():
    with steady(CPU):
        yield


@pytest.fixture(scope="module")
def records():
    return some_records(30, seed=2)


def transposed(position: Position) -> Position:
    """The same position with rows and columns swapped, and so the players."""
    board, side = position.text().split()
    rows = board.split("/")
    return GAME.position("/".join("".join(row[i] for row in rows) for i in range(16)) + (" h" if side == "v" else " v"))


def test_the_second_half_of_a_batch_is_turned_on_its_diagonal(records):
    positions = Positions(GameTable(records), "all", side_token=True)
    numbers = torch.tensor([0, 55, 60, 700])
    batch = positions.batch(numbers, torch.zeros(4, dtype=torch.int64))
    planes, wins, moves, legal = questions(batch, turn=True)
    for n, place in enumerate(positions.places[numbers].tolist()):
        game, ply = divmod(place, 128)
        position = GAME.start()
        for action in records.moves[game, :ply]:
            position.play(int(action))
        move, seat = int(records.moves[game, ply]), position.mover
        if n >= 2:
            turned = [(col, row) for _, row, col in GAME.cells_of(position.state, move)]
            position = transposed(position)
            covers = {a: [(row, col) for _, row, col in GAME.cells_of(position.state, a)] for a in range(480)}
            move = next(action for action, squares in covers.items() if squares == turned)
        assert (planes[n].flatten().numpy() == position.observe("planes").reshape(-1)).all()
        assert legal[n].nonzero()[:, 0].tolist() == position.legal().tolist()
        assert int(moves[n]) == move
        assert bool(wins[n]) == (bool(records.winners[game]) == (seat == 0))


def test_teaching_lowers_the_loss_and_repeats_itself(records):
    before = measured(new_tower(8, 0, 1).eval(), records, CPU)
    first, second = (teach(new_tower(8, 0, 1), records, Lesson(2, 3e-3, 64), 5, CPU) for _ in range(2))
    after = measured(first, records, CPU)
    assert after.positions == before.positions > 0
    assert after.loss < before.loss
    for one, other in zip(first.state_dict().values(), second.state_dict().values(), strict=True):
        assert torch.equal(one, other)
    assert not first.training


def test_the_policy_is_taught_where_it_is_asked_for_and_only_moves_that_were_not_random(records):
    table = GameTable(records)
    batch = Positions(table, "train", side_token=True).batch(torch.arange(64), torch.zeros(64, dtype=torch.int64))
    network = new_tower(4, 0, 1)
    alone, both = (loss_of(network, batch, weight).detach() for weight in (0.0, 1.0))
    planes, _, moves, legal = questions(batch, turn=True)
    logits = network.scored(planes.flatten(1))[0].detach()
    total = 0.0
    for n in range(64):
        if not batch.explored[n]:
            chances = logits[n][legal[n]].softmax(0)
            total -= float(chances[legal[n].nonzero()[:, 0] == moves[n]].log())
    assert batch.explored.any()
    assert float(both - alone) == pytest.approx(total / 64, rel=1e-4)


def test_the_pace_rises_then_falls_to_nothing():
    shares = [pace(step, 400) for step in range(400)]
    assert shares[0] == pytest.approx(1 / 40, rel=1e-3)
    assert max(shares) > 0.95
    assert int(np.argmax(shares)) == 39
    assert shares[-1] < 1e-4
    assert pace(0, 1) == 1.0


def test_games_without_a_training_part_teach_nothing(records):
    parts = GameTable(records).parts
    kept = records[parts != 0]
    network = new_tower(4, 0, 1)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    teach(network, kept, Lesson(2, 1e-3, 8), 0, CPU)
    assert all(torch.equal(tensor, before[name]) for name, tensor in network.state_dict().items())
