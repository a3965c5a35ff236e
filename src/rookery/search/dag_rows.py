"""Graphs and trails of many searches side by side: rows of shared arrays."""

from __future__ import annotations

import numpy as np
from numba import int64, njit

from rookery.games.game import Game
from rookery.search.dag_graph import Graph, Rule, Trail, new_trail


def new_graphs(count: int, nodes: int, edges: int) -> Graph:
    """Make the arrays of so many graphs, each with room for so many nodes and edges; a row is that of one graph."""
    slots = 1 << (2 * nodes).bit_length()

    def of_nodes(dtype: type[np.generic]) -> np.ndarray:
        return np.empty((count, nodes), dtype)

    def of_edges(dtype: type[np.generic]) -> np.ndarray:
        return np.empty((count, edges), dtype)

    return Graph(
        used=np.zeros((count, 2), np.int64), slots=np.zeros((count, slots), np.int32),
        keys=of_nodes(np.uint64), seats=of_nodes(np.int32), first=of_nodes(np.int64), degree=of_nodes(np.int32),
        reached=of_nodes(np.int64), chosen=of_nodes(np.int64), judged=of_nodes(np.float64), on_path=of_nodes(np.int64),
        action=of_edges(np.int32), child=of_edges(np.int32), visits=of_edges(np.int32), total=of_edges(np.float64),
        amaf_visits=of_edges(np.int32), amaf_total=of_edges(np.float64), amaf_mean=of_edges(np.float64),
        prior=of_edges(np.float32),
    )  # fmt: skip


def new_trails(game: Game, count: int) -> Trail:
    """Make the room of so many simulations side by side."""
    return Trail(*(np.repeat(array[None], count, 0) for array in new_trail(game)))


@njit(cache=True, nogil=True, inline="always")
def graph_at(graphs: Graph, g: int) -> Graph:
    """Return one of many graphs."""
    return Graph(
        graphs.used[g], graphs.slots[g], graphs.keys[g], graphs.seats[g], graphs.first[g], graphs.degree[g],
        graphs.reached[g], graphs.chosen[g], graphs.judged[g], graphs.on_path[g], graphs.action[g], graphs.child[g],
        graphs.visits[g], graphs.total[g], graphs.amaf_visits[g], graphs.amaf_total[g], graphs.amaf_mean[g],
        graphs.prior[g],
    )  # fmt: skip


@njit(cache=True, nogil=True, inline="always")
def trail_at(trails: Trail, g: int) -> Trail:
    """Return one of many trails."""
    return Trail(
        trails.place[g], trails.nodes[g], trails.edges[g], trails.codes[g], trails.stamps[g], trails.samples[g],
        trails.moves[g], trails.lists[g], trails.left[g], trails.result[g], trails.sums[g], trails.teams[g],
    )  # fmt: skip


@njit(cache=True, nogil=True, inline="always")
def with_seed(rule: Rule, seed: int) -> Rule:
    """Return a rule with another seed."""
    return Rule(
        rule.c, rule.k, rule.playouts, rule.expand_after, rule.depth, int64(seed), rule.actions, rule.vanishing,
        rule.sharpness, rule.tries, rule.plies, rule.own_value,
    )  # fmt: skip
