"""The concepts of Pylos against their definitions, read slowly from the board."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from rookery import load
from rookery.errors import BadInput
from rookery.games.pylos_board import PLACES, cell_of, lines, squares
from rookery.studies.pylos_concepts import concepts, neighbours
from support import random_walk

GAME = load("pylos:removal=greedy")


@cache
def positions():
    """Positions of random games, early and late."""
    return [position.copy() for seed in range(6) for position, action in random_walk(GAME, seed) if action is not None]


@cache
def told():
    outcomes = np.arange(len(positions())) % 3 - 1
    states = np.concatenate([position.states for position in positions()])
    return {concept.name: concept for concept in concepts(GAME, states, outcomes)}


def board(position, cell):
    """+1 the mover's sphere, -1 the other's, 0 empty."""
    return int(position.observe("basic")[cell])


def is_supported(position, cell):
    level, row, col = PLACES[cell]
    below = [cell_of(level - 1, row + r, col + c) for r in (0, 1) for c in (0, 1)] if level else []
    return all(board(position, other) for other in below)


def is_free(position, cell):
    """Tell whether no sphere rests on a cell."""
    level, row, col = PLACES[cell]
    above = [(row - r, col - c) for r in (0, 1) for c in (0, 1)] if level < 3 else []
    size = 3 - level
    return not any(board(position, cell_of(level + 1, r, c)) for r, c in above if 0 <= r < size and 0 <= c < size)


def after(position, action):
    following = position.copy()
    following.play(int(action))
    return following


def takes_back(position, action):
    """Tell whether a move lets the mover take back: a shape through the cell it fills is his."""
    text = position.move_text(int(action)).split("-")
    to = GAME.parse_move(position.state, text[-1])
    own = {cell for cell in range(30) if board(position, cell) == 1} | {to}
    if len(text) == 2:
        own.remove(GAME.parse_move(position.state, text[0]))
    return any(to in shape and set(shape) <= own for shape in squares() + lines())


def can_take_back(position):
    return any(takes_back(position, action) for action in position.legal())


def can_take_back_in_two(position):
    for action in position.legal():
        one = after(position, action)
        answers = [after(one, answer) for answer in one.legal()]
        if answers and all(not two.over and can_take_back(two) for two in answers):
            return True
    return False


def other_way(position):
    """The same position with the other player to move; None if he could not."""
    parts = position.text().split()
    parts[4] = "wb"[1 - position.mover]
    turned = GAME.position(" ".join(parts))
    return None if turned.over else turned


def near(position, colour):
    cells = [[board(position, cell) for cell in square] for square in squares()]
    return [
        sorted(row) == sorted([colour] * 3 + [0]) and is_supported(position, square[row.index(0)])
        for row, square in zip(cells, squares(), strict=True)
    ]


SLOW = {
    "neighbours": lambda p: [board(p, a) == board(p, b) == 1 for a, b in neighbours()],
    "partial square": lambda p: [sorted(board(p, c) for c in square) == [0, 0, 1, 1] for square in squares()],
    "support": lambda p: [is_supported(p, cell) for cell in range(16, 30)],
    "freedom": lambda p: [board(p, cell) == 1 and is_free(p, cell) for cell in range(30)],
    "own near-square": lambda p: near(p, 1),
    "other near-square": lambda p: near(p, -1),
    "take-back in one": lambda p: [can_take_back(p)],
}


@pytest.mark.parametrize("name", SLOW)
def test_a_concept_is_what_its_definition_says(name):
    labels = told()[name].labels
    assert labels.any()
    assert not labels.all()
    assert told()[name].asked.all()
    for row, position in zip(labels, positions(), strict=True):
        assert row.tolist() == SLOW[name](position), position.text()


def test_a_take_back_in_two_holds_against_every_answer():
    concept, found = told()["take-back in two"], set()
    for row, is_asked, position in list(zip(concept.labels, concept.asked, positions(), strict=True))[::7]:
        assert is_asked == (not can_take_back(position))
        if is_asked:
            assert row.tolist() == [can_take_back_in_two(position)], position.text()
            found.add(bool(row[0]))
    assert found == {True, False}


def test_a_threat_is_blocked_by_a_move_after_which_it_is_gone():
    concept, found = told()["block"], set()
    for row, is_asked, position in list(zip(concept.labels, concept.asked, positions(), strict=True))[::3]:
        turned = other_way(position)
        assert is_asked == (turned is not None and can_take_back(turned)), position.text()
        if is_asked:
            following = [after(position, action) for action in position.legal()]
            assert row.tolist() == [any(one.over or not can_take_back(one) for one in following)], position.text()
            found.add(bool(row[0]))
    assert found == {True, False}


def test_the_winner_is_asked_in_decided_games_only():
    concept = told()["winner"]
    outcomes = np.arange(len(positions())) % 3 - 1
    assert concept.asked.tolist() == (outcomes != 0).tolist()
    assert concept.labels[:, 0].tolist() == (outcomes > 0).tolist()


def test_three_of_a_square_are_near_and_may_be_taken_back():
    position = GAME.position("ww../w.../.bb./.b.. .../.../... ../.. . w - 6")
    found = {concept.name: concept for concept in concepts(GAME, position.states, np.ones(1))}
    assert np.flatnonzero(found["own near-square"].labels[0]).tolist() == [0]
    assert np.flatnonzero(found["other near-square"].labels[0]).tolist() == [7]
    assert found["take-back in one"].labels[0, 0]
    assert not found["take-back in two"].asked[0]
    assert found["block"].asked[0]
    assert found["block"].labels[0, 0]


def test_two_threats_at_once_are_a_take_back_in_two():
    position = GAME.position("w.w./.w../bb.b/.... .../.../... ../.. . w - 6")  # 1b1 makes two squares of three
    found = {concept.name: concept for concept in concepts(GAME, position.states, np.ones(1))}
    assert not found["take-back in one"].labels[0, 0]
    assert found["take-back in two"].labels[0, 0]


def test_facts_tell_how_often_a_concept_is_true():
    facts = told()["take-back in one"].facts()
    assert facts["positions"] == len(positions())
    assert facts["truths"] == 1
    assert facts["share"] == pytest.approx(told()["take-back in one"].labels.mean())


def test_concepts_are_told_of_the_greedy_game_only():
    with pytest.raises(BadInput, match="removal=greedy"):
        concepts(load("pylos"), load("pylos").start().states, np.ones(1))
