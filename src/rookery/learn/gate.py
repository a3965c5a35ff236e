"""The gate: the champion plays the games of self-play until a challenger has beaten it.

Every `checkpoints.every` games, and at the end of the run, the newest weights challenge the champion in pairs of games
from random openings. They take its place if they reach a share of the points, or if a sequential test accepts that they
are better; a test that all games leave undecided keeps the champion. The match is a function of the two networks, the
run's seed and the number of games played, so a run that goes on from a snapshot repeats it.
"""

from __future__ import annotations

import copy
import time
from typing import Any

from rookery.arena.crowd import Regulars, crowd_of, play_counted
from rookery.arena.matches import Match, MatchSettings
from rookery.arena.player import Player
from rookery.arena.sprt import Sprt
from rookery.games.rng import random_bits
from rookery.learn.runs import Run
from rookery.learn.sections import GateSettings, SelfplaySettings
from rookery.nets.files import About, Loaded
from rookery.nets.network import Network

SEEDS = (1 << 62) + 1  # the stream of random numbers that are seeds of matches
MOST_AT_ONCE = 256  # games of a match
CHALLENGER, CHAMPION = "challenger", "champion"


class Gate:
    """A champion, and who may take its place. The run's lock must be held."""

    def __init__(self, run: Run, network: Network, device: str = "cpu"):
        """Make a first champion of a copy of a network."""
        self.run, self.settings, self.game, self.device = run, run.settings.gate, run.game, device
        self.champion = copy.deepcopy(network)
        self.regulars = Regulars()
        self.games, self.steps = 0, 0
        """games played and steps made at the last challenge"""

    def is_due(self, games: int, steps: int) -> bool:
        """Tell whether the newest weights are to challenge the champion; never if nothing was learnt since."""
        every = self.run.settings.checkpoints.every
        at_end = games >= self.run.settings.selfplay.games
        return steps > self.steps and (at_end or games // every > self.games // every)

    def challenge(self, network: Network, games: int, steps: int) -> dict[str, float]:
        """Let a network challenge the champion, note how it went, and return the figures of it."""
        begun = time.monotonic()
        match = self.meet(network, games)
        taken = is_taken(match, self.settings)
        if taken:
            self.champion.load_state_dict(network.state_dict())
        self.games, self.steps = games, steps
        score, number = match.score.score, len(match.score.games)
        verdict = {"verdict": match.verdict} if self.settings.kind == "sprt" else {}
        self.run.note_gate(games, games=number, score=round(score, 6), **verdict, taken=taken)
        figures = {"gate/score": score, "gate/games": float(number), "gate/taken": float(taken)}
        return figures | {"seconds/gate": time.monotonic() - begun}

    def meet(self, network: Network, games: int) -> Match:
        """Play the match."""
        settings, seed = self.settings, self.run.settings.seed
        test = Sprt(settings.elo0, settings.elo1) if settings.kind == "sprt" else None
        how = MatchSettings(
            games=settings.games, seed=int(random_bits(seed, SEEDS, games)) >> 1, sprt=test,
            at_once=min(settings.games, MOST_AT_ONCE),
        )  # fmt: skip
        players = {CHALLENGER: self.player(network, CHALLENGER), CHAMPION: self.player(self.champion, CHAMPION)}
        match = play_counted(self.game, lambda: players[CHALLENGER], lambda: players[CHAMPION], how)
        if match.interrupted:
            raise KeyboardInterrupt
        return match

    def player(self, network: Network, name: str) -> Player:
        """Return the player of a network."""
        about = About(game=self.game.spec, observation=self.run.settings.network.observation)
        play, numbers = self.run.settings.selfplay, self.run.settings.precision
        how, loaded = search_settings(play, self.settings), Loaded(network, network.config, about)
        return self.regulars.player(
            name, name, loaded,
            lambda: crowd_of(loaded, self.game, self.settings.simulations, how, self.device, numbers, play.fours),
        )  # fmt: skip

    # -- going on --

    def state(self) -> dict[str, Any]:
        """Return what is needed to go on."""
        return {"champion": self.champion.state_dict(), "games": self.games, "steps": self.steps}

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.champion.load_state_dict(state["champion"])
        self.games, self.steps = state["games"], state["steps"]


def search_settings(play: SelfplaySettings, gate: GateSettings) -> dict[str, Any]:
    """Return how the match is searched: as self-play is, without noise and drawn moves."""
    found: dict[str, Any] = {name: getattr(play, name) for name in ("c", "urgency", "reduction", "discount")}
    found["leaves"] = min(play.leaves, gate.simulations)
    return found | ({"gumbel": play.gumbel, "gumbel_scale": 0.0} if play.gumbel else {})


def is_taken(match: Match, settings: GateSettings) -> bool:
    """Tell whether the challenger takes over."""
    if settings.kind == "sprt":
        return match.verdict == "H1"
    return match.score.score >= settings.share
