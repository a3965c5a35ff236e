"""The networks of the Pylos study: where they lie, and by which game and self-play they were taught."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rookery.arena.evaluator import NetworkEvaluator, chosen_device
from rookery.arena.networks import misfit, network_file
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.library import load
from rookery.learn.runs import CONFIG
from rookery.learn.sections import SelfplaySettings
from rookery.learn.settings import RunSettings, read_settings
from rookery.learn.threads import fastest_threads
from rookery.nets.files import Loaded, load_network


@dataclass(frozen=True)
class Student:
    """A network of a study, with the game and the self-play it was taught by."""

    loaded: Loaded
    game: Game
    selfplay: SelfplaySettings

    @property
    def kind(self) -> str:
        """The observation it sees."""
        return self.loaded.about.observation

    def evaluator(self, device: str, threads: int, batch: int) -> NetworkEvaluator:
        """Let it judge batches of about so many positions; 0 threads: as many of a CPU as are fastest."""
        if threads == 0 and chosen_device(device).type == "cpu":
            threads = fastest_threads(self.loaded.config, batch)
        return NetworkEvaluator(self.loaded.network, self.kind, device, threads=threads or None)


def student(place: Path) -> Student:
    """Read a network and its run's settings; `place` is a file, or a run, whose newest checkpoint is taken.

    A network without a run's config.yaml beside it is taken to have played as the packaged settings for its game say.
    """
    path = network_file(str(place))
    loaded = load_network(path)
    config = path.parent / CONFIG
    settings = read_settings(config) if config.is_file() else usual_settings(loaded)
    game = load(settings.game)
    why = misfit(loaded, game)
    if why:
        raise BadInput(f"the network {str(path)!r} cannot play {game.label}: {why}")
    return Student(loaded, game, settings.selfplay)


def usual_settings(loaded: Loaded) -> RunSettings:
    """Return V5's settings for a network taught to take back greedily, otherwise those of the best run."""
    return read_settings("pylos_v5" if "removal=greedy" in loaded.about.game else "pylos_best")


def changed(selfplay: SelfplaySettings, at_once: int, simulations: int | None) -> SelfplaySettings:
    """Return self-play with another number of games side by side and of simulations; every move is searched fully."""
    values = selfplay.model_dump() | {"at_once": at_once, "full_share": 1.0, "cheap_simulations": 0}
    if simulations is not None:
        values |= {"simulations": simulations, "leaves": min(selfplay.leaves, simulations)}
    return SelfplaySettings(**values)
