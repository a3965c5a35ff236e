"""Tree search where it is easily wrong: full pools, finished games, proofs, hidden hands, and evaluators that err."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from rookery import BadInput, load
from rookery.games.rng import number, random_bits
from rookery.search.analysis import Limits, Watch
from rookery.search.tree_arrays import FULL, OVER
from rookery.search.tree_root import CHOICE, PLAYOUT
from rookery.search.trees import Trees, TreeSettings, one_tree, search
from search.slow_trees import Hashed, SlowTree, same_tree
from support import CONNECT_FOUR, ROOT


class Saying:
    """An evaluator of connect four that gives fixed answers to every position, others at the empty board if told."""

    def __init__(self, weights=(1,) * 7, value=0.0, at_start=None):
        self.kind, self.weights, self.value, self.at_start = "planes", weights, value, at_start or weights
        assert self.kind in load(CONNECT_FOUR).observations

    def __call__(self, observations):
        empty = observations.reshape(len(observations), -1)[:, : 2 * 42].sum(axis=1) == 0
        weights = np.where(empty[:, None], np.array([self.at_start]), np.array([self.weights]))
        return weights.astype(np.float32), np.full(len(observations), self.value, np.float32)


def after(*moves):
    """The position of connect four after some columns were played."""
    position = load(CONNECT_FOUR).start()
    for move in moves:
        position.play(move)
    return position


def searched(position, evaluator=0, **settings):
    """A tree of one position that was searched."""
    trees = Trees(position.game, TreeSettings(**({"policy": "weights"} | settings)))
    trees.begin([position])
    trees.run(evaluator)
    return trees


WINNING = (3, 0, 3, 0, 3, 1)  # column 3 wins at once


# ---- room ----------------------------------------------------------------------------------------


def test_a_kept_tree_that_leaves_no_room_is_not_written_over_its_end():
    game = load(CONNECT_FOUR)
    only_three = Saying(at_start=(0, 0, 0, 1, 0, 0, 0))  # so that nearly the whole tree is kept
    for nodes in range(30, 46):
        trees = Trees(game, TreeSettings(simulations=200, leaves=8, policy="weights"), 2, nodes=nodes, keep=True)
        trees.begin([game.start()] * 2)
        trees.run(only_three)
        trees.play([3, 3])
        trees.again()
        trees.run(only_three)
        assert (trees.arrays.trees["nodes"] <= nodes).all()
        assert (trees.arrays.trees["status"] == FULL).all()
        assert trees.choose()


def test_sorting_by_prior_stays_inside_the_pool():
    game = load(CONNECT_FOUR)
    for edges in range(14, 80):
        trees = Trees(game, TreeSettings(simulations=50, urgency="lc0", policy="weights", leaves=3), 2, edges=edges)
        trees.arrays.edges[1]["prior"] = -7  # of the tree behind, which is not searched
        trees.begin([game.start()] * 2)
        trees.arrays.trees[1]["status"] = OVER
        trees.run(Saying((1, 2, 3, 4, 5, 6, 7)))
        assert (trees.arrays.edges[1]["prior"] == -7).all()
        assert trees.arrays.trees[0]["edges"] <= edges


def test_a_search_limited_by_time_keeps_to_its_megabytes_and_says_when_they_are_full():
    for spec in (CONNECT_FOUR, "gomoku", "chess"):
        for limits in (Limits(seconds=1), Limits(seconds=1, nodes=1 << 29)):
            trees = one_tree(load(spec), limits, 64, {})
            assert 50e6 < sum(array.nbytes for array in trees.arrays) < 70e6
    found = search(after(), Limits(seconds=60), megabytes=1, evaluator=0)
    assert "full" in found.note
    assert found.nodes > 1000


def test_more_edges_than_can_be_numbered_are_refused():
    with pytest.raises(BadInput, match="edges; at most 2147483647 can be numbered"):
        Trees(load("gomoku"), TreeSettings(simulations=20_000_000))
    with pytest.raises(BadInput, match="nodes must be a whole number"):
        Trees(load(CONNECT_FOUR), nodes=0)


# ---- searches of one game after the other --------------------------------------------------------


@pytest.mark.parametrize("keep", [False, True])
def test_a_finished_game_is_not_searched_on(keep):
    game = load(CONNECT_FOUR)
    trees = Trees(game, TreeSettings(simulations=50), trees=2, keep=keep)
    trees.begin([after(*WINNING), game.start()])
    trees.run(0)
    trees.play([3, 3])
    trees.again()
    trees.run(0)
    assert trees.arrays.trees["status"][0] == OVER
    assert trees.arrays.trees["nodes"][0] == 0
    assert trees.arrays.trees["made"][1] == 50
    assert trees.analysis(1).nodes == 50
    with pytest.raises(BadInput, match="tree 0 is that of a finished game"):
        trees.analysis(0)


@pytest.mark.parametrize("keep", [False, True])
def test_games_of_a_batch_go_on_when_others_are_over(keep):
    game = load(CONNECT_FOUR)
    settings = TreeSettings(simulations=20, temperature=1.0, policy="weights")
    trees, alone = Trees(game, settings, trees=3, keep=keep), Trees(game, settings, keep=keep)
    trees.begin([after(*WINNING), game.start(), after(3)], streams=[7, 8, 9])
    alone.begin([game.start()], streams=[8])
    moves, ended = [], []
    while not ended or ended[-1] < 3:
        trees.run(Hashed(game))
        moves.append([3, *trees.choose()[1:]] if not moves else trees.choose())
        trees.play(moves[-1])
        trees.again()
        ended.append(sum(trees.root(b).over for b in range(3)))
        if moves[-1][1] >= 0:
            alone.run(Hashed(game))
            assert alone.choose() == [moves[-1][1]]
            alone.play([moves[-1][1]])
            alone.again()
    assert ended[0] == 1
    assert all(chosen[0] == -1 for chosen in moves[1:])
    assert trees.choose() == [-1, -1, -1]
    for b, start in enumerate((WINNING, (), (3,))):
        assert trees.root(b).text() == after(*start, *(chosen[b] for chosen in moves if chosen[b] >= 0)).text()


def test_a_tree_that_was_not_searched_has_no_move():
    trees = Trees(load(CONNECT_FOUR), trees=2)
    trees.begin([after(), after(3)])
    with pytest.raises(BadInput, match="tree 0 has not been searched"):
        trees.choose()


def test_gumbel_search_begins_from_nothing_even_if_no_move_was_played():
    game = load(CONNECT_FOUR)
    trees = Trees(game, TreeSettings(simulations=16, gumbel=4, policy="weights"))
    trees.begin([game.start()])
    seen = []
    for _ in range(3):
        trees.run(Hashed(game))
        seen.append(trees.arrays.edges[0, :7]["visits"].tolist())
        trees.again()
    assert [sorted(visits) for visits in seen] == [[0, 0, 0, 2, 2, 6, 6]] * 3
    assert len({tuple(visits) for visits in seen}) > 1


@pytest.mark.parametrize("leaves", [2, 4, 7, 30])
def test_several_leaves_change_nothing_in_the_visits_of_sequential_halving(leaves):
    game = load(CONNECT_FOUR)
    for simulations, considered in ((16, 4), (50, 7), (5, 7)):
        way = {"simulations": simulations, "gumbel": considered}
        one, more = (searched(game.start(), Hashed(game), leaves=n, **way) for n in (1, leaves))
        visits = [sorted(trees.arrays.edges[0, :7]["visits"].tolist()) for trees in (one, more)]
        assert visits[0] == visits[1]


def key_of(trees, b, purpose):
    """The key of a tree's random numbers: a function of the seed, its stream, its search, and what they are for."""
    tree = trees.arrays.trees[b]
    drawn = random_bits(trees.settings.seed, int(tree["stream"]), int(tree["search"]) * 4 + purpose)
    return np.uint64(drawn)


