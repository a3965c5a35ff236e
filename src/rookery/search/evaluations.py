"""What a search may ask about a game beyond its rules: how good a position looks, and which moves look good.

These functions are generic like those of `rookery.games.rules`: the dtype of the state chooses the implementation while
compiling. Unlike rules they are optional. A game that supplies none is searched all the same: every position that is
not decided looks even, and moves are tried in the order in which the search has found them good.

    @supplies("evaluate", STATE)
    def evaluate(state: State) -> int:
        return UNIT * lead(state) // MOST

Inside a search values are whole numbers. A payoff x in (-1, 1) counts x * UNIT; evaluations lie strictly between -UNIT
and UNIT. A win p plies from the root counts WIN - p and a loss p - WIN, so that quick wins and slow losses are
preferred.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numba.extending import overload

from rookery.errors import BrokenGame
from rookery.games.rules import BY_PLAIN, Function, Rules, State, rules_of

UNIT = 1_008_000  # a multiple of 42 and 7, so that the payoffs of all our games are whole
WIN = UNIT + 10_000  # more than any search is deep

HOMES = {  # rules -> the module that supplies what belongs to them, imported when first asked
    "rookery.games.chess": "rookery.search.evaluation_chess",
    "rookery.games.domineering": "rookery.search.evaluation_domineering",
    "rookery.games.gomoku": "rookery.search.evaluation_gomoku",
    "rookery.games.pylos": "rookery.search.evaluation_pylos",
    "rookery.games.texas42": "rookery.search.evaluation_texas42",
}
ARGUMENTS: dict[str, tuple[str, ...]] = {}  # optional function -> its argument names
SUPPLIED: dict[tuple[str, str], Callable[..., Any]] = {}  # (mark of the rules, name) -> what the game supplies


def optional(default: Function) -> Function:
    """Let the dtype of a state choose the implementation; a game that supplies none gets the one written here."""
    name = default.__name__
    ARGUMENTS[name] = tuple(inspect.signature(default).parameters)
    compiled = njit(cache=True, nogil=True)(default)

    @functools.wraps(default)
    def from_python(state: State, *rest: Any) -> Any:
        return supplied(rules_of(state.dtype.names), name, compiled)(state, *rest)

    def choose(state: Any, *rest: Any) -> Callable[..., Any]:
        chosen = supplied(rules_of(getattr(state, "fields", ())), name, compiled)

        def call(state: Any, *rest: Any) -> Any:
            return chosen(state, *rest)

        return call

    overload(from_python)(choose)
    return from_python  # type: ignore[return-value]


def supplied(rules: Rules, name: str, default: Callable[..., Any]) -> Callable[..., Any]:
    """Find what a game supplies under a name, or the default."""
    if rules.module in HOMES:
        importlib.import_module(HOMES[rules.module])
    return SUPPLIED.get((rules.mark, name), default)


def supplies(name: str, plain: np.dtype[Any]) -> Callable[[Function], Function]:
    """Make a function the version of `name` for the game whose states have the dtype `plain`."""

    def supply(function: Function) -> Function:
        arguments, module = tuple(inspect.signature(function).parameters), function.__module__
        if arguments != ARGUMENTS.get(name):
            known = ", ".join(f"{known}({', '.join(wanted)})" for known, wanted in ARGUMENTS.items())
            raise BrokenGame(f"{module}: {name}({', '.join(arguments)}) is nothing a search asks; it asks {known}")
        if plain not in BY_PLAIN:
            raise BrokenGame(
                f"{module}: {name} is supplied for a dtype without rules; use @implements(name, STATE) first"
            )
        compiled = njit(cache=True, nogil=True)(function)
        SUPPLIED[BY_PLAIN[plain].mark, name] = compiled
        return compiled

    return supply


@optional
def evaluate(state: State) -> int:
    """Judge a position that is not over from the mover's side, strictly between -UNIT and UNIT."""
    return 0


@optional
def promise(state: State, action: int) -> int:
    """Tell how good a legal move looks before it is searched, in -1000..1000; better ones are tried first."""
    return 0


@optional
def promise_unit(state: State) -> int:
    """Tell how much more a move promises than another if it is e times as likely to be good; 0: promises only rank."""
    return 0


@optional
def playout_plies(state: State) -> int:
    """Tell after how many random moves `evaluate` judges better than playing on to the end does; 0: never."""
    return 0


@optional
def forcing(state: State, out: Any) -> int:
    """Write the moves worth a look beyond the depth of a search into `out` and return how many."""
    return 0


@optional
def ended_by_history(state: State) -> bool:
    """Tell whether a game that is over ended by what came before, as by repetition, so that its key does not say so."""
    return False


@njit(cache=True, nogil=True)
def squashed(lead: int, half: int) -> int:
    """Map any lead monotonically into the range of evaluations; `half` is the lead that counts one half."""
    return UNIT * lead // (lead + half) if lead >= 0 else -(UNIT * -lead // (half - lead))
