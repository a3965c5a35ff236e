"""Lessons: what a supervisor does, kept in shards, and the rows a network learns from."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rookery import load
from rookery.errors import BadInput
from rookery.learn import lessons as module
from rookery.learn.lessons import (
    SHARD,
    LessonMaker,
    count_held_out,
    gather_lessons,
    is_held_out,
    join_pieces,
    load_lessons,
    make_lessons,
    makers,
    piece_path,
    pieces_of,
    rows_of,
    save_lessons,
    shard_path,
)
from rookery.learn.sections import LessonSettings
from rookery.learn.spread import Processes, Threads, in_turn
from rookery.search.analysis import Limits
from rookery.search.gomoku_baseline import search
from support import CONNECT_FOUR

GAME = load("gomoku", size=7)


def slow_rows(game, kind, lessons, first, temperature):
    """Yield what each row should hold, position by position: the definition."""
    for g, moves in enumerate(lessons.moves):
        end = game.start()
        for action in moves[moves >= 0]:
            end.play(int(action))
        assert end.over
        position = game.start()
        for ply, action in enumerate(moves[moves >= 0]):
            if lessons.chosen[g, ply] >= 0:
                policy = np.zeros(game.actions)
                policy[lessons.chosen[g, ply]] = 1
                if temperature and lessons.considered[g, ply, 0] >= 0:
                    policy[:] = 0
                    for move, worth in zip(lessons.considered[g, ply], lessons.worths[g, ply], strict=True):
                        if move >= 0:
                            policy[move] = math.exp(float(worth) / temperature)
                yield {
                    "observations": position.observe(kind).ravel(),
                    "policy": policy / policy.sum(),
                    "legal": position.legal(),
                    "values": lessons.values[g, ply],
                    "outcomes": end.payoff(position.mover),
                    "played": lessons.chosen[g, ply],
                    "plies": ply,
                    "games": first + g,
                }
            position.play(int(action))


def check_rows(game, kind, lessons, first, temperature):
    rows = rows_of(game, kind, lessons, first, temperature)
    expected = list(slow_rows(game, kind, lessons, first, temperature))
    assert len(rows.counts) == len(expected) == lessons.positions > 20
    for row, wanted in enumerate(expected):
        count = int(rows.counts[row])
        np.testing.assert_array_equal(rows.actions[row, :count], wanted["legal"])
        assert (rows.weights[row, count:] == 0).all()
        policy = np.zeros(game.actions)
        policy[rows.actions[row, :count]] = rows.weights[row, :count] / rows.weights[row].sum()
        np.testing.assert_allclose(policy, wanted["policy"], atol=1e-6)
        np.testing.assert_allclose(rows.observations[row], wanted["observations"])
        for name in ("values", "outcomes", "played", "plies", "games"):
            assert getattr(rows, name)[row] == wanted[name], name
    assert (rows.taught == 1).all()
    assert set(rows.outcomes) >= {-1.0, 1.0}


@pytest.mark.parametrize("temperature", [0.0, 0.2])
@pytest.mark.parametrize("kind", ["planes", "history"])
def test_rows_hold_what_the_supervisor_said_of_each_position(temperature, kind):
    settings = LessonSettings(opening=3, explore=30, temperature=temperature)
    lessons = make_lessons(GAME, settings, seed=4, first=7, count=4)
    assert (lessons.considered.shape[1] > 0) == (temperature > 0)
    check_rows(GAME, kind, lessons, 7, temperature)


def test_a_soft_policy_prefers_the_supervisors_move():
    rows = rows_of(GAME, "planes", make_lessons(GAME, LessonSettings(temperature=0.05), 1, 0, 3), 0, 0.05)
    for actions, weights, played in zip(rows.actions, rows.weights, rows.played, strict=True):
        assert weights[list(actions).index(played)] == weights.max()
    assert (rows.weights > 0).sum() > 2 * len(rows.counts)


def test_lessons_of_the_baseline_are_its_moves_and_values():
    lessons = make_lessons(GAME, LessonSettings(supervisor="baseline:depth=3"), seed=2, first=0, count=2)
    for g in range(2):
        position = GAME.start()
        for ply, action in enumerate(lessons.moves[g][lessons.moves[g] >= 0]):
            if lessons.chosen[g, ply] >= 0:
                wanted = search(position, Limits(depth=3))
                assert lessons.chosen[g, ply] == wanted.action
                assert lessons.values[g, ply] == pytest.approx(wanted.value, abs=1e-6)
            position.play(int(action))


def test_lessons_of_the_baseline_hold_its_choices_in_swap2():
    game = load("gomoku:size=7,opening=swap2")
    lessons = make_lessons(game, LessonSettings(opening=3), seed=1, first=0, count=8)
    assert (lessons.chosen[:, 3] >= game.actions - 3).all()  # a colour is taken when three stones lie
    check_rows(game, "planes", lessons, 0, 0.0)


@pytest.mark.parametrize("opening", [4, 5])
def test_openings_of_lessons_go_on_behind_the_stones_of_swap2(opening):
    game = load("gomoku:size=9,opening=swap2")
    lessons = make_lessons(game, LessonSettings(opening=opening), seed=1, first=0, count=8)
    assert (lessons.moves[:, :3] < 81).all()
    assert (lessons.moves[:, 3] >= 81).all()  # what is done about them is drawn, too
    assert (lessons.chosen[:, :opening] < 0).all()
    check_rows(game, "planes", lessons, 0, 0.0)


@pytest.mark.slow
def test_any_player_of_the_arena_can_be_the_supervisor():
    game = load(CONNECT_FOUR)
    settings = LessonSettings(supervisor="alphabeta:depth=2", opening=2, explore=20)
    lessons = make_lessons(game, settings, seed=3, first=5, count=6)
    again = make_lessons(game, settings, seed=3, first=6, count=1)
    for one, other in zip(lessons, again, strict=True):
        np.testing.assert_array_equal(one[1:2], other)
    assert (lessons.chosen[:, :2] == -1).all()
    assert len({tuple(moves) for moves in lessons.moves}) == 6
    asked = lessons.chosen >= 0
    assert 0.02 < (lessons.moves != lessons.chosen)[asked].mean() < 0.4
    check_rows(game, "planes", lessons, 5, 0.0)


@pytest.mark.parametrize(
    ("supervisor", "complaint"),
    [
        ("random", "does not say what it thinks"),
        ("human", "does not say what it thinks"),
        ("uci:stockfish", "uci plays chess only"),
        ("nobody", "nobody"),
    ],
)
def test_a_supervisor_that_cannot_teach_is_refused(supervisor, complaint):
    with pytest.raises(BadInput, match=complaint):
        make_lessons(GAME, LessonSettings(supervisor=supervisor), 1, 0, 1)


# ---- shards --------------------------------------------------------------------------------------


def gathered(folder, threads=1, positions=2500, stop=lambda: False):
    told = []
    found = gather_lessons(folder, GAME, LessonSettings(positions=positions, threads=threads), 9, stop, told.append)
    return found, told


def test_there_are_just_enough_shards_and_not_more_on_more_threads(tmp_path):
    found, told = gathered(tmp_path / "one")
    assert sum(some.positions for some in found) >= 2500 > sum(some.positions for some in found[:-1])
    assert told[-1] == sum(some.positions for some in found)
    others, _ = gathered(tmp_path / "three", threads=3)
    assert len(found) == len(others)
    for one, other in zip(found, others, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_processes_make_the_same_shards(tmp_path):
    settings = LessonSettings(supervisor="alphabeta:depth=1", positions=1500, opening=2, threads=2)
    game = load(CONNECT_FOUR)
    here = gather_lessons(tmp_path / "here", game, settings, 9)
    elsewhere = gather_lessons(tmp_path / "elsewhere", game, settings, 9, spread=Processes(8))
    assert len(here) == len(elsewhere) > 1
    for number in range(len(here)):
        assert (
            shard_path(tmp_path / "here", number).read_bytes()
            == shard_path(tmp_path / "elsewhere", number).read_bytes()
        )


def test_processes_are_as_many_as_threads_may_be_and_none_for_compiled_games():
    played = LessonSettings(supervisor="alphabeta:depth=1", threads=3)
    assert makers(Processes(8), GAME, played).count == 3
    assert makers(Processes(8), GAME, LessonSettings(supervisor="alphabeta:depth=1")).count == 8
    assert isinstance(makers(Processes(8), GAME, LessonSettings(supervisor="baseline:depth=2")), Threads)
    assert makers(in_turn, GAME, played) is in_turn
    assert isinstance(makers(None, GAME, played), Threads)
    assert makers(None, GAME, played).count == 3


@pytest.mark.parametrize("temperature", [0.0, 0.1])
def test_a_shard_made_game_by_game_is_the_one_made_at_once(tmp_path, temperature):
    maker = LessonMaker(GAME.spec, LessonSettings(temperature=temperature), 9)
    save_lessons(tmp_path / "whole.npz", maker((SHARD, SHARD)))
    for count in (1, 8):
        for piece in pieces_of(1, count):
            save_lessons(piece_path(tmp_path, piece), maker(piece))
        join_pieces(tmp_path, pieces_of(1, count))
        assert sorted(path.name for path in tmp_path.iterdir()) == ["shard_00001.npz", "whole.npz"]
        assert shard_path(tmp_path, 1).read_bytes() == (tmp_path / "whole.npz").read_bytes()


@pytest.mark.parametrize("spread", [None, in_turn])
def test_a_slow_supervisor_is_stopped_and_watched_game_by_game(tmp_path, spread):
    game, told, wanted = load(CONNECT_FOUR), [], []
    settings = LessonSettings(supervisor="alphabeta:depth=1", positions=800, opening=2, threads=1)

    def enough():
        return len(told) >= wanted[-1]

    found = None
    while found is None:
        wanted.append(len(told) + 10)
        found = gather_lessons(tmp_path / "stopped", game, settings, 9, enough, told.append, spread)
    assert len(wanted) > 3
    assert len({*told}) > 30  # a shard has 32 games
    straight = gather_lessons(tmp_path / "straight", game, settings, 9)
    assert len(found) == len(straight)
    assert [path.read_bytes() for path in sorted((tmp_path / "stopped").iterdir())] == [
        path.read_bytes() for path in sorted((tmp_path / "straight").iterdir())
    ]


def test_one_player_is_made_for_all_games(tmp_path, monkeypatch):
    made, real = [], module.make_player
    monkeypatch.setattr(module, "make_player", lambda *how: (made.append(how), real(*how))[1])
    settings = LessonSettings(supervisor="alphabeta:depth=1", positions=300, opening=2, threads=1)
    gather_lessons(tmp_path, load(CONNECT_FOUR), settings, 9)
    assert len(made) == 1


def test_what_was_made_is_not_made_again(tmp_path, monkeypatch):
    asked = iter([False, True])
    assert gathered(tmp_path, stop=lambda: next(asked))[0] is None
    made, real = [], module.make_lessons
    monkeypatch.setattr(module, "make_lessons", lambda *how: (made.append(how[3]), real(*how))[1])
    found, _ = gathered(tmp_path)
    assert made == [SHARD * number for number in range(1, len(found))]


def test_where_enough_is_there_more_threads_make_nothing(tmp_path, monkeypatch):
    found, _ = gathered(tmp_path)
    monkeypatch.setattr("rookery.learn.lessons.make_lessons", lambda *how: pytest.fail("made again"))
    others, told = gathered(tmp_path, threads=16)
    assert len(others) == len(found)
    assert told[-1] == sum(some.positions for some in found)
    assert len(list(tmp_path.iterdir())) == len(found)


def test_a_damaged_shard_is_told_by_its_name(tmp_path):
    gathered(tmp_path, positions=100)
    path = shard_path(tmp_path, 0)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(BadInput, match=r"shard_00000.npz is damaged.*remove it"):
        load_lessons(path)


def test_whole_games_are_held_out():
    shards = [make_lessons(GAME, LessonSettings(), 1, SHARD * number, SHARD) for number in range(2)]
    games = np.concatenate([rows_of(GAME, "planes", shards[n], SHARD * n, 0).games for n in range(2)])
    apart = is_held_out(games, 0.1)
    assert set(games[apart]) == {0, 10, 20, 30, 40, 50, 60}
    assert set(games[~apart]) == set(range(64)) - {0, 10, 20, 30, 40, 50, 60}
    assert count_held_out(shards, 0.1) == apart.sum()


@pytest.mark.parametrize("share", [0.001, 0.15, 0.3, 0.35, 0.4, 0.45, 0.5])
def test_as_many_games_are_held_out_as_were_asked_for(share):
    apart = is_held_out(np.arange(10_000), share)
    assert apart.mean() == pytest.approx(share, abs=1e-4)
    assert apart[0]
    assert not apart[1]
