"""The sections of a run's settings: every key, what it means and what it may be.

`settings` puts them together and reads them from files; what a network may be stands in `network_sections`. A section
is frozen, refuses keys it does not know, and takes no value for another: no text for a number, no truth value for a
whole number.
"""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Strict, model_validator

from rookery.search.tree_settings import MOST_LEAVES, MOST_SIMULATIONS, TreeSettings

MANY = 1 << 31


def span(least: float, most: float) -> Any:
    """Say in which range a number must lie; numbers only, and no infinite ones."""
    return Field(ge=least, le=most, strict=True, allow_inf_nan=False)


def as_word(value: Any) -> Any:
    """Take the number 32 for the word, since nobody writes it in quotes."""
    return str(value) if type(value) is int else value


def refuse(*problems: str | float | bool) -> None:
    """Raise one error for all problems that there are; each begins with its key. What is no text is no problem."""
    told = [problem for problem in problems if isinstance(problem, str)]
    if told:
        raise ValueError("\n".join(told))


YesNo = Annotated[bool, Strict()]
PlayingPrecision = Annotated[Literal["auto", "32", "bf16"], BeforeValidator(as_word)]
Text = Annotated[str, Field(strict=True, pattern=r"^[^\x00-\x1f\x7f]*$", max_length=1000)]


class Section(BaseModel):
    """Settings that belong together."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, validate_default=True)


# ---- self-play -----------------------------------------------------------------------------------


class SelfplaySettings(Section):
    """How games are played. What the tree search knows has the names and meanings of `TreeSettings`."""

    games: Annotated[int, span(1, MANY)] = 10_000
    """games planned for the whole run"""
    at_once: Annotated[int, span(1, 1 << 20)] = 256
    """games side by side"""
    simulations: Annotated[int, span(1, MOST_SIMULATIONS)] = 64
    """leaves looked at per move, after the root itself"""
    leaves: Annotated[int, span(1, MOST_LEAVES)] = 1
    """leaves gathered from one tree before the network is asked; 1 gives the exact serial search"""
    c: Annotated[float, span(0, 1e6)] = 1.5
    """weight of the priors against the means"""
    urgency: Literal["parent", "reduced", "lc0", "infinite"] = "reduced"
    """what an unvisited move is taken to be worth: the parent's mean, that less a reduction, the same as Lc0 does it,
    or more than any visited one"""
    reduction: Annotated[float, span(0, 2)] = 0.2
    """by how much the urgency is reduced"""
    discount: Annotated[float, span(0.01, 1)] = 1.0
    """factor of a value for each turn, in the search and in the targets"""
    gumbel: Annotated[int, span(0, 1 << 15)] = 0
    """moves considered at the root by sequential halving; 0: no Gumbel search"""
    noise: Annotated[float, span(0, 1)] = 0.25
    """share of Dirichlet noise in the root's priors"""
    alpha: Annotated[float, span(1e-3, 1e3)] = 0.3
    """the Dirichlet distribution's parameter"""
    forced: Annotated[float, span(0, 1000)] = 0.0
    """a root move visited at all is visited at least sqrt(this * prior * visits of all root moves) times (forced
    playouts); 0: not so"""
    prune: YesNo = False
    """whether moves are taught and drawn by their visits without forced ones (policy target pruning)"""
    fours: YesNo = False
    """in Gomoku, whether wins by continuous fours are looked for at every leaf; such proofs are carried up the tree, a
    proven win is taught alone and a move proven to lose not at all"""
    temperature: Annotated[float, span(0, 100)] = 1.0
    """moves are drawn in proportion to visits ^ (1 / temperature); 0: the most visited"""
    temperature_plies: Annotated[int, span(0, 1 << 30)] = 15
    """plies of a game from which on the most visited move is played"""
    cheap_simulations: Annotated[int, span(0, MOST_SIMULATIONS)] = 0
    """simulations of a move that is searched cheaply; needed where full_share is below 1"""
    full_share: Annotated[float, span(0.01, 1)] = 1.0
    """chance that a move is searched with all simulations; others are searched cheaply and not taught"""
    ply_limit: Annotated[int, span(0, 1 << 20)] = 0
    """plies after which a game is called off; 0: as the game's own rules say"""
    repetition_limit: Annotated[int, span(0, 255)] = 0
    """a game is called off when a position comes up so many times, the start not counted; 0: never"""
    ply_limit_value: Annotated[float, span(-1, 1)] = 0.0
    """result of a game that reached the ply limit, for the side to move at its end"""
    repetition_value: Annotated[float, span(-1, 1)] = 0.0
    """result of a game that reached the repetition limit, for the side to move at its end"""
    random_plies: Annotated[int, span(0, 1 << 16)] = 0
    """random plies with which each game begins; they are not taught"""
    random_fewer: YesNo = False
    """whether games begin with any number of random plies up to `random_plies`, each number as often"""
    random_middle: Annotated[int, span(0, 20)] = 0
    """in Gomoku, points a side of the square in the middle of the board where random plies fall; 0: anywhere"""
    opponent: Text = ""
    """a player of the arena that always holds the other side, such as baseline:depth=2; empty: the network itself"""
    opponent_taught: YesNo = False
    """whether the opponent's moves are taught, too"""

    @model_validator(mode="after")
    def fits(self) -> SelfplaySettings:
        """Refuse values that exclude each other."""
        cheaply = f"must lie in 1..{self.simulations} (simulations) where full_share is below 1"
        never = "must be 0 where full_share is 1, since no move is searched cheaply"
        refuse(
            self.leaves > self.simulations
            and f"leaves: must lie in 1..{self.simulations} (simulations), not {self.leaves}",
            self.gumbel
            and self.noise
            and f"noise: must be 0 with gumbel search, which draws its own noise, not {self.noise:g}",
            self.gumbel
            and self.urgency == "lc0"
            and "urgency: must not be lc0 with gumbel search, which teaches moves in their own order",
            self.gumbel
            and self.forced
            and f"forced: must be 0 with gumbel search, which shares out its own visits, not {self.forced:g}",
            self.gumbel and self.fours and "fours: must be false with gumbel search, which teaches by means",
            self.prune and not self.forced and "prune: must be false where forced is 0, since no visit is forced",
            self.random_fewer and not self.random_plies and "random_fewer: must be false where random_plies is 0",
            self.random_middle
            and not 0 < self.random_plies <= self.random_middle**2 // 2
            and f"random_plies: must lie in 1..{self.random_middle**2 // 2}, half the points of the middle "
            f"(random_middle {self.random_middle}), not {self.random_plies}",
            self.opponent_taught and not self.opponent and "opponent_taught: must be false where there is no opponent",
            self.full_share < 1
            and not 1 <= self.cheap_simulations <= self.simulations
            and f"cheap_simulations: {cheaply}, not {self.cheap_simulations}",
            self.full_share == 1
            and self.cheap_simulations
            and f"cheap_simulations: {never}, not {self.cheap_simulations}",
        )
        return self

    def tree(self, seed: int = 0) -> TreeSettings:
        """Return the settings of a full search of one move."""
        shared = {field.name for field in fields(TreeSettings)} & set(type(self).model_fields)
        return TreeSettings(seed=seed, prove=self.fours, **{name: getattr(self, name) for name in shared})


