"""What every game answers, and how the answer is found.

A state is one aligned NumPy record. The functions below are generic: search code calls `play(state, action)`
and Numba picks the game's own `play` by the record's dtype while compiling. A game supplies its functions so:

    STATE = np.dtype([("stones", np.uint64, (2,)), ("mover", np.int32)], align=True)

    @implements("mover", STATE)
    def mover(state: State) -> int:
        return state.mover

`implements` compiles the function and keeps it on disk. It also gives the dtype a last field, mostly empty, whose name
holds a hash of the game's source. That name is part of the type, so code compiled for an older version of the
game is never taken for the new one, and it tells to which rules a record belongs.

The generic functions work from Python too, on records made by `Game`.
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numba import njit
from numba.core.errors import NumbaError
from numba.extending import overload

from rookery.errors import BrokenGame
from rookery.games import cache
from rookery.games.bits import Word

State = Any  # one record of a game's dtype; Any, because Numba types it by the dtype
Function = TypeVar("Function", bound=Callable[..., Any])

ARGUMENTS: dict[str, tuple[str, ...]] = {}  # generic function -> its argument names


class Rules:
    """The compiled functions of one game and the completed dtype of its states."""

    def __init__(self, module: str, file: str, plain: np.dtype[Any], mark: str):
        self.module = module
        self.game = module.rpartition(".")[2]
        self.file = file
        self.mark = mark
        self.functions: dict[str, Callable[..., Any]] = {}
        self.dtype = completed(plain, mark)


BY_MARK: dict[str, Rules] = {}  # name of the last field -> rules
BY_PLAIN: dict[np.dtype[Any], Rules] = {}  # dtype as the game wrote it -> rules


# ---- generic functions ---------------------------------------------------------------------------


def generic(function: Function) -> Function:
    """Let the dtype of a state choose the implementation, in compiled code and in Python."""
    name = function.__name__
    ARGUMENTS[name] = tuple(inspect.signature(function).parameters)

    @functools.wraps(function)
    def from_python(state: State, *rest: Any) -> Any:
        rules = rules_of(state.dtype.names)
        try:
            return rules.functions[name](state, *rest)
        except NumbaError as error:
            raise BrokenGame(
                f"{rules.game}: {name} does not compile: {first_lines(error)} (in {rules.file})"
            ) from error

    def choose(state: Any, *rest: Any) -> Callable[..., Any]:
        rule = rules_of(getattr(state, "fields", ())).functions[name]

        def call(state: Any, *rest: Any) -> Any:  # one line: the rule itself comes from the cache
            return rule(state, *rest)

        return call

    overload(from_python, jit_options={"no_cfunc_wrapper": True})(choose)  # only compiled code calls it
    return from_python  # type: ignore[return-value]


def rules_of(fields: Any) -> Rules:
    """Find the rules of a record by the names of its fields."""
    mark = list(fields)[-1] if fields else ""
    if mark not in BY_MARK:
        raise TypeError(f"a record with the fields {list(fields)} belongs to no game; make states with Game.start")
    return BY_MARK[mark]


def first_lines(error: Exception) -> str:
    """Return the part of a compiler's message that says what is wrong."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if "nknown attribute" in line or "ndefined" in line or "not defined" in line]
    return (telling or lines[1:] or lines)[0]


@generic
def start(state: State, seed: int) -> None:
    """Set up the first position, leaving the fields that hold options alone; `seed` deals where dealing is done."""
    raise NotImplementedError


@generic
def mover(state: State) -> int:
    """Return the seat to move. Seats need not alternate."""
    raise NotImplementedError


@generic
def legal(state: State, out: Any) -> int:
    """Write the legal actions in increasing order into `out` and return how many. The game must not be over."""
    raise NotImplementedError


@generic
def is_legal(state: State, action: int) -> bool:
    """Tell whether an action in 0..actions-1 is legal. The game must not be over."""
    raise NotImplementedError


@generic
def play(state: State, action: int) -> None:
    """Make a legal action in place."""
    raise NotImplementedError


@generic
def over(state: State) -> bool:
    """Tell whether the game has ended."""
    raise NotImplementedError


@generic
def payoff(state: State, seat: int) -> float:
    """Return the result for a seat in [-1, 1]; 0 while the game goes on."""
    raise NotImplementedError


@generic
def observe(state: State, kind: int, i: int) -> float:
    """Return number `i` of the observation of a kind, from the mover's side."""
    raise NotImplementedError


@generic
def key(state: State) -> Word:
    """Hash placement, mover, rights and phase to 64 bits; not the ply nor repetition counters."""
    raise NotImplementedError


@njit(cache=True, nogil=True)
def list_legal(state: State, actions: int, out: Any) -> int:
    """Write the actions that `is_legal` allows into `out`, in increasing order, and return how many."""
    count = 0
    for action in range(actions):
        if is_legal(state, action):
            out[count] = action
            count += 1
    return count


# ---- what a game supplies ------------------------------------------------------------------------


