"""How good a network of a curriculum is: matches against players and earlier networks, and whether its stage is done.

Every match is a function of the networks, the stage's seed and the generation, as far as the players are: one that is
judged again after a kill is judged alike.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from rookery.arena.crowd import Regulars, crowd_of, play_counted
from rookery.arena.engine import EnginePlayer
from rookery.arena.matches import MatchSettings
from rookery.arena.player import Player
from rookery.arena.players import make_player
from rookery.arena.score import Score, elo_of_score
from rookery.arena.searching import SearchPlayer
from rookery.games.game import Game
from rookery.games.rng import random_bits
from rookery.learn.curriculum_settings import PlateauSettings, UntilSettings
from rookery.nets.files import load_network
from rookery.search.threads import cores

MATCHES = (1 << 62) + 4  # the stream of random numbers that are seeds of matches
AT_ONCE = {"cpu": 32, "cuda": 256, "mps": 64}  # games against a player whose moves do not depend on the time it gets
NETWORKS_AT_ONCE = 256  # games between two networks
NEWEST, EARLIER = "newest", "earlier"

History = list[dict[str, Any]]
"""what is known of each generation of a stage, the newest last"""


class Judge:
    """Who lets networks of a stage play."""

    def __init__(self, game: Game, until: UntilSettings, seed: int, device: str, precision: str = "auto"):
        self.game, self.until, self.seed = game, until, seed
        self.device, self.precision = device, precision
        self.regulars = Regulars()

    def player(self, network: Path, role: str) -> Player:
        """Return the player of a network."""
        loaded, how = load_network(network), {"urgency": self.until.urgency}
        return self.regulars.player(
            role, role, loaded,
            lambda: crowd_of(loaded, self.game, self.until.simulations, how, self.device, self.precision),
        )  # fmt: skip

    def meet(self, network: Path, rival: Path | str, games: int, generation: int) -> Score:
        """Let a network meet a player, or another network by its file."""
        other = make_player(rival, self.game) if isinstance(rival, str) else self.player(rival, EARLIER)
        how = MatchSettings(
            games=games, seed=int(random_bits(self.seed, MATCHES, generation)) >> 1,
            threads=slots(other, games, self.device), at_once=min(games, NETWORKS_AT_ONCE),
        )  # fmt: skip
        made = [other]  # a match may want several of a kind; the first is there already

        def another() -> Player:
            return made.pop() if made else make_player(str(rival), self.game)

        match = play_counted(self.game, lambda: self.player(network, NEWEST), another, how)
        if match.interrupted:
            raise KeyboardInterrupt
        return match.score


def slots(player: Player, games: int, device: str) -> int:
    """Say how many games a player plays side by side: as many as there are processors if it thinks by time."""
    by_time = isinstance(player, SearchPlayer) and (player.limits.seconds or player.usual.seconds)
    alone = by_time or isinstance(player, EnginePlayer)
    return min(games, cores() if alone else AT_ONCE[device])


def told(score: Score) -> dict[str, Any]:
    """Return what is kept of a match."""
    low, high = score.interval
    counts = {"games": len(score.games), "wins": score.wins, "draws": score.draws, "losses": score.losses}
    return {"score": round(score.score, 6), "low": round(low, 6), "high": round(high, 6)} | counts


def in_words(player: str, found: dict[str, Any]) -> str:
    """Write the result of a match for people."""
    interval = f"{100 * found['low']:.1f} - {100 * found['high']:.1f}"
    counts = f"+{found['wins']} ={found['draws']} -{found['losses']}"
    return f"{100 * found['score']:.1f} % ({interval}) of {found['games']} games against {player}, {counts}"


def elo_after(rival: dict[str, Any], result: dict[str, Any]) -> dict[str, float]:
    """Return the rating of a network that has met an earlier one: the other's, and the difference."""
    least = 0.5 / result["games"]
    share = min(max(result["score"], least), 1 - least)  # a clean score names no difference
    return {"elo": round(rival["elo"] + elo_of_score(share), 3), "elo_gain": round(elo_of_score(share), 3)}


def loss_of(line: dict[str, Any]) -> float:
    """Return the losses of a generation together; endless if they are no numbers."""
    parts = line["policy_loss"], line["value_loss"]
    return math.inf if None in parts else float(sum(parts))


def plateau(history: History, settings: PlateauSettings) -> str:
    """Say why the newest generation has not reached the plateau; nothing if it has."""
    if settings.of == "none":
        return ""
    if len(history) <= settings.over:
        return f"no plateau of {settings.of} can be told before generation {settings.over + 1}"
    if settings.of == "elo":
        gained = history[-1]["elo_gain"]
        unit = "Elo"
    else:
        losses = [loss_of(line) for line in history]
        before, lately = min(losses[: -settings.over]), min(losses[-settings.over :])
        if not math.isfinite(before):
            return "no plateau of loss can be told before anything was learnt"
        gained = before - lately
        unit = "of loss"
    if gained <= settings.gain:
        return ""
    return f"{gained:.4g} {unit} were gained in the last {settings.over} generations, more than {settings.gain:g}"
