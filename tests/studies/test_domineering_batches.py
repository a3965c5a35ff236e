"""Batches of the Domineering study, beside positions played through the rules."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from rookery import BadInput, load
from rookery.games.domineering import sector_targets
from rookery.nets.configs import SMALL
from rookery.nets.residual import build
from rookery.search.domineering_guided import guided_games
from rookery.studies.domineering_batches import (
    PARTS,
    Batch,
    DomineeringDataset,
    GameTable,
    Positions,
    load_records,
    parts_of,
    squares_of_moves,
)  # fmt: skip
from rookery.studies.domineering_files import GameRecords, joined, write_games
from rookery.studies.order import Order
from studies.domineering_samples import some_records, turned

pytestmark = pytest.mark.xdist_group("domineering")

GAME = load("domineering")


@pytest.fixture(scope="module")
def table() -> GameTable:
    return GameTable(some_records(30, seed=6))


def slow_row(records: GameRecords, game: int, ply: int, symmetry: int, kind: str = "tokens") -> dict[str, np.ndarray]:
    """Play a game, turned around, up to a ply and say what is taught there."""
    actions = GAME.symmetries().actions[symmetry]
    position = GAME.start()
    for action in records.moves[game, :ply].tolist():
        position.play(int(actions[action]))
    return {
        "tokens": position.observe(kind).astype(np.int64),
        "legal": np.isin(np.arange(480), position.legal()),
        "policy": actions[records.moves[game, ply]],
        "value": np.float32(records.winners[game]),
        "sectors": sector_targets(position),
        "explored": records.explored[game, ply],
    }


def check_rows(batch: Batch, rows: list[dict[str, np.ndarray]]) -> None:
    for name in rows[0]:
        found, slow = getattr(batch, name).numpy(), np.stack([row[name] for row in rows])
        assert found.shape == slow.shape, name
        assert found.dtype == slow.dtype, name
        assert (found == slow).all(), name


@pytest.mark.parametrize("side_token", [False, True])
@pytest.mark.parametrize("symmetry", range(4))
def test_positions_are_those_of_the_rules_in_every_symmetry(table, symmetry, side_token):
    positions = Positions(table, "all", side_token=side_token)
    numbers = torch.arange(symmetry, len(positions), 61)
    batch = positions.batch(numbers, torch.full_like(numbers, symmetry))
    kind = "tokens_mover" if side_token else "tokens"
    places = [divmod(int(place), 128) for place in positions.places[numbers]]
    check_rows(batch, [slow_row(table.records, game, ply, symmetry, kind) for game, ply in places])


def test_symmetries_may_differ_within_a_batch(table):
    positions = Positions(table, "all")
    numbers = torch.arange(0, len(positions), 97)
    symmetries = torch.arange(len(numbers)) % 4
    places = [divmod(int(place), 128) for place in positions.places[numbers]]
    rows = [slow_row(table.records, game, ply, i % 4) for i, (game, ply) in enumerate(places)]
    check_rows(positions.batch(numbers, symmetries), rows)


def test_what_is_played_is_legal_in_every_symmetry(table):
    positions = Positions(table, "all", first_ply=0)
    numbers = torch.arange(len(positions))
    for symmetry in range(4):
        batch = positions.batch(numbers, torch.full_like(numbers, symmetry))
        assert batch.legal.gather(1, batch.policy[:, None]).all()


def test_sectors_do_not_turn_with_the_board(table):
    positions = Positions(table, "all", first_ply=0)
    both = positions.batch(torch.zeros(2, dtype=torch.int64), torch.tensor([0, 3]))
    start = torch.zeros(4, 4)
    start[:3, 3], start[3, :3] = 4, -4
    assert (both.sectors.view(2, 4, 4) == start).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_sectors_are_exact_where_products_are_rounded(table, dtype):
    positions = Positions(table, "all", first_ply=0)
    numbers = torch.arange(0, len(positions), 7)
    plain = positions.batch(numbers, numbers % 4)
    with torch.autocast("cpu", dtype):
        rounded = positions.batch(numbers, numbers % 4)
    assert rounded.sectors.dtype == torch.float32
    assert (rounded.sectors == plain.sectors).all()


def test_positions_begin_behind_the_opening_and_end_before_the_last_move(table):
    places = Positions(table, "all").places.numpy()
    counted = [(game, ply) for game in range(30) for ply in range(16, int(table.records.lengths[game]))]
    assert [divmod(int(place), 128) for place in places] == counted
    early = Positions(table, "all", first_ply=0)
    assert len(early) == table.records.lengths.sum()


def test_explored_moves_are_dropped_if_asked(table):
    kept, every = Positions(table, "all", drop_explored=True), Positions(table, "all")
    explored = every.batch(torch.arange(len(every)), torch.zeros(len(every), dtype=torch.int64)).explored
    assert 0 < explored.sum() < len(every)
    assert (kept.places == every.places[~explored]).all()


def test_all_positions_come_in_order(table):
    positions = Positions(table, "valid")
    batches = list(positions.in_order(50))
    assert [len(batch.value) for batch in batches[:-1]] == [50] * (len(batches) - 1)
    whole = positions.batch(torch.arange(len(positions)), torch.zeros(len(positions), dtype=torch.int64))
    assert (torch.cat([batch.tokens for batch in batches]) == whole.tokens).all()


def test_squares_of_moves_are_those_of_the_game():
    state = GAME.start().state
    for action, squares in enumerate(squares_of_moves().tolist()):
        assert squares == [16 * row + col for _, row, col in GAME.cells_of(state, action)]


# ---- parts ---------------------------------------------------------------------------------------


def test_eight_of_ten_games_are_for_training():
    counts = np.bincount(parts_of(guided_games(4000, seed=1).moves), minlength=3) / 4000
    assert (np.abs(counts - [0.8, 0.1, 0.1]) < 5 * np.sqrt([0.16 / 4000, 0.09 / 4000, 0.09 / 4000])).all()


def test_no_position_is_in_two_parts_and_none_in_no_part(table):
    places = [set(Positions(table, part).places.tolist()) for part in PARTS]
    assert sum(len(part) for part in places) == len(set.union(*places)) == len(Positions(table, "all"))
    games = [{place // 128 for place in part} for part in places]
    assert sum(len(part) for part in games) == 30


def test_games_that_begin_alike_are_in_the_same_part_in_whichever_file():
    records = some_records(200, seed=6)
    other = joined([some_records(300, seed=9), records[::-1]])
    assert (parts_of(other.moves)[300:] == parts_of(records.moves)[::-1]).all()
    mirrored = turned(records.moves[:40], over_rows=True, over_cols=False)
    assert (parts_of(mirrored) == parts_of(records.moves[:40])).all()
    changed = records.moves.copy()
    changed[:, 16:] = -1
    assert (parts_of(changed) == parts_of(records.moves)).all()


# ---- batches -------------------------------------------------------------------------------------


def test_several_steps_are_built_at_once(table):
    positions = Positions(table)
    order = Order(len(positions), 500, seed=2)
    several = positions.batch(*order.at(2, 5))  # beyond the end of a pass
    assert order.steps < 7
    for i in range(5):
        one, same = positions.batch(*order.at(2 + i)), several[500 * i : 500 * (i + 1)]
        assert len(one) == len(same) == 500
        assert (one.tokens == same.tokens).all()
        assert (one.policy == same.policy).all()


def test_without_positions_there_are_no_batches():
    none = Positions(GameTable(some_records(0, seed=6)), "all")
    assert len(none) == 0
    assert list(none.in_order(8)) == []
    with pytest.raises(BadInput, match="positions must be a whole number in 1"):
        Order(len(none), 1, seed=0)


def test_parts_that_there_are_not_are_refused(table):
    with pytest.raises(BadInput, match="part must be one of train, valid, test, all, not 'validation'"):
        Positions(table, "validation")


# ---- for others ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("games")
    for number in range(2):
        write_games(folder / f"{number}.npz", some_records(15, seed=number), {"phase": 1})
    return [folder / "0.npz", folder / "1.npz"]


def test_items_of_a_dataset_are_positions_in_four_symmetries(paths):
    dataset, records = DomineeringDataset(paths, "valid"), load_records(paths)
    positions = Positions(GameTable(records), "valid")
    assert len(dataset) == 4 * len(positions)
    for index in [0, 1, 2, 3, 4, 57, len(dataset) - 1, -1]:
        number, symmetry = divmod(index % len(dataset), 4)
        game, ply = divmod(int(positions.places[number]), 128)
        slow = slow_row(records, game, ply, symmetry)
        assert all((dataset[index][name].numpy() == slow[name]).all() for name in slow)
    with pytest.raises(IndexError, match=f"item {len(dataset)} of {len(dataset)}"):
        dataset[len(dataset)]


def test_a_data_loader_makes_batches_that_a_network_reads(paths):
    dataset = DomineeringDataset(paths, "test", augment=False, drop_explored=True)
    batch = next(iter(DataLoader(dataset, batch_size=3)))
    assert {name: tuple(column.shape) for name, column in batch.items()} == {
        "tokens": (3, 257), "legal": (3, 480), "policy": (3,), "value": (3,), "sectors": (3, 16), "explored": (3,),
    }  # fmt: skip
    assert not batch["explored"].any()
    assert build(SMALL, seed=0).heads(batch["tokens"]).policy.shape == (3, 480)
