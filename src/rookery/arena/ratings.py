"""Ratings: one fit over all games of a game, with draws and first-move advantage, and how far to trust it.

The model is Davidson's, scaled so that near equality a difference of ratings means what Elo's formula says. With

    d = (rating of who begins - rating of the other + advantage) * ln(10) / 400 * (1 + nu / 2)

who begins wins, loses or draws with chances in proportion to exp(d / 2), exp(-d / 2) and nu. docs/arena.md derives
it. The parameters are the ratings that are not pinned, the advantage and log(nu); they are fitted by Fisher's scoring,
and standard errors come from the information matrix.

Priors, so weak that a few games outweigh them: ratings and advantage are normal around the pins' mean and 0 with a
standard deviation of 2,000 Elo, log(nu) around 0 with one of 5. They keep the rating of a player with nothing but wins
finite.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from rookery.errors import BadInput

ELO = math.log(10.0) / 400.0
PRIOR_ELO = 2000.0
PRIOR_LOG_NU = 5.0
REFERENCE = "random"
Z95 = 1.959964
STEPS = 200
LONGEST_ELO, LONGEST_LOG_NU = 800.0, 2.0  # of a step: far from the top the matrix may promise too much
CLOSE = 1e-10  # a step that promises less gain in log-likelihood is the last

Result = tuple[str, str, float, int]
"""player that begins, other player, score of the first (1, 0.5, 0), how many such games"""


@dataclass(frozen=True)
class Rating:
    """One player's rating."""

    player: str
    elo: float
    error: float
    """standard error; 0 for a player that is pinned or that its group is measured from"""
    games: int
    score: float
    """points a game"""
    group: int
    """players of different groups have not met, not even by way of others"""
    note: str = ""

    @property
    def interval(self) -> tuple[float, float]:
        """Ends of the 95 % interval."""
        return self.elo - Z95 * self.error, self.elo + Z95 * self.error


@dataclass(frozen=True)
class Ratings:
    """The fit: ratings from the best on within each group, and what all players share."""

    ratings: list[Rating]
    advantage: float
    """Elo that beginning is worth"""
    advantage_error: float
    draws: float
    """share of draws between equal players when nobody has an advantage"""
    draws_error: float
    games: int
    pins: dict[str, float]
    free_groups: list[int] = field(default_factory=list)
    """groups without a pinned player: their ratings cannot be compared with others"""

    def __getitem__(self, player: str) -> Rating:
        return next(rating for rating in self.ratings if rating.player == player)

    def _repr_html_(self) -> str:
        """Show the ratings in a notebook, with their intervals drawn."""
        from rookery.arena.shown import ratings_html

        return ratings_html(self)


class Games:
    """Results summed up for the fit: who met whom how often, and how it ended.

    first, second   [M] numbers of the players
    counts          [M, 3] wins, draws, losses of the first
    """

    def __init__(self, results: Iterable[Result]):
        sums: dict[tuple[str, str], list[int]] = {}
        for first, second, score, number in results:
            sums.setdefault((first, second), [0, 0, 0])[(1.0, 0.5, 0.0).index(score)] += number
        if not sums:
            raise BadInput("there are no games to rate")
        self.players = sorted({player for pair in sums for player in pair})
        index = {player: number for number, player in enumerate(self.players)}
        self.first = np.array([index[first] for first, _ in sums])
        self.second = np.array([index[second] for _, second in sums])
        self.counts = np.array(list(sums.values()), float)

    @property
    def total(self) -> np.ndarray:
        """Games of each row; [M]."""
        return np.asarray(self.counts.sum(axis=1))

    def played(self) -> tuple[np.ndarray, np.ndarray]:
        """Return games and points of each player; games against itself count twice."""
        games, points = np.zeros(len(self.players)), np.zeros(len(self.players))
        for side, signs in ((self.first, (1.0, 0.5, 0.0)), (self.second, (0.0, 0.5, 1.0))):
            np.add.at(games, side, self.total)
            np.add.at(points, side, self.counts @ np.array(signs))
        return games, points

    def groups(self) -> np.ndarray:
        """Number the groups of players that have met, by way of others or not; [P]."""
        group = np.arange(len(self.players))
        while True:
            least = group.copy()
            np.minimum.at(least, self.first, group[self.second])
            np.minimum.at(least, self.second, group[self.first])
            if np.array_equal(least, group):
                return np.unique(group, return_inverse=True)[1]
            group = least