def test_moves_are_drawn_with_numbers_of_their_own():
    game = load(CONNECT_FOUR)
    trees = Trees(game, TreeSettings(simulations=60, temperature=0.7, policy="weights"), trees=40)
    trees.begin([game.start()] * 40)
    for _ in range(2):
        trees.run(0)
        for b, chosen in enumerate(trees.choose()):
            shares = trees.arrays.edges[b, :7]["visits"].astype(float) ** (1 / float(np.float32(0.7)))
            place = (float(int(number(key_of(trees, b, CHOICE), 0)) >> 12) + 0.5) / 2**52
            assert chosen == int(np.searchsorted(np.cumsum(shares), place * shares.sum()))
        trees.play([3] * 40)
        trees.again()


def test_moves_are_drawn_up_to_a_ply_of_the_game():
    game = load(CONNECT_FOUR)
    settings = TreeSettings(simulations=30, temperature=1.0, temperature_plies=1, policy="weights")
    trees = Trees(game, settings, trees=50)
    trees.begin([game.start()] * 50)
    kinds = []
    for _ in range(2):
        trees.run(0)
        kinds.append(len(set(trees.choose())))
        trees.play([3] * 50)
        trees.again()
    assert kinds[0] > 3
    assert kinds[1] == 1


class SlowPlayouts(SlowTree):
    """A tree that judges its leaves by random games; the numbers of a game depend on the simulation alone."""

    kind = "planes"

    def __init__(self, position, settings, playouts, key):
        super().__init__(position, settings, self)
        self.playouts, self.key = playouts, key

    def new_node(self, position, seat_before):
        self.leaf = position
        return super().new_node(position, seat_before)

    def __call__(self, observations):
        results = [self.play_out(self.leaf.copy(), k) for k in range(self.playouts)]
        return np.ones((1, self.leaf.game.actions), np.float32), np.array([np.mean(results)], np.float32)

    def play_out(self, position, k):
        seat = position.mover
        counter = (self.simulation * self.playouts + k) * (position.game.longest + 1)
        while not position.over:
            legal = position.legal()
            position.play(int(legal[((int(number(self.key, counter)) >> 32) * len(legal)) >> 32]))
            counter += 1
        return position.payoff(seat)


