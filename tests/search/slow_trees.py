"""Tree search as its definition reads: objects, one simulation after the other. The oracle of the fast trees."""

from __future__ import annotations

import ctypes
import zlib

import numpy as np

from rookery.games.position import Position
from rookery.search.tree_root import gamma_draw

f32 = np.float32
expf = ctypes.CDLL("libm.so.6").expf
expf.restype, expf.argtypes = ctypes.c_float, [ctypes.c_float]


class Hashed:
    """An evaluator whose answers are a random function of the observation, with weights that are multiples of 2^-16."""

    def __init__(self, game, kind=None, policy="weights"):
        self.kind, self.actions, self.policy = kind or next(iter(game.observations)), game.actions, policy

    def __call__(self, observations):
        logits, values = np.zeros((len(observations), self.actions), f32), np.zeros(len(observations), f32)
        for row, observation in enumerate(observations):
            rng = np.random.default_rng(zlib.crc32(observation.astype(f32).tobytes()))
            if self.policy == "weights":
                logits[row] = rng.integers(1, 200, self.actions) / 2**16
            else:
                logits[row] = rng.normal(size=self.actions) * 2
            values[row] = rng.uniform(-0.9, 0.9)
        return logits, values


class Edge:
    def __init__(self, action, prior):
        self.action, self.prior = action, prior
        self.visits, self.mean, self.child, self.proof, self.waiting = 0, f32(0), None, 0, 0


class Node:
    def __init__(self, seat, value):
        self.seat, self.value = seat, f32(value)
        self.visits, self.mean, self.mass, self.proof = 0, f32(0), f32(0), 0
        self.edges: list[Edge] = []


