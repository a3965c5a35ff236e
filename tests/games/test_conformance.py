"""What every game must keep, whatever it is."""

from __future__ import annotations

import numpy as np
import pytest

from rookery import load
from rookery.games import rules, texas42
from rookery.games.game import Game
from rookery.games.position import Position
from rookery.search.lanes import lanes_legal
from support import SPECS, random_walk


def without_counter(position: Position) -> str:
    """The text of a position without its last word, and without a draw that comes of counting."""
    return position.text().rpartition(" ")[0].replace(" drawn", " -")


def texas42_identity(position: Position) -> str:
    """The hands and what has been played, without the order of finished tricks, which no longer matters."""
    plays = texas42.record(position)
    begun, made = int(position.state["plays"]) & ~3, int(position.state["plays"])
    trick = [int(tile) for tile in position.state["history"][begun:made]]
    words = position.text().split(" ")[:-1]
    return repr((words, sorted(plays), trick, texas42.points(position), texas42.voids(position)))


def chess_identity(position: Position) -> str:
    """The FEN of a position without counters, its en passant square only if a pawn may take there."""
    men, side, castling, passing = position.game.fen(position.state).split(" ")[:4]
    ranks = "".join("." * int(sign) if sign.isdigit() else sign for sign in men).split("/")
    takes = [move for move in position.moves() if move[2:] == passing and move[0] != passing[0]]
    takers = {ranks[8 - int(move[1])]["abcdefgh".index(move[0])] for move in takes}
    return f"{men} {side} {castling} {passing if takers & set('Pp') else '-'}"


IDENTITIES = {  # what the key tells apart, where that is not the whole text
    "chess": chess_identity,
    "gomoku": without_counter,
    "pylos": without_counter,
    "texas42": texas42_identity,
}


def sampled_walk(game: Game, seed: int, most: int = 60) -> list[tuple[Position, int | None]]:
    """About `most` positions of a random game, the last among them; an odd number of plies apart, for all seats."""
    walked = [(position.copy(), action) for position, action in random_walk(game, seed)]
    apart = len(walked) // most | 1
    return walked[(len(walked) - 1) % apart :: apart]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    metafunc.parametrize("spec", SPECS)


def test_facts_are_declared(spec):
    game = load(spec)
    assert game.name
    assert game.summary
    assert game.version >= 1
    assert len(game.teams) == game.seats >= 2
    assert game.information in ("perfect", "hidden")
    assert 0 <= game.most_legal <= game.actions
    assert game.observations
    assert load(game.spec if not spec.endswith(".py") else spec).options == game.options
    assert game.state.isalignedstruct


def test_legal_lists_keep_their_promises_along_random_games(spec):
    game = load(spec)
    room = np.empty(game.actions, np.int32)
    for seed in range(20):
        plies = 0
        for position, action in random_walk(game, seed):
            assert 0 <= position.mover < game.seats
            legal = position.legal()
            if action is None:
                assert len(legal) == 0
                continue
            plies += 1
            assert 1 <= len(legal) <= game.most_legal
            assert (np.diff(legal) > 0).all()
            asked = [a for a in range(game.actions) if rules.is_legal(position.state, a)] if seed == 0 else None
            assert asked is None or asked == legal.tolist()
            assert room[: lanes_legal(position.state, game.actions, room, 0, 1)].tolist() == legal.tolist()
        assert plies <= game.longest


def test_results_are_zero_before_the_end_and_sum_to_zero_over_teams(spec):
    game = load(spec)
    for seed in range(20):
        for position, action in random_walk(game, seed):
            payoffs = [position.payoff(seat) for seat in range(game.seats)]
            if action is not None:
                assert payoffs == [0] * game.seats
                continue
            assert all(-1 <= payoff <= 1 for payoff in payoffs)
            by_team = {team: {payoffs[s] for s in range(game.seats) if game.teams[s] == team} for team in game.teams}
            assert all(len(values) == 1 for values in by_team.values())
            assert sum(next(iter(values)) for values in by_team.values()) == 0


def test_text_round_trips(spec):
    game = load(spec)
    for seed in range(10):
        for position, action in sampled_walk(game, seed):
            again = game.position(position.text())
            assert again.text() == position.text()
            assert (again.key, again.mover, again.over) == (position.key, position.mover, position.over)
            assert again.legal().tolist() == position.legal().tolist()
            if action is None:
                assert [again.payoff(s) for s in range(game.seats)] == [position.payoff(s) for s in range(game.seats)]
            for kind in game.observations:
                assert (again.observe(kind) == position.observe(kind)).all()