def test_playouts_equal_the_slow_ones():
    game = load(CONNECT_FOUR)
    trees = Trees(game, TreeSettings(simulations=40, policy="weights", seed=3), trees=3)
    trees.begin([after(*WINNING[:4])] * 3)
    trees.run(2)
    for b in range(3):
        slow = SlowPlayouts(after(*WINNING[:4]), trees.settings, 2, key_of(trees, b, PLAYOUT))
        for simulation in range(41):
            slow.simulation = simulation
            slow.run(min(simulation, 1))
        assert same_tree(trees, b, 0, slow.root) > 30


def test_what_an_evaluator_said_does_not_linger():
    position = after()
    trees = Trees(position.game, TreeSettings(simulations=40, policy="weights"))
    trees.begin([position])
    trees.run(Saying((1, 1, 1, 1, 1, 1, 90)))
    trees.begin([position])
    trees.run(0)
    assert trees.policy(0)[1].tolist() == searched(position, simulations=40).policy(0)[1].tolist()


def test_moves_are_played_in_all_trees_or_in_none():
    game = load(CONNECT_FOUR)
    trees = Trees(game, trees=2)
    trees.begin([game.start()] * 2)
    with pytest.raises(BadInput, match="2 trees, but 1 moves"):
        trees.play([3])
    with pytest.raises(BadInput, match="an action of connect_four"):
        trees.play([3, 7])
    assert trees.root(0).text() == game.start().text()
    trees.play([3, -1])
    assert [trees.root(b).text() for b in range(2)] == [after(3).text(), game.start().text()]


def test_plies_may_be_one_number_and_streams_must_be_one_for_each_tree():
    trees = Trees(load(CONNECT_FOUR), trees=2)
    for plies, expected in ((np.int64(4), [4, 4]), ([1, 2], [1, 2]), (0, [0, 0])):
        trees.begin([after(), after()], streams=[5, 1 << 62], plies=plies)
        assert trees.arrays.trees["ply"].tolist() == expected
        assert trees.arrays.trees["stream"].tolist() == [5, 1 << 62]
    with pytest.raises(BadInput, match=r"streams must be whole numbers, one for each of 2 trees, not \[1\]"):
        trees.begin([after(), after()], streams=[1])
    with pytest.raises(BadInput, match=r"plies must be whole numbers, one for each of 2 trees, not 0\.5"):
        trees.begin([after(), after()], plies=0.5)


