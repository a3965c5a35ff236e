"""Every check by name: what to do where it complains, and the section of the page that explains it."""

from __future__ import annotations

from typing import NamedTuple

PAGE = "docs/when-it-does-not-learn.md"


class Check(NamedTuple):
    """A check."""

    section: str
    """of the page, as its address has it"""
    hint: str


NUMBERS, DATA, SPLITS = (
    "losses-or-weights-are-no-numbers",
    "the-data-are-not-what-they-should-be",
    "it-is-good-on-paper-only",
)
RANDOM, OPENINGS, DRAWS = "it-never-gets-better-than-random", "all-games-begin-alike", "games-are-drawn-or-never-end"
SAME, POLICY, SIGNS = "the-value-is-the-same-everywhere", "the-policy-is-useless", "it-plays-to-lose"
PLATEAU, DROP, DIVERGES = "it-stops-getting-better", "it-suddenly-gets-worse", "the-loss-rises-or-stays"
OVERFIT, RATINGS, SLOW = "it-knows-its-data-by-heart", "ratings-tell-nothing", "the-search-is-slow"
TRANSFER = "embedding-and-probes"

CATALOGUE: dict[str, Check] = {
    # numbers
    "weights-numbers": Check(NUMBERS, "go back to an earlier checkpoint; a lower learning rate, gradient_norm: 1"),
    "weights-size": Check(NUMBERS, "lower the learning rate, set gradient_norm: 1 and some weight_decay"),
    "loss-numbers": Check(NUMBERS, "look for masks without a legal move, then lower the learning rate"),
    "value-range": Check(NUMBERS, "a value must pass through tanh, or be a difference of chances"),
    "policy-numbers": Check(NUMBERS, "the network answers with numbers that are none: look at its weights and inputs"),
    "masks": Check(NUMBERS, "a softmax over no legal move is no number: leave finished positions out"),
    # data
    "rows-sound": Check(DATA, "make the file again: it is damaged, or was made by other rules"),
    "target-range": Check(DATA, "values belong within ±1 and points of Texas 42 within ±42: look for a missing scale"),
    "label-scale": Check(DATA, "labels are too large or too small for the loss: divide them, or change their weight"),
    "logit-size": Check(DATA, "average Q in points, not logits; more weight decay where logits are taught"),
    "points-scale": Check(DATA, "a network that tells Q must tell points: look at answers and at the factor 42"),
    "policy-targets": Check(DATA, "each target must be shares of the legal moves with a sum above 0"),
    "illegal-labels": Check(DATA, "leave labels of tiles that cannot be played at 0, and choose with `where`"),
    "target-saturation": Check(DATA, "the supervisor's scores are squeezed too hard: a larger scale under tanh"),
    "duplicates": Check(DATA, "more random plies or noise, or one row for each position"),
    "forced-share": Check(DATA, "draw positions from all tricks, and report forced choices apart"),
    "explored": Check(DATA, "the policy learns random moves: drop_explored, or explore less"),
    "both-teams": Check(DATA, "labels are from the mover's side: both teams take the largest"),
    # splits
    "split-leak": Check(SPLITS, "split by game, opening or deal, never by position"),
    "split-part": Check(SPLITS, "make the set again with the part that its name tells"),
    # too little to learn from
    "simulations": Check(RANDOM, "100 simulations a move or more; with fewer, Gumbel search"),
    "urgency": Check(RANDOM, "set selfplay.urgency: parent, else nobody learns to block"),
    "learning-began": Check(RANDOM, "training.fresh or the batch asks for more positions than there are"),
    "value-fit": Check(RANDOM, "teach the value alone on few positions first: it must fit them"),
    "policy-fit": Check(RANDOM, "look at masks and targets, then train for longer"),
    "accuracy": Check(RANDOM, "it is no better than guessing: look at labels, masks and sides"),
    "stage-done": Check(RANDOM, "what is missing stands in the account; give the stage more, or ask for less"),
    # exploration
    "exploration": Check(OPENINGS, "noise: 0.25 at the root, and temperature: 1 for the first plies"),
    "opening-variety": Check(OPENINGS, "noise at the root, more temperature_plies, or random_plies"),
    "distinct-games": Check(OPENINGS, "players without chance repeat one game: random openings, or temperature"),
    # ends
    "draws": Check(DRAWS, "see how games end; a discount gives a reason to hurry"),
    "cut-off": Check(DRAWS, "in Pylos take-backs by choice; elsewhere a discount, or a larger ply_limit"),
    "first-mover": Check(DRAWS, "balanced or random openings; in a game that one side has won, expect it"),
    # value
    "value-variety": Check(SAME, "more value_weight or decisive games; look at batch norms and dead layers"),
    "value-saturation": Check(SAME, "lower value_weight or the learning rate; a discount keeps values apart"),
    "dead-outputs": Check(SAME, "these outputs get no gradient: look at masks and at the head"),
    "layers-alive": Check(SAME, "a layer that is all one number learns nothing, unless it was embedded so"),
    "norm-statistics": Check(SAME, "batch norms were shown other inputs: same observation, enough steps in training"),
    # policy
    "policy-entropy": Check(POLICY, "even: train longer, more simulations; one move: more noise, a higher temperature"),
    "policy-legal": Check(POLICY, "set mask_policy: true, or train longer"),
    "target-entropy": Check(POLICY, "even: more simulations, a smaller c; one move: more noise, forced playouts"),
    "symmetry": Check(POLICY, "set training.symmetries: true"),
    # signs
    "value-sign": Check(SIGNS, "values are from the mover's side: flip them by team, not by ply"),
    "signs-agree": Check(SIGNS, "outcomes are for the seat that moved: flip them by team, not by ply"),
    # plateaus
    "replay-window": Check(PLATEAU, "hold some hundred games, and let the first ones go"),
    "fixed-opponent": Check(PLATEAU, "nothing is left to learn from it: let the network play itself"),
    "gate-takes": Check(PLATEAU, "never: more games or a lower share; always: a gate does nothing here"),
    "rating-rises": Check(PLATEAU, "if it has stopped for long: more simulations, a larger network, fresher replay"),
    "rating-drop": Check(DROP, "go back to the best checkpoint; a gate with discard, or a smaller replay"),
    # losses
    "learning-rate": Check(DIVERGES, "1e-3 falling to 1e-5; a tenth of it for weights that know something"),
    "loss-falls": Check(DIVERGES, "can it learn one batch by heart? if not, look at targets and masks"),
    "loss-rises": Check(DIVERGES, "lower the learning rate, and let it fall"),
    "validation-gap": Check(OVERFIT, "more data, symmetries, weight decay, or a smaller network"),
    "replay-reuse": Check(OVERFIT, "fewer steps_per_game, or a smaller batch"),
    # ratings
    "rating-precision": Check(RATINGS, "more games a rating: rookery elo --games 100"),
    "gate-luck": Check(RATINGS, "59 of 100, more games, or kind: sprt"),
    "failures": Check(RATINGS, "games that a player lost by failing tell nothing of its strength"),
    "pairs": Check(RATINGS, "play every opening twice with the seats swapped"),
    # speed
    "cache-hits": Check(SLOW, "play with a cache (net:...,cache=N), or search a graph (rave)"),
    # studies
    "embedding": Check(TRANSFER, "the experiment is void: compare shapes, direction of the copy, zeroed outputs"),
    "probes": Check(TRANSFER, "look at the targets; read all tokens and not one"),
}  # fmt: skip