def test_moves_as_text_are_distinct_and_are_read_back(spec):
    game = load(spec)
    for seed in range(5):
        for position, _ in random_walk(game, seed):
            texts = position.moves()
            assert len(set(texts)) == len(texts)
            assert [position.action(text) for text in texts] == position.legal().tolist()


def test_keys_are_equal_exactly_for_equal_positions(spec):
    game = load(spec)
    identity = IDENTITIES.get(game.name, Position.text)
    by_identity: dict[str, int] = {}
    met_again = 0
    for seed in range(60):
        for ply, (position, _) in enumerate(random_walk(game, seed, deal=seed // 2)):
            if ply > 30:
                break
            name = identity(position)
            met_again += name in by_identity
            assert by_identity.setdefault(name, position.key) == position.key
    assert len(set(by_identity.values())) == len(by_identity)
    assert met_again > 0


def test_observations_have_the_declared_shapes(spec):
    game = load(spec)
    for position, _ in random_walk(game, 1):
        for kind, shape in game.observations.items():
            seen = position.observe(kind)
            assert seen.shape == shape
            assert seen.dtype == np.float32
            assert np.isfinite(seen).all()


def test_symmetries_are_a_group_of_permutations(spec):
    symmetries = load(spec).symmetries()
    tables = [symmetries.actions, *symmetries.observations.values()]
    assert set(symmetries.observations) == set(load(spec).observations)
    for table in tables:
        assert len(table) == len(symmetries) == len(set(symmetries.names))
        assert (np.sort(table, 1) == np.arange(table.shape[1])).all()
        assert (table[0] == np.arange(table.shape[1])).all()
        known = {row.tobytes() for row in table}
        assert all(first[second].tobytes() in known for first in table for second in table)


def test_symmetries_commute_with_play(spec):
    game = load(spec)
    symmetries = game.symmetries()
    for s in range(len(symmetries)):
        for seed in range(4):
            other = game.start(seed)
            for position, action in random_walk(game, seed):
                moved = np.sort(symmetries.actions[s, position.legal()])
                assert other.legal().tolist() == moved.tolist()
                assert (other.over, other.mover) == (position.over, position.mover)
                for kind, table in symmetries.observations.items():
                    assert (other.observe(kind).reshape(-1) == position.observe(kind).reshape(-1)[table[s]]).all()
                if action is not None:
                    other.play(int(symmetries.actions[s, action]))
            assert [other.payoff(seat) for seat in range(game.seats)] == [
                position.payoff(seat) for seat in range(game.seats)
            ]


def test_start_forgets_the_game_before_and_keeps_the_options(spec):
    game = load(spec)
    fresh = game.start(3)
    *_, (used, _) = random_walk(game, 5)
    rules.start(used.state, 3)
    assert used.states.tobytes() == fresh.states.tobytes()


def test_what_lies_behind_the_live_bytes_of_a_state_is_never_read(spec):
    game = load(spec)
    live = game.live_bytes()
    assert 0 < live <= game.state.itemsize
    for position, action in sampled_walk(game, 7):
        other = position.copy()
        other.states.view(np.uint8)[live:] = 0xA5
        assert (other.over, other.key) == (position.over, position.key)
        assert [other.payoff(seat) for seat in range(game.seats)] == [position.payoff(s) for s in range(game.seats)]
        if action is None:
            continue
        assert other.mover == position.mover
        assert other.legal().tolist() == position.legal().tolist()
        for kind in game.observations:
            assert np.array_equal(other.observe(kind), position.observe(kind))
        position.play(action)
        other.play(action)
        assert (other.text(), other.key, other.over) == (position.text(), position.key, position.over)


def test_a_copy_is_independent(spec):
    position = load(spec).start()
    before = position.text()
    copy = position.copy()
    copy.play(int(copy.legal()[0]))
    assert position.text() == before != copy.text()


def test_a_record_has_no_holes_in_which_bytes_of_other_positions_could_stay(spec):
    dtype = load(spec).state
    assert sum(dtype[name].itemsize for name in dtype.names) == dtype.itemsize


def test_perfect_information_hides_nothing(spec):
    game = load(spec)
    position = game.start()
    if game.information == "perfect":
        assert all(position.seen_by(seat).states.tobytes() == position.states.tobytes() for seat in range(game.seats))


def test_vanishing_moves_do_not_come_back(spec):
    game = load(spec)
    if not game.vanishing:
        return
    for seed in range(5):
        known: dict[int, set[int]] = {}
        for position, action in random_walk(game, seed):
            if action is not None:
                legal = {int(move) for move in position.legal()}
                assert legal <= known.get(position.mover, legal)
                known[position.mover] = legal