def test_positions_that_are_refused_leave_the_trees_as_they_were():
    trees = Trees(load(CONNECT_FOUR), TreeSettings(simulations=10), trees=2)
    trees.begin([after(3), after(4)], streams=[5, 6], plies=1)
    trees.run(0)
    before = [array.copy() for array in trees.arrays]
    ended = after(*WINNING, 3)
    for positions, streams, plies in (([after(), ended], None, 0), ([after()] * 2, [1], 0), ([after()] * 2, None, 0.5)):
        with pytest.raises(BadInput):
            trees.begin(positions, streams, plies)
        assert all((now == then).all() for now, then in zip(trees.arrays, before, strict=True))


def test_positions_of_other_games_are_refused():
    with pytest.raises(BadInput, match=r"trees of gomoku:size=7; a position of gomoku:size=5 does not fit"):
        Trees(load("gomoku:size=7")).begin([load("gomoku:size=5").start()])


# ---- proofs, the end and the choice --------------------------------------------------------------


def test_gumbel_search_plays_a_proven_win_that_nobody_expected():
    hopeless = Saying((1, 1, 1, 1e-30, 1, 1, 1), value=0.5)
    for early_stop in (False, True):
        way = {"gumbel": 7, "prove": True, "early_stop": early_stop, "simulations": 21}
        found = searched(after(*WINNING), hopeless, **way).analysis(0)
        assert found.proven
        assert (found.action, found.value) == (3, 1.0)


def test_values_weigh_by_the_most_visits_when_gumbel_search_chooses():
    trees = searched(after(), Saying(), gumbel=2, simulations=8, value_visits=0.0)
    edges = trees.arrays.edges[0, :7]
    one, other = np.flatnonzero(edges["visits"] == 4)
    for noisy, good in ((one, other), (other, one)):
        trees.arrays.gumbels["x"][0, [noisy, good]] = 1, 0
        edges["mean"][[noisy, good]] = -1, 1
        assert trees.choose() == [good]  # 4 visits * 1 against noise of 1


def test_gumbel_search_tells_means_apart_however_little_they_differ():
    trees = searched(after(), Saying(), gumbel=2, simulations=8)
    edges = trees.arrays.edges[0, :7]
    one, other = np.flatnonzero(edges["visits"] == 4)
    trees.arrays.gumbels["x"][0, [one, other]] = 100  # in single precision the sum would swallow the difference
    for better, worse in ((one, other), (other, one)):
        edges["mean"][[better, worse]] = np.nextafter(np.float32(0.5), np.float32(1)), 0.5
        assert trees.choose() == [better]


def test_a_proven_win_is_not_left_to_the_draw():
    position = after(*WINNING)
    settings = TreeSettings(simulations=30, prove=True, early_stop=True, temperature=1.0, policy="weights")
    trees = Trees(position.game, settings, trees=50)
    trees.begin([position] * 50)
    trees.run(0)
    assert set(trees.choose()) == {3}
    actions, weights = trees.policy(0)
    assert dict(zip(actions.tolist(), weights.tolist(), strict=True)) == {action: action == 3 for action in range(7)}


def test_a_proven_loss_is_not_drawn_while_there_is_another_move():
    position = after(0, 3, 0, 3, 1, 3)  # all lose at once but column 3
    settings = TreeSettings(simulations=60, prove=True, temperature=100.0, policy="weights")
    trees = Trees(position.game, settings, trees=50)
    trees.begin([position] * 50)
    trees.run(0)
    proofs = trees.arrays.edges[0, :7]["proof"].tolist()
    assert proofs == [-1, -1, -1, 0, -1, -1, -1]
    assert set(trees.choose()) == {3}
    assert np.flatnonzero(trees.taught_weights(0)).tolist() == [3]  # nor taught
    trees.arrays.edges["proof"][:, 3] = -1
    trees.arrays.nodes["proof"][:, 0] = -1
    assert len(set(trees.choose())) > 1  # where all lose, any will do


