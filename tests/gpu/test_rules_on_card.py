"""The same source on the card: games, legal lists and lane functions against the CPU's."""

from __future__ import annotations

import numpy as np
import pytest

from rookery import load
from rookery.search.lanes import lane_argmax, lane_count, lane_max, lane_rank, lane_sum, lanes_legal
from rookery.search.playout import random_games
from support import SPECS, random_walk

pytestmark = pytest.mark.gpu

GAMES = 100_000


@pytest.mark.parametrize("spec", SPECS)
def test_100000_random_games_are_the_same_on_the_card(spec):
    from rookery.search import playout_cuda

    game = load(spec)
    cpu, card = random_games(game, GAMES, seed=11, threads=16), playout_cuda.random_games(game, GAMES, seed=11)
    assert (cpu.keys == card.keys).all()
    assert (cpu.payoffs == card.payoffs).all()
    assert (cpu.plies == card.plies).all()
    assert len(np.unique(cpu.keys)) > 1


@pytest.mark.parametrize("spec", SPECS)
def test_a_warp_lists_the_same_moves_as_a_single_lane(spec):
    from numba import cuda

    import rookery.search.warps  # noqa: F401

    @cuda.jit
    def list_moves(states, actions, out, counts):
        b = cuda.blockIdx.x
        counts[b] = lanes_legal(states[b], actions, out[b], cuda.threadIdx.x, 32)

    game = load(spec)
    positions = [p.copy() for seed in range(5) for p, action in random_walk(game, seed) if action is not None]
    states = np.concatenate([position.states for position in positions])
    out, counts = np.full((len(states), game.actions), -1, np.int32), np.zeros(len(states), np.int32)
    on_card = cuda.to_device(out), cuda.to_device(counts)
    list_moves[len(states), 32](cuda.to_device(states), game.actions, *on_card)
    out, counts = (array.copy_to_host() for array in on_card)
    for position, row, count in zip(positions, out, counts, strict=True):
        assert row[:count].tolist() == position.legal().tolist()
        assert (row[count:] == -1).all()


def test_lane_functions_agree_across_a_warp():
    from numba import cuda

    import rookery.search.warps  # noqa: F401

    @cuda.jit
    def agree(x, flags, sums, most, best, ranks, counts):
        lane = cuda.threadIdx.x
        sums[lane] = lane_sum(x[lane])
        most[lane] = lane_max(x[lane])
        best[lane] = lane_argmax(x[lane], 100 + lane)
        ranks[lane] = lane_rank(flags[lane], lane)
        counts[lane] = lane_count(flags[lane])

    rng = np.random.default_rng(0)
    for _ in range(20):
        x = rng.integers(0, 12, 32).astype(np.float32)  # whole numbers: sums are exact, ties occur
        flags = rng.random(32) < rng.random()
        results = [cuda.to_device(np.zeros(32, kind)) for kind in (np.float32, np.float32, *[np.int32] * 3)]
        agree[1, 32](cuda.to_device(x), cuda.to_device(flags), *results)
        sums, most, best, ranks, counts = (array.copy_to_host() for array in results)
        assert (sums == x.sum()).all()
        assert (most == x.max()).all()
        assert (best == 100 + x.argmax()).all()
        assert (ranks == np.cumsum(flags) - flags).all()
        assert (counts == flags.sum()).all()


def test_a_game_with_more_moves_than_the_card_has_room_for_is_refused(monkeypatch):
    from rookery import BadInput
    from rookery.search import playout_cuda

    monkeypatch.setattr(playout_cuda, "MOST_LEGAL", 100)
    with pytest.raises(BadInput, match="can have 240 legal moves; on a card at most 100 fit"):
        playout_cuda.random_games(load("domineering"), 10)
