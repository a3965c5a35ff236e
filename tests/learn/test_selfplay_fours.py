"""Self-play of Gomoku that looks for wins by fours: what it teaches, against searches of its own in every position."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from learn.slow_selfplay import positions_of, recorded
from rookery import load
from rookery.errors import BadInput
from rookery.learn.sections import SelfplaySettings
from rookery.learn.settings import read_settings
from rookery.search.gomoku_fours import LEAF_NODES
from rookery.search.gomoku_vcf import vcf

pytestmark = pytest.mark.xdist_group("learning")
SURELY, PERHAPS = LEAF_NODES // 2, 2 * LEAF_NODES
"""nodes in which a search finds what one at a leaf, whose table is smaller, finds as well, and may find"""


@cache
def games(fours):
    """Return games on a small board, by a judge who knows nothing."""
    values = {"at_once": 12, "simulations": 40, "urgency": "parent", "temperature_plies": 6, "random_plies": 2}
    return recorded(load("gomoku:size=9"), SelfplaySettings(fours=fours, **values), 160)


def taught(found):
    """Yield each position that is taught, with its row, weights by action, and the position in which its game ended."""
    rows = found.rows
    for number, indices in found.games().items():
        positions = positions_of(found, number)
        for row, position in zip(indices, positions, strict=False):
            count = rows["counts"][row]
            if count:
                pairs = zip(rows["actions"][row, :count].tolist(), rows["weights"][row, :count].tolist(), strict=True)
                yield position, row, dict(pairs), positions[-1]


def is_lost(position, action, nodes=SURELY):
    """Tell whether the other side wins by fours after a move."""
    following = position.copy()
    following.play(action)
    return not following.over and bool(vcf(following, nodes))


def lost_moves(found):
    """List of each position that the mover does not win by fours the moves that are taught and lose to fours.

    Weights below 1 are priors of moves that were not visited, where all others lose: of these nothing is known.
    """
    for position, _, weights, _ in taught(found):
        if not vcf(position, PERHAPS):
            yield position, [action for action, weight in weights.items() if weight >= 1 and is_lost(position, action)]


def test_a_win_by_fours_is_played_and_taught_alone():
    found, won = games(True), 0
    for position, row, weights, last in taught(found):
        if vcf(position, SURELY):
            won += 1
            played = int(found.rows["played"][row])
            assert weights == {action: float(action == played) for action in weights}
            assert found.rows["values"][row] == 1
            assert last.payoff(position.mover) == 1
    assert won > 20


def test_no_move_is_taught_that_lets_the_other_side_win_by_fours_while_there_is_another():
    for position, lost in lost_moves(games(True)):
        assert not lost or all(is_lost(position, action, PERHAPS) for action in position.legal())


def test_every_position_teaches_some_move():
    for fours in (True, False):
        assert all(sum(weights.values()) > 0 for *_, weights, _ in taught(games(fours)))


def test_without_the_setting_such_moves_are_taught_and_wins_are_not_alone():
    found = games(False)
    won = [weights for position, _, weights, _ in taught(found) if vcf(position, SURELY)]
    assert sum(np.count_nonzero(list(weights.values())) > 1 for weights in won) > 10
    assert sum(bool(lost) for _, lost in lost_moves(found)) > 10


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["game=gomoku:rule=renju"], "selfplay.fours: wins by fours are known in gomoku with rule=freestyle"),
        (["game=pylos"], "selfplay.fours: wins by fours are known in gomoku"),
        (["selfplay.gumbel=4", "selfplay.noise=0.0"], "selfplay.fours: must be false with gumbel search"),
    ],
)
def test_where_fours_cannot_be_looked_for_the_setting_is_refused(tmp_path, changes, message):
    file = tmp_path / "run.yaml"
    file.write_text("game: gomoku:size=9\nnetwork: {kind: tower, observation: planes, width: 8, blocks: 1}\n")
    for device in ("cpu", "cuda"):
        assert read_settings(str(file), ["selfplay.fours=true", f"device={device}"]).selfplay.fours
    with pytest.raises(BadInput, match=message):
        read_settings(str(file), ["selfplay.fours=true", *changes])