class SlowTree:
    """One tree. `waiting` counts the leaves of the batch that are under way."""

    def __init__(self, position: Position, settings, evaluator):
        self.position, self.settings, self.evaluator = position.copy(), settings, evaluator
        self.teams = position.game.teams
        self.root: Node | None = None
        self.gap = np.inf  # the least by which a move was ever preferred to another

    # -- one batch of simulations --

    def run(self, simulations):
        made = 0
        if self.root is None:
            self.root = self.new_node(self.position, None)
            self.count(self.root, self.root.value)
        while made < simulations:
            batch = []
            while len(batch) < min(self.settings.leaves, simulations - made):
                path = self.descend()
                if path is None:
                    break
                batch.append(path)
            for path in batch:
                for node, edge in path:
                    edge.waiting -= 1
                    node.waiting = getattr(node, "waiting", 0) - 1
            for path in batch:
                self.back_up(path)
            made += len(batch)

    def descend(self):
        """Return the path to a leaf as (node, edge) pairs; None if it ends at a leaf that is under way."""
        node, path = self.root, []
        while node is not None and node.edges:
            edge = self.select(node)
            if edge.child is None and edge.waiting:
                return None
            path.append((node, edge))
            node = edge.child
        for node, edge in path:
            if edge.visits + edge.waiting == 0:
                edge.mean = self.waiting_mean(node)
            edge.waiting += 1
            node.waiting = getattr(node, "waiting", 0) + 1
        return path

    def waiting_mean(self, node):
        return node.mean if self.settings.urgency == "infinite" else self.urgency(node)

    def select(self, node):
        s = self.settings
        visits = node.visits + getattr(node, "waiting", 0)
        c = f32(s.c)
        if s.c_factor > 0:
            c = c + f32(f32(s.c_factor) * f32(np.log(f32((f32(visits) + f32(s.c_base)) / f32(s.c_base)))))
        scale = f32(c * np.sqrt(f32(max(visits - 1, 1))))

        def score(edge):
            n = edge.visits + edge.waiting
            mean = edge.mean if n else self.urgency(node)
            if edge.proof > 0:
                return np.inf
            total = mean + scale * edge.prior / f32(1 + n)
            return total - f32(1e6) if edge.proof < 0 else total

        scores = [score(edge) for edge in node.edges]
        best = scores.index(max(scores))  # the first of equals
        others = scores[:best] + scores[best + 1 :]
        if others and np.isfinite(scores[best]):
            self.gap = min(self.gap, float(scores[best]) - float(max(others)))
        return node.edges[best]

    def urgency(self, node):
        s = self.settings
        if s.urgency == "parent":
            return node.mean
        if s.urgency == "infinite":
            return f32(1e30)
        reduced = node.mean - np.sqrt(f32(s.reduction**2) * node.mass)
        worst = min([edge.mean for edge in node.edges if edge.child is not None], default=f32(1e30))
        return max(reduced, min(node.mean, worst)) if s.urgency == "reduced" else reduced

    def back_up(self, path):
        position = self.position.copy()
        for _, edge in path:
            position.play(edge.action)
        last_node, last_edge = path[-1]
        if last_edge.child is None:
            last_edge.child = self.new_node(position, last_node.seat)
        leaf = last_edge.child
        self.count(leaf, leaf.value)
        value, team = leaf.value, self.teams[leaf.seat]
        for node, edge in reversed(path):
            if self.teams[node.seat] != team:
                team, value = self.teams[node.seat], -(f32(self.settings.discount) * value)
            if edge.visits == 0:
                node.mass, edge.mean = node.mass + edge.prior, value
            edge.visits += 1
            edge.mean = edge.mean + (value - edge.mean) / f32(edge.visits)
            if self.settings.prove and edge.child.proof and not edge.proof:
                same = self.teams[node.seat] == self.teams[edge.child.seat]
                edge.proof = edge.child.proof if same else -edge.child.proof
                if edge.proof > 0:
                    node.proof = 1
                elif all(other.proof < 0 for other in node.edges):
                    node.proof = -1
            self.count(node, value)

    def count(self, node, value):
        node.visits += 1
        node.mean = node.mean + (value - node.mean) / f32(node.visits)

    def new_node(self, position, seat_before):
        if position.over:
            node = Node(seat_before, position.payoff(seat_before))
            if self.settings.prove and abs(node.value) == 1:
                node.proof = int(node.value)
            return node
        logits, values = self.evaluator(position.observe(self.evaluator.kind).reshape(1, -1))
        node, legal = Node(position.mover, values[0]), position.legal()
        given = logits[0, legal].astype(f32)
        if self.settings.policy == "logits":
            sharpness = f32(1 / self.settings.policy_temperature)
            given = np.array([expf(f32((x - given.max()) * sharpness)) for x in given], f32)
        mass = f32(0)
        for x in given:
            mass += x
        node.edges = [Edge(int(action), f32(x / mass)) for action, x in zip(legal, given, strict=True)]
        if self.settings.urgency == "lc0":
            node.edges.sort(key=lambda edge: -edge.prior)
        return node

    # -- the root --

    def add_noise(self, key):
        draws = [gamma_draw(f32(self.settings.alpha), key, 64 * i) for i in range(len(self.root.edges))]
        noise = float(f32(self.settings.noise))
        for edge, draw in zip(self.root.edges, draws, strict=True):
            edge.prior = f32((1.0 - noise) * float(edge.prior) + noise * (draw / sum(draws)))
        self.root.mass = f32(0)
        for edge in self.root.edges:
            if edge.visits:
                self.root.mass += edge.prior

    def play(self, action):
        self.position.play(action)
        found = [edge.child for edge in self.root.edges if edge.action == action] if self.root else []
        self.root = found[0] if found and found[0] is not None and found[0].edges else None

    def visits(self):
        return {edge.action: edge.visits for edge in self.root.edges}


def same_tree(trees, b, n, node):
    """Check that node n of a fast tree and everything below it equals a slow node; return how many nodes there are."""
    first, count = trees.edges_of(b, n)
    fast = trees.arrays.nodes[b, n]
    assert (fast["visits"], fast["seat"], fast["proof"]) == (node.visits, node.seat, node.proof)
    assert (fast["mean"], fast["mass"]) == (node.mean, node.mass)
    assert count == len(node.edges)
    total = 1
    for e, edge in enumerate(node.edges, first):
        record = trees.arrays.edges[b, e]
        assert record["action"] == edge.action
        assert record["visits"] == edge.visits
        assert record["prior"] == edge.prior
        if edge.visits:
            assert record["mean"] == edge.mean
        assert (record["child"] >= 0) == (edge.child is not None)
        if edge.child is not None:
            total += same_tree(trees, b, int(record["child"]), edge.child)
    return total