def test_where_all_that_was_visited_loses_a_move_not_yet_visited_is_played():
    unseen = Saying((1, 1, 1, 1e-6, 1, 1, 1))
    trees = searched(after(0, 3, 0, 3, 1, 3), unseen, simulations=60, prove=True, temperature=1.0, c=0.01)
    edges = trees.arrays.edges[0, :7]
    edges["visits"][3], edges["proof"][:] = 0, [-1, -1, -1, 0, -1, -1, -1]
    assert trees.arrays.nodes[0, 0]["proof"] == 0
    assert trees.choose() == [3]
    assert trees.policy(0)[1].tolist() == [0, 0, 0, 1, 0, 0, 0]  # and taught: a target of nothing would teach nothing
    edges["visits"][4], edges["proof"][[1, 4]] = 0, 0
    edges["visits"][1] = 0
    prior = np.where(edges["proof"] == 0, edges["prior"], 0).astype(np.float64)
    assert prior[1] > 0
    assert trees.policy(0)[1].tolist() == pytest.approx((prior / prior.sum()).tolist())
    edges["visits"][4] = 7
    assert trees.policy(0)[1].tolist() == [0, 0, 0, 0, 1, 0, 0]


def test_at_a_very_low_temperature_the_most_visited_move_is_drawn():
    trees = searched(after(), Saying((1, 1, 1, 1, 1, 5, 1)), simulations=400, temperature=0.001)
    visits = trees.arrays.edges[0, :7]["visits"].tolist()
    assert trees.choose() == [visits.index(max(visits))] == [5]


def test_a_search_stops_early_as_soon_as_no_other_move_can_catch_up():
    game, budget = load(CONNECT_FOUR), 80
    rising = Saying((1, 1, 1, 1, 1, 60, 99))  # the best move comes after the second best
    starts = [((), rising), *((moves, Hashed(game)) for moves in ((), (3,), (2, 4, 1), (0, 6, 5, 5), (1, 1, 2, 5, 6)))]
    for moves, evaluator in starts:
        slow, made = SlowTree(after(*moves), TreeSettings(policy="weights"), evaluator), 0
        slow.run(0)
        while True:
            first, second = sorted(slow.visits().values())[:-3:-1]
            if first > second + budget - made or made == budget:
                break
            slow.run(1)
            made += 1
        found = search(after(*moves), Limits(nodes=budget), policy="weights", evaluator=evaluator, early_stop=True)
        assert found.nodes == made
        assert {line.action: line.visits for line in found.lines} == slow.visits()
    assert made < budget


def test_a_proof_ends_a_search_early():
    for prove in (False, True):
        found = search(after(*WINNING), Limits(nodes=400), policy="weights", evaluator=0, early_stop=True, prove=prove)
        assert found.proven == prove
        assert (found.nodes <= 7) == prove


def test_a_search_does_not_stop_early_where_moves_are_drawn():
    for ply, nodes in ((0, 300), (9, None)):
        way = {"temperature": 1.0, "temperature_plies": 5, "ply": ply, "early_stop": True}
        found = search(after(), Limits(nodes=300), policy="weights", evaluator=Saying((1, 1, 1, 99, 1, 1, 1)), **way)
        assert found.nodes == nodes or (nodes is None and found.nodes < 300)


def test_a_search_with_proofs_does_not_stop_early_because_a_move_is_ahead():
    trusting = Saying((1, 1, 1, 99, 1, 1, 1))
    for prove in (False, True):
        found = search(after(), Limits(nodes=300), policy="weights", evaluator=trusting, early_stop=True, prove=prove)
        assert (found.nodes == 300) == prove


def test_an_only_move_needs_no_simulations():
    game = load(CONNECT_FOUR)
    position, seed = game.start(), 0
    while len(position.legal()) != 1:
        position = game.start() if position.over else position
        position.play(int(np.random.default_rng(seed).choice(position.legal())))
        seed += 1
    trees = searched(position, early_stop=True, simulations=30)
    assert trees.analysis(0).nodes == 0
    assert trees.analysis(0).note == "decided early"
    assert trees.policy(0)[1].tolist() == [1.0]
    assert trees.choose() == position.legal().tolist()
    assert searched(position, simulations=30).analysis(0).nodes == 30


