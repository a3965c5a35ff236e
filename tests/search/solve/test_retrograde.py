"""Retrograde analysis against a plain fixpoint over dictionaries, and against minimax where there are no cycles."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from rookery import BadInput, load
from rookery.games.position import Position
from rookery.search.solve import graph as graph_module
from rookery.search.solve import pylos, pylos_samples, retrograde
from rookery.search.solve.graph import Graph, slot_of
from rookery.search.threads import new_stop
from support import CONNECT_FOUR, random_walk

sys.path.insert(0, str(Path(__file__).parent))
from slow_domineering import mover_wins

PYLOS = ["pylos", "pylos:rules=standard", "pylos:rules=children", "pylos:removal=greedy"]


def slow_graph(position: Position, most: int) -> dict[int, tuple[Position, list[int]]] | None:
    """Collect all positions that can be reached: key -> position and keys of what its moves lead to."""
    found: dict[int, tuple[Position, list[int]]] = {}
    waiting = [position]
    while waiting:
        position = waiting.pop()
        if position.key in found:
            continue
        children = []
        for action in position.legal():
            child = position.copy()
            child.play(int(action))
            if "turns" in child.state.dtype.names:
                child.state["turns"] = 0
            children.append(child)
        found[position.key] = position, [child.key for child in children]
        waiting += children
        if len(found) > most:
            return None
    return found


def slow_values(graph: dict[int, tuple[Position, list[int]]]) -> dict[int, int]:
    """Apply the two rules until nothing changes; what is left is drawn."""
    values = {key: int(p.payoff(p.mover)) for key, (p, _) in graph.items() if p.over}
    changed = True
    while changed:
        changed = False
        for key, (position, children) in graph.items():
            if key in values:
                continue
            seen = [
                values[c] * (1 if graph[c][0].mover == position.mover else -1) if c in values else None
                for c in children
            ]
            if 1 in seen or all(value == -1 for value in seen):
                values[key], changed = (1 if 1 in seen else -1), True
    return {key: values.get(key, 0) for key in graph}


def late_pylos(spec: str, left: int, count: int) -> list[Position]:
    found: list[Position] = []
    for seed in range(20 * count):
        late = [p.copy() for p, action in random_walk(load(spec), seed) if action is not None]
        late = [pylos.pure(p) for p in late if pylos.spheres_left(p) <= left]
        found += late[:1]
        if len(found) == count:
            break
    return found


@pytest.mark.parametrize("spec", PYLOS)
def test_values_of_pylos_are_those_of_a_plain_fixpoint(spec):
    compared = 0
    for position in late_pylos(spec, 4, 12):
        slow = slow_graph(position, 800)
        if slow is None:
            continue
        values = slow_values(slow)
        solution = pylos.solve(position)
        assert solution.value == values[position.key]
        for move in solution.moves:
            child = position.copy()
            child.play(move.action)
            sign = 1 if child.mover == position.mover else -1
            assert move.value == sign * values[child.key]
        compared += 1
    assert compared >= 4


@pytest.mark.parametrize("spec", PYLOS)
def test_every_known_value_is_the_best_of_its_moves(spec):
    checked = 0
    for position in late_pylos(spec, 8, 6):
        graph = retrograde.explore(position, 60_000, pylos.STORED)
        expanded = np.flatnonzero((graph.nodes["first"][: graph.size] >= 0) & (graph.nodes["known"][: graph.size] > 0))
        for number in expanded[:2_000]:
            node = graph.nodes[number]
            children = graph.edges[node["first"] : node["first"] + node["moves"]]
            signs = np.where(graph.nodes["team"][children] == node["team"], 1, -1)
            values = [graph.value(child) for child in children]
            seen = [None if value is None else value * sign for value, sign in zip(values, signs, strict=True)]
            value = graph.value(number)
            assert value in seen
            if value < 1:
                assert None not in seen
                assert max(seen) == value
            checked += 1
    assert checked > 300


def stored(graph: Graph, number: int) -> Position:
    """The position with a number, from what is kept of it."""
    states = graph.root.states.copy()
    states.view(np.uint8)[: graph.fields.kept] = graph.packed[number]
    return Position(graph.root.game, states)


def test_a_stored_position_is_the_one_that_was_met():
    position = late_pylos("pylos", 5, 1)[0]
    graph = retrograde.explore(position, 20_000, pylos.STORED)
    for number in range(0, graph.size, 97):
        again = stored(graph, number)
        assert graph.slots[slot_of(graph.slots, graph.keys, np.uint64(again.key))] == number
        assert again.over == (graph.nodes[number]["first"] < 0 and graph.value(number) is not None)


def test_without_cycles_values_are_those_of_minimax():
    for rows, cols in ((2, 3), (3, 3), (4, 3), (4, 4)):
        game = load("domineering", rows=rows, cols=cols)
        squares = frozenset((row, col) for row in range(rows) for col in range(cols))
        solution = retrograde.solve(game.start())
        assert solution.value == (1 if mover_wins(squares, 0) else -1)


def slow_minimax(position: Position, known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """Return value and plies to the end: wins as fast as possible, losses as slow."""
    if position.over:
        return int(position.payoff(position.mover)), 0
    if position.key not in known:
        options = []
        for action in position.legal():
            child = position.copy()
            child.play(int(action))
            value, plies = slow_minimax(child, known)
            options.append((-value, 1 + plies))
        known[position.key] = max(options, key=lambda option: (option[0], -option[0] * option[1]))
    return known[position.key]


def test_draws_wins_and_plies_of_connect_four_are_those_of_minimax():
    values, late = set(), []
    for seed in range(400):
        late += [p.copy() for ply, (p, _) in enumerate(random_walk(load(CONNECT_FOUR), seed)) if ply == 32]
    for position in late:
        value, plies = slow_minimax(position, {})
        solution = retrograde.solve(position, 200_000)
        assert solution.value == value
        if value and solution.complete:
            assert solution.plies == plies
        if not position.over:
            best = next(move for move in solution.moves if move.action == solution.best)
            assert best.value == value
        values.add(value)
    assert values == {1, 0, -1}


def test_a_finished_game_has_its_result_and_no_moves():
    position = load("domineering", rows=1, cols=2).start()
    solution = retrograde.solve(position)
    assert (solution.value, solution.plies, solution.moves, solution.best) == (-1, 0, (), None)


def test_small_slices_and_rounds_give_the_same_values(monkeypatch):
    position = late_pylos("pylos", 5, 1)[0]
    whole = pylos.solve(position)
    monkeypatch.setattr(graph_module, "SLICE", 7)
    monkeypatch.setattr(graph_module, "WALK_SLICE", 11)
    monkeypatch.setattr(retrograde, "WALK_SLICE", 13)
    monkeypatch.setattr(retrograde, "FIRST_ROUND", 10)
    again = pylos.solve(position)
    assert [move.value for move in again.moves] == [move.value for move in whole.moves]


def test_a_graph_that_outgrows_its_limit_is_refused():
    with pytest.raises(BadInput, match=r"is not solved within 1,000 positions \(most_positions\)"):
        pylos.solve(load("pylos").start(), 1_000)
    with pytest.raises(BadInput, match=r"most_positions must be a whole number in 1..1000000000, not 0"):
        pylos.solve(load("pylos").start(), 0)


@pytest.mark.parametrize("most", [1, 100, 3_001, 20_000])
def test_a_graph_never_outgrows_its_limit(most):
    for position in late_pylos("pylos", 9, 3):
        assert retrograde.explore(position, most, pylos.STORED).size <= most


def test_games_of_other_kinds_are_refused():
    with pytest.raises(BadInput, match="texas42 cannot be solved"):
        retrograde.solve(load("texas42").start())
    with pytest.raises(BadInput, match="this solver is for pylos, not for gomoku"):
        pylos.solve(load("gomoku").start())


def test_caps_and_the_number_of_turns_do_not_matter():
    text = late_pylos("pylos", 4, 1)[0].text().rsplit(" ", 1)[0]
    games = [load("pylos"), load("pylos", ply_cap=100, repetition_cap=2)]
    values = [pylos.solve(game.position(f"{text} {turns}")).moves for game in games for turns in (0, 99)]
    assert len(set(values)) == 1


def test_a_stop_ends_the_exploration():
    stop = new_stop()
    stop[0] = 1
    graph = retrograde.explore(pylos.pure(load("pylos").start()), 10**6, pylos.STORED, stop)
    assert graph.size == 1


class StopsAfter:
    """A stop that is set after so many looks at it."""

    def __init__(self, looks: int):
        self.looks = looks

    def __getitem__(self, _: int) -> bool:
        self.looks -= 1
        return self.looks < 0


def test_an_exploration_that_is_stopped_at_any_moment_tells_nothing_wrong(monkeypatch):
    monkeypatch.setattr(retrograde, "WALK_SLICE", 3)
    position = load("domineering", rows=3, cols=3).start()
    told = {retrograde.explore(position, stop=StopsAfter(looks)).value(0) for looks in range(60)}
    assert told == {None, retrograde.solve(position).value}


def test_a_sample_is_the_same_on_two_threads_and_is_read_without_pickle(tmp_path):
    game = load("pylos")
    one = pylos_samples.sample(game, 6, seed=3, most_left=3, most_positions=50_000)
    two = pylos_samples.sample(game, 6, seed=3, most_left=3, most_positions=50_000, threads=2)
    path = tmp_path / "late.npz"
    pylos_samples.write(one, path)
    with np.load(path, allow_pickle=False) as read:
        arrays = {name: read[name] for name in read.files}
    for name, array in pylos_samples.arrays_of(two).items():
        assert np.array_equal(arrays[name], array), name
    assert [p.name for p in tmp_path.iterdir()] == ["late.npz"]
    for text, value, moves in zip(arrays["text"], arrays["value"], arrays["move_values"], strict=True):
        position = game.position(str(text))
        assert pylos.spheres_left(position) <= 3
        assert pylos.solve(position).value == value
        assert list(np.flatnonzero(moves != pylos_samples.ILLEGAL)) == list(position.legal())


def test_a_sample_of_which_nothing_is_solved_is_given_up(monkeypatch):
    monkeypatch.setattr(pylos_samples, "TRIES", 20)
    with pytest.raises(BadInput, match="of 20 games none has a position with at most 6 spheres left that is solved"):
        pylos_samples.sample(load("pylos"), 2, most_positions=1)


def test_a_sample_goes_into_an_npz_file(tmp_path):
    drawn = pylos_samples.sample(load("pylos"), 1, most_left=2)
    with pytest.raises(BadInput, match=r"must end in \.npz"):
        pylos_samples.write(drawn, tmp_path / "late.txt")
    with pytest.raises(BadInput, match="does not exist"):
        pylos_samples.write(drawn, tmp_path / "none" / "late.npz")


def test_a_sample_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    drawn, path = pylos_samples.sample(load("pylos"), 1, most_left=2), tmp_path / "late.npz"
    pylos_samples.write(drawn, path)
    before = path.read_bytes()

    def broken(*arguments, **arrays):
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez_compressed", broken)
    with pytest.raises(OSError, match="disk full"):
        pylos_samples.write(drawn, path)
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("late.npz", before)]