def implements(name: str, plain: np.dtype[Any]) -> Callable[[Function], Function]:
    """Make a function the rule `name` of the game whose states have the dtype `plain`."""

    def supply(function: Function) -> Function:
        check_rule(function.__module__.rpartition(".")[2], name, function, plain)
        rules = claim(plain, function)
        cache.use()  # a changed NUMBA_* variable makes Numba forget its cache folder
        compiled = njit(cache=True, nogil=True, no_cfunc_wrapper=True)(function)
        check_new(rules, name, function)
        rules.functions[name] = compiled
        return compiled

    return supply


def claim(plain: np.dtype[Any], function: Callable[..., Any]) -> Rules:
    """Return the rules that own a dtype, new ones if it is free or its own file has been edited."""
    module, file = function.__module__, function.__code__.co_filename
    mark = f"{module.replace('.', '_')}_{cache.source_hash(module, Path(file))}"
    owner = BY_PLAIN.get(plain)
    if owner is not None and owner is BY_MARK.get(mark):
        return owner
    game = module.rpartition(".")[2]
    if owner is not None and owner.module != module:
        raise BrokenGame(
            f"{game}: its state's dtype is taken already by the game {owner.game} ({owner.file}); "
            f"give it a field of its own, for example {game!r}. Its fields: {', '.join(plain.names or ())}"
        )
    if not plain.isalignedstruct:
        raise BrokenGame(f"{game}: the state's dtype must be a record made with align=True, not {plain}")
    if any(rules.module == module and rules.mark == mark for rules in BY_PLAIN.values()):
        raise BrokenGame(f"{game}: its functions implement two different dtypes; a game has one ({file})")
    rules = Rules(module, file, plain, mark)
    BY_MARK[mark] = BY_PLAIN[plain] = rules
    return rules


def release(module: str) -> None:
    """Give up what a module has claimed, after it failed to load."""
    for plain, rules in list(BY_PLAIN.items()):
        if rules.module == module:
            del BY_PLAIN[plain]


def completed(plain: np.dtype[Any], mark: str) -> np.dtype[Any]:
    """Fill the holes that alignment leaves; the last filling's name tells to which rules a record belongs.

    NumPy does not copy holes, and equal states shall have equal bytes.
    """
    fields: list[Any] = []
    end = 0
    for name in plain.names or ():
        offset = plain.fields[name][1]  # type: ignore[index]  # it has names, so it has fields
        if offset > end:
            fields.append((f"{mark}_{end}", np.uint8, (offset - end,)))
        fields.append((name, plain[name]))
        end = offset + plain[name].itemsize
    return np.dtype([*fields, (mark, np.uint8, (plain.itemsize - end,))], align=True)


def check_rule(game: str, name: str, function: Callable[..., Any], plain: np.dtype[Any]) -> None:
    """Refuse a rule with an unknown name, wrong arguments or a field its state does not have."""
    if name not in ARGUMENTS:
        raise BrokenGame(f"{game}: {name!r} is no function of a game; the functions are {', '.join(ARGUMENTS)}")
    arguments = tuple(inspect.signature(function).parameters)
    if arguments != ARGUMENTS[name]:
        wanted, given = ", ".join(ARGUMENTS[name]), ", ".join(arguments)
        raise BrokenGame(f"{game}: {name} must take the arguments ({wanted}), not ({given})")
    unknown = sorted(fields_used(function) - set(plain.names or ()))
    if unknown:
        raise BrokenGame(
            f"{game}: {name} uses the field {unknown[0]!r}, which its state does not have; "
            f"the fields are {', '.join(plain.names or ())}"
        )


def check_new(rules: Rules, name: str, function: Callable[..., Any]) -> None:
    """Refuse a second implementation of a rule; the same one may come again when its file is run anew."""
    known = rules.functions.get(name)
    lines = [getattr(rule, "py_func", rule).__code__.co_firstlineno for rule in (known, function) if rule is not None]
    if len(set(lines)) > 1:
        raise BrokenGame(
            f"{rules.game}: {name} is implemented twice, in lines {lines[0]} and {lines[1]} of {rules.file}"
        )


def fields_used(function: Callable[..., Any]) -> set[str]:
    """Collect the attributes a function reads or sets on its argument `state`."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "state"
    }


def complete_rules(game: str, plain: np.dtype[Any]) -> Rules:
    """Return the rules of a dtype, or say what is missing. A variant may pass on the dtype of the game it extends."""
    inherited = BY_MARK.get((plain.names or ("",))[-1])
    if inherited is not None:
        return inherited
    if plain not in BY_PLAIN:
        raise BrokenGame(f"{game}: no function implements its state's dtype; use @implements(name, STATE)")
    rules = BY_PLAIN[plain]
    missing = [name for name in ARGUMENTS if name not in rules.functions]
    if missing:
        raise BrokenGame(f"{game}: these functions are missing: {', '.join(missing)} (in {rules.file})")
    return rules
