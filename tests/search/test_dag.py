"""RAVE on a graph of positions, against a slow search that reads like the definition, and against solved boards."""

from __future__ import annotations

import math
import threading
import time

import numpy as np
import pytest

from rookery import BadInput, load
from rookery.games.position import Position
from rookery.games.rng import random_below
from rookery.search import dag
from rookery.search.analysis import Analysis, Limits, Watch
from support import CONNECT_FOUR

FOREVER = 1 << 62
SMALL = "domineering:rows=4,cols=4"


class Line:
    """What a node of the slow search knows about one of its moves."""

    def __init__(self, prior: float):
        self.prior, self.visits, self.total, self.amaf_visits, self.amaf_total = prior, 0, 0.0, 0, 0.0


class Node:
    """A position of the slow search."""

    def __init__(self, position: Position):
        self.position, self.seat = position.copy(), position.mover
        self.reached = 0
        self.lines: dict[int, Line] = {}  # by action, in increasing order
        self.value: float | None = None


def slow_hint(position: Position, action: int) -> int:
    """In Domineering, the moves a domino takes from the other side less those from its own, counted before and after."""
    if position.game.name != "domineering":
        return 0

    def moves(text: str) -> int:
        board = position.game.position(text)
        return 0 if board.over else len(board.legal())

    after = position.copy()
    after.play(action)
    before, behind = position.text()[:-1], after.text()[:-1]
    own, other = "vh"[position.mover], "hv"[position.mover]
    taken, lost = moves(before + other) - moves(behind + other), moves(before + own) - moves(behind + own)
    return taken - (lost - 1)


