"""The search for a win by continuous fours against a slow one, and on positions made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from gomoku_slow_players import Stones, wins_by_fours
from rookery import BadInput, load
from rookery.games.position import Position
from rookery.search import gomoku_vcf as module
from rookery.search.analysis import Watch
from rookery.search.gomoku_vcf import makers, search_fours, vcf


def drawn(diagram: str, colour: str = "b") -> Position:
    rows = diagram.split()
    return load("gomoku", size=len(rows)).position(f"{'/'.join(rows)} {colour} - -")


def check_line(position: Position, line: tuple[int, ...]) -> None:
    """Replay a line: every attack makes a five or a four, every answer is forced, and the last move wins."""
    attacker, game = position.mover, position.copy()
    for i, move in enumerate(line):
        assert not game.over
        if i % 2 == 1:
            stops = Stones.of(game)
            threats = [p for p in stops.points() if stops.is_free(p) and stops.makes_five(p, "xo"[attacker])]
            assert move in [stops.action(p) for p in threats], "an attack that makes no four, or an answer elsewhere"
            fives = [p for p in stops.points() if stops.is_free(p) and stops.makes_five(p, "ox"[attacker])]
            assert not fives, "the defender could have won"
        game.play(move)
    assert game.over
    assert game.payoff(attacker) == 1.0


def random_fight(rng: np.random.Generator, size: int, stones: int) -> Position:
    while True:
        position = load("gomoku", size=size).start()
        for _ in range(stones):
            if not position.over:
                position.play(int(rng.choice(position.legal())))
        if not position.over:
            return position


def compare(seed: int, size: int, count: int) -> tuple[int, int]:
    rng, won, longer = np.random.default_rng(seed), 0, 0
    for _ in range(count):
        position = random_fight(rng, size, int(rng.integers(size * size // 4, size * size * 2 // 3)))
        found = search_fours(position)
        assert found.complete
        assert (found.line is not None) == wins_by_fours(Stones.of(position)), position.text()
        if found.line is not None:
            check_line(position, found.line)
            won, longer = won + 1, longer + (len(found.line) > 3)
    return won, longer


def test_wins_are_those_of_a_slow_search_and_every_line_holds():
    won, longer = compare(1, 7, 60)
    assert 5 < won < 55
    assert longer > 0


@pytest.mark.slow
@pytest.mark.parametrize("size", [6, 8, 10])
def test_many_wins_are_those_of_a_slow_search(size):
    won, longer = compare(size, size, 150)
    assert 10 < won < 140
    assert longer > 3


def test_points_that_make_fives_and_fours_of_a_line_are_those_found_one_by_one():
    rng = np.random.default_rng(0)
    for _ in range(300):
        cells = rng.integers(0, 4, 20).clip(0, 2)  # 0 and 3 free
        own = sum(1 << 6 + i for i in range(20) if cells[i] == 1) | (2**64 - (1 << 26)) | 63
        other = sum(1 << 6 + i for i in range(20) if cells[i] == 2) | (2**64 - (1 << 26)) | 63
        stones = {(1, i + 1): "xo"[cells[i] - 1] for i in range(20) if cells[i] > 0}
        board = Stones(20, stones, "x")
        free = [(1, i + 1) for i in range(20) if cells[i] == 0]
        windows = [[(1, i + k) for k in range(5)] for i in range(1, 17)]
        clear = [w for w in windows if all(stones.get(p) != "o" for p in w)]
        fives, fours = makers(np.uint64(own), np.uint64(other))
        want = [{p for w in clear for p in w if p in free and sum(q in free for q in w) == left} for left in (1, 2)]
        assert [{(1, i + 1) for i in range(20) if int(bits) >> 6 + i & 1} for bits in (fives, fours)] == want
        if not any(all(q in stones for q in w) for w in clear):
            assert want[0] == {p for p in free if len(board.row(p, (0, 1), "x")[0]) >= 5}


FOUR_AND_FOUR = """
    .........
    .....x...
    .....x...
    .....x...
    .xxx.....
    o....o...
    .........
    ...o.o...
    ........."""


def test_a_point_that_makes_two_fours_wins():
    position = drawn(FOUR_AND_FOUR.replace("o....o", ".....o"), "b")
    line = vcf(position)
    assert line is not None
    check_line(position, line)


COUNTER_FOUR = """
    ..........
    ......x...
    ......o...
    ......o...
    .oxxx..o..
    ......o...
    .....x....
    .....x....
    ..........
    o........."""


def test_an_answer_that_makes_a_four_must_be_stopped_with_a_four():
    # F6 is answered at G6; then F5 makes an open four, unless the answer has made a four that calls for G4
    free = drawn(COUNTER_FOUR.replace("......o...", "..........", 1).replace("o.........", "o..o......"))
    stopped = drawn(COUNTER_FOUR)
    assert [wins_by_fours(Stones.of(position)) for position in (free, stopped)] == [True, False]
    assert vcf(stopped) is None
    line = vcf(free)
    assert line is not None
    assert free.move_text(line[0]) == "F6"
    check_line(free, line)


def test_a_threat_of_the_defender_leaves_only_the_move_that_stops_it():
    # White makes a five at F5; Black's three in column A does not stop that
    position = drawn("""
        .........
        .........
        .........
        x........
        xoooo.x..
        x....x...
        .....x...
        .........
        .........""")
    quiet = drawn("""
        .........
        .........
        .........
        x..o.....
        xooo..x..
        x....x...
        .....x...
        .........
        .........""")
    assert vcf(position) is None
    assert search_fours(position).nodes == 0
    assert search_fours(quiet).nodes > 0


def test_two_fives_of_the_defender_cannot_be_stopped_even_by_an_open_four():
    # B5 or G5 makes one, but White wins at the other point
    position = drawn("""
        .........
        .x....x..
        .x....x..
        .x....x..
        ..oooo...
        .........
        .........
        .........
        .........""")
    assert search_fours(position).line is None
    assert wins_by_fours(Stones.of(position)) is False


def test_a_five_is_played_at_once():
    position = drawn(".........\n" * 4 + ".xxxx....\n.oooo....\n" + ".........\n" * 3)
    assert [position.move_text(move) for move in vcf(position) or ()] == ["A5"]


def test_white_wins_by_fours_too():
    position = drawn(
        """
        .........
        ..x......
        .ooo.x...
        ....o....
        ....ox...
        ....o....
        ...xx....
        .........
        .........""",
        "w",
    )
    line = vcf(position)
    assert line is not None
    check_line(position, line)


def test_a_quiet_position_is_denied_and_nothing_is_searched():
    position = load("gomoku").start()
    position.play("H8")
    found = search_fours(position)
    assert (found.line, found.complete, found.nodes) == (None, True, 0)


def hard_position(groups: int = 3) -> Position:
    """Threes that are blocked on one side and far from each other: fours in any order, and no win."""
    rows = ["." * 20] * 20
    for i in range(0, groups, 2):
        rows[5 * (i // 2)] = "ooxxx..o.." + ("ooxxx..o.." if i + 1 < groups else "." * 10)
    return drawn("\n".join(rows))


def test_a_limit_of_nodes_is_kept_and_told(monkeypatch):
    position = hard_position()
    whole = search_fours(position)
    assert whole.complete
    assert whole.nodes == 54  # 27 positions, each searched once: six fours in the first, none when all threes are used
    short = search_fours(position, nodes=2)
    assert (short.line, short.complete, short.nodes) == (None, False, 2)
    monkeypatch.setattr(module, "SLICE", 1)
    assert search_fours(position) == whole


def test_a_search_that_was_told_to_stop_claims_nothing():
    watch = Watch()
    watch.stop[0] = 1
    found = search_fours(hard_position(), watch=watch)
    assert (found.line, found.complete) == (None, False)


def test_other_rules_and_games_are_refused():
    for spec in ("gomoku:rule=standard", "gomoku:rule=renju", "gomoku:rule=caro"):
        with pytest.raises(BadInput, match="rule=freestyle only"):
            vcf(load(spec).start())
    with pytest.raises(BadInput, match="plays gomoku, not domineering"):
        vcf(load("domineering").start())
    with pytest.raises(BadInput, match=r"nodes of a search for fours must be a whole number in 1\.\."):
        vcf(load("gomoku").start(), nodes=0)


def test_an_opening_of_swap2_has_no_win():
    assert vcf(load("gomoku", opening="swap2").start()) is None
