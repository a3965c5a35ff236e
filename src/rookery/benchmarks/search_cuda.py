"""Tree search on a card: without a network, and with the perceptron of `search` in PyTorch."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from rookery.benchmarks.rules import Timed, example_game
from rookery.benchmarks.search import SIMULATIONS, Measure, Perceptron
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.library import load
from rookery.search.cuda import cuda
from rookery.search.trees import TreeSettings
from rookery.search.trees_cuda import TreesOnCard

TREES = 8192


def pytorch() -> Any:
    """Return PyTorch, or say that it is missing."""
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise BadInput(f"the perceptron on the card needs PyTorch, which cannot be imported ({error})") from None


def on_card(work: Callable[[], int]) -> Timed:
    """Turn work into a measurement that waits for the card."""

    def measure() -> tuple[int, float]:
        cuda.synchronize()
        begin = time.perf_counter()
        count = work()
        cuda.synchronize()
        return count, time.perf_counter() - begin

    return measure


def without_network(game: Game, simulations: int) -> Timed:
    """Search with every position judged as even; the whole search is one launch."""
    trees = TreesOnCard(game, TreeSettings(simulations=simulations, policy="weights"), TREES)
    trees.begin([game.start()] * TREES)

    def work() -> int:
        trees.again(forget=True)
        trees.run_even(simulations + 1)
        return TREES * simulations

    work()
    return on_card(work)


class PerceptronOnCard:
    """The perceptron in PyTorch, reading and writing the arrays of the trees where they lie."""

    def __init__(self, game: Game, trees: TreesOnCard):
        torch, network = pytorch(), Perceptron(game)
        self.first, self.second = (torch.from_numpy(weights).cuda() for weights in (network.first, network.second))
        rows = TREES * trees.settings.leaves
        self.logits, self.values = torch.zeros(rows, game.actions).cuda(), torch.zeros(rows).cuda()
        trees.arrays = trees.arrays._replace(
            logits=self.shared(self.logits, trees.arrays.logits), values=self.shared(self.values, trees.arrays.values)
        )

    def shared(self, tensor: Any, like: Any) -> Any:
        """Return a tensor's memory as an array of the trees."""
        return cuda.as_cuda_array(tensor).view(like.dtype)

    def __call__(self, observations: Any, logits: Any, values: Any) -> None:
        """Judge all leaves under way."""
        torch = pytorch()
        out = torch.relu(torch.as_tensor(observations, device="cuda") @ self.first) @ self.second
        self.logits.copy_(out[:, :-1])
        torch.tanh(out[:, -1], out=self.values)


def asking_perceptron(game: Game, settings: TreeSettings) -> Timed:
    """Search with the perceptron; nothing leaves the card."""
    torch, trees = pytorch(), TreesOnCard(game, settings, TREES)
    trees.begin([game.start()] * TREES)
    network, kind = PerceptronOnCard(game, trees), next(iter(game.observations))
    stream = cuda.external_stream(torch.cuda.current_stream().cuda_stream)

    def work() -> int:
        trees.again(forget=True, stream=stream)
        trees.run(kind, network, stream)
        return TREES * settings.simulations

    work()
    made = trees.fetch().arrays.trees["made"]
    if not (made == settings.simulations).all():
        raise RuntimeError(f"trees made {np.unique(made)} simulations, not {settings.simulations}")
    return on_card(work)


def perceptron_alone(game: Game, calls: int) -> Timed:
    """Ask the perceptron and do nothing with its answers: the ceiling."""
    trees = TreesOnCard(game, TreeSettings(simulations=1), TREES)
    network = PerceptronOnCard(game, trees)
    observations = cuda.to_device(np.zeros((TREES, 84), np.float32))

    def work() -> int:
        for _ in range(calls):
            network(observations, None, None)
        return TREES * calls

    work()
    return on_card(work)


def card_measures() -> list[Measure]:
    """Compile and list what is measured on the card."""
    gomoku = load("gomoku")
    found = []
    for simulations in SIMULATIONS[:2]:
        name = f"card: gomoku 15x15, no network, {simulations} simulations"
        found.append(Measure(name, "simulations", without_network(gomoku, simulations)))
    example = example_game()
    if example:
        four = load(example)
        for simulations in SIMULATIONS:
            name = f"card: connect four, perceptron, {simulations} simulations"
            for way, gumbel in (("PUCT", 0), ("Gumbel", 7)):
                settings = TreeSettings(simulations=simulations, gumbel=gumbel)
                found.append(Measure(f"{name}, {way}", "simulations", asking_perceptron(four, settings)))
        found.append(Measure("card: the perceptron alone", "positions", perceptron_alone(four, 128)))
    return found
