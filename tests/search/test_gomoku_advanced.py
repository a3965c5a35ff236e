"""The advanced player of Gomoku: its patterns against their definitions, its threats, and a match with baseline."""

from __future__ import annotations

import math
import threading
import time

import numpy as np
import pytest

from gomoku_match import Match, random_opening
from gomoku_slow_players import Stones, fives
from rookery import BadInput, load
from rookery.games.position import Position
from rookery.search import gomoku_advanced as module
from rookery.search.analysis import Analysis, Limits, Watch
from rookery.search.gomoku_advanced import Search, search
from rookery.search.gomoku_judge import AT_LEAST, AT_MOST, ENTRY, EXACT, WIN, from_table, is_pressed, store
from rookery.search.gomoku_lines import POINTS, new_record, point_of
from rookery.search.gomoku_memory import FRAME, SPARE
from rookery.search.gomoku_patterns import (
    BOARD,
    CROSSING,
    FIVE,
    FOUR,
    IS_FIVE,
    LOWEST_COUNTED,
    NOTHING,
    OPEN_FOUR,
    OPEN_THREE,
    OPEN_TWO,
    PATTERNS,
    SUMMED,
    THREE,
    TWO,
    WEIGHTS,
    count_of,
    lay,
    put,
    rank_of,
    take,
    weight_of,
)  # fmt: skip
from support import random_walk


def drawn(diagram: str, colour: str = "b") -> Position:
    rows = diagram.split()
    return load("gomoku", size=len(rows)).position(f"{'/'.join(rows)} {colour} - -")


# ---- patterns ------------------------------------------------------------------------------------


def slow_pattern(cells: str, memory: dict[str, int]) -> int:
    """Say what the x in the middle of nine cells makes: x own, . free, # anything else."""
    if cells not in memory:
        memory[cells] = found_pattern(cells, memory)
    return memory[cells]


def found_pattern(cells: str, memory: dict[str, int]) -> int:
    if "xxxxx" in cells:
        return FIVE
    after = [cells[:i] + "x" + cells[i + 1 :] for i in range(9) if cells[i] == "."]
    completions = sum("xxxxx" in row for row in after)
    if completions:
        return OPEN_FOUR if completions > 1 else FOUR
    next_ones = {slow_pattern(row, memory) for row in after}
    for made, pattern in ((OPEN_FOUR, OPEN_THREE), (FOUR, THREE), (OPEN_THREE, OPEN_TWO), (THREE, TWO)):
        if made in next_ones:
            return pattern
    return NOTHING


def test_every_pattern_is_that_of_its_definition():
    memory: dict[str, int] = {}
    for index in range(1 << 16):
        own, other = index >> 8, index & 255
        signs = ["#" if other >> i & 1 else "x" if own >> i & 1 else "." for i in range(8)]
        assert PATTERNS[index] == slow_pattern("".join(signs[:4]) + "x" + "".join(signs[4:]), memory)


@pytest.mark.parametrize(
    ("cells", "pattern"),
    [("...xxxx..", OPEN_FOUR), (".#xxxx...", FOUR), ("x.xxx.x..", OPEN_FOUR), ("..xxx....", OPEN_THREE),
     (".#xxx....", THREE), ("...xx....", OPEN_TWO), ("#.#x#....", NOTHING), ("..x.xx...", OPEN_THREE)],
)  # fmt: skip
def test_some_patterns_are_what_players_call_them(cells, pattern):
    middle = cells[:9]
    at = next(i for i in (4, 3, 5) if middle[i] == "x")
    row = ("." * 4 + middle + "." * 4)[at : at + 9]
    assert slow_pattern(row, {}) == pattern


def test_a_board_that_stones_were_put_on_and_taken_from_is_the_same_as_a_new_one():
    rng = np.random.default_rng(0)
    for size in (5, 9, 20):
        for position, action in random_walk(load("gomoku", size=size), size):
            if action is None or rng.random() > 0.1:
                continue
            fresh, used = new_record(BOARD, size), new_record(BOARD, size)
            lay(fresh[0], position.state)
            lay(used[0], position.state)
            free = [int(a) for a in rng.permutation(position.legal())[:6]]
            frames = np.empty(len(free), FRAME)
            for i, point in enumerate(free):
                put(used[0], i % 2, point, frames[i])
            for i, point in reversed(list(enumerate(free))):
                take(used[0], i % 2, point, frames[i])
            assert all(np.array_equal(fresh[name], used[name]) for name in fresh.dtype.names or ())


def test_a_stone_put_on_a_board_leaves_what_a_new_board_has():
    for position, action in random_walk(load("gomoku", size=9), 4):
        if action is None:
            break
        before, after, child = new_record(BOARD, 9), new_record(BOARD, 9), position.copy()
        lay(before[0], position.state)
        put(before[0], int(position.state["colour"]), action, np.empty(1, FRAME)[0])
        child.play(action)
        lay(after[0], child.state)
        free = child.legal() if not child.over else []
        for name in ("lines", "sums", "key"):
            assert np.array_equal(before[name], after[name]), name
        assert np.array_equal(before["shapes"][0][free], after["shapes"][0][free])


