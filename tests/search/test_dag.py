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
from rookery.search import dag, dag_graph
from rookery.search.analysis import Analysis, Limits, Watch
from rookery.search.evaluations import UNIT, evaluate
from rookery.search.evaluator import SURE
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


def slow_promise(position: Position, action: int) -> int:
    """In Domineering, the moves a domino takes from the other side less those from its own, counted anew."""
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
    return taken - lost


class SlowSearch:
    """The definition, with dictionaries."""

    def __init__(
        self, position, seed=0, c=1.0, k=1000.0, playouts=1, expand_after=1, depth=FOREVER, evaluator=None,
        sharpness=1.0, tries=3, plies=None, own_value=False,
    ):  # fmt: skip
        self.own_value = own_value
        self.game, self.position, self.seed, self.c, self.k = position.game, position, seed, c, k
        self.playouts, self.expand_after, self.depth, self.evaluator = playouts, expand_after, depth, evaluator
        domineering = position.game.name == "domineering"
        self.sharpness, self.tries = sharpness, tries if domineering else 1
        self.plies = (20 if domineering else FOREVER) if plies is None else plies or FOREVER
        self.root = Node(position)
        self.nodes = {position.key: self.root}
        self.expand(self.root)
        self.number, self.drawn, self.repeated = 0, 0, 0
        if evaluator:
            self.judge(self.root)

    def expand(self, node: Node) -> None:
        """Give a node its moves, with priors by what they promise."""
        actions = [int(action) for action in node.position.legal()]
        weights = [math.exp(self.sharpness * slow_promise(node.position, action)) for action in actions]
        shares = [float(np.float32(np.float32(weight) / sum(weights))) for weight in weights]
        node.lines = {action: Line(share) for action, share in zip(actions, shares, strict=True)}

    def draw(self, limit: int) -> int:
        """The next random number of this simulation, below a limit."""
        self.drawn += 1
        return random_below(limit, self.seed, self.number, self.drawn - 1)

    def score(self, node: Node, line: Line) -> float:
        """The formula of the study."""
        chosen = sum(line.visits for line in node.lines.values())
        unknown = node.value if self.own_value else 0.0
        amaf = line.amaf_total / line.amaf_visits if line.amaf_visits else unknown
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
                self.repeated += 1
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
        """Random moves from a leaf: themselves with their seats, and what they come to for each seat."""
        position, moves = leaf.copy(), []
        lists = {seat: list(range(self.game.actions)) for seat in range(self.game.seats)}
        lists |= {node.seat: list(node.lines) for node, _ in path}  # the last node of a seat prevails
        lists[leaf.mover] = [int(action) for action in leaf.legal()]
        while not position.over and len(moves) < self.plies:
            if self.game.vanishing:
                action = self.draw_vanishing(position, lists[position.mover])
            else:
                legal = position.legal()
                action = int(legal[self.draw(len(legal))])  # none of these games has promises in units
            moves.append((position.mover, action))
            position.play(action)
        if position.over:
            return moves, [position.payoff(seat) for seat in range(self.game.seats)]
        return moves, self.for_each_seat(evaluate(position.state) / UNIT, position.mover)

    def for_each_seat(self, value: float, seat: int) -> list[float]:
        """A value from one seat's side, for all: turned for the other team."""
        return [value if team == self.game.teams[seat] else -value for team in self.game.teams]

    def draw_vanishing(self, position: Position, actions: list[int]) -> int:
        """Draw from a list until enough legal moves are found, striking the others; the one that promises most wins."""
        legal, drawn = set(position.legal()), []
        while len(drawn) < self.tries:
            i = self.draw(len(actions))
            if actions[i] in legal:
                drawn.append(actions[i])
            else:
                actions[i] = actions[-1]
                actions.pop()
        return max(drawn, key=lambda action: slow_promise(position, action))

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
        """The evaluator's value for each seat."""
        if node.value is None:
            self.judge(node)
        return self.for_each_seat(node.value, node.seat)


