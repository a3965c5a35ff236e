"""Connect four, added from outside the package: docs/add-a-game.md walks through it. Bit 7 * col + row of
`stones[seat]` is a stone; row 0 is the bottom, row 6 stays empty. Action c drops a stone into column c."""

import numpy as np
from numba import njit, uint64

from rookery import BadInput, Game, Symmetries, register
from rookery.games.notation import parse_grid
from rookery.games.rng import hashed
from rookery.games.rules import State, implements, list_legal

ROWS, COLS, COLUMN = 6, 7, uint64(0b111111)
BOTTOM = uint64(sum(1 << 7 * col for col in range(COLS)))
PLACES = np.array([7 * col + row for row in range(ROWS) for col in range(COLS)] * 2, np.uint64)  # of an observation
STATE = np.dtype([("stones", np.uint64, (2,)), ("connect_four_mover", np.int32)], align=True)


@njit(cache=True, nogil=True)
def has_line(stones: int) -> bool:
    found = uint64(0)
    for step in (1, 6, 7, 8):  # up, right and down, right, right and up
        pairs = stones & (stones >> uint64(step))
        found |= pairs & (pairs >> uint64(2 * step))
    return found != uint64(0)


@implements("start", STATE)
def start(state: State, seed: int) -> None:
    state.stones[:], state.connect_four_mover = 0, 0


@implements("mover", STATE)
def mover(state: State) -> int:
    return state.connect_four_mover


@implements("is_legal", STATE)
def is_legal(state: State, action: int) -> bool:
    return (state.stones[0] | state.stones[1]) >> uint64(7 * action + ROWS - 1) & uint64(1) == uint64(0)


@implements("legal", STATE)
def legal(state: State, out: np.ndarray) -> int:
    return list_legal(state, COLS, out)


@implements("play", STATE)
def play(state: State, action: int) -> None:
    both = state.stones[0] | state.stones[1]
    state.stones[state.connect_four_mover] |= (both + BOTTOM) & (COLUMN << uint64(7 * action))
    state.connect_four_mover = 1 - state.connect_four_mover


@implements("over", STATE)
def over(state: State) -> bool:
    return has_line(state.stones[1 - state.connect_four_mover]) or state.stones[0] | state.stones[1] == COLUMN * BOTTOM


@implements("payoff", STATE)
def payoff(state: State, seat: int) -> float:
    return 1.0 * has_line(state.stones[seat]) - 1.0 * has_line(state.stones[1 - seat])


@implements("observe", STATE)
def observe(state: State, kind: int, i: int) -> float:
    mine, others = state.stones[state.connect_four_mover], state.stones[1 - state.connect_four_mover]
    return float((mine if i < ROWS * COLS else others) >> PLACES[i] & uint64(1))


@implements("key", STATE)
def key(state: State) -> int:
    return hashed(hashed(state.stones[0]) ^ state.stones[1])  # the number of stones tells who moves


@register
class ConnectFour(Game):
    name, version, state = "connect_four", 1, STATE
    summary = "drop stones into seven columns; four in a line win"
    actions, most_legal, longest, vanishing = COLS, COLS, ROWS * COLS, True
    observations = {"planes": (2, ROWS, COLS)}  # the mover's stones, then the other's; the bottom row first

    def text(self, state: State) -> str:
        signs = [".xo"[int(x) + 2 * int(o)] for x, o in zip(*(f"{s:049b}"[::-1] for s in state["stones"]), strict=True)]
        return "/".join("".join(signs[row::7]) for row in reversed(range(ROWS)))

    def parse(self, text: str, state: State) -> None:
        rows = np.array(parse_grid(text, ROWS, COLS, ".xo"))[::-1]
        x, o = (sum(1 << int(7 * col + row) for row, col in np.argwhere(rows == sign)) for sign in "xo")
        lead = x.bit_count() - o.bit_count()
        if lead not in (0, 1) or (x | o) & ((x | o) + int(BOTTOM)) or has_line(uint64((x, o)[lead])):
            raise BadInput(f"{text!r}: a stone hangs in the air, x is not 0 or 1 ahead, or the mover has a line")
        state["stones"], state["connect_four_mover"] = (x, o), lead

    def move_text(self, state: State, action: int) -> str:
        return str(action + 1)

    def symmetries(self) -> Symmetries:
        planes = np.arange(2 * ROWS * COLS).reshape(2, ROWS, COLS)
        actions, planes = (np.array([table.ravel(), table[..., ::-1].ravel()]) for table in (np.arange(COLS), planes))
        return Symmetries(("identity", "mirror"), actions, {"planes": planes})
