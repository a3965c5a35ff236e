"""Tree search against its definition, visit for visit, and against what is known of small games."""

from __future__ import annotations

import itertools
import threading
import time

import numpy as np
import pytest

from rookery import BadInput, load
from rookery.games.rng import number, random_bits
from rookery.search.analysis import Limits, Watch
from rookery.search.tree_arrays import FULL
from rookery.search.tree_root import NOISE, considered_visits, gamma_draw
from rookery.search.trees import Trees, TreeSettings, search
from search.slow_trees import Hashed, SlowTree, same_tree
from support import CONNECT_FOUR, SPECS, random_walk

f32 = np.float32
FEW = [CONNECT_FOUR, "pylos", "texas42"]  # one seat after the other; turns that last several plies; teams
WAYS = [
    {},
    {"urgency": "reduced", "reduction": 0.3},
    {"urgency": "lc0", "reduction": 0.33, "c_factor": 3.9, "c_base": 100.0},
    {"urgency": "infinite"},
    {"leaves": 4},
    {"leaves": 3, "urgency": "infinite"},
    {"leaves": 5, "urgency": "lc0", "discount": 0.97},
    {"discount": 0.9, "prove": True},
    {"prove": True, "urgency": "reduced", "leaves": 2},
    {"policy": "logits", "policy_temperature": 1.4},
]


def positions_of(game, seeds, plies):
    """Positions of random games, some plies after their start."""
    found = []
    for seed in seeds:
        walk = itertools.islice(random_walk(game, seed), plies + 1)
        found.append([position.copy() for position, _ in walk if not position.over][-1])
    return found


def compare(spec, way, simulations, plies):
    game = load(spec)
    settings = TreeSettings(simulations=simulations, **({"policy": "weights"} | way))
    evaluator = Hashed(game, policy=settings.policy)
    positions = positions_of(game, range(3), plies)
    trees = Trees(game, settings, trees=len(positions))
    trees.begin(positions)
    trees.run(evaluator)
    for b, position in enumerate(positions):
        slow = SlowTree(position, settings, evaluator)
        slow.run(simulations)
        assert same_tree(trees, b, 0, slow.root) > 1  # the root, and a move at least: it may win at once


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("spec", FEW)
def test_trees_equal_the_slow_ones_node_for_node(spec, way):
    compare(spec, way, 60, 9)


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_trees_equal_the_slow_ones_in_every_game(spec):
    game = load(spec)
    for way, plies in itertools.product(WAYS, (0, 20)):
        if game.start().legal().size and plies < game.longest:
            compare(spec, way, 100, plies)


class Shaken(Hashed):
    """The same with logits that are a little off, as those of another machine may be."""

    def __call__(self, observations):
        logits, values = super().__call__(observations)
        return logits * f32(1 + 1e-5), values


def test_trees_by_priors_a_little_off_differ_only_where_moves_were_about_as_good():
    game, settings = load(CONNECT_FOUR), TreeSettings(simulations=60)
    positions = positions_of(game, range(100), 8)
    gaps, visits = [], []
    for position in positions:
        slow = SlowTree(position, settings, Hashed(game, policy="logits"))
        slow.run(settings.simulations)
        gaps.append(slow.gap)
    for kind in (Hashed, Shaken):
        trees = Trees(game, settings, trees=len(positions))
        trees.begin(positions)
        trees.run(kind(game, policy="logits"))
        visits.append([trees.arrays.edges[b]["visits"].tolist() for b in range(len(positions))])
    differs = np.array([one != other for one, other in zip(*visits, strict=True)])
    assert 0 < differs.sum() < 50
    assert max(np.array(gaps)[differs]) < 0.001 < max(gaps)  # a logit changes by 6e-5, a score by c sqrt(60) of that


