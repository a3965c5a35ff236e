"""Lc0's search: against a slow one that reads like its definition, and what its limits promise."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from lc0.slow_search import SlowSearch
from lc0.twins import twin_boards
from lc0_files import random_net
from nets.samples import on_one_thread
from rookery import BadInput, lc0
from rookery.games.chess_lc0_input import FORMATS, pairs_of
from rookery.lc0.positions import chess_game, position_of
from rookery.lc0.search import Searcher, search
from rookery.nets.lc0.files import file_bytes
from rookery.search.analysis import Limits, Watch
from rookery.search.lc0_arrays import OPEN, PROVEN, TWO_FOLD
from rookery.search.lc0_settings import Lc0Settings

pytestmark = pytest.mark.xdist_group("chess")  # so that nothing is compiled twice

WITH_LENGTHS = "squeezed tower, convolution policy"
OTHERS = ["plain tower, dense policy", "attention, map"]
POSITIONS = {
    "start": "startpos",
    "middle": "r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N2N2/PP2BPPP/R1BQ1RK1 w - - 0 9 moves c4d5 f6d5 f1e1",
    "mates near": "6k1/5ppp/8/8/8/8/1r3PPP/3R2K1 w - - 0 1",
    "mated soon": "7k/8/8/8/8/5q2/8/K6r w - - 0 1 moves a1a2 f3e3",
    "few moves": "8/8/8/8/8/k7/p7/K7 b - - 0 1",
    "repeats": "7k/8/8/8/8/8/q7/2R4K w - - 3 50 moves c1d1 a2b2 d1c1 b2a2",
    "little left": "8/8/4k3/8/8/3K4/8/1R6 w - - 96 80",
    "promotes": "8/P1k5/8/8/8/8/2K4p/8 w - - 5 60",
    "forced mate": "k7/8/1K6/8/8/8/8/7R b - - 0 1",
    "blocked": "8/8/8/p1p1p1p1/P1P1P1P1/8/8/K6k w - - 0 1",
}


@pytest.fixture(autouse=True)
def one_thread():
    with on_one_thread():
        yield


@pytest.fixture(scope="module")
def evaluators(tmp_path_factory):
    made = {}

    def evaluator(kind=WITH_LENGTHS, seed=0, form=1):
        if (kind, seed, form) not in made:
            path = tmp_path_factory.mktemp("nets") / "net.pb.gz"
            path.write_bytes(file_bytes(random_net(kind, seed, input_format=form)))
            made[kind, seed, form] = lc0.load(path)
        return made[kind, seed, form]

    return evaluator


def position(text):
    return position_of(text, chess_game())


def visits(found):
    return {move.action: move.visits for move in found.moves if move.visits}


def compare(evaluator, text, counts, only=(), remembered=0, **settings):
    """Search quickly and slowly, and compare visits, means and results along the way."""
    chosen = Lc0Settings(batch=1, **settings)
    fast = Searcher(evaluator, chosen, nodes=1000, remembered=remembered)
    fast.begin(position(text), only)
    slow = SlowSearch(evaluator, chosen, position(text), only)
    for nodes in counts:
        fast.run(Limits(nodes=nodes))
        expected = slow.run(nodes)
        found = fast.found()
        assert visits(found) == expected
        assert found.visits == nodes
        assert [found.q, found.d, found.m] == pytest.approx(slow.root.mean(), abs=1e-6)
        for move in found.moves:
            if move.visits:
                value, draws, plies = slow.root.children[move.action].mean()
                assert [move.q, move.d, move.m] == pytest.approx([-value, draws, plies], abs=1e-6)
    return fast, slow


# ---- the formula ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["start", "mated soon", "few moves", "repeats", "little left", "promotes"])
def test_visits_follow_the_definition_at_2_10_and_50_nodes(evaluators, name):
    compare(evaluators(), POSITIONS[name], (2, 10, 50))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", POSITIONS)
@pytest.mark.parametrize("kind", [WITH_LENGTHS, *OTHERS])
def test_visits_follow_the_definition_at_200_nodes(evaluators, kind, name, seed):
    compare(evaluators(kind, seed), POSITIONS[name], (2, 10, 50, 200))


@pytest.mark.parametrize(
    "changed",
    [
        {"fpu": "absolute", "fpu_value": -0.5},
        {"sticky": "off"},
        {"two_fold": "off"},
        {"policy_temperature": 0.5, "cpuct": 4.0},
        {"cpuct_factor": 50.0, "cpuct_base": 10},
        {"m_threshold": 0.0, "m_slope": 0.5, "m_max_effect": 0.5, "m_constant": 0.3},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_every_setting_changes_the_search_as_the_definition_says(evaluators, changed):
    name = {"sticky": "forced mate", "two_fold": "blocked"}.get(next(iter(changed)), "mates near")
    nodes = 60 if name == "mates near" else 150
    fast, _ = compare(evaluators(), POSITIONS[name], (nodes,), **changed)
    usual = Searcher(evaluators(), Lc0Settings(batch=1), nodes=1000)
    usual.begin(position(POSITIONS[name]))
    usual.run(Limits(nodes=nodes))
    assert usual.found() != fast.found()


@pytest.mark.parametrize("name", ["blocked", "little left"])
def test_transpositions_follow_the_definition(evaluators, name):
    fast, slow = compare(evaluators(), POSITIONS[name], (2, 10, 50, 150), transpositions="on")
    assert slow.judged < 100  # of 150 visits
    assert int(fast.arrays.tree[0]["known"]) == slow.lent > 20


@pytest.mark.slow
@pytest.mark.parametrize("name", POSITIONS)
@pytest.mark.parametrize("kind", [WITH_LENGTHS, *OTHERS])
def test_transpositions_follow_the_definition_at_300_nodes(evaluators, kind, name):
    compare(evaluators(kind, 1), POSITIONS[name], (2, 10, 50, 300), transpositions="on")


@pytest.mark.parametrize("form", [3, 5])
def test_boards_of_other_formats_are_searched_as_the_definition_says(evaluators, form):
    compare(evaluators(WITH_LENGTHS, 1, form), POSITIONS["little left"], (40,))


def test_only_the_moves_that_are_wanted_are_searched(evaluators):
    start = position("startpos")
    only = tuple(start.action(move) for move in ("h2h4", "a2a3"))
    fast, _ = compare(evaluators(), "startpos", (30,), only)
    assert {move.action for move in fast.found().moves} == set(only)
    with pytest.raises(BadInput, match="not legal"):
        fast.begin(start, [start.action("e2e5")])


def test_what_is_remembered_changes_nothing(evaluators):
    searcher = Searcher(evaluators(), Lc0Settings(batch=1), nodes=1000, remembered=100_000)
    found = []
    for _ in range(2):
        searcher.begin(position(POSITIONS["middle"]))
        searcher.run(Limits(nodes=60))
        found.append(searcher.found())
        searcher.begin(position("startpos"))  # forgets the tree, not the evaluations
    assert found[0].known < 10
    assert found[1].known > 40
    assert found[0].moves == found[1].moves
    searcher.clear()
    searcher.begin(position(POSITIONS["middle"]))
    searcher.run(Limits(nodes=60))
    assert searcher.found() == found[0]


@pytest.mark.parametrize("form", FORMATS)
def test_what_is_remembered_of_a_board_is_not_told_of_one_that_looks_the_same_when_turned(evaluators, form):
    evaluator = evaluators(WITH_LENGTHS, 1, form)
    remembering = Searcher(evaluator, Lc0Settings(batch=1), nodes=1000, remembered=100_000)
    for twins in twin_boards():
        masks = [pairs_of(twin.states, form, 0)[0].tobytes() for twin in twins]
        assert len(set(masks)) == (1 if form in (3, 4, 5) else 2 if form > 100 else len(twins))
        for twin in twins:
            found = []
            for searcher in (remembering, Searcher(evaluator, Lc0Settings(batch=1), nodes=1000, remembered=0)):
                searcher.begin(twin)
                searcher.run(Limits(nodes=40))
                found.append(searcher.found())
            assert found[0].moves == found[1].moves
            assert (found[0].q, found[0].d, found[0].m) == (found[1].q, found[1].d, found[1].m)


def test_proofs_are_carried_up_the_tree(evaluators):
    fast, _ = compare(evaluators(), POSITIONS["forced mate"], (150,))
    found = fast.found()
    assert [move.result for move in found.moves] == [-1]
    assert [found.moves[0].q, found.moves[0].d, found.moves[0].m] == [-1, 0, 1]
    assert found.analysis().proven
    assert PROVEN in fast.arrays.nodes["kind"][: fast.arrays.tree[0]["nodes"]]


def test_a_proven_win_is_played_though_others_have_more_visits(evaluators):
    searcher = Searcher(evaluators(), Lc0Settings(batch=1), nodes=1000)
    searcher.begin(position(POSITIONS["mates near"]))
    searcher.run(Limits(nodes=100))
    found = searcher.found()
    assert searcher.position.move_text(found.action) == "d1d8"
    assert (found.moves[0].result, found.moves[0].m) == (1, 0)
    assert found.analysis().value == 1


LADDER = "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1"


def test_a_position_whose_result_was_proven_is_searched_on(evaluators):
    searcher = Searcher(evaluators(seed=4), Lc0Settings(batch=8), nodes=20_000)
    at = position(LADDER)
    searcher.begin(at)
    searcher.run(Limits(nodes=3000))
    assert searcher.found().moves[0].result == 1
    for action in searcher.found().moves[0].line[:2]:
        at.play(action)
        kept = searcher.child_of(0, action)
        assert searcher.arrays.nodes[kept]["kind"] == PROVEN
        searcher.begin(at)
        assert searcher.arrays.nodes[0]["kind"] == OPEN
        check_sums(searcher)
    found = searcher.found()
    assert (found.moves[0].result, found.moves[0].m) == (1, 0)
    other = found.moves[-1].action
    searcher.begin(at, [other])
    searcher.run(Limits(nodes=searcher.visits + 50))
    assert [(move.action, move.visits >= 50) for move in searcher.found().moves] == [(other, True)]
    check_sums(searcher)
    searcher.begin(at)
    assert searcher.found().action == found.action


@pytest.mark.parametrize("name", ["mates near", "forced mate", "few moves"])
def test_a_search_by_depth_ends_when_nothing_is_left_to_find(evaluators, name):
    searcher = Searcher(evaluators(), Lc0Settings(batch=8), nodes=20_000)
    searcher.begin(position(POSITIONS[name]))
    assert searcher.run(Limits(depth=50)) == "deep enough"
    assert searcher.settled
    assert searcher.visits < 10_000


def test_a_first_position_with_an_en_passant_marker_does_not_come_again(evaluators):
    marked = "8/8/8/p1p1p1p1/P1P1P1P1/8/8/K6k b - e3 0 1"
    fast, _ = compare(evaluators(), marked, (10, 50, 200))
    fast.run(Limits(nodes=800))
    t = fast.arrays
    drawn = t.nodes[: t.tree[0]["nodes"]]
    drawn = drawn[drawn["kind"] == TWO_FOLD]
    assert len(drawn) > 0
    for node in drawn:
        depth, up = 1, int(node["parent"])
        while t.nodes[up]["parent"] >= 0:
            depth, up = depth + 1, int(t.nodes[up]["parent"])
        assert node["cycle"] < depth


# ---- the tree ------------------------------------------------------------------------------------


def check_sums(searcher):
    """Every node's sums and visits are those of its children and its own evaluation."""
    t = searcher.arrays
    nodes = t.nodes[: t.tree[0]["nodes"]]
    assert (nodes["flight"] == 0).all()
    for n, node in enumerate(nodes):
        children = [int(t.edges[e]["child"]) for e in range(node["first"], node["first"] + node["count"])]
        below = [nodes[child] for child in children if child >= 0]
        assert all(child["parent"] == n for child in below)
        if node["kind"] == OPEN and node["visits"] > 0:
            assert node["visits"] == 1 + sum(child["visits"] for child in below)
            expected = node["own"] - sum(child["value"] for child in below)
            assert node["value"] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("name", "batch"), [("middle", 8), ("blocked", 1), ("mates near", 1)])
