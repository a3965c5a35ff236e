"""Whom a visitor can play against, and how strong.

A page names an opponent by its place in this list and its strength by a level; texts of players never come from a
browser, for a text can name a file or a program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from rookery.arena.ledger import Ledger
from rookery.arena.networks import network_for, search_of, taught_game, zoo_facts, zoo_player
from rookery.arena.players import FORMS
from rookery.arena.ratings import fit
from rookery.arena.texts import read_text
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.texas42_tiles import HOUSE_DECLARATIONS
from rookery.nets.zoo import ZOO_SIGN, zoo_names, zoo_strength

SIMULATIONS = (1, 16, 64, 200, 800, 3200)
SECONDS = (0.1, 0.3, 1, 3, 10)
DEPTHS = (1, 2, 3, 4, 5, 6)
WORLDS = (5, 20, 50, 100, 200)
BIDS = (10, 20, 40, 80)  # deals by which a hand is judged before a bid


@dataclass(frozen=True)
class Opponent:
    """A kind of player with its levels of strength."""

    name: str
    """for people"""
    unit: str
    """what the levels count"""
    levels: tuple[tuple[str, str], ...]
    """the number of each level as people read it, and the text of the player; weakest first"""
    usual: int
    """the level to begin with"""
    card: str = ""
    """how strong a network of the package is, in the words of its card"""

    @property
    def texts(self) -> tuple[str, ...]:
        """Texts of the players of all levels, weakest first."""
        return tuple(text for _, text in self.levels)

    def text(self, level: int) -> str:
        """Return the text of the player of a level."""
        return self.levels[max(0, min(level, len(self.levels) - 1))][1]


def graded(name: str, unit: str, form: str, values: Iterable[float], usual: int) -> Opponent:
    """Make an opponent whose text holds a number."""
    levels = ((f"{value:,}", read_text(form.format(value), FORMS).text) for value in values)  # as ratings spell them
    return Opponent(name, unit, tuple(levels), usual)


def single(name: str, text: str) -> Opponent:
    """Make an opponent of one strength."""
    return Opponent(name, "", (("", text),), 0)


def opponents_for(game: Game, runs: Path | None = None, with_networks: bool = True) -> list[Opponent]:
    """List who can play a game, the usual opponent first; networks of the zoo and of runs only if they fit.

    Without networks the list is there at once; looking at them may take seconds.
    """
    found = [*specialists(game), *(networks(game, runs) if with_networks else [])]
    if game.information == "perfect":
        trees = graded("Tree search with random playouts", "simulations", "mcts:sims={}", SIMULATIONS[2:], 1)
        plies = graded("Alpha-beta", "plies", "alphabeta:depth={}", DEPTHS, 2)
        found += [plies, trees] if game.name == "chess" else [trees, plies]
        found.append(single("Greedy: one move ahead", "greedy"))
    return [*found, single("Random moves", "random")]


def found_by(opponents: Iterable[Opponent], text: str) -> tuple[Opponent, int] | None:
    """Return the opponent and the level that a text belongs to, if it is listed."""
    for opponent in opponents:
        if text in opponent.texts:
            return opponent, opponent.texts.index(text)
    return None


def specialists(game: Game) -> list[Opponent]:
    """List the players made for one game."""
    if game.name == "gomoku" and game.options["rule"] == "freestyle":
        return [
            graded("Advanced: alpha-beta with threats", "seconds", "advanced:time={}", SECONDS, 1),
            graded("Baseline: fixed depth", "plies", "baseline:depth={}", (2, 3, 4, 5, 6), 2),
        ]
    if game.name == "texas42" and game.options["auction"] == "none":
        return [
            graded("Averages over possible deals", "deals", "eq:worlds={}", WORLDS, 2),
            single("Rules of thumb", "heuristic"),
        ]
    if game.name == "texas42":
        return [
            graded("Bids and plays by sampled deals", "deals", "bidder:eq,worlds={}", BIDS, 1),
            single("Rules of thumb, bids by sampled deals", "bidder:heuristic,worlds=20"),
        ]
    return []


def networks(game: Game, runs: Path | None) -> list[Opponent]:
    """List networks that play a game: those of the zoo, then the newest checkpoints of the runs in a folder."""
    if game.information == "hidden":
        return points_networks(game)
    named = [(f"Network {name} (zoo)", ZOO_SIGN + name) for name in zoo_names()]
    named += [(f"Network {folder.name} (run)", str(folder)) for folder in run_folders(runs)]
    fitting = [(name, text) for name, text in named if fits(text, game)]
    return [
        replace(graded(name, "simulations", f"{search_of(text, game)},sims={{}}", SIMULATIONS, 3), card=card_of(text))
        for name, text in fitting
    ]


def points_networks(game: Game) -> list[Opponent]:
    """List networks of the zoo that tell of points, which play Texas 42.

    Where there is an auction, those that see one hand play behind a bidder.
    """
    if game.name != "texas42" or game.options["declaration"] in HOUSE_DECLARATIONS:
        return []
    found = []
    for name in zoo_names():
        if taught_game(zoo_facts(name)["game"]) != game.name:
            continue
        title, text = f"Network {name} (zoo)", zoo_player(name)
        if game.options["auction"] == "none":
            found.append(replace(single(title, text), card=card_of(ZOO_SIGN + name)))
        elif text.startswith("stage2:"):
            bidding = graded(f"{title}, bids by sampled deals", "deals", f"bidder:{text},worlds={{}}", BIDS, 1)
            found.append(replace(bidding, card=card_of(ZOO_SIGN + name)))
    return found


def card_of(text: str) -> str:
    """Return what the card of a network says of its strength; nothing for networks of runs."""
    return zoo_strength(text.removeprefix(ZOO_SIGN)) if text.startswith(ZOO_SIGN) else ""


def run_folders(runs: Path | None) -> list[Path]:
    """List the runs in a folder whose names a text of a player can hold as they are."""
    if runs is None or not runs.is_dir():
        return []
    return [folder for folder in sorted(runs.iterdir()) if is_plain(folder) and (folder / "manifest.json").is_file()]


def is_plain(folder: Path) -> bool:
    """Tell whether a path has no sign that means something in the text of a player."""
    return re.fullmatch(r"[\w./-]+", str(folder), re.ASCII) is not None


def fits(text: str, game: Game) -> bool:
    """Tell whether a network can be read and plays a game."""
    try:
        network_for(text, game)
    except (BadInput, OSError):
        return False
    return True


def ratings_of(game: Game, ledger: Path | None = None) -> dict[str, str]:
    """Return the ratings of players by the ledger's games, as text with their errors; none without a ledger."""
    try:
        with Ledger(ledger, create=False) as opened:
            results = opened.results(game.spec, game.version)
            fitted = fit(results) if results else None
    except (BadInput, OSError):
        return {}
    if fitted is None:
        return {}
    return {rating.player: f"{rating.elo:.0f} ± {1.96 * rating.error:.0f}" for rating in fitted.ratings}