@pytest.mark.parametrize("value", [-0.5, 0.0, 0.5])
def test_a_search_stopped_before_its_first_simulation_plays_the_move_with_the_highest_prior(value):
    watch = Watch()
    watch.stop[0] = 1
    expecting = Saying((1, 1, 1, 1, 1, 5, 1), value=value)
    for temperature, leaves in ((0.0, 1), (1.0, 1), (0.0, 4)):
        way = {"policy": "weights", "temperature": temperature, "leaves": leaves}
        found = search(after(), Limits(nodes=50), watch, evaluator=expecting, **way)
        assert (found.nodes, found.action) == (0, 5)


def test_a_draw_is_not_taken_for_a_loss():
    game = load("gomoku:size=5")
    position = game.start()
    for row, moves in enumerate(("ABCDE", "CDEAB", "ABCDE", "CDEAB", "BA")):  # three cells are left, nobody can win
        for column in moves:
            position.play(f"{column}{row + 1}")
    found = search(position, Limits(nodes=500), prove=True, evaluator=0)
    assert not found.proven
    assert found.value == 0
    assert found.nodes == 500


@pytest.mark.parametrize("heap", range(1, 10))
def test_a_game_lost_by_its_last_mover_is_proven_as_a_loss(heap):
    position = load(str(ROOT / "tests" / "search" / "last_stone.py")).position(f"{heap} a")
    found = search(position, Limits(nodes=500), prove=True, evaluator=0)
    assert found.proven
    assert found.value == (-1 if heap % 3 == 1 else 1)
    for line in found.lines:
        left = heap - int(position.move_text(line.action))
        assert line.value in (1, -1) or found.value == 1
        assert line.value != 1 or left % 3 == 1
        assert line.value != -1 or left % 3 != 1


def test_a_principal_line_follows_proofs():
    position = after(3, 0, 3, 0)  # column 3 makes three; then 3 again wins unless it is taken
    found = search(position, Limits(nodes=3000), prove=True, early_stop=True, evaluator=0, policy="weights")
    for line in found.lines:
        copy, values = position.copy(), line.value
        for action in line.moves:
            copy.play(action)
        assert values > -1 or copy.payoff(position.mover) == -1


def slow_line(trees, e):
    """The moves from an edge of the first tree on: always the visited one with the best proof, visits, mean, prior."""
    nodes, edges, moves = trees.arrays.nodes[0], trees.arrays.edges[0], []
    while True:
        moves.append(int(edges[e]["action"]))
        child = nodes[edges[e]["child"]] if edges[e]["child"] >= 0 else None
        below = range(child["first"], child["first"] + child["count"]) if child is not None else ()
        visited = [i for i in below if edges[i]["visits"] > 0]
        if not visited:
            return tuple(moves)
        e = max(visited, key=lambda i: tuple(edges[i][name] for name in ("proof", "visits", "mean", "prior")))


@pytest.mark.parametrize("prove", [False, True])
def test_every_principal_line_is_that_of_its_definition(prove):
    lengths = set()
    for position in (after(), after(3, 0, 3, 0), after(*WINNING), after(0, 0, 0, 0, 0, 0, 6)):
        for evaluator in (0, Hashed(position.game)):  # 0: nearly all means and priors are alike
            trees = searched(position, evaluator, simulations=300, prove=prove)
            first, count = trees.edges_of(0, 0)
            lines = [trees.principal(0, e) for e in range(first, first + count)]
            assert lines == [slow_line(trees, e) for e in range(first, first + count)]
            lengths |= {len(line) for line in lines}
    assert {1, 4} <= lengths


def test_the_most_visited_move_is_chosen_ties_by_mean_then_prior():
    evaluator = Saying((1, 1, 1, 1, 1, 1, 2))
    trees = Trees(load(CONNECT_FOUR), TreeSettings(simulations=7, policy="weights", urgency="infinite"))
    trees.begin([after()])
    trees.run(evaluator)
    edges = trees.arrays.edges[0, :7]
    assert edges["visits"].tolist() == [1] * 7
    assert trees.choose() == [6]
    edges["mean"][2] = 0.25
    assert trees.choose() == [2]
    edges["visits"][4] = 2
    assert trees.choose() == [4]


