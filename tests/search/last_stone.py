"""A game for tests in which the last mover loses: take one or two stones from a heap; whoever takes the last one loses.

Lost for the mover are the heaps of 1, 4, 7, ... stones: whatever is taken, the other side leaves the next such heap.
"""

import numpy as np

from rookery import BadInput, Game, register
from rookery.games.rng import hashed
from rookery.games.rules import State, implements, list_legal

MOST = 12
STATE = np.dtype([("heap", np.int32), ("last_stone_mover", np.int32)], align=True)


@implements("start", STATE)
def start(state: State, seed: int) -> None:
    state.heap = MOST
    state.last_stone_mover = 0


@implements("mover", STATE)
def mover(state: State) -> int:
    return state.last_stone_mover


@implements("is_legal", STATE)
def is_legal(state: State, action: int) -> bool:
    return action + 1 <= state.heap


@implements("legal", STATE)
def legal(state: State, out: np.ndarray) -> int:
    return list_legal(state, 2, out)


@implements("play", STATE)
def play(state: State, action: int) -> None:
    state.heap -= action + 1
    state.last_stone_mover = 1 - state.last_stone_mover


@implements("over", STATE)
def over(state: State) -> bool:
    return state.heap == 0


@implements("payoff", STATE)
def payoff(state: State, seat: int) -> float:
    return 1.0 if seat == state.last_stone_mover else -1.0


@implements("observe", STATE)
def observe(state: State, kind: int, i: int) -> float:
    return 1.0 * (state.heap > i)


@implements("key", STATE)
def key(state: State) -> int:
    return hashed(hashed(np.uint64(state.heap)) ^ np.uint64(state.last_stone_mover))


@register
class LastStone(Game):
    name, version, state = "last_stone", 1, STATE
    summary = "take one or two stones; whoever takes the last one loses"
    actions, most_legal, longest, vanishing = 2, 2, MOST, False
    observations = {"stones": (MOST,)}

    def text(self, state: State) -> str:
        return f"{state['heap']} {'ab'[state['last_stone_mover']]}"

    def parse(self, text: str, state: State) -> None:
        heap, _, mover = text.partition(" ")
        if not heap.isdecimal() or int(heap) > MOST or mover not in ("a", "b"):
            raise BadInput(f"{text!r} should be a heap of 0..{MOST} stones and who moves, a or b")
        state["heap"], state["last_stone_mover"] = int(heap), mover == "b"

    def move_text(self, state: State, action: int) -> str:
        return str(action + 1)