def test_the_subtree_of_a_move_is_kept(evaluators, name, batch):
    searcher = Searcher(evaluators(), Lc0Settings(batch=batch), nodes=5000)
    at = position(POSITIONS[name])
    searcher.begin(at)
    for _ in range(4):
        searcher.run(Limits(nodes=searcher.visits + 80))
        check_sums(searcher)
        best = searcher.found().moves[0]
        reply = best.line[1] if len(best.line) > 1 else None
        at.play(best.action)
        if at.over or reply is None:
            break
        at.play(reply)
        if at.over:
            break
        first = searcher.child_of(0, best.action)
        before = int(searcher.arrays.nodes[searcher.child_of(first, reply)]["visits"])
        searcher.begin(at)
        drawn = TWO_FOLD in searcher.arrays.nodes["kind"][: searcher.arrays.tree[0]["nodes"]]
        assert 0 < searcher.visits <= before
        assert searcher.visits == before or drawn or name == "blocked"
        check_sums(searcher)


def test_a_position_can_be_turned_to_before_its_part_of_the_tree_is_cut_out(evaluators):
    at_once, later = (Searcher(evaluators(), Lc0Settings(batch=1), nodes=5000) for _ in range(2))
    at = position(POSITIONS["middle"])
    for searcher in (at_once, later):
        searcher.begin(at)
        searcher.run(Limits(nodes=200))
    for action in at_once.found().moves[0].line[:3]:  # two of three are turned past
        at.play(action)
        at_once.begin(at)
        later.turn_to(at)
        assert later.found() == replace(at_once.found(), full=later.found().full)
        assert later.visits == at_once.visits
    assert later.arrays.tree[0]["nodes"] > at_once.arrays.tree[0]["nodes"]
    for searcher in (at_once, later):
        searcher.run(Limits(nodes=searcher.visits + 50))
        check_sums(searcher)
    assert later.found() == at_once.found()