class Shuffle:
    """An evaluator that finds every position even and every move alike."""

    def __init__(self, game):
        self.kind, self.actions = next(iter(game.observations)), game.actions

    def __call__(self, observations):
        return np.zeros((len(observations), self.actions), np.float32), np.zeros(len(observations), np.float32)


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
    check_equal(position, 40, seed=2, plies=2, playouts=2)


@pytest.mark.parametrize("spec", [SMALL, "pylos"])
def test_with_an_evaluator_it_equals_the_slow_search(spec):
    position = after(spec, 2)
    check_equal(position, 60, c=2.0, evaluator=Guess(position.game))
    check_equal(position, 60, c=2.0, evaluator=Guess(position.game), own_value=True)


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
    check_equal(position, simulations // 2, seed=13, plies=3)
    check_equal(position, simulations // 2, c=2.0, evaluator=Guess(position.game))


@pytest.mark.slow
def test_a_position_that_comes_again_on_the_path_is_a_draw():
    position = load("chess").position("k7/p7/P7/8/8/7p/7P/7K w - - 0 1")  # kings with little room
    slow = SlowSearch(position, c=4.0, evaluator=Shuffle(position.game))
    for _ in range(200):
        slow.simulate()
    assert slow.repeated > 0
    check_equal(position, 200, c=4.0, evaluator=Shuffle(position.game))


# ---- what it finds -------------------------------------------------------------------------------


def found(position: Position, simulations: int, **settings) -> Analysis:
    return dag.search(position, Limits(nodes=simulations), **settings)


def test_it_makes_the_one_move_that_wins():
    position = load(SMALL).position("..##/.###/###./###. v")
    analysis = found(position, 100)
    assert position.move_text(analysis.action) == "a1-a2"
    assert analysis.value == 1.0
    assert analysis.lines[0].moves == (analysis.action,)


@pytest.mark.slow
def test_it_makes_and_stops_five_in_a_row():
    position = load("gomoku:size=7").start()
    for move in ("A1", "A7", "B1", "B7", "C1", "C7", "D1"):
        position.play(move)
    assert position.move_text(found(position, 3000).action) == "E1"
    position.play("D7")
    assert position.move_text(found(position, 3000).action) == "E1"


OUTCOMES = {
    (2, 2): "N", (2, 3): "N", (2, 4): "H", (3, 3): "N", (3, 4): "H", (4, 3): "V", (4, 4): "N", (4, 5): "V", (5, 4): "H",
}  # fmt: skip


@pytest.mark.parametrize(("rows", "cols"), OUTCOMES)
@pytest.mark.parametrize("side", "vh")
@pytest.mark.parametrize("promises", [{}, {"sharpness": 0.0, "tries": 1}], ids=["promises", "no promises"])
def test_its_value_has_the_sign_of_the_solved_board(rows, cols, side, promises):
    board = "/".join(["." * cols] * rows)
    position = load(f"domineering:rows={rows},cols={cols}").position(f"{board} {side}")
    wins = OUTCOMES[rows, cols] in ("N", side.upper())
    analysis = found(position, 10_000, **promises)
    assert analysis.value > 0.5 if wins else analysis.value < -0.5


def test_it_beats_random_play():
    rng, won = np.random.default_rng(5), 0
    for game in range(20):
        position = load("domineering:rows=6,cols=6").start()
        while not position.over:
            if position.mover == game % 2:
                position.play(found(position, 100, seed=game).action)
            else:
                position.play(int(rng.choice(position.legal())))
        won += position.payoff(game % 2) > 0
    assert won >= 19


@pytest.mark.parametrize("spec", [SMALL, "domineering:rows=8,cols=8"])
def test_the_graph_has_fewer_nodes_than_simulations_and_than_a_tree(spec):
    running = grown(load(spec).start(), 3000, capacity=1 << 20)
    nodes, edges = running.graph.used
    assert nodes < running.done
    assert nodes - 1 < np.count_nonzero(
        running.graph.visits[:edges]
    )  # in a tree each edge taken leads to a node of its own


def test_two_orders_of_moves_meet_in_one_node():
    game = load(SMALL)
    ways = [("a1-a2", "c4-d4", "d1-d2"), ("d1-d2", "c4-d4", "a1-a2")]
    graph = dag_graph.new_graph(1 << 10)
    nodes = []
    for way in ways:
        position = game.start()
        nodes.append([dag_graph.node_of(graph, position.state)])
        for move in way:
            position.play(move)
            nodes[-1].append(dag_graph.node_of(graph, position.state))
    assert nodes == [[0, 1, 2, 3], [0, 4, 5, 3]]


def test_its_lines_can_be_played_and_are_sorted_by_visits():
    position = after("pylos", 8)
    analysis = found(position, 2000)
    assert analysis.action == analysis.lines[0].action
    assert [line.visits for line in analysis.lines] == sorted((line.visits for line in analysis.lines), reverse=True)
    assert sum(line.visits for line in analysis.lines) == analysis.nodes == 2000
    for line in analysis.lines:
        board = position.copy()
        for action in line.moves:
            board.play(action)
    assert len(analysis.lines[0].moves) > 2


# ---- how it ends ---------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_outcome_however_it_is_sliced(monkeypatch):
    position = after(SMALL, 1)
    whole = found(position, 500, seed=4)
    monkeypatch.setattr(dag, "FIRST_SLICE", 1)
    monkeypatch.setattr(dag, "SLICE_SECONDS", 0.0)
    assert found(position, 500, seed=4) == whole
    assert found(position, 500, seed=5) != whole


def test_a_graph_that_grows_gives_the_same_outcome(monkeypatch):
    position = after(SMALL, 0)
    whole = found(position, 3000, seed=4)
    monkeypatch.setattr(dag, "FIRST_ROOM", 30)
    monkeypatch.setattr(dag, "GROWTH", 2)
    assert found(position, 3000, seed=4) == whole
    guess = Guess(position.game)
    assert found(position, 300, evaluator=guess) == found(position, 300, evaluator=guess, capacity=1 << 20)


def test_games_that_promise_nothing_are_searched_without_promises():
    position = after("pylos", 4)
    assert found(position, 200, sharpness=9.0, tries=7) == found(position, 200, sharpness=0.0, tries=1)


def test_a_full_graph_ends_the_search_and_says_so():
    position = load("domineering:rows=8,cols=8").start()
    analysis = found(position, 100_000, capacity=1000)
    assert 0 < analysis.nodes < 100_000
    assert "full" in analysis.note
    assert "1000" in analysis.note
    assert analysis.action in position.legal()


def test_a_graph_that_cannot_hold_the_root_is_refused():
    with pytest.raises(BadInput, match="must hold the 56 moves"):
        found(load("domineering:rows=8,cols=8").start(), 10, capacity=55)


def test_it_looks_no_deeper_than_told():
    assert dag.search(after(SMALL, 0), Limits(nodes=500, depth=2)).depth == 2
    assert found(after(SMALL, 0), 500).depth > 2


def test_it_ends_when_its_time_is_up():
    begun = time.perf_counter()
    analysis = dag.search(load("domineering").start(), Limits(seconds=0.3))
    assert analysis.nodes > 0
    assert time.perf_counter() - begun < 30  # a machine may be busy, and compile


@pytest.mark.parametrize("settings", [{}, {"playouts": 1 << 20}], ids=["one playout", "a leaf without end"])
def test_it_stops_when_told_while_other_threads_run(settings):
    position, watch, counted = load("domineering").start(), Watch(), [0]
    found(position, 1)  # compiles
    outcome: list[Analysis] = []
    thread = threading.Thread(target=lambda: outcome.append(dag.search(position, Limits(), watch, **settings)))
    thread.start()
    until = time.perf_counter() + 0.2
    while time.perf_counter() < until:
        counted[0] += 1  # this thread has the interpreter again and again
    watch.stop[0] = 1
    told = time.perf_counter()
    thread.join(timeout=60)
    assert time.perf_counter() - told < 5
    assert counted[0] > 1000
    assert outcome[0].action in position.legal()


def test_stopped_before_it_began_it_still_names_a_move():
    position, watch = after(SMALL, 0), Watch()
    watch.stop[0] = 1
    analysis = dag.search(position, Limits(), watch)
    assert analysis.action in position.legal()
    assert analysis.nodes == 0
    assert analysis.note


def test_it_reports_what_it_knows(monkeypatch):
    monkeypatch.setattr(dag, "REPORT_SECONDS", 0.0)
    reports: list[Analysis] = []
    position = after(SMALL, 0)
    last = dag.search(position, Limits(nodes=20_000), Watch(report=reports.append))
    assert reports
    assert [report.nodes for report in reports] == sorted(report.nodes for report in reports)
    assert reports[-1].nodes <= last.nodes == 20_000


def test_temperature_draws_the_move_by_visits():
    position = after(SMALL, 0)
    hot = {found(position, 50, seed=seed, temperature=50.0).action for seed in range(30)}
    assert len(hot) > 3
    cold = found(position, 50, seed=1, temperature=0.01)
    assert cold.action == cold.lines[0].action


# ---- evaluators ----------------------------------------------------------------------------------


def test_the_evaluator_is_asked_once_for_each_node():
    position = after(SMALL, 0)
    guess = Guess(position.game)
    running = grown(position, 300, evaluator=guess)
    assert guess.asked == running.graph.used[0]


def test_priors_of_the_evaluator_are_shares_of_the_legal_moves():
    position = after(SMALL, 1)
    guess = Guess(position.game, "planes")
    lines = found(position, 200, evaluator=guess, c=20.0).lines
    logits = guess(position.observe("planes").reshape(1, -1))[0][0]
    weights = {int(action): math.exp(logits[action]) for action in position.legal()}
    assert {line.action for line in lines} == set(weights)
    for line in lines:
        assert line.prior == pytest.approx(weights[line.action] / sum(weights.values()), rel=1e-5)


class Broken(Guess):
    def __call__(self, observations):
        logits, values = super().__call__(observations)
        return logits, values + np.nan


class Certain(Guess):
    def __call__(self, observations):
        logits, values = super().__call__(observations)
        return logits, np.full_like(values, SURE)


def test_an_evaluator_that_is_sure_of_a_win_counts_as_one():
    position = after(SMALL, 0)
    seen = found(position, 50, evaluator=Certain(position.game))
    assert all(-1 <= line.value <= 1 for line in seen.lines)


class Short(Guess):
    def __call__(self, observations):
        logits, values = super().__call__(observations)
        return logits[:, :-1], values


def test_an_evaluator_that_does_not_fit_is_refused():
    position = after(SMALL, 0)
    guess = Guess(position.game)
    guess.kind = "photograph"
    with pytest.raises(BadInput, match=r"photograph.*tokens"):
        found(position, 10, evaluator=guess)
    with pytest.raises(BadInput, match="nan"):
        found(position, 10, evaluator=Broken(position.game))
    with pytest.raises(BadInput, match=r"arrays of shape \(\(1, \d+\), \(1,\)\); asked for were logits \(1, \d+\)"):
        found(position, 10, evaluator=Short(position.game))
    with pytest.raises(BadInput, match="playouts"):
        found(position, 10, evaluator=Guess(position.game), playouts=2)


# ---- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {"c": -1.0},
        {"c": math.nan},
        {"k": 0.0},
        {"playouts": 0},
        {"temperature": -0.1},
        {"expand_after": -1},
        {"tries": 0},
        {"plies": -1},
        {"capacity": 0},
        {"seed": 2**63},
        {"sharpness": math.inf},
    ],
    ids=str,
)
def test_impossible_settings_are_refused_by_name(settings):
    with pytest.raises(BadInput, match=next(iter(settings))):
        found(after(SMALL, 0), 10, **settings)


def test_a_search_without_an_end_is_refused():
    with pytest.raises(BadInput, match="needs an end"):
        dag.search(after(SMALL, 0), Limits())


def test_a_finished_game_is_refused():
    with pytest.raises(BadInput, match="over"):
        found(load(SMALL).position("####/####/####/#### v"), 10)


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["texas42", "texas42:auction=redeal"])
def test_a_position_with_hidden_hands_is_refused_and_does_not_crash(spec):
    for moves in (0, 6, 11):
        position = after(spec, moves)
        with pytest.raises(BadInput, match="no legal move"):
            found(position.seen_by(position.mover), 200)