def test_counts_and_weights_of_a_board_are_those_of_its_free_points_one_by_one():
    for position, action in random_walk(load("gomoku", size=9), 5):
        if action is None:
            break
        boards = new_record(BOARD, 9)
        lay(boards[0], position.state)
        for colour in range(2):
            shapes = [int(boards[0]["shapes"][point]) >> 12 * colour & 4095 for point in position.legal()]
            points = [tuple(shape >> 3 * direction & 7 for direction in range(4)) for shape in shapes]
            ranks = [rank_of(patterns) for patterns in points]
            for rank in range(LOWEST_COUNTED, IS_FIVE + 1):
                assert count_of(boards[0], colour, rank) == ranks.count(rank)
            weights = [WEIGHTS[list(patterns)].sum() for patterns in points]
            assert weight_of(boards[0], colour) == sum(weights) + sum(CROSSING.get(rank, 0) for rank in ranks)


def test_no_board_is_too_heavy_for_its_sums():
    assert int(SUMMED.max()) * POINTS < 1 << 64


# ---- threats -------------------------------------------------------------------------------------


def test_a_five_is_made_and_a_five_is_stopped():
    rng, seen = np.random.default_rng(8), 0
    while seen < 12:
        position = random_opening(rng, 8)
        while not position.over and seen < 12:
            board = Stones.of(position)
            own, others = (fives(board, sign) for sign in (board.mover, "xo"[board.mover == "x"]))
            action = search(position, Limits(nodes=200)).action
            if own or len(others) == 1:
                seen += 1
                assert action in [board.action(point) for point in own or others]
            position.play(action if rng.random() < 0.7 else int(rng.choice(position.legal())))


def test_against_an_open_three_all_that_stops_it_and_own_fours_are_looked_at():
    position = drawn("""
        ........x
        .........
        .........
        .........
        ...ooo...
        .........
        .........
        oxxx.....
        .........""")
    looked = Search(position, Limits(depth=2), Watch())
    looked.go_on(0)
    moves = looked.frames[0]["moves"][: int(looked.frames[0]["count"])]
    names = {position.move_text(int(point_of(int(move)))) for move in moves}
    assert names == {"B5", "C5", "G5", "H5"} | {"E2", "F2"}


@pytest.mark.parametrize(("second", "pressed"), [(".......", False), ("..ooo..", True), ("..oo...", False)])
def test_one_open_three_is_answered_with_one_stone_and_two_are_not(second, pressed):
    boards, free = new_record(BOARD, 9), "." * 9
    lay(boards[0], drawn("\n".join([free, "...ooo...", *[free] * 5, f".{second}.", free])).state)
    assert is_pressed(boards[0], 0) == pressed


def test_moves_that_are_alike_rank_alike_before_anything_is_remembered():
    position = drawn(".....\n.....\n..x..\n.....\n.....", "w")
    looked = Search(position, Limits(depth=2), Watch())
    looked.go_on(0)
    moves = looked.frames[0]["moves"][: int(looked.frames[0]["count"])]
    ranks = {int(point_of(int(move))): int(move) >> 9 for move in moves}
    assert ranks[0] == ranks[4]  # two corners; the others come after the moves that are looked at


def test_a_win_by_fours_is_found_at_once():
    position = drawn("""
        .........
        .....x...
        .....x...
        .....x...
        .xxx.....
        .....o...
        ..o......
        ...o.o...
        .o.......""")
    found = search(position, Limits(depth=1))
    assert (found.value, found.proven, found.note) == (1.0, True, "wins by continuous fours")
    for move in found.lines[0].moves:
        position.play(move)
    assert position.payoff(0) == 1.0


def test_a_win_in_the_table_is_as_far_from_the_position_wherever_that_is_met():
    frames, entries = np.zeros(1, FRAME), np.zeros(1, ENTRY)
    for sign in (1, -1):
        frames[0]["best"] = sign * (WIN - 9)
        store(entries[0], np.uint64(7), frames[0], 4)
        assert from_table(int(entries[0]["value"]), 6) == sign * (WIN - 11)
    frames[0]["best"] = 300
    store(entries[0], np.uint64(7), frames[0], 4)
    assert from_table(int(entries[0]["value"]), 6) == 300


def test_what_is_stored_is_a_bound_where_it_left_the_window():
    frames, entries = np.zeros(1, FRAME), np.zeros(1, ENTRY)
    frames[0]["floor"], frames[0]["beta"] = 10, 20
    for best, bound in ((9, AT_MOST), (10, AT_MOST), (11, EXACT), (19, EXACT), (20, AT_LEAST), (21, AT_LEAST)):
        frames[0]["best"] = best
        store(entries[0], np.uint64(7), frames[0], 4)
        assert entries[0]["bound"] == bound


