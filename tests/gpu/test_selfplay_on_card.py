"""Self-play on the card plays the same games as on the CPU."""

from __future__ import annotations

import numpy as np
import pytest

from rookery import load
from search.slow_trees import Hashed
from support import CONNECT_FOUR

pytestmark = pytest.mark.gpu

torch = pytest.importorskip("torch")

WAYS = [
    ("pylos:removal=greedy",
     {"urgency": "infinite", "ply_limit": 60, "repetition_limit": 3, "repetition_value": 0.5}),
    ("pylos", {"discount": 0.97, "random_plies": 3, "ply_limit": 90, "ply_limit_value": -0.25}),
    (CONNECT_FOUR, {"gumbel": 4, "noise": 0.0}),
    ("texas42", {"full_share": 0.5, "cheap_simulations": 3, "leaves": 2}),
    (CONNECT_FOUR, {"forced": 2.0, "prune": True, "simulations": 24, "full_share": 0.5, "cheap_simulations": 6}),
    (CONNECT_FOUR, {"opponent": "random", "random_plies": 2, "full_share": 0.5, "cheap_simulations": 3}),
    ("pylos", {"opponent": "random", "opponent_taught": True, "ply_limit": 90}),
    ("gomoku:size=9", {"fours": True, "random_plies": 8, "simulations": 16}),
    ("gomoku:size=9", {"random_plies": 4, "random_fewer": True, "random_middle": 5}),
    ("gomoku:size=9", {"fours": True, "random_plies": 12, "leaves": 3, "full_share": 0.5, "cheap_simulations": 4}),
]  # fmt: skip


class Even(Hashed):
    """Values are a random function of the observation, all moves are alike: their softmax is exact everywhere."""

    def __call__(self, observations):
        logits, values = super().__call__(observations)
        return np.zeros_like(logits), values


@pytest.mark.parametrize(("spec", "way"), WAYS, ids=str)
def test_the_same_games_reach_the_replay(spec, way):
    from rookery.learn.replay import Replay
    from rookery.learn.sections import SelfplaySettings
    from rookery.learn.selfplay import SelfPlay
    from rookery.learn.selfplay_cuda import SelfPlayOnCard

    game = load(spec)
    settings = SelfplaySettings(**{"at_once": 24, "simulations": 8, "noise": 0.25, **way})
    judge = Even(game)

    def asked(observations, logits, values):
        given = judge(observations.cpu().numpy())
        for target, answer in zip((logits, values), given, strict=True):
            target.copy_(torch.from_numpy(np.array(answer)))

    slow = SelfPlay(game, settings, 5, Replay(game, judge.kind, 1500))
    fast = SelfPlayOnCard(game, settings, 5, Replay(game, judge.kind, 1500, "cuda"), asked, capture=False)
    slow.keep_every = fast.keep_every = 5
    done = 0
    for _ in range(110):
        expected, found = slow.round(judge), fast.round()
        assert found == expected
        done += found.games
    assert done > 24
    assert fast.replay.written == slow.replay.written
    for name, expected, found in zip(slow.replay.rows._fields, slow.replay.rows, fast.replay.rows, strict=True):
        close = (
            torch.allclose(found.cpu(), expected, atol=1e-6)
            if name == "weights"
            else torch.equal(found.cpu(), expected)
        )
        assert close, name


def first_numbers(observations, logits, values):
    """Judge by a few numbers of the observation, in an order of sums that does not depend on the number of rows."""
    logits.copy_(observations[:, :1].expand_as(logits))
    values.copy_((observations[:, 1] + observations[:, 2] * 2 - observations[:, 3]) / 4)


@pytest.mark.parametrize(
    ("spec", "more"),
    [
        ("pylos", {}),
        ("pylos", {"opponent": "random", "at_once": 300}),
        ("gomoku:size=9", {"fours": True, "random_plies": 8, "full_share": 0.5, "cheap_simulations": 2}),
    ],
    ids=str,
)
def test_a_captured_round_plays_what_a_plain_one_plays(spec, more):
    from rookery.learn.replay import Replay
    from rookery.learn.sections import SelfplaySettings
    from rookery.learn.selfplay_cuda import SelfPlayOnCard

    game = load(spec)
    kind = "rich" if spec == "pylos" else "planes"
    settings = SelfplaySettings(**{"at_once": 2000, "simulations": 6, "leaves": 2, "ply_limit": 40, **more})
    plain = SelfPlayOnCard(game, settings, 3, Replay(game, kind, 99_000, "cuda"), first_numbers, False)
    other = SelfPlayOnCard(game, settings, 3, Replay(game, kind, 99_000, "cuda"), first_numbers)
    done = wins = 0
    for _ in range(60):
        expected, found = plain.round(), other.round()
        assert found == expected
        done += found.games
        wins += 0 if other.fours is None else int((other.fours.moves.copy_to_host() >= 0).sum())
    assert done >= settings.at_once
    assert (wins > 0) == settings.fours
    for name, expected, found in zip(plain.replay.rows._fields, plain.replay.rows, other.replay.rows, strict=True):
        assert torch.equal(found, expected), name