class Model:
    """The likelihood. Parameters x: ratings of the free players, advantage, and log(nu) unless no game was drawn."""

    def __init__(self, games: Games, fixed: np.ndarray):
        self.games, self.fixed = games, fixed  # [P] ratings of fixed players, nan for free ones
        self.free = np.flatnonzero(np.isnan(fixed))
        self.has_draws = bool(games.counts[:, 1].sum() > 0)
        self.centre = float(np.nanmean(fixed))
        rows, size = np.arange(len(games.first)), len(self.free) + 1 + self.has_draws
        place = np.full(len(fixed), -1)
        place[self.free] = np.arange(len(self.free))
        self.difference = np.zeros((len(rows), size))  # derivative of the Elo difference by each parameter
        for players, sign in ((games.first, 1.0), (games.second, -1.0)):
            known = place[players] >= 0
            self.difference[rows[known], place[players[known]]] += sign
        self.difference[:, len(self.free)] = 1.0
        self.prior_mean = np.zeros(size)
        self.prior_mean[: len(self.free)] = self.centre
        self.prior_weight = np.full(size, PRIOR_ELO**-2)
        if self.has_draws:
            self.prior_weight[-1] = PRIOR_LOG_NU**-2

    def start(self) -> np.ndarray:
        """Return where the fit begins: nobody is better than anybody."""
        return self.prior_mean.copy()

    def nu(self, x: np.ndarray) -> float:
        """Return the weight of a draw."""
        return math.exp(x[-1]) if self.has_draws else 0.0

    def elo_difference(self, x: np.ndarray) -> np.ndarray:
        """Return by how much who begins is ahead, in Elo; [M]."""
        ratings = self.fixed.copy()
        ratings[self.free] = x[: len(self.free)]
        ahead: np.ndarray = ratings[self.games.first] - ratings[self.games.second] + x[len(self.free)]
        return ahead

    def log_chances(self, x: np.ndarray) -> np.ndarray:
        """Return the logarithms of the chances that who begins wins, draws and loses; [M, 3]."""
        half = self.elo_difference(x) * ELO * (1.0 + self.nu(x) / 2.0) / 2.0
        draw = x[-1] if self.has_draws else -np.inf
        weights = np.stack([half, np.full_like(half, draw), -half], axis=1)
        total: np.ndarray = weights - np.logaddexp.reduce(weights, axis=1, keepdims=True)
        return total

    def value(self, x: np.ndarray) -> float:
        """Return the logarithm of likelihood times prior, up to a constant."""
        logs = np.where(self.games.counts > 0, self.log_chances(x), 0.0)
        prior = np.sum(self.prior_weight * (x - self.prior_mean) ** 2) / 2.0
        return float(np.sum(self.games.counts * logs) - prior)

    def slope(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradient of `value` and the information matrix."""
        win, draw, loss = np.exp(self.log_chances(x)).T
        wins, draws, losses = self.games.counts.T
        total, lead, nu = self.games.total, win - loss, self.nu(x)
        jacobian = self.difference * ELO * (1.0 + nu / 2.0)  # of d by the parameters: [M, X]
        if self.has_draws:
            jacobian[:, -1] = self.elo_difference(x) * ELO * nu / 2.0
        # A win, a draw and a loss have the log-weights d / 2, log(nu) and -d / 2 before they are brought to chances, so
        # the derivatives by d and log(nu) are half the lead and the draws, each less its expectation.
        gradient = jacobian.T @ ((wins - losses - total * lead) / 2.0)
        information = jacobian.T @ (jacobian * (total * (win + loss - lead**2) / 4.0)[:, None])
        if self.has_draws:
            gradient[-1] += np.sum(draws - total * draw)
            together = jacobian.T @ (-total * lead * draw / 2.0)
            information[-1] += together
            information[:, -1] += together
            information[-1, -1] += np.sum(total * draw * (1.0 - draw))
        return gradient - self.prior_weight * (x - self.prior_mean), information + np.diag(self.prior_weight)


def maximise(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Return the best parameters and their covariance, by Fisher's scoring with shorter steps where needed."""
    x = model.start()
    value = model.value(x)
    longest = np.full(len(x), LONGEST_ELO)
    if model.has_draws:
        longest[-1] = LONGEST_LOG_NU
    for _ in range(STEPS):
        gradient, information = model.slope(x)
        step = np.linalg.solve(information, gradient)
        promised, share = float(gradient @ step), 1.0 / max(1.0, float(np.max(np.abs(step) / longest)))
        while model.value(x + share * step) < value and share > 1e-12:
            share /= 2.0
        x = x + share * step
        value = model.value(x)
        if promised < CLOSE:
            break
    return x, np.linalg.inv(model.slope(x)[1])


# ---- from results to a list ----------------------------------------------------------------------


def fit(results: Iterable[Result], pins: Mapping[str, float] | None = None) -> Ratings:
    """Rate all players of some results; `pins` fixes ratings; without any, `random` is 0."""
    games = Games(results)
    pinned = pins_of(games.players, pins or {})
    fixed = np.array([pinned.get(player, np.nan) for player in games.players])
    groups = games.groups()
    anchors = [anchor(games, groups == group) for group in range(groups.max() + 1)]
    free_groups = [group for group in range(len(anchors)) if np.isnan(fixed[groups == group]).all()]
    for group in free_groups:
        fixed[anchors[group]] = 0.0
    model = Model(games, fixed)
    x, covariance = maximise(model)
    return summary(games, model, groups, free_groups, pinned, x, covariance)


def pins_of(players: list[str], pins: Mapping[str, float]) -> dict[str, float]:
    """Return the rating of every pinned player; a pin holds for a player under every time control."""
    unknown = [pin for pin in pins if pin not in players and pin not in map(bare, players)]
    if unknown:
        raise BadInput(f"pinned player {unknown[0]!r} has no games here; there are {', '.join(players)}")
    for pin, elo in pins.items():
        if not math.isfinite(elo):
            raise BadInput(f"the rating of the pinned player {pin!r} must be a finite number, not {elo!r}")
    told = dict(pins) or {REFERENCE: 0.0}  # a second pin that nobody asked for would bend the scale
    return {name: told[pin] for name in players for pin in (bare(name), name) if pin in told}  # the longer name wins


def parse_pin(text: str) -> tuple[str, float]:
    """Read `player=elo`; the player's own text may hold "=", too."""
    player, equals, elo = text.rpartition("=")
    try:
        return player.strip(), float(elo) if equals and player.strip() else float("none")
    except ValueError:
        raise BadInput(f"pin {text!r} should read player=elo, as in random=0") from None


def bare(player: str) -> str:
    """Return a player's name without its time control."""
    return player.partition(" @ ")[0]


def anchor(games: Games, members: np.ndarray) -> int:
    """Return the player with the most games of a group."""
    return int(np.argmax(np.where(members, games.played()[0], -1.0)))


def summary(
    games: Games,
    model: Model,
    groups: np.ndarray,
    free_groups: list[int],
    pinned: dict[str, float],
    x: np.ndarray,
    covariance: np.ndarray,
) -> Ratings:
    """Put the fit into words: ratings from the best on, group after group."""
    elo, error = model.fixed.copy(), np.zeros(len(games.players))
    elo[model.free], error[model.free] = x[: len(model.free)], np.sqrt(np.diag(covariance)[: len(model.free)])
    played, points = games.played()
    ratings = [
        Rating(
            player, float(elo[i]), float(error[i]), int(played[i]), float(points[i] / played[i]), int(groups[i]),
            note_of(player, pinned, points[i] / played[i], i not in model.free),
        )
        for i, player in enumerate(games.players)
    ]  # fmt: skip
    nu, place = model.nu(x), len(model.free)
    share = nu / (2.0 + nu)
    draws_error = share * (1.0 - share) * math.sqrt(covariance[-1, -1]) if model.has_draws else 0.0
    return Ratings(
        ratings=sorted(ratings, key=lambda rating: (rating.group, -rating.elo)),
        advantage=float(x[place]), advantage_error=math.sqrt(covariance[place, place]),
        draws=share, draws_error=draws_error, games=int(games.total.sum()), pins=pinned, free_groups=free_groups,
    )  # fmt: skip


def note_of(player: str, pinned: Mapping[str, float], score: float, is_fixed: bool) -> str:
    """Say what is particular about a rating."""
    if player in pinned:
        return "pinned"
    if is_fixed:
        return "its group is measured from it"
    if score in (0.0, 1.0):
        return f"{'won' if score else 'lost'} every game: the prior keeps the rating finite"
    return ""
