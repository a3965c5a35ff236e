"""Random play and perft of every game: how fast rules are, with legal lists made and results checked.

Each round measures everything once, one after the other, and the medians over the rounds are reported, so that a
slow moment of the machine hits all of them alike. Only ratios of one run mean much.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import rookery
from rookery.benchmarks.peers import openspiel_rollouts
from rookery.games.game import Game
from rookery.games.library import OWN
from rookery.search.perft import perft
from rookery.search.playout import RandomGames, random_games
from rookery.search.threads import cores

CARD_GAMES = 1 << 21
SLICES = 8  # per thread and measurement

Timed = Callable[[], tuple[int, float]]  # one measurement: (plies, seconds)


@dataclass(frozen=True)
class Row:
    """Plies a second in random play, and leaves a second in perft on one core. None: not measured."""

    game: str
    mean_plies: float
    one_core: float
    all_cores: float
    cores: int
    perft: float
    openspiel: float | None = None
    card: float | None = None
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    """lowest and highest speed of the rounds; the fields above are their medians"""

    def as_dict(self) -> dict[str, Any]:
        """Return the row with its ratios, for JSON."""
        return asdict(self) | {
            "against_openspiel": self.against_openspiel,
            "card_against_cores": self.card_against_cores,
        }

    @property
    def against_openspiel(self) -> float | None:
        """One core of ours against one of OpenSpiel."""
        return None if self.openspiel is None else self.one_core / self.openspiel

    @property
    def card_against_cores(self) -> float | None:
        """The card against all cores of this machine."""
        return None if self.card is None else self.card / self.all_cores


def example_game() -> str | None:
    """Find the path of the connect four example, in an installed package or in a checkout."""
    package = Path(rookery.__file__).parent
    places = (package / "examples", package.parent.parent / "examples")
    return next((str(place / "connect_four.py") for place in places if (place / "connect_four.py").is_file()), None)


def on_cpu(game: Game, games: int, threads: int, seed: int, expected: RandomGames | None = None) -> Timed:
    """Time random games on CPU threads, handed out in slices that are long against the handing out."""

    def measure() -> tuple[int, float]:
        begin = time.perf_counter()
        done = random_games(game, games, seed, threads, max(1, games // (SLICES * threads)))
        seconds = time.perf_counter() - begin
        check_results(game, done, expected or done)
        return int(done.plies.sum()), seconds

    return measure


def on_card(game: Game, seed: int, expected: RandomGames) -> Timed:
    """Time random games on the card, whose results stay there, as they would in self-play."""
    from rookery.search.cuda import cuda
    from rookery.search.playout_cuda import room_on_card

    on_card = room_on_card(game, CARD_GAMES)
    on_card.play(seed)
    done = on_card.fetch()
    check_results(game, done, expected)
    plies = int(done.plies.sum())

    def measure() -> tuple[int, float]:
        begin = time.perf_counter()
        on_card.play(seed)
        cuda.synchronize()
        return plies, time.perf_counter() - begin

    return measure


def check_results(game: Game, done: RandomGames, expected: RandomGames) -> None:
    """Refuse a measurement whose games differ from those expected, or whose results do not add up to zero."""
    first = [game.teams.index(team) for team in sorted(set(game.teams))]
    common = min(len(done.keys), len(expected.keys))
    if (done.keys[:common] != expected.keys[:common]).any() or (done.payoffs[:, first].sum(1) != 0).any():
        raise RuntimeError(f"{game.label}: the games measured are not the games that should have been played")


def in_openspiel(play: Callable[[int], float], games: int, mean_plies: float) -> Timed:
    """Time random games in OpenSpiel, which tells no plies: they are taken as long as ours on average."""
    return lambda: (round(games * mean_plies), play(games))


def in_perft(game: Game, seconds: float) -> Timed:
    """Time perft from the first position on one core, to the first depth that takes long enough."""
    depth = min(2, game.longest)

    def measure() -> tuple[int, float]:
        begin = time.perf_counter()
        leaves = sum(perft(game.start(), depth).values())
        return leaves, time.perf_counter() - begin

    measure()  # compiles, which would seem long enough
    while measure()[1] < seconds / 8 and depth < game.longest:
        depth += 1
    return measure


def games_for(game: Game, seconds: float, seed: int) -> int:
    """Find how many games take about that many seconds on one core."""
    games = 64
    while True:
        _, taken = on_cpu(game, games, 1, seed)()
        if taken > seconds / 8:
            return max(1, round(games * seconds / taken))
        games *= 4


def bench_game(game: Game, device: str, rounds: int, seconds: float, seed: int, tick: Callable[[], None]) -> Row:
    """Measure one game; `tick` is called after each round."""
    random_games(game, 16, seed)  # compiles
    games = games_for(game, seconds, seed)
    played = random_games(game, games, seed)
    mean_plies = float(played.plies.mean())
    all_cores = on_cpu(game, games * cores(), cores(), seed, played)
    timed = {"one_core": on_cpu(game, games, 1, seed, played), "all_cores": all_cores, "perft": in_perft(game, seconds)}
    peer = openspiel_rollouts(game.label)
    if peer:
        timed["openspiel"] = in_openspiel(peer, max(1, games // 10), mean_plies)
    if device == "cuda":
        timed["card"] = on_card(game, seed, played)
    speeds: dict[str, list[float]] = {name: [] for name in timed}
    for _ in range(rounds):
        for name, measure in timed.items():
            count, taken = measure()
            speeds[name].append(count / taken)
        tick()
    medians = {name: statistics.median(values) for name, values in speeds.items()}
    ranges = {name: (min(values), max(values)) for name, values in speeds.items()}
    return Row(game.label, mean_plies, cores=cores(), ranges=ranges, **medians)


def all_games() -> list[str]:
    """List the package's own games and the example."""
    example = example_game()
    return [*OWN, *([example] if example else [])]