# ---- training ------------------------------------------------------------------------------------


class StepSettings(Section):
    """How gradient steps are made, whatever the positions come from."""

    batch: Annotated[int, span(1, 1 << 22)] = 256
    """positions of a gradient step"""
    learning_rate: Annotated[float, span(1e-12, 100)] = 1e-3
    """at the start of the cosine"""
    least_learning_rate: Annotated[float, span(0, 100)] = 5e-5
    """at the end of the cosine, which spans the steps planned"""
    warmup_steps: Annotated[int, span(0, MANY)] = 0
    """steps in which the learning rate rises from nothing to its full height"""
    weight_decay: Annotated[float, span(0, 100)] = 1e-4
    """on every parameter, in units of its learning rate"""
    muon: Annotated[float, span(0, 1e3)] = 0.0
    """learning rate of the matrices and kernels in blocks, which then go by Muon, over that of the rest, which goes by
    AdamW; 0: all does"""
    gradient_norm: Annotated[float, span(0, 1e6)] = 1.0
    """longest gradient; longer ones are shortened to it. 0: never"""
    value_weight: Annotated[float, span(0, 1e3)] = 1.0
    """weight of the value loss; that of the policy loss is 1"""
    root_value_share: Annotated[float, span(0, 1)] = 0.0
    """value target: 0 the game's outcome, 1 the value the search found, between them a mix"""
    mask_policy: YesNo = False
    """whether the policy loss looks at legal moves only"""
    symmetries: YesNo = False
    """whether each position is taught in a symmetry drawn at random"""
    average: Literal["none", "ema", "swa"] = "none"
    """weights that play and are saved: the newest, an exponential moving average (ema) or a plain mean (swa)"""
    average_decay: Annotated[float, span(0, 0.9999999)] = 0.999
    """share of the old average kept at each step, for ema"""
    precision: Annotated[Literal["32", "tf32", "bf16"], BeforeValidator(as_word)] = "32"
    """numbers the network is trained in"""

    @model_validator(mode="after")
    def rates_fit(self) -> Self:
        """Refuse learning rates that exclude each other."""
        refuse(
            self.least_learning_rate > self.learning_rate
            and f"least_learning_rate: must be at most {self.learning_rate:g} (learning_rate), "
            f"not {self.least_learning_rate:g}",
        )
        return self


class TrainingSettings(StepSettings):
    """How the network learns from the games."""

    steps_per_game: Annotated[float, span(1e-6, 1e4)] = 0.5
    """gradient steps per finished game"""
    replay: Annotated[int, span(1, MANY)] = 65_536
    """positions kept; the oldest make room for new ones"""
    fresh: Annotated[int, span(0, MANY)] = 0
    """positions needed before the first step; 0: one batch"""

    @model_validator(mode="after")
    def fits(self) -> Self:
        """Refuse values that exclude each other."""
        refuse(
            self.replay < self.batch and f"replay: must be at least {self.batch} (batch), not {self.replay}",
            self.fresh
            and not self.batch <= self.fresh <= max(self.batch, self.replay)
            and f"fresh: must be 0 or lie in {self.batch}..{self.replay} (batch..replay), not {self.fresh}",
        )
        return self

    def steps_after(self, games: int) -> int:
        """Return how many steps are due after so many games."""
        return math.floor(games * self.steps_per_game + 1e-9)