def check_speakers(searcher):
    """Of nodes with one key, the table names one with the most visits; and nothing is under way."""
    t = searcher.arrays
    nodes = t.nodes[1 : t.tree[0]["nodes"]]
    heard = nodes[(nodes["visits"] > 0) & (nodes["key"] > 0) & np.isin(nodes["kind"], (OPEN, PROVEN))]
    most = {int(key): int(heard["visits"][heard["key"] == key].max()) for key in np.unique(heard["key"])}
    speakers = t.nodes[t.speakers[t.speakers > 0] - 1]
    assert {int(node["key"]): int(node["visits"]) for node in speakers} == most
    assert not t.nodes["flight"][: t.tree[0]["nodes"]].any()
    return len(heard) - len(speakers)


@pytest.mark.parametrize("batch", [1, 16])
def test_speakers_of_twins_are_found_again_when_the_root_moves_on(evaluators, batch):
    searcher = Searcher(evaluators(), Lc0Settings(batch=batch, transpositions="on"), nodes=5000)
    at = position(POSITIONS["blocked"])
    for _ in range(3):
        searcher.begin(at)
        searcher.run(Limits(nodes=searcher.visits + 200))
        assert check_speakers(searcher) > 10
        for action in searcher.found().moves[0].line[:2]:
            at.play(action)
        searcher.begin(at)
        assert searcher.visits > 0
        check_speakers(searcher)