class SlowSearch:
    """The definition, with dictionaries."""

    def __init__(
        self, position, seed=0, c=1.0, k=1000.0, playouts=1, expand_after=1, depth=FOREVER, evaluator=None,
        sharpness=1.0, tries=2,
    ):  # fmt: skip
        self.game, self.position, self.seed, self.c, self.k = position.game, position, seed, c, k
        self.playouts, self.expand_after, self.depth, self.evaluator = playouts, expand_after, depth, evaluator
        self.sharpness, self.tries = sharpness, tries if position.game.name == "domineering" else 1
        self.root = Node(position)
        self.nodes = {position.key: self.root}
        self.expand(self.root)
        self.number, self.drawn = 0, 0
        if evaluator:
            self.judge(self.root)

    def expand(self, node: Node) -> None:
        """Give a node its moves, with priors by their hints."""
        actions = [int(action) for action in node.position.legal()]
        weights = [math.exp(self.sharpness * slow_hint(node.position, action)) for action in actions]
        shares = [float(np.float32(np.float32(weight) / sum(weights))) for weight in weights]
        node.lines = {action: Line(share) for action, share in zip(actions, shares, strict=True)}

    def draw(self, limit: int) -> int:
        """The next random number of this simulation, below a limit."""
        self.drawn += 1
        return random_below(limit, self.seed, self.number, self.drawn - 1)

    def score(self, node: Node, line: Line) -> float:
        """The formula of the study."""
        chosen = sum(line.visits for line in node.lines.values())
        amaf = line.amaf_total / line.amaf_visits if line.amaf_visits else 0.0
        if line.visits == 0:
            return amaf + self.c * math.sqrt(chosen) * line.prior
        beta = math.sqrt(self.k / (3.0 * chosen + self.k))
        mean = (1.0 - beta) * (line.total / line.visits) + beta * amaf
        return mean + self.c * math.sqrt(math.log(chosen)) * line.prior / (1.0 + line.visits)

    def choose(self, node: Node) -> int:
        """The move with the highest score; among equals the first from a random one on."""
        actions = list(node.lines)
        begin = self.draw(len(actions))
        turned = actions[begin:] + actions[:begin]
        return max(turned, key=lambda action: self.score(node, node.lines[action]))

    def simulate(self) -> None:
        """One simulation: down, judge, credit, up."""
        self.number += 1
        self.drawn = 0
        path: list[tuple[Node, int]] = []
        position, node, fresh, values = self.position.copy(), self.root, False, None
        while True:
            if node in [earlier for earlier, _ in path]:
                values = [0.0] * self.game.seats
                break
            node.reached += 1
            if fresh or len(path) == self.depth:
                break
            if not node.lines:
                if self.evaluator or node.reached <= self.expand_after:
                    break
                self.expand(node)
            action = self.choose(node)
            fresh = node.lines[action].visits == 0
            path.append((node, action))
            position.play(action)
            if position.over:
                values = [position.payoff(seat) for seat in range(self.game.seats)]
                break
            node = self.nodes.setdefault(position.key, Node(position))
        if values is None and self.evaluator:
            values = self.judged(node)
        if values is not None:
            self.credit(path, [], None, values)
            self.back_up(path, values)
            return
        sums = [0.0] * self.game.seats
        for _ in range(self.playouts):
            moves, result = self.play_out(position, path)
            self.credit(path, moves, node, result)
            sums = [total + value for total, value in zip(sums, result, strict=True)]
        self.back_up(path, [total * (1.0 / self.playouts) for total in sums])

    def play_out(self, leaf: Position, path: list[tuple[Node, int]]) -> tuple[list[tuple[int, int]], list[float]]:
        """A random game from a leaf: its moves with their seats, and its result for each seat."""
        position, moves = leaf.copy(), []
        lists = {seat: list(range(self.game.actions)) for seat in range(self.game.seats)}
        lists |= {node.seat: list(node.lines) for node, _ in path}  # the last node of a seat prevails
        lists[leaf.mover] = [int(action) for action in leaf.legal()]
        while not position.over:
            if self.game.vanishing:
                action = self.draw_vanishing(position, lists[position.mover])
            else:
                legal = position.legal()
                action = int(legal[self.draw(len(legal))])  # no game without vanishing moves gives hints
            moves.append((position.mover, action))
            position.play(action)
        return moves, [position.payoff(seat) for seat in range(self.game.seats)]

    def draw_vanishing(self, position: Position, actions: list[int]) -> int:
        """Draw from a list until enough legal moves are found, striking the others; the one with the best hint wins."""
        legal, drawn = set(position.legal()), []
        while len(drawn) < self.tries:
            i = self.draw(len(actions))
            if actions[i] in legal:
                drawn.append(actions[i])
            else:
                actions[i] = actions[-1]
                actions.pop()
        return max(drawn, key=lambda action: slow_hint(position, action))

    def credit(self, path, playout: list[tuple[int, int]], leaf: Node | None, values: list[float]) -> None:
        """All moves as first: each ancestor hears of every move that its own seat played from there on, once."""
        ancestors = [node for node, _ in path] + ([leaf] if playout else [])
        played = [(node.seat, action) for node, action in path] + playout
        for ply, node in enumerate(ancestors):
            for action in {action for seat, action in played[ply:] if seat == node.seat}:
                if action in node.lines:
                    node.lines[action].amaf_visits += 1
                    node.lines[action].amaf_total += values[node.seat]

    def back_up(self, path, values: list[float]) -> None:
        for node, action in path:
            node.lines[action].visits += 1
            node.lines[action].total += values[node.seat]

    def judge(self, node: Node) -> None:
        """Ask the evaluator for value and priors."""
        logits, values = self.evaluator(node.position.observe(self.evaluator.kind).reshape(1, -1))
        if not node.lines:
            self.expand(node)
        chosen = np.asarray(logits[0], np.float64)[list(node.lines)]
        weights = np.exp(chosen - chosen.max())
        for line, prior in zip(node.lines.values(), weights / weights.sum(), strict=True):
            line.prior = float(np.float32(prior))
        node.value = float(values[0])

    def judged(self, node: Node) -> list[float]:
        """The evaluator's value for each seat: turned for the other team."""
        if node.value is None:
            self.judge(node)
        teams = self.game.teams
        return [node.value if teams[seat] == teams[node.seat] else -node.value for seat in range(self.game.seats)]


class Guess:
    """An evaluator without knowledge: its logits and values are some function of the observation."""

    def __init__(self, game, kind: str | None = None):
        self.kind = kind or next(iter(game.observations))
        rng = np.random.default_rng(7)
        size = int(np.prod(game.observations[self.kind]))
        self.policy, self.worth = rng.normal(size=(size, game.actions)), rng.normal(size=size)
        self.asked = 0

    def __call__(self, observations):
        self.asked += len(observations)
        logits = (observations @ self.policy / 4).astype(np.float32)
        return logits, np.tanh(observations @ self.worth / 4).astype(np.float32)


def grown(position: Position, simulations: int, *, evaluator=None, depth=None, capacity=1 << 16, **settings):
    """The fast search's graph after some simulations."""
    rule = dag.rule_of(position.game, Limits(nodes=simulations, depth=depth), evaluator=evaluator, **settings)
    running = dag.begin(position, rule, evaluator, capacity)
    dag.run(running, Limits(nodes=simulations), Watch())
    return running


