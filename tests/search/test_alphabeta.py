"""Alpha-beta against plain minimax, solved boards and mates; limits, stops and what is refused."""

from __future__ import annotations

import threading
import time
from itertools import combinations

import numpy as np
import pytest

from rookery import BadInput, load
from rookery.games.game import Game
from rookery.games.position import Position
from rookery.search import alphabeta
from rookery.search.alphabeta import DOMINEERING_DEPTHS, FEATURES, search, value_of
from rookery.search.alphabeta_desk import Settings, new_desk
from rookery.search.alphabeta_walk import begin, choose, depth_for, forget, walk
from rookery.search.analysis import Analysis, Limits, Watch
from rookery.search.evaluations import UNIT, WIN, evaluate
from rookery.search.perft import perft
from rookery.search.table import NO_BOUND, find, new_table
from search.slow_alphabeta import slow_move_score, slow_score
from support import CONNECT_FOUR, SPECS, random_walk

MOST_LEAVES = 1_500  # of a slow search


def spread_positions(game: Game, seed: int, count: int) -> list[Position]:
    """Return positions of a random game, spread over its length."""
    walked = [position.copy() for position, action in random_walk(game, seed) if action is not None]
    return walked[:: max(1, len(walked) // count)]


def affordable_depth(position: Position, deepest: int) -> int:
    """Return how deep the slow search can look here."""
    depth, deepest = 1, min(deepest, position.game.longest)
    while depth < deepest and sum(perft(position, depth + 1).values()) <= MOST_LEAVES:
        depth += 1
    return depth


def exact_score(position: Position, depth: int, settings: Settings) -> tuple[int, int]:
    """Return score and best move of a position at one depth, with iterative deepening before it."""
    desk = new_desk(position.game, depth + settings.quiet_plies, new_table(1))
    desk.states[0] = position.state
    stop, move = np.zeros(1, np.int32), -1
    for goal in range(1, depth + 1):
        begin(desk, settings, goal, move)
        assert walk(desk, settings, 1 << 40, stop)
        move = int(desk.frames[0]["best_move"])
    return int(desk.frames[0]["best"]), move


def check_against_minimax(spec: str, seed: int, count: int, deepest: int) -> None:
    for position in spread_positions(load(spec), seed, count):
        for quiet_plies in (0, 1):
            depth = affordable_depth(position, deepest)
            score = slow_score(position, depth, quiet_plies)
            found, move = exact_score(position, depth, Settings(quiet_plies=quiet_plies))
            assert found == score, position
            assert slow_move_score(position, move, depth, quiet_plies) == score, position
            analysis = search(position, Limits(depth=depth), quiet_plies=quiet_plies, table_megabytes=1)
            assert analysis.value == value_of(score)
            assert analysis.depth == depth or analysis.proven


# ---- the value -----------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["domineering:rows=4,cols=4", "pylos", "texas42", CONNECT_FOUR])
def test_scores_are_those_of_minimax(spec):
    check_against_minimax(spec, 1, 5, 5)


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("seed", range(2))
def test_scores_are_those_of_minimax_in_every_game(spec, seed):
    check_against_minimax(spec, seed, 8, 6)


def takebacks(game: Game, seed: int) -> list[Position]:
    """Return the positions of a random game of Pylos in which spheres are taken back."""
    return [position.copy() for position, action in random_walk(game, seed) if "take" in position.text() and action]


def test_a_mover_who_stays_the_mover_keeps_the_sign():
    pylos = load("pylos")
    found = [position for seed in range(8) for position in takebacks(pylos, seed)]
    assert len(found) >= 5
    for position in found[:8]:
        assert exact_score(position, 2, Settings())[0] == slow_score(position, 2)


def partner_may_follow(position: Position) -> bool:
    """Tell whether a move hands the turn to another seat of the same team."""
    children = [position.copy() for _ in position.legal()]
    for child, action in zip(children, position.legal(), strict=True):
        child.play(int(action))
    teams, seat = position.game.teams, position.mover
    return any(not child.over and child.mover != seat and teams[child.mover] == teams[seat] for child in children)


def test_a_partner_who_moves_next_keeps_the_sign():
    late = [position for seed in range(12) for position in spread_positions(load("texas42"), seed, 28)[8:24]]
    found = [position for position in late if evaluate(position.state) != 0 and partner_may_follow(position)]
    assert len(found) >= 5
    for position in found[:40]:
        assert exact_score(position, 4, Settings())[0] == slow_score(position, 4)


def score_within(position: Position, depth: int, alpha: int, beta: int) -> int:
    """Return what a search finds that is asked only whether the score lies between alpha and beta."""
    desk, settings = new_desk(position.game, depth, new_table(1)), Settings()
    desk.states[0] = position.state
    begin(desk, settings, depth, -1)
    desk.frames[0]["lowest"], desk.frames[0]["alpha"], desk.frames[0]["beta"] = alpha, alpha, beta
    assert walk(desk, settings, 1 << 40, np.zeros(1, np.int32))
    return int(desk.frames[0]["best"])


def test_a_partner_who_moves_next_has_the_same_window():
    late = [position for seed in range(12) for position in spread_positions(load("texas42"), seed, 28)[8:24]]
    found = [position for position in late if partner_may_follow(position) and slow_score(position, 5) != 0]
    assert len(found) >= 5
    for position in found[:40]:
        score = slow_score(position, 5)
        assert score_within(position, 5, score - 1, score + 1) == score
        assert score_within(position, 5, score, score + 1) <= score
        assert score_within(position, 5, score - 1, score) >= score


@pytest.mark.parametrize("spec", ["domineering:rows=5,cols=4", CONNECT_FOUR])
def test_what_is_left_out_changes_the_work_and_not_the_score(spec):
    for position in spread_positions(load(spec), 2, 4):
        whole = exact_score(position, 5, Settings())[0]
        for size in (1, 2, len(FEATURES)):
            for without in combinations(FEATURES, size):
                settings = Settings(**dict.fromkeys(without, False))
                assert exact_score(position, 5, settings)[0] == whole, (position, without)


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_what_is_left_out_changes_no_score_in_any_game(spec):
    for position in spread_positions(load(spec), 4, 8):
        depth = 4 if len(position.legal()) < 40 else 2
        scores = [exact_score(position, depth, Settings(**dict.fromkeys([name], False)))[0] for name in FEATURES]
        assert set(scores) == {exact_score(position, depth, Settings())[0]}, position


CLASSES = {  # rows -> class by columns, from the sheet of solved boards: who wins, or the first or second player
    1: "PHHHH",
    2: "VNNHV",
    3: "VNNHH",
    4: "VVVNV",
    5: "VHVHP",
}


@pytest.mark.parametrize("rows", CLASSES)
@pytest.mark.parametrize("cols", range(1, 6))
def test_small_boards_of_domineering_have_their_known_winners(rows, cols):
    game = load("domineering", rows=rows, cols=cols)
    board = "/".join(["." * cols] * rows)
    wins = []
    for seat, sign in enumerate("vh"):
        position = game.position(f"{board} {sign}")
        if position.over:
            wins.append(False)
            continue
        analysis = search(position, Limits(), table_megabytes=4)
        assert analysis.proven
        assert abs(analysis.value) == 1
        wins.append(analysis.value == 1)
        assert position.mover == seat
    outcome = {(True, True): "N", (False, False): "P", (True, False): "V", (False, True): "H"}[wins[0], wins[1]]
    assert outcome == CLASSES[rows][cols - 1]


def test_texas42_is_solved_to_the_last_trick():
    position = load("texas42").start(3)
    for _ in range(14):
        position.play(int(position.legal()[0]))
    analysis = search(position, Limits(), table_megabytes=4)
    assert analysis.proven
    assert analysis.value == value_of(slow_score(position, 14))
    end = position.copy()
    for action in analysis.lines[0].moves:
        end.play(action)
    assert end.over
    assert end.payoff(position.mover) == analysis.value


@pytest.mark.slow
def test_a_5_x_5_board_of_gomoku_with_nine_stones_is_known_to_be_a_draw():
    position = load("gomoku", size=5).start()
    for move in ("C3", "B2", "D4", "B4", "B3", "D2", "C2", "C4", "A4"):
        position.play(move)
    analysis = search(position, Limits())
    assert analysis.proven
    assert analysis.value == 0


# ---- mates ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fen", "move", "plies"),
    [
        ("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1", "a1a8", 1),
        ("r6k/8/8/8/8/8/5PPP/6K1 b - - 0 1", "a8a1", 1),
        ("r5rk/6pp/8/6N1/8/8/8/4R2K w - - 0 1", "g5f7", 1),
        ("7k/8/8/8/8/8/R7/1R5K w - - 0 1", None, 3),
        ("8/8/8/8/8/1k6/7r/K7 b - - 0 1", "h2h1", 1),
        ("4k3/8/4K3/8/8/8/8/7R w - - 0 1", "h1h8", 1),
        ("3k4/8/4K3/8/8/8/8/7R w - - 0 1", None, 3),
        ("7k/8/5K2/8/8/8/8/6R1 w - - 0 1", None, 3),
    ],
)
def test_mates_are_found_and_are_as_quick_as_they_can_be(fen, move, plies):
    position = load("chess").position(fen)
    analysis = search(position, Limits(depth=6), table_megabytes=4)
    assert analysis.value == 1
    assert analysis.proven
    assert analysis.depth == len(analysis.lines[0].moves) == plies
    if move is not None:
        assert position.move_text(analysis.action) == move
    for action in analysis.lines[0].moves:
        position.play(action)
    assert position.over
    assert position.payoff(position.mover) == -1


def test_a_loss_is_put_off_as_long_as_possible():
    game, lost = load("domineering", rows=5, cols=5), 0
    for seed in range(12):
        for position in (position for position, action in random_walk(game, seed) if action is not None):
            if len(position.legal()) > 5:
                continue
            scores = {int(action): slow_move_score(position, int(action), 12) for action in position.legal()}
            if max(scores.values()) < -UNIT and len(set(scores.values())) > 1:
                assert scores[search(position, Limits(), table_megabytes=1).action] == max(scores.values())
                lost += 1
    assert lost >= 2


def test_what_was_learnt_can_be_forgotten():
    desk = new_desk(load("domineering", rows=5, cols=5), 4, new_table(1))
    stop = np.zeros(1, np.int32)
    runs = []
    for position in spread_positions(load("domineering", rows=5, cols=5), 1, 3)[:2] * 2:
        forget(desk)
        desk.states[0] = position.state
        before = int(desk.place[1])
        runs.append((choose(desk, Settings(), 4, stop), int(desk.place[1]) - before))
    assert runs[:2] == runs[2:]


def test_captures_are_followed_beyond_the_depth():
    position = load("chess").position("4k3/8/2p5/3p4/8/8/8/3QK3 w - - 0 1")
    assert position.move_text(search(position, Limits(depth=1), quiet_plies=0).action) == "d1d5"
    assert position.move_text(search(position, Limits(depth=1), quiet_plies=4).action) != "d1d5"


def test_a_repetition_is_a_draw_on_the_path_and_not_in_the_table():
    game, table = load("chess"), new_table(1)
    once = "c1d1 a8a7 d1c1 a7a8"
    position = game.position(f"k7/8/8/8/8/8/7Q/2K5 w - - 0 1 moves {once} c1d1 a8a7 d1c1")
    analysis = search(position, Limits(depth=2), table=table)
    assert analysis.value == 0
    assert position.move_text(analysis.action) == "a7a8"
    assert table.entries[find(table, np.uint64(position.key))]["bound"] == NO_BOUND
    forgetful = game.position("8/k7/8/8/8/8/7Q/2K5 b - - 7 1")
    assert forgetful.key == position.key
    assert search(forgetful, Limits(depth=2), table=table).value < 0


# ---- lines, ties, progressive depth --------------------------------------------------------------


def test_several_lines_are_the_best_moves_with_their_values():
    position = spread_positions(load(CONNECT_FOUR), 5, 4)[1]
    scores = sorted((slow_move_score(position, int(action), 4) for action in position.legal()), reverse=True)
    analysis = search(position, Limits(depth=4), lines=4)
    assert [line.value for line in analysis.lines] == [value_of(score) for score in scores[:4]]
    assert len({line.action for line in analysis.lines}) == 4
    for line in analysis.lines:
        assert line.moves[0] == line.action
        assert value_of(slow_move_score(position, line.action, 4)) == line.value


def test_the_table_keeps_the_best_line_of_several():
    position, table = spread_positions(load(CONNECT_FOUR), 5, 4)[1], new_table(1)
    analysis = search(position, Limits(depth=4), lines=3, table=table)
    assert table.entries[find(table, np.uint64(position.key))]["move"] == analysis.action


def test_ties_are_broken_by_the_seed_among_all_best_moves_alone():
    position = load("domineering", rows=4, cols=5).start()
    scores = {int(action): slow_move_score(position, int(action), 2) for action in position.legal()}
    best = {action for action, score in scores.items() if score == max(scores.values())}
    assert len(best) > 1
    chosen = [
        search(position, Limits(depth=2), random_ties=True, seed=seed, table_megabytes=1).action for seed in range(60)
    ]
    assert set(chosen) == best
    again = search(position, Limits(depth=2), random_ties=True, seed=7, table_megabytes=1).action
    assert again == chosen[7]


def test_progressive_depth_goes_by_the_number_of_legal_moves():
    thresholds = np.array(DOMINEERING_DEPTHS)
    assert [depth_for(moves, thresholds) for moves in (240, 90, 89, 35, 34, 1)] == [1, 1, 2, 2, 3, 3]
    walk = [position.copy() for position, action in random_walk(load("domineering"), 0) if action is not None]
    for depth, (least, most) in enumerate(((90, 100), (35, 60), (10, 34)), start=1):
        position = next(position for position in walk if least <= len(position.legal()) <= most)
        analysis = search(position, Limits(), progressive=DOMINEERING_DEPTHS, table_megabytes=1)
        assert analysis.depth == depth


def test_the_compiled_choice_is_that_of_the_search():
    for position in spread_positions(load("domineering", rows=6, cols=6), 3, 5):
        desk = new_desk(position.game, 3, new_table(1))
        desk.states[0] = position.state
        move = choose(desk, Settings(), 3, np.zeros(1, np.int32))
        assert move == search(position, Limits(depth=3), quiet_plies=0, table_megabytes=1).action


def test_a_table_that_is_kept_changes_no_value():
    game, table = load("domineering", rows=5, cols=5), new_table(1)
    for position in spread_positions(game, 6, 6):
        kept = search(position, Limits(depth=4), table=table)
        assert kept.value == search(position, Limits(depth=4), without=["table"]).value


def test_what_a_deeper_search_has_left_in_a_table_changes_no_value():
    game, differ = load("domineering", rows=5, cols=5), 0
    for position in (position for seed in range(8) for position in spread_positions(game, seed, 8)[2:6]):
        table = new_table(1)
        deep = search(position, Limits(depth=9), table=table).value
        shallow = search(position, Limits(depth=2), without=["table"]).value
        assert search(position, Limits(depth=2), table=table).value == shallow
        differ += deep != shallow
    assert differ > 0


def test_a_table_of_other_settings_or_of_another_game_is_refused():
    game, table = load("domineering", rows=4, cols=4), new_table(1)
    search(game.start(), Limits(depth=2), table=table, quiet_plies=3)
    with pytest.raises(BadInput, match="scores of searches with quiet_plies=3, which mean nothing where quiet_plies=8"):
        search(game.start(), Limits(depth=2), table=table)
    with pytest.raises(BadInput, match="of another game than domineering:rows=4,cols=5"):
        search(load("domineering", rows=4, cols=5).start(), Limits(depth=2), table=table, quiet_plies=3)
    search(game.start(), Limits(depth=3), table=table, quiet_plies=3, lines=2, without=["killers"])


def test_a_table_in_use_is_refused_and_free_again_afterwards():
    game, table = load("domineering", rows=4, cols=4), new_table(1)
    refused: list[str] = []

    def meddle(analysis: Analysis) -> None:
        with pytest.raises(BadInput, match="used by another search at this moment") as error:
            search(game.start(), Limits(depth=1), table=table)
        refused.append(str(error.value))

    search(game.start(), Limits(depth=2), Watch(report=meddle), table=table)
    assert len(refused) == 2
    with pytest.raises(ZeroDivisionError):
        search(game.start(), Limits(depth=2), Watch(report=lambda analysis: 1 // 0), table=table)
    search(game.start(), Limits(depth=2), table=table)


# ---- limits --------------------------------------------------------------------------------------


def test_nodes_are_not_exceeded_and_a_legal_move_comes_out():
    position = load("domineering", rows=8, cols=8).start()
    for nodes in (1, 7, 1000, 30_000):
        analysis = search(position, Limits(nodes=nodes), table_megabytes=1)
        assert analysis.nodes <= nodes
        assert analysis.action in position.legal()
        assert analysis.note.startswith("stopped")


def test_slices_change_nothing(monkeypatch):
    position = load("domineering", rows=6, cols=6).start()
    whole = search(position, Limits(nodes=20_000), table_megabytes=1)
    monkeypatch.setattr(alphabeta, "FIRST_SLICE", 13)
    monkeypatch.setattr(alphabeta, "LARGEST_SLICE", 13)
    assert search(position, Limits(nodes=20_000), table_megabytes=1) == whole


def move_score(position: Position, action: int, depth: int) -> int:
    """Return what a move of Domineering is worth at a depth."""
    child = position.copy()
    child.play(action)
    return -exact_score(child, depth - 1, Settings())[0]


def test_an_unfinished_depth_never_makes_the_choice_worse():
    position = load("domineering", rows=6, cols=6).start()
    four, five = (search(position, Limits(depth=depth), table_megabytes=1) for depth in (4, 5))
    for nodes in range(four.nodes, five.nodes, max(1, (five.nodes - four.nodes) // 12)):
        analysis = search(position, Limits(nodes=nodes), table_megabytes=1)
        assert analysis.depth == 4
        assert move_score(position, analysis.action, 5) >= move_score(position, four.action, 5)
    assert search(position, Limits(nodes=five.nodes), table_megabytes=1).action == five.action


def test_time_ends_a_search():
    begun = time.perf_counter()
    analysis = search(load("domineering").start(), Limits(seconds=0.05), table_megabytes=1)
    assert analysis.note.startswith("stopped")
    assert time.perf_counter() - begun < 30  # compiling comes before the clock


def test_a_search_stops_when_told_while_other_threads_go_on():
    position, watch = load("domineering").start(), Watch()
    search(position, Limits(depth=1))
    found: list[Analysis] = []
    thread = threading.Thread(target=lambda: found.append(search(position, Limits(), watch)))
    thread.start()
    ticks, until = 0, time.perf_counter() + 0.3
    while time.perf_counter() < until:
        ticks += 1
        time.sleep(0.001)
    watch.stop[0] = 1
    told = time.perf_counter()
    thread.join(10)
    assert not thread.is_alive()
    assert time.perf_counter() - told < 1
    assert ticks > 10
    assert found[0].action in position.legal()


def test_told_to_stop_before_it_begins_it_still_names_a_legal_move():
    position, watch = load("pylos").start(), Watch()
    watch.stop[0] = 1
    analysis = search(position, Limits(), watch)
    assert analysis.action in position.legal()
    assert analysis.depth == 0
    assert analysis.note


def test_each_finished_depth_is_reported():
    heard: list[Analysis] = []
    search(load("pylos").start(), Limits(depth=4), Watch(report=heard.append))
    assert [analysis.depth for analysis in heard] == [1, 2, 3, 4]


# ---- what is refused -----------------------------------------------------------------------------


def test_a_finished_game_is_refused():
    position = load("domineering", rows=1, cols=3).start()
    with pytest.raises(BadInput, match="the game is over"):
        search(position, Limits(depth=2))


def test_a_position_with_hidden_hands_is_refused():
    position = load("texas42").start(1)
    with pytest.raises(BadInput, match="looks at all hands of texas42"):
        search(position.seen_by(position.mover), Limits(depth=2))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lines": 0}, "lines must be a whole number"),
        ({"quiet_plies": -1}, "quiet_plies must be a whole number"),
        ({"table_megabytes": 0}, "table_megabytes must be a whole number"),
        ({"progressive": [(90, 1), (35, 2)]}, "progressive must be pairs"),
        ({"progressive": [(0, 1), (35, 2), (0, 3)]}, "progressive must be pairs"),
        ({"progressive": [(90, 0), (0, 1)]}, "depth must be a whole number"),
        ({"progressive": 3}, "progressive must be pairs"),
        ({"without": ["magic"]}, "without must name some of table, killers"),
        ({"without": "table"}, "without must name some of table, killers"),
        ({"seed": 0.5}, "seed must be a whole number"),
    ],
)
def test_impossible_settings_are_refused(options, message):
    with pytest.raises(BadInput, match=message):
        search(load("domineering", rows=4, cols=4).start(), Limits(depth=2), **options)


def test_a_depth_beyond_the_deepest_is_refused():
    with pytest.raises(BadInput, match=r"depth of alpha-beta must be a whole number in 1..400, not 401"):
        search(load("pylos").start(), Limits(depth=401))


def test_scores_become_values():
    assert [value_of(score) for score in (WIN - 3, UNIT // 2, 0, 5 - WIN)] == [1.0, 0.5, 0.0, -1.0]