def test_draws_by_coming_twice_are_taken_back_where_the_first_time_has_left_the_tree(evaluators):
    searcher = Searcher(evaluators(), Lc0Settings(batch=1), nodes=20_000)
    at = position(POSITIONS["blocked"])
    searcher.begin(at)
    searcher.run(Limits(nodes=600))
    t = searcher.arrays
    kinds = t.nodes["kind"][: t.tree[0]["nodes"]]
    assert (kinds == TWO_FOLD).sum() > 3
    first, second = searcher.found().moves[0].line[:2]
    inside = searcher.child_of(searcher.child_of(0, first), second)
    before = int(t.nodes[inside]["visits"])
    at.play(first)
    at.play(second)
    searcher.begin(at)
    assert 0 < searcher.visits < before
    check_sums(searcher)
    for n in np.flatnonzero(t.nodes["kind"][: t.tree[0]["nodes"]] == TWO_FOLD):
        depth, up = 0, int(n)
        while t.nodes[up]["parent"] >= 0:
            depth, up = depth + 1, int(t.nodes[up]["parent"])
        assert depth >= 4
        assert t.nodes[n]["cycle"] <= depth


def test_another_game_begins_with_an_empty_tree(evaluators):
    searcher = Searcher(evaluators(), nodes=1000)
    searcher.begin(position("startpos"))
    searcher.run(Limits(nodes=50))
    searcher.begin(position("startpos moves e2e4 e7e5 g1f3 b8c6 f3g1 c6b8"))
    assert searcher.visits == 0
    searcher.begin(position("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 1 1"))
    assert searcher.visits == 0