def nodes_of(running) -> dict[int, dict[int, tuple]]:
    """The graph as a dictionary: key -> action -> numbers of the edge."""
    graph = running.graph
    found = {}
    for node in range(int(graph.used[0])):
        edges = range(int(graph.first[node]), int(graph.first[node] + graph.degree[node]))
        found[int(graph.keys[node])] = {
            int(graph.action[e]): (
                int(graph.visits[e]), float(graph.total[e]), int(graph.amaf_visits[e]), float(graph.amaf_total[e]),
            )
            for e in edges
        }  # fmt: skip
        assert graph.chosen[node] == sum(graph.visits[e] for e in edges)
    return found


def check_equal(position: Position, simulations: int, **settings) -> None:
    fast = grown(position, simulations, **settings)
    slow = SlowSearch(position, **settings)
    for _ in range(simulations):
        slow.simulate()
    expected = {
        key: {a: (x.visits, x.total, x.amaf_visits, x.amaf_total) for a, x in node.lines.items()}
        for key, node in slow.nodes.items()
    }
    assert nodes_of(fast) == expected
    assert fast.done == simulations


def after(spec: str, moves: int, seed: int = 0) -> Position:
    """The position after some random moves."""
    rng = np.random.default_rng(seed)
    position = load(spec).start(seed)
    for _ in range(moves):
        position.play(int(rng.choice(position.legal())))
    return position


# ---- the definition ------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", [SMALL, "pylos"])
def test_it_equals_the_slow_search_visit_for_visit(spec):
    check_equal(after(spec, 0), 60, seed=3)


@pytest.mark.parametrize("spec", [SMALL, "pylos"])
def test_settings_mean_the_same_in_the_slow_search(spec):
    position = after(spec, 3)
    check_equal(position, 40, seed=-5, c=3.0, k=10.0, playouts=3, expand_after=0)
    check_equal(position, 40, seed=9, c=0.0, expand_after=4, depth=2)


@pytest.mark.parametrize("spec", [SMALL, "pylos"])
def test_with_an_evaluator_it_equals_the_slow_search(spec):
    position = after(spec, 2)
    check_equal(position, 60, c=2.0, evaluator=Guess(position.game))


CHESS = "8/8/8/8/8/5k2/6q1/7K w - - 0 1"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "moves", "simulations"),
    [
        (SMALL, 0, 1500),
        ("domineering:rows=3,cols=7", 1, 800),
        ("gomoku:size=5", 0, 300),
        ("gomoku:size=7,rule=renju,opening=swap2", 0, 100),
        (CONNECT_FOUR, 0, 400),
        (CONNECT_FOUR, 20, 1000),
        ("texas42", 0, 300),
        ("texas42", 9, 600),
        ("texas42:auction=redeal", 0, 100),
        ("pylos", 0, 300),
        ("pylos", 25, 300),
        ("chess", 0, 30),
        ("chess", 150, 30),
    ],
)
def test_every_game_equals_the_slow_search(spec, moves, simulations):
    position = after(spec, moves, seed=1)
    check_equal(position, simulations, seed=11)
    check_equal(position, simulations // 2, seed=12, c=8.0, k=50.0, playouts=2, expand_after=0)
    check_equal(position, simulations // 2, c=2.0, evaluator=Guess(position.game))


# ---- what it finds -------------------------------------------------------------------------------


def found(position: Position, simulations: int, **settings) -> Analysis:
    return dag.search(position, Limits(nodes=simulations), **settings)


def test_it_makes_the_one_move_that_wins():
    position = load(SMALL).position("##.#/##.#/####/##.. v")  # c1-c2 leaves one move to each side: the last is ours
    position = load("gomoku:size=5").start()
    for move in ("a1", "a5", "b1", "b5", "c1", "c5", "d1", "e5"):
        position.play(move)
    analysis = found(position, 300)
    assert position.move_text(analysis.action) == "e1"
    assert analysis.value == 1.0


OUTCOMES = {(2, 2): "N", (2, 3): "N", (3, 3): "N", (3, 4): "H", (4, 3): "V", (4, 4): "N", (4, 5): "V", (5, 4): "H"}


@pytest.mark.parametrize(("rows", "cols"), OUTCOMES)
@pytest.mark.parametrize("side", "vh")
def test_its_value_has_the_sign_of_the_solved_board(rows, cols, side):
    board = "/".join(["." * cols] * rows)
    position = load(f"domineering:rows={rows},cols={cols}").position(f"{board} {side}")
    wins = OUTCOMES[rows, cols] in ("N", side.upper())
    analysis = found(position, 20_000, c=5.0)
    assert analysis.value > 0.8 if wins else analysis.value < -0.8