# ---- evaluators that err, hidden hands, limits ---------------------------------------------------


def answers(logits, values):
    class Answering:
        kind = "planes"

        def __call__(self, observations):
            return logits(len(observations)), values(len(observations))

    return Answering()


def ones(n):
    return np.ones((n, 7), np.float32)


def zeros(n):
    return np.zeros(n, np.float32)


@pytest.mark.parametrize(
    ("logits", "values", "message"),
    [
        (lambda n: ones(n) * np.nan, zeros, "logits below infinity"),
        (lambda n: ones(n) * np.inf, zeros, "logits below infinity"),
        (ones, lambda n: zeros(n) * np.nan, r"values in \[-1, 1\]"),
        (ones, lambda n: zeros(n) + 1.01, r"values in \[-1, 1\]"),
        (ones, lambda n: zeros(n) - 1.01, r"values in \[-1, 1\]"),
        (lambda n: ones(n)[0], zeros, r"shape \(\(7,\), \(1,\)\)"),
        (ones, lambda n: zeros(n)[:, None], r"asked for were logits \(1, 7\) and values \(1,\)"),
        (ones, lambda n: 0.5, "shape"),
        (lambda n: np.ones((n, 8), np.float32), zeros, "shape"),
    ],
)
def test_answers_that_cannot_be_searched_with_are_refused(logits, values, message):
    with pytest.raises(BadInput, match=message):
        search(after(), Limits(nodes=5), evaluator=answers(logits, values))


def test_what_rounding_adds_to_a_value_is_let_pass():
    for value in (-1.0005, 1.0005):
        assert search(after(), Limits(nodes=5), evaluator=answers(ones, lambda n, v=value: zeros(n) + v)).nodes == 5


