"""Guided games of Domineering, beside those that a plain minimax plays."""

from __future__ import annotations

import numpy as np
import pytest

from rookery import BadInput, load
from rookery.search.domineering_gains import (
    GAIN,
    OTHERS,
    OWN,
    PLANES,
    TAKEN,
    can_end,
    highest_gain,
    lay,
    lift,
    moves_with,
    nth_move,
    set_empty,
    survey,
)  # fmt: skip
from rookery.search.domineering_guided import Guidance, choose, guided_games, play_games
from rookery.search.threads import new_stop
from search.slow_domineering import after, all_moves, chosen, depth_at, difference, key_of, next_move, slow_game

pytestmark = pytest.mark.xdist_group("domineering")


def laid(actions: list[int]) -> np.ndarray:
    """Return the free squares in both views after some actions."""
    free = np.empty((2, 4), np.uint64)
    set_empty(free)
    for action in actions:
        lay(free, action // 240, action % 240)
    return free


def slowly(actions: list[int]):
    """Return the moves left after some actions."""
    moves, squares = all_moves(), dict(all_moves()[0] + all_moves()[1])
    for action in actions:
        moves = after(moves, squares[action])
    return moves


def bits(words) -> list[int]:
    return [64 * word + bit for word in range(4) for bit in range(64) if int(words[word]) >> bit & 1]


@pytest.mark.parametrize("plies", [0, 1, 16, 41, 70, 90, 105])
def test_gains_and_takings_are_those_of_playing_each_move(plies):
    moves = guided_games(3, seed=plies).moves
    for actions in moves[:, :plies].tolist():
        for seat in range(2):
            planes = np.zeros((PLANES, 4), np.uint64)
            survey(laid(actions), seat, planes)
            left = slowly(actions)
            assert [240 * seat + place for place in bits(planes[OWN])] == [action for action, _ in left[seat]]
            assert sum(int(word).bit_count() for word in planes[OTHERS]) == len(left[1 - seat])
            gains, takings = {}, {}
            for number in range(8):
                for digits, found in ((GAIN, gains), (TAKEN, takings)):
                    words = [moves_with(planes, digits, number, word) for word in range(4)]
                    found |= dict.fromkeys((240 * seat + place for place in bits(words)), number)
            for action, squares in left[seat]:
                then = after(left, squares)
                assert gains[action] - 3 == difference(then, seat) - difference(left, seat)
                assert takings[action] == len(left[1 - seat]) - len(then[1 - seat])
            assert highest_gain(planes) == max(gains.values(), default=-1) - 3
            ends = any(not after(left, squares)[1 - seat] for _, squares in left[seat])
            assert can_end(planes, len(left[1 - seat])) == ends
            listed = [240 * seat + nth_move(planes, n) for n in range(len(left[seat]))]
            assert listed == [action for action, _ in left[seat]]


def test_lifting_undoes_laying_everywhere():
    for seat in range(2):
        for place in range(240):
            free = laid([])
            lay(free, seat, place)
            assert [int(word).bit_count() for word in free.reshape(8)].count(64) < 8
            lift(free, seat, place)
            assert (free == laid([])).all()


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("game", range(6))
def test_a_search_chooses_the_move_of_plain_minimax(depth, game):
    actions = guided_games(1, seed=5, first=game)
    length = int(actions.lengths[0])
    for ply in range(length - {1: 90, 2: 36, 3: 22}[depth], length, 3):
        check_choice(actions.moves[0, :ply].tolist(), depth, game)


def check_choice(actions: list[int], depth: int, game: int) -> None:
    seat, key = len(actions) % 2, key_of(5, game)
    desk, order = np.zeros((3, PLANES, 4), np.uint64), np.zeros((2, 240), np.int64)
    free = laid(actions)
    survey(free, seat, desk[0])
    found = choose(free, seat, depth, key, len(actions), desk, order)
    assert 240 * seat + found == chosen(slowly(actions), seat, depth, key, len(actions))[0]
    assert (free == laid(actions)).all()


def test_each_stage_of_a_game_is_played_by_its_depth():
    found = guided_games(2, seed=3)
    seen = set()
    for game in range(2):
        length = int(found.lengths[game])
        for ply in [*range(0, 60, 7), *range(length - 24, length)]:
            actions = found.moves[game, :ply].tolist()
            (action, _), explored = next_move(left := slowly(actions), ply, key_of(3, game))
            assert (found.moves[game, ply], found.explored[game, ply]) == (action, explored)
            seen.add("random" if explored else depth_at(len(left[ply % 2])))
    assert seen >= {"random", 1, 3}


@pytest.mark.slow
@pytest.mark.parametrize("game", range(6))
def test_games_are_those_of_the_definition_move_for_move(game):
    found = guided_games(1, seed=42, first=game)
    actions, explored = slow_game(42, game)
    assert found.lengths[0] == len(actions)
    assert found.moves[0, : len(actions)].tolist() == actions
    assert found.explored[0, : len(actions)].tolist() == explored


@pytest.mark.slow
def test_games_without_chance_after_the_opening_are_those_of_the_definition():
    guidance = Guidance(opening=8, explore=0)
    found = guided_games(1, seed=9, guidance=guidance)
    actions, explored = slow_game(9, 0, opening=8, explore=0)
    assert found.moves[0, : len(actions)].tolist() == actions
    assert found.explored[0].sum() == sum(explored) == 8


def test_games_are_legal_and_end_when_the_rules_say_so():
    found, game = guided_games(40, seed=1), load("domineering")
    for g in range(40):
        position = game.start()
        for action in found.moves[g, : found.lengths[g]].tolist():
            assert not position.over
            position.play(action)
        assert position.over
        assert (found.moves[g, found.lengths[g] :] == -1).all()
        assert not found.explored[g, found.lengths[g] :].any()
        assert found.explored[g, :16].all()


def test_a_game_depends_on_seed_and_number_alone():
    whole = guided_games(100, seed=7)
    threads = guided_games(100, seed=7, threads=3)
    later = guided_games(30, seed=7, first=70)
    other = guided_games(100, seed=8)
    assert (whole.moves == threads.moves).all()
    assert (whole.explored == threads.explored).all()
    assert (whole.moves[70:] == later.moves).all()
    assert not (whole.moves == other.moves).all(1).any()
    assert len({row.tobytes() for row in whole.moves[:, :16]}) == 100


def test_as_many_moves_are_explored_as_asked():
    found = guided_games(400, seed=2)
    behind = found.lengths.astype(int).sum() - 16 * 400
    share = found.explored[:, 16:].sum() / behind
    assert abs(share - 0.30) < 5 * (0.3 * 0.7 / behind) ** 0.5
    assert not guided_games(5, guidance=Guidance(opening=0, explore=0)).explored.any()
    everything = guided_games(5, guidance=Guidance(explore=100))
    assert (everything.explored.sum(1) == everything.lengths).all()


def test_a_stopped_kernel_plays_no_more_games():
    found, stop = guided_games(3), new_stop()
    stop[0] = 1
    play_games(0, 0, Guidance().numbers, stop, found.moves, found.explored, lengths := np.zeros(3, np.int16))
    assert (lengths == 0).all()


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"opening": 129}, "opening must be a whole number in 0..128, not 129"),
        ({"explore": 0.3}, r"explore \(percent\) must be a whole number in 0..100, not 0.3"),
        ({"depth_two": 91}, r"depth_two \(legal moves\) must be a whole number in 0..90, not 91"),
        ({"depth_one": 300}, "depth_one"),
    ],
)
def test_impossible_guidance_is_refused(wrong, complaint):
    with pytest.raises(BadInput, match=complaint):
        Guidance(**wrong)


def test_impossible_numbers_of_games_are_refused():
    with pytest.raises(BadInput, match="games must be"):
        guided_games(-1)
    with pytest.raises(BadInput, match="seed must be"):
        guided_games(1, seed=-1)
    assert guided_games(0).moves.shape == (0, 128)