# ---- batches and limits --------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "batch"), [("start", 64), ("mates near", 7), ("few moves", 1), ("blocked", 2)])
def test_a_search_has_exactly_the_nodes_it_may_have(evaluators, name, batch):
    searcher = Searcher(evaluators(), Lc0Settings(batch=batch), nodes=1000)
    searcher.begin(position(POSITIONS[name]))
    for nodes in (1, 2, 50, 133):
        assert searcher.run(Limits(nodes=nodes)) == "all nodes searched"
        assert searcher.visits == nodes
        assert sum(visits(searcher.found()).values()) == nodes - 1
        check_sums(searcher)


def test_batches_hold_different_leaves_and_give_the_same_search_every_time(evaluators):
    evaluator, sizes = evaluators(), []

    def search_once():
        searcher = Searcher(evaluator, Lc0Settings(batch=16), nodes=2000)
        searcher.begin(position(POSITIONS["middle"]))
        while searcher.visits < 600:
            before = searcher.visits
            searcher.step(600)
            t = searcher.arrays
            sizes.append(searcher.visits - before)
            assert len({row.tobytes() for row in t.masks[: t.batch[0]["gathered"]]}) == t.batch[0]["gathered"]
        return visits(searcher.found())

    assert search_once() == search_once()
    assert max(sizes) >= 8
    assert sizes[0] == 1


@pytest.mark.parametrize(
    ("name", "batch", "twins"),
    [("start", 64, "off"), ("mates near", 7, "off"), ("few moves", 2, "off"), ("blocked", 16, "on")],
)
def test_a_search_that_gathers_ahead_is_as_sound(evaluators, name, batch, twins):
    def search_once():
        searcher = Searcher(evaluators(), Lc0Settings(batch=batch, transpositions=twins), nodes=2000, ahead=True)
        searcher.begin(position(POSITIONS[name]))
        for nodes in (1, 2, 50, 433):
            assert searcher.run(Limits(nodes=nodes)) == "all nodes searched"
            assert searcher.visits == nodes
            assert sum(visits(searcher.found()).values()) == nodes - 1
            if twins == "off":
                check_sums(searcher)
        assert not any(t.batch[0][name] for t in searcher.batches for name in ("gathered", "collided"))
        assert not searcher.arrays.nodes["flight"].any()
        return visits(searcher.found())

    assert search_once() == search_once()