# ---- limits --------------------------------------------------------------------------------------


def test_the_same_limits_give_the_same_move():
    position = random_opening(np.random.default_rng(1), 6)
    for limits in (Limits(depth=5), Limits(nodes=3000)):
        assert search(position, limits) == search(position, limits)


def test_a_search_in_kept_memory_finds_what_it_finds_in_new_memory():
    rng = np.random.default_rng(8)
    positions = [random_opening(rng, stones) for stones in (4, 12, 20)] + [drawn("\n".join(["....."] * 5))]
    positions[-1].play("C3")
    first = {}
    for number, position in enumerate(positions):
        SPARE.clear()
        first[number] = [search(position, Limits(depth=depth)) for depth in (2, 3)]
    assert SPARE
    for number in (2, 0, 3, 1, 2, 1, 0, 3):
        assert [search(positions[number], Limits(depth=depth)) for depth in (2, 3)] == first[number]


def test_a_search_begun_during_another_has_memory_of_its_own():
    inner, outer = (random_opening(np.random.default_rng(seed), 9) for seed in (1, 2))
    alone, expected = search(outer, Limits(depth=4)), search(inner, Limits(depth=4))
    heard = []
    found = search(outer, Limits(depth=4), Watch(report=lambda _: heard.append(search(inner, Limits(depth=4)))))
    assert heard
    assert set(heard) == {expected}
    assert found == alone


def test_slices_change_nothing(monkeypatch):
    position = random_opening(np.random.default_rng(1), 6)
    whole = search(position, Limits(depth=6))
    monkeypatch.setattr(module, "SLICE", 7)
    assert search(position, Limits(depth=6)) == whole


def test_limits_are_kept():
    position = random_opening(np.random.default_rng(2), 6)
    for nodes in (1, 10, 1000):
        found = search(position, Limits(nodes=nodes))
        assert found.nodes <= nodes
        assert found.action in position.legal()
    assert search(position, Limits(depth=3)).depth == 3
    begun = time.perf_counter()
    search(position, Limits(seconds=0.05))
    assert time.perf_counter() - begun < 2.0  # room for a machine that is busy with other things


def test_all_the_time_in_the_world_may_be_given():
    position = drawn(".....\n.....\n..x..\n.....\n.....", "w")
    assert search(position, Limits(seconds=math.inf, nodes=100)).action in position.legal()


def test_depths_are_reported_as_they_are_finished():
    reports: list[Analysis] = []
    position = random_opening(np.random.default_rng(2), 6)
    found = search(position, Limits(depth=6), Watch(report=reports.append))
    assert [report.depth for report in reports] == sorted({report.depth for report in reports})
    assert reports[-1].depth == found.depth == 6


def test_a_search_stops_soon_after_it_is_told():
    position = random_opening(np.random.default_rng(2), 6)
    search(position, Limits(depth=2))
    watch, ended = Watch(), list[float]()

    def work() -> None:
        assert search(position, Limits(seconds=60.0), watch).action in position.legal()
        ended.append(time.perf_counter())

    worker = threading.Thread(target=work)
    worker.start()
    time.sleep(0.1)
    watch.stop[0] = 1
    told = time.perf_counter()
    worker.join()
    assert ended[0] - told < 2.0  # 50 ms, and room for a machine that is busy with other things


def test_a_game_on_every_size_of_board_ends():
    for size in (5, 6, 20):
        position = load("gomoku", size=size).start()
        while not position.over:
            position.play(search(position, Limits(nodes=60)).action)


def test_an_opening_of_swap2_is_answered_until_the_game_begins():
    position = load("gomoku", opening="swap2").start()
    for _ in range(6):
        position.play(search(position, Limits(depth=2)).action)
    assert position.text().split()[2] in ("-", "swapped")


def test_what_advanced_does_not_play_is_refused():
    with pytest.raises(BadInput, match="rule=freestyle only, not rule=caro"):
        search(load("gomoku:rule=caro").start(), Limits(depth=2))
    with pytest.raises(BadInput, match="advanced needs a limit"):
        search(load("gomoku").start(), Limits())
    with pytest.raises(BadInput, match=r"depth of advanced must be a whole number in 1\.\.60, not 61"):
        search(load("gomoku").start(), Limits(depth=61))


@pytest.mark.slow
def test_advanced_scores_70_percent_against_baseline_in_the_time_that_takes():
    match = Match()
    shares = match.play(100, seed=7)
    assert np.mean(match.processor["advanced"]) < 1.1 * np.mean(match.processor["baseline"])
    assert shares.mean() >= 0.7  # 0.81 is expected (docs/search/gomoku-agents.md), with a standard error of 0.025
