"""The least value loss that could be reached: how far outcomes scatter when the same positions are played out again.

A network plays games against itself. Of all their positions some are drawn, and each is played to its end many times,
with the noise, temperature and simulations of self-play. No network can know more of such an outcome than its mean, so
the mean square loss of any value head on such data is at least the variance of the outcome, on average over positions.

    floor       mean over positions of sum_k (z_k - mean z)^2 / (K - 1), which is not biased for any number K of replays
    value loss  mean over positions and replays of (v - z_k)^2, for the network's own value v: the floor and what the
                network misses

Positions are drawn, not games, as batches of training are; intervals come from a bootstrap over positions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rookery.games.game import Game
from rookery.games.options import whole_number
from rookery.learn.continued import Beginning, Continued, Ended, beginning
from rookery.learn.spread import Say
from rookery.studies.pylos_networks import Student, changed, student

DRAWN = 1e-6  # outcomes nearer to 0 are draws; a discount leaves wins far from it


@dataclass(frozen=True)
class FloorSettings:
    """How the floor is measured. The defaults take a core some twenty minutes for V5; a card is faster."""

    positions: int = 256
    """drawn from the games"""
    replays: int = 32
    """of each position"""
    games: int = 256
    """of self-play, from which positions are drawn"""
    at_once: int = 256
    """games side by side"""
    simulations: int | None = None
    """of a move; None: as in the run's self-play"""
    resamples: int = 2000
    """of the bootstrap"""
    seed: int = 1
    device: str = "auto"
    """of the network; trees are searched on a CPU"""
    threads: int = 0
    """of a CPU for the network; 0: as many as are fastest"""

    def __post_init__(self) -> None:
        """Refuse what cannot be measured with."""
        for name in ("positions", "games", "at_once", "resamples"):
            whole_number(f"{name} of the floor", getattr(self, name), 1, 1 << 24)
        whole_number("threads of the floor", self.threads, 0, 1024)
        whole_number("replays of the floor", self.replays, 2, 1 << 16)


# ---- what replays tell ---------------------------------------------------------------------------


def variances(outcomes: np.ndarray) -> np.ndarray:
    """Estimate the variance of the outcome in each position, [N, K] to [N], without bias."""
    found: np.ndarray = np.var(outcomes, axis=1, ddof=1)
    return found


def square_losses(values: np.ndarray, outcomes: np.ndarray) -> np.ndarray:
    """Return the mean square loss of the values [N] against outcomes [N, K], for each position."""
    losses: np.ndarray = ((values[:, None] - outcomes) ** 2).mean(axis=1)
    return losses


def interval(figures: np.ndarray, resamples: int, seed: int) -> list[float]:
    """Return a 95 % interval of the mean of figures, one for each position, by a bootstrap over positions."""
    rng = np.random.default_rng(seed)
    means = [figures[rng.integers(len(figures), size=len(figures))].mean() for _ in range(resamples)]
    low, high = np.quantile(means, (0.025, 0.975))
    return [float(low), float(high)]


def summary(values: np.ndarray, outcomes: np.ndarray, settings: FloorSettings) -> dict[str, Any]:
    """Say what outcomes [N, K] of replayed positions tell about values [N]."""
    scatter, losses = variances(outcomes), square_losses(values, outcomes)
    plain = variances(np.sign(np.where(abs(outcomes) < DRAWN, 0, outcomes)))
    return {
        "positions": len(outcomes),
        "replays": outcomes.shape[1],
        "floor": float(scatter.mean()),
        "interval": interval(scatter, settings.resamples, settings.seed),
        "value_loss": float(losses.mean()),
        "value_loss_interval": interval(losses, settings.resamples, settings.seed),
        "draws": float((abs(outcomes) < DRAWN).mean()),
        "floor_without_discount": float(plain.mean()),
        "interval_without_discount": interval(plain, settings.resamples, settings.seed),
        "settled": float((scatter == 0).mean()),
    }


# ---- measuring -----------------------------------------------------------------------------------


def drawn_beginnings(game: Game, games: list[Ended], count: int, seed: int) -> list[Beginning]:
    """Draw positions from games, each position of each with the same chance, none twice while there are others."""
    places = [(number, ply) for number, ended in enumerate(games) for ply in range(len(ended.actions))]
    chosen = np.random.default_rng(seed).choice(len(places), size=count, replace=count > len(places))
    pairs = [places[choice] for choice in chosen]
    return [beginning(game, games[number].actions[:ply]) for number, ply in pairs]


def replayed(
    taught: Student, settings: FloorSettings, say: Callable[[int, int], None]
) -> tuple[np.ndarray, np.ndarray]:
    """Play games, draw positions and replay them: return the network's values [N] and the outcomes [N, K]."""
    evaluator = taught.evaluator(settings.device, settings.threads, settings.at_once)
    selfplay = changed(taught.selfplay, settings.at_once, settings.simulations)
    continued = Continued(taught.game, selfplay, taught.kind, settings.seed)
    total = settings.games + settings.positions * settings.replays
    empty = beginning(taught.game, [])
    games = continued.play([empty] * settings.games, evaluator, lambda ended: say(ended, total))
    begun = drawn_beginnings(taught.game, games, settings.positions, settings.seed)
    again = [one for one in begun for _ in range(settings.replays)]
    ended = continued.play(again, evaluator, lambda ended: say(settings.games + ended, total))
    outcomes = [float(game.outcomes[len(one.plies)]) for one, game in zip(again, ended, strict=True)]
    seen = np.stack([one.position.observe(taught.kind) for one in begun])
    return evaluator(seen)[1].astype(np.float64), np.array(outcomes).reshape(len(begun), settings.replays)


def told(say: Say, text: str, done: int, total: int) -> None:
    """Say how far something is, the text last."""
    say(done, total, text)


def measure(networks: dict[str, Path], settings: FloorSettings, say: Say) -> dict[str, Any]:
    """Measure the floor for each network; the content of floor.json."""
    found: dict[str, Any] = {}
    for name, place in networks.items():
        taught = student(place)
        values, outcomes = replayed(taught, settings, partial(told, say, f"floor of {name}"))
        facts = {"game": taught.game.spec, "step": taught.loaded.about.step, "discount": taught.selfplay.discount}
        found[name] = summary(values, outcomes, settings) | facts
    return {"networks": found, "settings": asdict(settings)}