def test_a_batch_is_gathered_before_the_answers_to_the_last_one_are_asked_for(evaluators, monkeypatch):
    evaluator, told = evaluators(), []
    begin = evaluator.begin

    class Told:
        def __init__(self, number, answers):
            self.number, self.answers = number, answers

        def wait(self):
            told.append(f"answers {self.number}")
            return self.answers.wait()

    def noted(masks, values):
        number = len([word for word in told if word.startswith("begun")])
        told.append(f"begun {number}")
        return Told(number, begin(masks, values))

    monkeypatch.setattr(evaluator, "begin", noted)
    searcher = Searcher(evaluator, Lc0Settings(batch=16), nodes=2000, ahead=True)
    searcher.begin(position(POSITIONS["middle"]))
    searcher.run(Limits(nodes=800))
    late = told[-21:-1] if told[-1].startswith("answers") else told[-20:]
    assert told[:2] == ["begun 0", "answers 0"]  # the root alone
    begun = [word for word in late if word.startswith("begun")]
    assert len(begun) == 10
    for word in begun[1:]:
        number = int(word.split()[1])
        assert told.index(word) < told.index(f"answers {number - 1}")


def test_a_tree_never_grows_beyond_its_memory(evaluators):
    searcher = Searcher(evaluators(), nodes=60)
    searcher.begin(position("startpos"))
    assert searcher.run(Limits(nodes=10_000)) == "the tree has used up its memory"
    assert searcher.arrays.tree[0]["nodes"] <= 60
    check_sums(searcher)
    small = Searcher(evaluators(), Lc0Settings(transpositions="on"), megabytes=1, remembered=1000)
    t = small.arrays
    held = sum(array.nbytes for array in (t.nodes, t.edges, t.memory, t.speakers))
    assert held <= small.memory_bytes < 1.5 * (1 << 20)
    with pytest.raises(BadInput, match="no memory"):
        Searcher(evaluators(), remembered=1 << 45)


@pytest.mark.parametrize("ahead", [False, True])
def test_a_search_that_is_stopped_leaves_nothing_under_way(evaluators, ahead):
    searcher, watch = Searcher(evaluators(), Lc0Settings(batch=16), nodes=50_000, ahead=ahead), Watch()
    searcher.begin(position("startpos"))
    timer = threading.Timer(0.2, watch.stop.__setitem__, (0, 1))
    timer.start()
    assert searcher.run(Limits(), watch) == "stopped"
    timer.join()
    check_sums(searcher)


def test_the_seconds_of_the_limits_end_a_search_whose_watch_has_none(evaluators):
    found = search(position("startpos"), Limits(nodes=20_000, seconds=0.001), Watch(), evaluator=evaluators())
    assert found.note == "stopped"
    assert found.nodes < 20_000


def test_a_search_can_be_looked_at_while_it_runs(evaluators):
    searcher, watch = Searcher(evaluators(), nodes=50_000), Watch(seconds=30)
    searcher.begin(position("startpos"))
    thread = threading.Thread(target=searcher.run, args=(Limits(), watch))
    thread.start()
    seen = []
    while len(seen) < 5 or seen[-1] < 30:
        found = searcher.found()
        assert found.visits == 0 or sum(visits(found).values()) == found.visits - 1
        seen.append(found.visits)
        time.sleep(0.01)
    watch.stop[0] = 1
    thread.join()
    assert seen == sorted(seen)


