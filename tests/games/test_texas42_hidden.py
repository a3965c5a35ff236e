"""Texas 42: what a seat sees, and that it sees nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from games.slow_texas42 import NAMES, random_hand, suit_tiles, tile_id
from rookery import BadInput, load
from rookery.games import texas42
from rookery.games.position import Position
from rookery.games.texas42_tiles import tile_text
from rookery.terminal import Session


def other_world(position: Position, viewer: int, rng: np.random.Generator) -> Position:
    """Deal the tiles a viewer has not seen anew, so that the same bids and plays are possible."""
    plays, dealt = texas42.record(position), [list(map(int, hand)) for hand in position.state["tiles"]]
    declaration, voids = int(position.state["declaration"]), texas42.voids(position)
    barred = [
        {tile_id(tile) for suit in voids[seat] for tile in suit_tiles(NAMES[declaration], suit)} for seat in range(4)
    ]
    shown = [[tile for player, tile in plays if player == seat] for seat in range(4)]
    unseen = [tile for seat in range(4) if seat != viewer for tile in dealt[seat] if tile not in shown[seat]]
    while True:
        pool = rng.permutation(unseen).tolist()
        hands = [
            dealt[seat] if seat == viewer else shown[seat] + [pool.pop() for _ in range(7 - len(shown[seat]))]
            for seat in range(4)
        ]
        if all(not barred[s] & (set(hands[s]) - set(shown[s])) for s in range(4) if s != viewer):
            return load("texas42").set_up(hands, declaration, int(position.state["opener"]), [t for _, t in plays])


@pytest.mark.parametrize("seed", range(6))
def test_dealing_hidden_tiles_anew_changes_nothing_a_seat_sees(seed):
    rng = np.random.default_rng(seed)
    hands, declaration, leader, choices = random_hand(rng)
    position, differing = load("texas42").set_up(hands, declaration, leader), 0
    for choice in choices:
        for viewer in range(4):
            other = other_world(position, viewer, rng)
            differing += other.text() != position.text()
            seen, again = position.seen_by(viewer), other.seen_by(viewer)
            assert seen.states.tobytes() == again.states.tobytes()
            assert (seen.text(), seen.draw(), seen.key) == (again.text(), again.draw(), again.key)
            for kind in ("all", "own", "known", "open"):
                assert (seen.observe(kind) == again.observe(kind)).all()
            if viewer == position.mover:
                assert (position.observe("own") == other.observe("own")).all()
                assert (position.observe("known") == other.observe("known")).all()
        legal = position.legal()
        position.play(int(legal[choice % len(legal)]))
    assert differing > 50


def test_dealing_hidden_tiles_anew_changes_nothing_a_bidder_sees():
    game, rng = load("texas42:auction=redeal"), np.random.default_rng(3)
    for seed in range(20):
        position, bids = game.start(seed), []
        while not position.over and len(bids) < 4:
            viewer = position.mover
            hands = [list(map(int, hand)) for hand in position.state["tiles"]]
            pool = rng.permutation([tile for seat in range(4) if seat != viewer for tile in hands[seat]]).tolist()
            anew = [hands[seat] if seat == viewer else [pool.pop() for _ in range(7)] for seat in range(4)]
            other = game.set_up(anew, None, 0, [], bids)
            assert other.text() != position.text()
            assert position.seen_by(viewer).states.tobytes() == other.seen_by(viewer).states.tobytes()
            for kind in ("own", "known", "bidding"):
                assert (position.observe(kind) == other.observe(kind)).all()
            bids.append(str(rng.choice(position.moves())))
            position.play(bids[-1])


@pytest.mark.parametrize("spec", ["texas42", "texas42:auction=redeal"])
def test_a_seen_position_keeps_the_record_the_own_hand_and_its_moves(spec):
    game = load(spec)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        position = game.start(seed)
        while not position.over:
            for viewer in range(4):
                seen = position.seen_by(viewer)
                assert texas42.held(seen) == [h if s == viewer else None for s, h in enumerate(texas42.held(position))]
                assert texas42.record(seen) == texas42.record(position)
                assert texas42.points(seen) == texas42.points(position)
                assert texas42.voids(seen) == texas42.voids(position)
                assert (seen.mover, seen.over) == (position.mover, position.over)
                assert game.position(seen.text()).states.tobytes() == seen.states.tobytes()
            seen = position.seen_by(position.mover)
            assert seen.moves() == position.moves()
            assert (seen.observe("own") == position.observe("own")).all()
            action = int(rng.choice(position.legal()))
            seen.play(action)
            mover = position.mover
            position.play(action)
            assert seen.states.tobytes() == position.seen_by(mover).states.tobytes()


def test_a_seat_whose_hand_is_hidden_has_no_legal_slots():
    seen = load("texas42").start(3).seen_by(2)
    assert seen.mover == 0
    assert seen.legal().tolist() == []
    with pytest.raises(BadInput, match="not legal"):
        seen.play(0)


def test_a_tile_played_for_a_hidden_hand_is_refused_because_the_hand_is_hidden():
    seen = load("texas42").set_up(texas42.deal(42), 6, 0).seen_by(1)
    with pytest.raises(BadInput) as error:
        seen.play("2-2")
    assert str(error.value).startswith("move '2-2': the hand of South is hidden; only its played tiles are known here")


def test_a_drawing_shows_as_many_unknown_tiles_as_a_hidden_hand_still_holds():
    seen = load("texas42").set_up(texas42.deal(42), 6, 0, ["2-2", "4-2"]).seen_by(2)
    assert seen.draw().splitlines()[1:] == [
        "  South 2-2 | ? ? ? ? ? ?",
        "  West  4-2 | ? ? ? ? ? ?",
        "> North     | 1-0 1-1 2-1 4-3 5-2 6-4 6-5",
        "  East      | ? ? ? ? ? ? ?",
    ]


def test_hidden_tiles_are_marked_unknown_in_the_tokens():
    position = load("texas42").start(3)
    seen, whole = position.seen_by(0).observe("all"), position.observe("all")
    assert (seen[:8] == whole[:8]).all()
    assert (seen[8:29, [0, 1, 2, 3, 4, 8]] == -1).all()
    assert (seen[8:29, [5, 6, 7, 9, 10, 11]] == whole[8:29, [5, 6, 7, 9, 10, 11]]).all()
    assert (position.seen_by(1).observe("own")[1:8, :4] == -1).all()


def test_a_person_at_the_terminal_is_shown_the_own_hand_only(capsys):
    position = load("texas42").start(3)
    hidden = [tile_text(tile) for seat in (1, 2, 3) for tile in position.state["tiles"][seat]]
    lines = iter(["board", "text", "moves", "9-9", hidden[0], "quit"])
    Session(position, 0, 0, lambda prompt: next(lines)).run()
    shown = capsys.readouterr()
    told = shown.out + shown.err.replace(f"{hidden[0]!r}", "").replace("like 6-4", "")
    assert "2-0" in told
    assert [tile for tile in hidden if tile in told] == []
    assert shown.out.splitlines()[-1] == f"left at {position.seen_by(0).text()}"