@pytest.mark.parametrize(
    "way",
    [
        {},
        {"prove": True, "leaves": 3},
        {"urgency": "reduced", "noise": 0.25, "alpha": 1.5},
        {"urgency": "lc0", "discount": 0.9, "leaves": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("spec", FEW)
def test_kept_subtrees_equal_the_slow_ones(spec, way):
    game = load(spec)
    settings = TreeSettings(simulations=50, policy="weights", **way)
    evaluator = Hashed(game)
    positions = positions_of(game, range(2), 6)
    trees = Trees(game, settings, trees=2, nodes=300, keep=True)
    slow = [SlowTree(position, settings, evaluator) for position in positions]
    trees.begin(positions)
    for _ in range(4):
        trees.run(evaluator)
        for b, tree in enumerate(slow):
            if settings.noise:
                tree.run(0)
                tree.add_noise(noise_key(trees, b))
            tree.run(50)
            same_tree(trees, b, 0, tree.root)
        actions = trees.choose()
        for tree, action in zip(slow, actions, strict=True):
            tree.play(action)
        trees.play(actions)
        if any(tree.position.over for tree in slow):
            break
        trees.again()


def noise_key(trees, b):
    tree = trees.arrays.trees[b]
    return np.uint64(random_bits(trees.settings.seed, int(tree["stream"]), int(tree["search"]) * 4 + NOISE))


def test_noise_differs_between_games_and_between_searches_of_a_game():
    game = load(CONNECT_FOUR)
    trees = Trees(game, TreeSettings(simulations=10, noise=0.5, policy="weights"), trees=2)
    seen = []
    trees.begin([game.start()] * 2)
    for _ in range(2):
        trees.run(0)
        seen += [tuple(trees.arrays.edges[b, :7]["prior"]) for b in range(2)]
        trees.play([3, 3])
        trees.again()
    assert len(set(seen)) == 4
    assert all(abs(sum(priors) - 1) < 1e-5 for priors in seen)


@pytest.mark.parametrize("alpha", [0.1, 0.3, 1.0, 3.0])
def test_gamma_draws_have_the_mean_and_variance_of_the_distribution(alpha):
    draws = np.array([gamma_draw(alpha, np.uint64(99), 64 * i) for i in range(20_000)])
    assert (draws >= 0).all()
    assert abs(draws.mean() - alpha) < 5 * np.sqrt(alpha / len(draws))
    assert abs(draws.var() / alpha - 1) < 0.15 + 0.1 / alpha


# ---- Gumbel search -------------------------------------------------------------------------------


def halving(moves, simulations):
    """Sequential halving as the paper tells it: how often the move of each simulation was visited before."""
    if moves == 1:
        return list(range(simulations))
    rounds, left, visits, order = int(np.ceil(np.log2(moves))), moves, 0, []
    while len(order) < simulations:
        each = max(1, simulations // (rounds * left))
        for _ in range(each):
            order += [visits] * left
            visits += 1
        left = max(2, left // 2)
    return order[:simulations]


def test_sequential_halving_gives_the_moves_of_a_round_equal_visits():
    for moves, simulations in itertools.product((1, 2, 3, 5, 8, 16, 37), (1, 7, 16, 50, 200)):
        given = [considered_visits(moves, simulations, i) for i in range(simulations)]
        assert given == halving(moves, simulations), (moves, simulations)


class SlowGumbel(SlowTree):
    """Gumbel search at the root, as the paper's algorithm 2: the best half of the moves is kept after each round."""

    def run_gumbel(self, simulations, considered, noise):
        s = self.settings
        self.run(0)
        logits = [float(np.log(edge.prior)) for edge in self.root.edges]
        self.base = [f32(f32(s.gumbel_scale) * g + x) for g, x in zip(noise, logits, strict=True)]
        left = sorted(range(len(logits)), key=lambda i: -self.base[i])[:considered]
        rounds, made, visits = int(np.ceil(np.log2(considered))) or 1, 0, 0
        while made < simulations:
            for _ in range(max(1, simulations // (rounds * len(left))) if considered > 1 else 1):
                for i in sorted(left, key=lambda i, visits=visits: -self.score(i, visits)):
                    if made < simulations:
                        self.visit(self.root.edges[i])
                        made += 1
                visits += 1
            keep = max(2, len(left) // 2) if considered > 1 else 1
            left = sorted(left, key=lambda i, visits=visits: -self.score(i, visits))[:keep]
        most = max(edge.visits for edge in self.root.edges)
        best = [i for i in left if self.root.edges[i].visits == most]
        return self.root.edges[max(best, key=lambda i: self.score(i, most))].action

    def score(self, i, visits):
        s, edge = self.settings, self.root.edges[i]
        mean = edge.mean if edge.visits else self.root.value
        return self.base[i] + (f32(s.value_visits) + f32(visits)) * f32(s.value_scale) * ((mean + f32(1)) / f32(2))

    def visit(self, edge):
        path, node = [(self.root, edge)], edge.child
        while node is not None and node.edges:
            below = self.select(node)
            path.append((node, below))
            node = below.child
        self.back_up(path)


@pytest.mark.parametrize("spec", [CONNECT_FOUR, "pylos"])
def test_gumbel_search_equals_its_definition(spec):
    game = load(spec)
    ways = (
        (32, 4, 50),
        (50, 7, 50),
        (16, 16, 50),
        (20, 1, 50),
        (50, 7, 0),
        (9, 4, 1),
        (50, 7, 50, 0.02),
        (32, 6, 5, 0.1),
    )
    for simulations, considered, *weight in ways:
        weights = dict(zip(("value_visits", "value_scale"), weight, strict=False))
        settings = TreeSettings(simulations=simulations, gumbel=considered, policy="weights", **weights)
        evaluator = Hashed(game)
        late = positions_of(game, range(3, 6), 30)  # where legal moves are sparse
        positions = positions_of(game, range(3), 8) + late
        trees = Trees(game, settings, trees=6)
        trees.begin(positions)
        trees.run(evaluator)
        for b, position in enumerate(positions):
            slow = SlowGumbel(position, settings, evaluator)
            count = len(position.legal())
            logits = np.log(trees.arrays.edges[b, :count]["prior"].astype(np.float64))
            noise = trees.arrays.gumbels[b, :count]["x"].astype(np.float64) - logits
            action = slow.run_gumbel(simulations, min(considered, count), noise)
            fast = dict(
                zip(*(trees.arrays.edges[b, :count][field].tolist() for field in ("action", "visits")), strict=True)
            )
            assert fast == slow.visits()
            assert trees.choose()[b] == action


class SlowGumbelBatches(SlowTree):
    """Gumbel search with several leaves under way: each counts as a visit, and as Q of a new move the root's value."""

    def __init__(self, position, settings, evaluator, base):
        super().__init__(position, settings, evaluator)
        self.base, self.order = base, halving(min(settings.gumbel, len(base)), settings.simulations)

    def select(self, node):
        if node is not self.root:
            return super().select(node)
        counts = [edge.visits + edge.waiting for edge in node.edges]
        wanted, s = self.order[sum(counts)], self.settings

        def score(i):
            edge = node.edges[i]
            mean = float(edge.mean if edge.visits else node.value)
            return self.base[i] + float((f32(s.value_visits) + f32(wanted)) * f32(s.value_scale)) * (mean + 1) / 2

        return node.edges[max((i for i, count in enumerate(counts) if count == wanted), key=score)]


@pytest.mark.parametrize("urgency", ["parent", "infinite"])
def test_gumbel_search_with_several_leaves_equals_its_definition(urgency):
    game, evaluator = load(CONNECT_FOUR), Hashed(load(CONNECT_FOUR))
    positions = positions_of(game, range(6), 8)
    for leaves, considered, simulations, scale in (
        (2, 5, 32, 1), (3, 7, 50, 1), (3, 7, 24, 1), (4, 6, 20, 1), (8, 5, 41, 0.1),
    ):  # fmt: skip
        settings = TreeSettings(
            simulations=simulations, gumbel=considered, leaves=leaves, policy="weights", value_scale=scale,
            value_visits=5.0, urgency=urgency,
        )  # fmt: skip
        trees = Trees(game, settings, trees=6)
        trees.begin(positions)
        trees.run(evaluator)
        for b, position in enumerate(positions):
            base = trees.arrays.gumbels[b, : len(position.legal())]["x"].astype(float)
            slow = SlowGumbelBatches(position, settings, evaluator, base)
            slow.run(simulations)
            assert same_tree(trees, b, 0, slow.root) > 1


def test_gumbel_noise_is_drawn_for_every_legal_move_and_anew_in_every_search():
    game = load("gomoku:size=9")
    trees = Trees(game, TreeSettings(simulations=16, gumbel=8, policy="weights"), trees=2)
    trees.begin([game.start()] * 2)
    seen = []
    for _ in range(3):
        trees.run(0)
        seen += [trees.arrays.gumbels[b, :60]["x"].copy() for b in range(2)]
        trees.play(trees.choose())
        trees.again()
    assert len({tuple(noise) for noise in seen}) == 6
    everything = np.concatenate(seen) + np.log(81)
    assert abs(everything.mean() - 0.5772) < 0.3  # Euler's number, the mean of the distribution
    assert abs(everything.var() - np.pi**2 / 6) < 0.7


def test_gumbel_chooses_the_right_child_among_sparse_actions():
    game = load("gomoku:size=9")
    position = game.start()
    for move in ("A1", "B1", "A2", "B2", "A3", "B3", "A4", "B4"):
        position.play(move)
    trees = Trees(game, TreeSettings(simulations=400, gumbel=128, gumbel_scale=1.0, policy="weights"))
    trees.begin([position])
    trees.run(0)
    assert trees.choose() == [position.action("A5")]
    actions, policy = trees.policy(0)
    assert actions[np.argmax(policy)] == position.action("A5")
    assert abs(policy.sum() - 1) < 1e-9


@pytest.mark.parametrize("scale", [0.0, 0.5, 1.0])
def test_gumbel_noise_is_scaled_and_added_to_the_logits(scale):
    game = load(CONNECT_FOUR)
    trees = Trees(game, TreeSettings(simulations=7, gumbel=7, gumbel_scale=scale, policy="weights", seed=4), trees=3)
    trees.begin([game.start()] * 3)
    trees.run(Hashed(game))
    for b in range(3):
        uniform = [(float(int(number(noise_key(trees, b), i)) >> 12) + 0.5) / 2**52 for i in range(7)]
        expected = scale * -np.log(-np.log(uniform)) + np.log(trees.arrays.edges[b, :7]["prior"].astype(float))
        assert np.allclose(trees.arrays.gumbels[b]["x"], expected, atol=1e-5)


@pytest.mark.parametrize("scale", [0.1, 1.0])
def test_the_improved_policy_completes_unvisited_moves_with_the_mixed_value(scale):
    game = load(CONNECT_FOUR)
    trees = Trees(game, TreeSettings(simulations=6, gumbel=3, policy="weights", value_scale=scale))
    evaluator = Hashed(game)
    trees.begin([game.start()])
    trees.run(evaluator)
    edges = trees.arrays.edges[0, :7]
    prior, mean, visits = (edges[name].astype(float) for name in ("prior", "mean", "visits"))
    value, seen = float(trees.arrays.nodes[0, 0]["value"]), visits > 0
    assert 0 < seen.sum() < 7
    mixed = (value + visits.sum() / prior[seen].sum() * (prior * mean)[seen].sum()) / (1 + visits.sum())
    completed = np.where(seen, mean, mixed)
    logits = np.log(prior) + scale * (50 + visits.max()) * (completed + 1) / 2
    expected = np.exp(logits - logits.max())
    assert np.allclose(trees.policy(0)[1], expected / expected.sum(), atol=1e-6)


# ---- what is known -------------------------------------------------------------------------------


def solved(position, memory):
    """Value of a position for its mover, by trying everything."""
    key = position.text()
    if key not in memory:
        team, best = position.game.teams[position.mover], -1.0
        for action in position.legal():
            child = position.copy()
            child.play(int(action))
            seat = position.mover
            if child.over:
                value = child.payoff(seat)
            else:
                value = solved(child, memory)
                value = value if position.game.teams[child.mover] == team else -value
            best = max(best, value)
        memory[key] = best
    return memory[key]


@pytest.mark.parametrize("size", [(3, 3), (3, 4), (4, 3), (4, 4)])
def test_proofs_find_the_solved_result_of_small_boards(size):
    game, memory = load(f"domineering:rows={size[0]},cols={size[1]}"), {}
    for position in [game.start(), *positions_of(game, range(4), 2)]:
        found = search(position, Limits(nodes=20_000), prove=True, early_stop=True, policy="weights", evaluator=0)
        assert found.proven
        assert found.value == solved(position, memory)
        child = position.copy()
        child.play(found.action)
        after = child.payoff(position.mover) if child.over else -solved(child, memory)
        assert after == found.value


def test_partners_win_and_lose_together_in_proofs():
    proven = []
    for position in positions_of(load("texas42:bid=30"), range(6), 23):
        found = search(position, Limits(nodes=2000), prove=True, policy="weights", evaluator=0)
        assert found.proven
        assert found.value == solved(position, {})
        proven.append(found.value)
    assert set(proven) == {-1.0, 1.0}


def test_values_approach_the_solved_result_without_proofs():
    game, memory = load("domineering:rows=4,cols=4"), {}
    for position in positions_of(game, range(5), 3):
        found = search(position, Limits(nodes=20_000), evaluator=1)
        assert found.value * solved(position, memory) > 0.5


class Misled:
    """An evaluator that thinks all positions even, expects White to win at once, and Black not to see it."""

    def __init__(self, game, saving, weight):
        self.kind, self.saving, self.weight = next(iter(game.observations)), saving, weight

    def __call__(self, observations):
        planes = observations.reshape(len(observations), -1, 15 * 15)
        white = planes[:, 0].sum(axis=1) < planes[:, 1].sum(axis=1)
        weights = np.ones((len(observations), 15 * 15), np.float32)
        weights[:, self.saving] = np.where(white, 200, self.weight)
        return weights, np.zeros(len(observations), np.float32)


def threatened():
    """A position of Gomoku in which White threatens to make five at H12; Black has 215 moves."""
    position = load("gomoku").start()
    for move in ("A1", "H8", "C1", "H9", "E1", "H10", "A15", "H11", "H7", "O1"):
        position.play(move)
    assert position.mover == 0
    assert len(position.legal()) == 215
    return position, position.action("H12")


@pytest.mark.parametrize("discount", [1.0, 0.98])
@pytest.mark.parametrize("urgency", ["parent", "reduced"])
def test_the_one_saving_move_among_two_hundred_is_found_within_4000_simulations(urgency, discount):
    position, saving = threatened()
    evaluator = Misled(position.game, saving, 0.1)  # a tenth of every other move's prior
    way = {"policy": "weights", "urgency": urgency, "discount": discount, "reduction": 0.2}
    assert search(position, Limits(nodes=4000), evaluator=evaluator, **way).action == saving


def test_with_proofs_the_saving_move_is_found_within_1000_simulations():
    position, saving = threatened()
    evaluator = Misled(position.game, saving, 0.01)
    assert search(position, Limits(nodes=1000), evaluator=evaluator, policy="weights", prove=True).action == saving


def test_without_a_floor_moves_not_looked_at_rank_below_moves_that_lose():
    position, saving = threatened()
    evaluator = Misled(position.game, saving, 0.1)
    way = {"policy": "weights", "urgency": "lc0", "reduction": 0.2}
    assert search(position, Limits(nodes=4000), evaluator=evaluator, **way).action != saving


# ---- limits --------------------------------------------------------------------------------------


def test_a_search_is_the_same_for_any_number_of_threads():
    game = load("pylos")
    results = []
    for threads in (1, 3):
        trees = Trees(game, TreeSettings(simulations=80, noise=0.25, seed=5), trees=13)
        trees.begin([game.start()] * 13)
        trees.run(1, threads=threads)
        results.append([trees.policy(b)[1].tolist() for b in range(13)])
    assert results[0] == results[1]
    assert len({tuple(shares) for shares in results[0]}) > 5


def test_a_search_stops_soon_after_it_is_told_while_other_threads_run():
    game = load("pylos")
    search(game.start(), Limits(nodes=5))
    watch, ticks = Watch(), []

    def tell():
        for _ in range(20):
            time.sleep(0.01)
            ticks.append(time.perf_counter())
        watch.stop[0] = 1

    teller = threading.Thread(target=tell)
    teller.start()
    found = search(game.start(), Limits(nodes=100_000_000 // game.most_legal), watch)
    end = time.perf_counter()
    teller.join()
    assert len(ticks) == 20
    assert end - ticks[-1] < 0.5  # 50 ms on a quiet machine
    assert found.nodes > 0


def test_a_time_limit_ends_a_search():
    search(load("pylos").start(), Limits(nodes=5))  # compiles
    begin = time.perf_counter()
    found = search(load("pylos").start(), Limits(seconds=0.2))
    assert 0.2 <= time.perf_counter() - begin < 5
    assert found.nodes > 10


def test_a_search_without_time_still_names_a_move():
    game = load(CONNECT_FOUR)
    stopped = Watch()
    stopped.stop[0] = 1
    for evaluator in (1, Hashed(game, policy="logits")):
        found = search(game.start(), Limits(nodes=1000), stopped, evaluator=evaluator)
        assert found.action in game.start().legal()
        assert found.nodes < 1000


def test_a_full_pool_ends_the_search_and_says_so():
    game = load("pylos")
    trees = Trees(game, TreeSettings(simulations=5000), edges=100 * game.most_legal)
    trees.begin([game.start()])
    trees.run(1)
    assert trees.arrays.trees[0]["status"] == FULL
    assert "full" in trees.analysis(0).note
    assert 90 < trees.analysis(0).nodes < 5000


def test_an_early_stop_changes_no_choice():
    game = load(CONNECT_FOUR)
    for position in positions_of(game, range(8), 12):
        late, early = (
            search(position, Limits(nodes=300), early_stop=early, policy="weights") for early in (False, True)
        )
        assert late.action == early.action
        assert early.nodes <= late.nodes == 300


def test_temperature_draws_moves_in_proportion_to_visits_until_its_last_ply():
    game = load(CONNECT_FOUR)
    settings = TreeSettings(simulations=60, temperature=1.0, temperature_plies=4, policy="weights")
    trees = Trees(game, settings, trees=400)
    trees.begin([game.start()] * 400)
    trees.run(0)
    chosen = np.bincount(trees.choose(), minlength=7) / 400
    actions, shares = trees.policy(0)
    assert np.abs(chosen[actions] - shares).max() < 0.1
    trees.begin([game.start()] * 400, plies=4)
    trees.run(0)
    assert len(set(trees.choose())) == 1


def test_a_principal_line_can_be_played():
    for spec in FEW:
        position = load(spec).start(3)
        found = search(position, Limits(nodes=200))
        assert found.lines[0].visits >= found.lines[-1].visits
        assert found.depth >= 2
        for line in found.lines:
            copy = position.copy()
            for action in line.moves:
                copy.play(action)
        assert sum(line.visits for line in found.lines) == 200


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"simulations": 0}, "simulations must be a whole number"),
        ({"leaves": 0}, "leaves"),
        ({"urgency": "none"}, "urgency must be one of parent, reduced, lc0, infinite"),
        ({"c": float("nan")}, "c must be a number"),
        ({"discount": 1.5}, r"discount must be a number in 0.01..1, not 1.5"),
        ({"discount": 0.0}, r"discount must be a number in 0.01..1, not 0.0"),
        ({"noise": -0.1}, r"noise must be a number in 0..1, not -0.1"),
        ({"seed": 2**63}, "seed must be a whole number"),
        ({"gumbel": 8, "noise": 0.2}, "exclude each other"),
        ({"policy": "magic"}, "policy must be one of"),
    ],
)
def test_impossible_settings_are_refused_by_name(settings, message):
    with pytest.raises(BadInput, match=message):
        TreeSettings(**settings)


def test_wrong_searches_are_refused():
    game = load(CONNECT_FOUR)
    trees = Trees(game, trees=2)
    with pytest.raises(BadInput, match="2 trees, but 1 positions"):
        trees.begin([game.start()])
    position = game.start()
    for move in (0, 1, 0, 1, 0, 1, 0):
        position.play(move)
    with pytest.raises(BadInput, match="the game is over"):
        search(position, Limits(nodes=10))
    with pytest.raises(BadInput, match="at least"):
        Trees(game, edges=3)
    trees.begin([game.start()] * 2)
    with pytest.raises(BadInput, match="has not been searched"):
        trees.choose()