def test_a_search_ends_when_no_move_can_catch_up(evaluators):
    searcher = Searcher(evaluators(), Lc0Settings(batch=1), nodes=2000)
    searcher.begin(position(POSITIONS["mates near"]))
    assert searcher.run(Limits(nodes=1000), pruning=1.33) == "no move can catch up"
    counts = searcher.root_visits()
    assert counts[0] - counts[1] > (1000 - searcher.visits) / 1.33
    assert searcher.visits < 1000


def test_a_drawn_position_is_searched_all_the_same(evaluators):
    repeated = position("startpos moves " + "g1f3 g8f6 f3g1 f6g8 " * 2)
    assert repeated.over
    late = position("8/8/4k3/8/8/3K4/8/1R6 w - - 100 80")
    for drawn in (repeated, late, position("8/8/4k3/8/8/3K4/8/8 w - - 0 80")):
        searcher = Searcher(evaluators(), nodes=100)
        searcher.begin(drawn)
        searcher.run(Limits(nodes=20))
        assert searcher.found().action >= 0


def test_a_hundred_plies_without_progress_are_searched_from_the_board_alone(evaluators):
    moves = ["g1f3", "g8f6", "f3g1", "f6g8"] * 25
    searcher = Searcher(evaluators(), nodes=100)
    searcher.begin(position("startpos moves " + " ".join(moves)))
    searcher.run(Limits(nodes=30))
    assert {move.d for move in searcher.found().moves if move.visits and move.result == 0} == {1.0}


def test_mate_and_stalemate_have_nothing_to_search(evaluators):
    for text in ("7k/5QQ1/8/8/8/8/8/K7 b - - 0 1", "7k/5Q2/8/8/8/8/8/K7 b - - 0 1"):
        searcher = Searcher(evaluators(), nodes=100)
        searcher.begin(position(text))
        assert searcher.run(Limits(nodes=10)) == "the game is over"
        assert searcher.found().action == -1


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("column", [0, 1859, 1861, 1862], ids=["logits", "draws", "value", "moves left"])
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_a_network_that_answers_with_no_numbers_is_refused_and_the_tree_stays_sound(
    evaluators, monkeypatch, ahead, column, number
):
    evaluator = evaluators()
    searcher = Searcher(evaluator, Lc0Settings(batch=16), nodes=500, ahead=ahead)
    run = evaluator.run

    def broken(masks, values):
        answers = run(masks, values)
        if searcher.visits > 40:
            answers[-1, column : column + 1858 if column == 0 else column + 1] = number
        return answers

    monkeypatch.setattr(evaluator, "run", broken)
    searcher.begin(position("startpos"))
    with pytest.raises(BadInput, match=r"network '.*net.pb.gz' answers with numbers that are not finite: .*broken"):
        searcher.run(Limits(nodes=400))
    found = searcher.found()
    assert 40 < found.visits < 400
    assert np.isfinite([found.q, found.d, found.m, *(move.q for move in found.moves)]).all()
    check_sums(searcher)


def test_chess960_is_searched(evaluators):
    game = chess_game(chess960=True)
    searcher = Searcher(evaluators(), nodes=500)
    searcher.begin(game.position("nrk2r1b/pppppppp/8/8/8/8/PPPPPPPP/NRK2R1B w FBfb - 0 1"))
    searcher.run(Limits(nodes=200))
    assert "c1f1" in {searcher.position.move_text(move.action) for move in searcher.found().moves}
    check_sums(searcher)


def test_the_search_of_one_position_needs_a_network_and_a_limit(evaluators):
    start = position("startpos")
    with pytest.raises(BadInput, match="needs a network"):
        search(start, Limits(nodes=10))
    with pytest.raises(BadInput, match="needs a limit"):
        search(start, Limits(), evaluator=evaluators())
    found = search(start, Limits(nodes=40), evaluator=evaluators(), batch=4)
    assert found.nodes == 40
    assert sum(line.visits for line in found.lines) == 39
    with pytest.raises(BadInput, match="cpuct"):
        search(start, Limits(nodes=10), evaluator=evaluators(), cpuct=-1)