# ---- imitation -----------------------------------------------------------------------------------


class LessonSettings(Section):
    """Games by a supervisor, for a network to imitate."""

    supervisor: Text = "baseline:depth=2"
    """a player of the arena; games of Gomoku's baseline are made by compiled code, thousands of positions a second"""
    positions: Annotated[int, span(1, MANY)] = 20_000
    """positions of which the supervisor says what it would do"""
    opening: Annotated[int, span(0, 8)] = 4
    """random moves with which a game begins"""
    explore: Annotated[int, span(0, 100)] = 10
    """percent of the moves after them that are drawn at random"""
    temperature: Annotated[float, span(0, 100)] = 0.0
    """policy target: 0 the supervisor's move, else a softmax of value / temperature over the moves it scores; baseline
    alone scores them"""
    held_out: Annotated[float, span(0.001, 0.5)] = 0.1
    """share of the games that is not taught, by which the network is judged"""
    threads: Annotated[int, span(0, 1024)] = 0
    """processor threads that make games, or processes for a supervisor that is not compiled; 0: all"""


class ImitationTraining(StepSettings):
    """How the network learns from a supervisor."""

    passes: Annotated[int, span(1, 1_000_000)] = 20
    """passes over the positions, each as many steps as it takes to look at so many"""
    root_value_share: Annotated[float, span(0, 1)] = 1.0
    """value target: 0 the game's outcome, 1 what the supervisor thinks, between them a mix"""
    mask_policy: YesNo = True
    """whether the policy loss looks at legal moves only"""
    symmetries: YesNo = True
    """whether each position is taught in a symmetry drawn at random"""


# ---- what is kept, and who plays -----------------------------------------------------------------


class KeepSettings(Section):
    """Which checkpoints are kept: the newest, and one in so many games. The first, the last and the best always are."""

    last: Annotated[int, span(1, MANY)] = 5
    """newest checkpoints kept"""
    every: Annotated[int, span(0, MANY)] = 50_000
    """the first checkpoint of every so many games is kept for good; 0: none"""


class CheckpointSettings(Section):
    """When networks are saved and what is kept of them."""

    every: Annotated[int, span(1, MANY)] = 1000
    """games from one checkpoint to the next"""
    least_seconds: Annotated[float, span(0, 1e6)] = 30.0
    """seconds from one checkpoint to the next at least; the last of a run is always saved"""
    keep: KeepSettings = KeepSettings()
    """which checkpoints are kept"""
    rating_games: Annotated[int, span(0, 1_000_000)] = 0
    """games in which `rookery elo` lets a checkpoint meet each anchor, unless told otherwise; 0: 40"""


class GateSettings(Section):
    """Whether a new network must beat the one that plays before it may take its place."""

    kind: Literal["none", "share", "sprt"] = "none"
    """none: the newest network plays; share: it needs a share of the points; sprt: a sequential test decides"""
    games: Annotated[int, span(2, 1_000_000)] = 100
    """games of the match, in pairs with seats swapped; for sprt, the most"""
    share: Annotated[float, span(0, 1)] = 0.55
    """share of the points that is needed"""
    elo0: Annotated[float, span(-2000, 2000)] = 0.0
    """difference at which the sequential test keeps the old network"""
    elo1: Annotated[float, span(-2000, 2000)] = 20.0
    """difference at which it takes the new one"""
    simulations: Annotated[int, span(1, MOST_SIMULATIONS)] = 64
    """simulations per move in the match"""
    discard: YesNo = False
    """whether the replay is emptied when a network takes over, so that none learns from games of an earlier one"""

    @model_validator(mode="after")
    def fits(self) -> GateSettings:
        """Refuse values that exclude each other."""
        refuse(
            self.games % 2 and f"games: must be even, since games are played in pairs, not {self.games}",
            self.elo0 >= self.elo1 and f"elo1: must be above {self.elo0:g} (elo0), not {self.elo1:g}",
            self.discard and self.kind == "none" and "discard: must be false where there is no gate",
        )
        return self


class TrackingSettings(Section):
    """Which games are kept, and where figures go besides the run's folder."""

    game_every: Annotated[int, span(0, MANY)] = 100
    """one game of self-play in so many is kept in games.jsonl, move by move; 0: none"""
    tensorboard: YesNo = False
    """whether TensorBoard's files are written, into the folder tensorboard/ of the run"""
    wandb: YesNo = False
    """whether Weights & Biases is told; it stays offline unless WANDB_MODE says otherwise"""
    project: Annotated[str, Field(strict=True, pattern=r"^[\w.-]+$", max_length=128)] = "rookery"
    """name of the project there"""