def test_answers_about_nothing_may_be_anything():
    game = load(CONNECT_FOUR)
    trees = Trees(game, TreeSettings(simulations=40, leaves=4, policy="weights"), trees=2)
    trees.begin([after(*WINNING), game.start()])
    ended = idle = 0

    class Rambling(Hashed):
        def __call__(self, observations):
            nonlocal ended, idle
            logits, values = super().__call__(observations)
            for row in range(8):
                if row % 4 >= trees.arrays.trees["gathered"][row // 4]:
                    logits[row], values[row], idle = -np.inf, np.nan, idle + 1
                elif trees.arrays.slots["over"][row]:
                    logits[row], values[row], ended = np.nan, 7, ended + 1
            return logits, values

    trees.run(Rambling(game))
    assert ended > 0
    assert idle > 0
    for b, start in enumerate((WINNING, ())):
        alone = searched(after(*start), Hashed(game), simulations=40, leaves=4)
        assert trees.policy(b)[1].tolist() == alone.policy(0)[1].tolist()


def test_weights_below_zero_are_refused_and_logits_below_zero_are_not():
    below = answers(lambda n: -ones(n), zeros)
    assert search(after(), Limits(nodes=5), evaluator=below).nodes == 5
    with pytest.raises(BadInput, match="weights >= 0"):
        search(after(), Limits(nodes=5), evaluator=below, policy="weights")


def test_moves_without_any_weight_share_the_priors():
    nothing = [("weights", Saying((0,) * 7)), ("logits", Saying((-np.inf,) * 7))]
    for policy, evaluator in nothing:
        found = search(after(), Limits(nodes=20), evaluator=evaluator, policy=policy)
        assert [line.prior for line in found.lines] == [pytest.approx(1 / 7)] * 7
    some = search(after(), Limits(nodes=20), evaluator=Saying((-np.inf, 0, 0, 0, 0, 0, -np.inf)))
    assert sorted(line.prior for line in some.lines) == [0, 0] + [pytest.approx(1 / 5)] * 5


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_a_search_whose_evaluator_fails_can_go_on_as_if_nothing_had_happened(error):
    game = load(CONNECT_FOUR)

    class Failing(Hashed):
        calls = 0

        def __call__(self, observations):
            self.calls += 1
            if self.calls == 7:
                raise error
            return super().__call__(observations)

    settings = TreeSettings(simulations=60, leaves=4, policy="weights")
    trees, calm = (Trees(game, settings, trees=3) for _ in range(2))
    for one in (trees, calm):
        one.begin([game.start()] * 3)
    evaluator = Failing(game)
    with pytest.raises(error):
        trees.run(evaluator)
    assert (trees.arrays.trees["gathered"] == 0).all()
    assert (trees.arrays.nodes[:, 0]["visits"] == trees.arrays.trees["made"] + 1).all()
    trees.run(evaluator)
    calm.run(Hashed(game))
    assert (trees.arrays.nodes[0] == calm.arrays.nodes[0]).all()
    assert (trees.arrays.edges[0] == calm.arrays.edges[0]).all()


@pytest.mark.parametrize("evaluator", [0, 1, 3, "hashed"])
def test_a_position_with_hidden_hands_is_refused_and_nothing_hangs(evaluator):
    game = load("texas42")
    position = game.start(3)
    chosen = Hashed(game) if evaluator == "hashed" else evaluator
    for seat in (position.mover, (position.mover + 1) % 4):
        with pytest.raises(BadInput, match="no legal move; a position must show everything"):
            search(position.seen_by(seat), Limits(nodes=3000), evaluator=chosen, policy="weights")


def test_limits_that_a_tree_search_does_not_know_are_refused():
    with pytest.raises(BadInput, match="not by depth"):
        search(after(), Limits(depth=3, nodes=10))
    with pytest.raises(BadInput, match="limit of nodes"):
        search(after(), Limits(nodes=10), simulations=20)
    with pytest.raises(BadInput, match="its limit must name nodes"):
        search(after(), Limits(seconds=1), gumbel=8)
    with pytest.raises(BadInput, match="megabytes must be a whole number"):
        search(after(), Limits(seconds=1), megabytes=0)


@pytest.mark.parametrize("evaluator", [-1, True, 1.0, None, "playouts"])
def test_what_is_neither_an_evaluator_nor_a_number_of_playouts_is_refused(evaluator):
    with pytest.raises(BadInput, match=f"not {evaluator!r}"):
        search(after(), Limits(nodes=5), evaluator=evaluator)
    assert search(after(), Limits(nodes=5), evaluator=np.int64(2)) == search(after(), Limits(nodes=5), evaluator=2)


@pytest.mark.parametrize("threads", [0, 1.5, True])
def test_threads_that_cannot_be_are_refused(threads):
    trees = Trees(load(CONNECT_FOUR))
    trees.begin([after()])
    with pytest.raises(BadInput, match=f"threads must be a whole number in 1..1024, not {threads}"):
        trees.run(1, threads=threads)


@pytest.mark.parametrize("leaves", [1, 3])
def test_many_playouts_a_leaf_can_be_stopped(leaves):
    search(after(), Limits(nodes=5))  # compiles
    watch = Watch()
    teller = threading.Timer(0.2, lambda: watch.stop.__setitem__(0, 1))
    teller.start()
    begin = time.perf_counter()
    found = search(after(), Limits(nodes=1000), watch, evaluator=1 << 20, leaves=leaves)
    assert time.perf_counter() - begin < 5
    assert found.action in range(7)
    assert sum(line.visits for line in found.lines) == found.nodes < 1000
    teller.join()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"c": True}, "c must be a number in 0..1000000, not True"),
        ({"c": 10**400}, "c must be a number"),
        ({"c": "1"}, "c must be a number in 0..1000000, not '1'"),
        ({"prove": "yes"}, "prove must be True or False, not 'yes'"),
        ({"early_stop": 2}, "early_stop must be True or False, not 2"),
        ({"simulations": True}, "simulations must be a whole number"),
    ],
)
def test_settings_of_the_wrong_kind_are_refused(settings, message):
    with pytest.raises(BadInput, match=message):
        TreeSettings(**settings)


def test_numbers_of_numpy_are_numbers():
    assert TreeSettings(c=np.float32(1.5), discount=np.float64(0.5), simulations=np.int32(7)).c == 1.5
