"""Pylos.

Two players with 15 spheres each build a pyramid of 16 + 9 + 4 + 1 cells; who puts a sphere on the apex wins. A turn
is a placement from the reserve, or a raise of an own sphere to a higher level. Completing a square (and, by the mature
rules, a line) of one's own colour lets one take back one or two own spheres. Who has neither a sphere in reserve nor
a raise loses.

Cells are numbered by level, row, column: 0-15 (4 x 4), 16-24 (3 x 3), 25-28 (2 x 2), 29 the apex. A player's spheres
are the bits of one 32-bit word. Actions:

    0..29     place on that cell; in the take-back phase: take back the sphere on that cell
    30..302   raise: sources ascending, then destinations on higher levels ascending
    302       in the take-back phase: stop after one. As a raise it would be 28 to 29, which is never legal

With `removal="choice"` the mover stays the same while taking back. With `removal="greedy"` the two lowest free own
spheres come back at once and there is no such phase. A turn is a placement or raise with its take-backs; both caps
count turns, and what they end is a draw.
"""

from __future__ import annotations

import re

import numpy as np
from numba import uint32

from rookery.errors import BadInput
from rookery.games import pylos_board as board
from rookery.games.bits import Word, lowest_bit
from rookery.games.game import Game, Symmetries, register
from rookery.games.notation import parse_grid
from rookery.games.options import one_of, whole_number
from rookery.games.position import Action, Cell, Seat
from rookery.games.pylos_board import APEX, CELLS, OFFSETS, RAISES, bit, carrying, raised, supported
from rookery.games.pylos_turns import (
    DRAWN,
    LONGEST_HISTORY,
    MAY_TAKE,
    MUST_TAKE,
    ON,
    PLACING,
    SPHERES,
    STOP,
    completes_shape,
    end_turn,
    free_spheres,
    judge,
    open_cells,
    packed,
    reserve,
    take_back,
    take_lowest,
)
from rookery.games.rng import hashed
from rookery.games.rules import State, implements

RULE_SETS = ("children", "standard", "mature")
REMOVALS = ("choice", "greedy")
ACTIONS = 303
PHASES = ("-", "take", "more")
REPEATED = "drawn"  # in a position's text, where the phase stands: drawn by repetition, which the pyramid does not tell
BASIC, RICH = 0, 1

STATE = np.dtype(
    [
        ("spheres", np.uint32, (2,)),
        ("pylos_mover", np.int32),
        ("phase", np.int32),
        ("turns", np.int32),
        ("result", np.int32),
        ("rules", np.int32),  # options from here on
        ("greedy", np.int32),
        ("ply_cap", np.int32),
        ("repetition_cap", np.int32),
        ("history", np.uint64, (LONGEST_HISTORY,)),  # positions after each turn, if repetitions are counted
    ],
    align=True,
)


# ---- the contract --------------------------------------------------------------------------------


@implements("start", STATE)
def start(state: State, seed: int) -> None:
    state.spheres[:] = 0
    if state.repetition_cap > 0:  # otherwise nothing is ever written there
        state.history[:] = 0
    state.pylos_mover = 0
    state.phase = PLACING
    state.turns = 0
    state.result = ON


@implements("mover", STATE)
def mover(state: State) -> int:
    return int(state.pylos_mover)


@implements("legal", STATE)
def legal(state: State, out: np.ndarray) -> int:
    seat, count = state.pylos_mover, 0
    free = free_spheres(state, seat)
    cells = free if state.phase != PLACING else open_cells(state)
    if state.phase != PLACING or reserve(state, seat) > 0:
        places = cells
        while places != uint32(0):
            out[count] = lowest_bit(places)
            count += 1
            places &= places - uint32(1)
    if state.phase != PLACING:
        if state.phase == MAY_TAKE:
            out[count] = STOP
            count += 1
        return count
    while free != uint32(0):
        source = lowest_bit(free)
        places = cells & RAISES[source]
        while places != uint32(0):
            out[count] = OFFSETS[source] + lowest_bit(places)
            count += 1
            places &= places - uint32(1)
        free &= free - uint32(1)
    return count


@implements("is_legal", STATE)
def is_legal(state: State, action: int) -> bool:
    seat = state.pylos_mover
    if state.phase != PLACING:
        if action >= CELLS:
            return bool(action == STOP and state.phase == MAY_TAKE)
        return bool(free_spheres(state, seat) & bit(action))
    if action < CELLS:
        return reserve(state, seat) > 0 and bool(open_cells(state) & bit(action))
    source, destination = raised(action)
    if free_spheres(state, seat) & bit(source) == uint32(0):
        return False
    return bool(open_cells(state) & RAISES[source] & bit(destination))


@implements("play", STATE)
def play(state: State, action: int) -> None:
    if state.phase != PLACING:
        take_back(state, action)
        return
    seat, cell = state.pylos_mover, action
    if action >= CELLS:
        source, cell = raised(action)
        state.spheres[seat] &= ~bit(source)
    state.spheres[seat] |= bit(cell)
    if not completes_shape(state, seat, cell):
        end_turn(state)
    elif state.greedy == 0:
        state.phase = MUST_TAKE
    else:
        take_lowest(state, seat)
        take_lowest(state, seat)
        end_turn(state)


@implements("over", STATE)
def over(state: State) -> bool:
    return bool(state.result != ON)


@implements("payoff", STATE)
def payoff(state: State, seat: int) -> float:
    if state.result == ON or state.result == DRAWN:
        return 0.0
    return 1.0 if state.result == seat + 1 else -1.0


@implements("observe", STATE)
def observe(state: State, kind: int, i: int) -> float:
    me = state.pylos_mover
    both = uint32(state.spheres[0] | state.spheres[1])
    last = i - (30 if kind == BASIC else 90)
    if last >= 0:
        return reserve(state, me if last == 0 else 1 - me) / 15.0
    if i < 30:
        own = 1.0 if state.spheres[me] & bit(i) != uint32(0) else 0.0
        return own - (1.0 if state.spheres[1 - me] & bit(i) != uint32(0) else 0.0)
    if i < 46 and state.phase != PLACING:  # the bottom is always supported, so its entries tell the phase
        return 0.0 if state.phase == MUST_TAKE else 0.5
    shown = supported(both) & bit(i - 30) if i < 60 else both & ~carrying(both) & bit(i - 60)
    return 1.0 if shown != uint32(0) else 0.0


@implements("key", STATE)
def key(state: State) -> Word:
    return hashed(packed(state))


# ---- for people ----------------------------------------------------------------------------------


@register
class Pylos(Game):
    """Pylos by one of its three published rule sets."""

    name = "pylos"
    version = 1
    state = STATE
    summary = "build a pyramid of spheres; who sets the apex wins"
    actions = ACTIONS
    few_moves = True
    most_legal = CELLS + 156
    observations = {"basic": (32,), "rich": (92,)}

    def __init__(self, rules: str = "mature", removal: str = "choice", ply_cap: int = 200, repetition_cap: int = 0):
        self.rules = one_of("option rules of pylos", rules, RULE_SETS)
        self.removal = one_of("option removal of pylos", removal, REMOVALS)
        self.ply_cap = whole_number("option ply_cap of pylos", ply_cap, 1, LONGEST_HISTORY - 1)
        self.repetition_cap = whole_number("option repetition_cap of pylos", repetition_cap, 0, LONGEST_HISTORY - 1)
        self.longest = self.ply_cap * (1 if removal == "greedy" or rules == "children" else 3)

    def set_options(self, state: State) -> None:
        state["rules"], state["greedy"] = RULE_SETS.index(self.rules), self.removal == "greedy"
        state["ply_cap"], state["repetition_cap"] = self.ply_cap, self.repetition_cap

    def live_bytes(self) -> int:
        unused = 0 if self.repetition_cap else 8 * LONGEST_HISTORY  # the history, which comes last
        return STATE.itemsize - unused

    def seat_name(self, seat: Seat) -> str:
        return ("White", "Black")[seat]

    def level_rows(self, state: State) -> list[list[str]]:
        """Return the rows of each level as text, the bottom first."""
        white, black = (int(spheres) for spheres in state["spheres"])
        signs = [".wb"[(white >> cell & 1) + 2 * (black >> cell & 1)] for cell in range(CELLS)]
        return [
            ["".join(signs[first + size * row : first + size * (row + 1)]) for row in range(size)]
            for first, size in zip(board.FIRST, board.SIZES, strict=True)
        ]

    def text(self, state: State) -> str:
        levels = ["/".join(rows) for rows in self.level_rows(state)]
        repeated = state["result"] == DRAWN and state["turns"] < self.ply_cap
        phase = REPEATED if repeated else PHASES[state["phase"]]
        return " ".join([*levels, "wb"[state["pylos_mover"]], phase, str(state["turns"])])

    def parse(self, text: str, state: State) -> None:
        parts = text.split()
        if len(parts) != 7:
            form = "four levels, the player to move (w or b), the phase (-, take or more) and the number of turns"
            raise BadInput(f"position {text!r} of pylos should have seven parts: {form}")
        *levels, side, phase, turns = parts
        start(state, 0)
        for level, size in enumerate(board.SIZES):
            for row, signs in enumerate(parse_grid(levels[level], size, size, ".wb")):
                for col, sign in enumerate(signs):
                    if sign != ".":
                        state["spheres"]["wb".index(sign)] |= np.uint32(1 << board.cell_of(level, row, col))
        if side not in ("w", "b"):
            raise BadInput(f"{side!r} in {text!r} should be w or b, the player to move")
        phases = [*PHASES, REPEATED] if self.repetition_cap else [*PHASES]
        if phase not in phases:
            raise BadInput(f"{phase!r} in {text!r} should be a phase: {', '.join(phases)}")
        if not re.fullmatch("[0-9]{1,3}", turns) or int(turns) > self.ply_cap:
            raise BadInput(f"{turns!r} in {text!r} should be a number of turns in 0..{self.ply_cap}")
        state["pylos_mover"], state["turns"] = "wb".index(side), int(turns)
        state["phase"] = PLACING if phase == REPEATED else PHASES.index(phase)
        self.check_possible(text, state)
        judge(state)
        if phase == REPEATED:
            if state["result"] != ON:
                raise BadInput(f"position {text!r}: the game has ended otherwise than by repetition")
            state["result"] = DRAWN

    def check_possible(self, text: str, state: State) -> None:
        """Refuse a pyramid that could not stand, or a phase that could not be."""
        both = state["spheres"][0] | state["spheres"][1]
        hanging = int(both) & ~int(supported(both))
        if hanging:
            raise BadInput(f"position {text!r}: the sphere on {board.cell_text(lowest_bit(hanging))} rests on nothing")
        for seat in (0, 1):
            if reserve(state, seat) < 0:
                raise BadInput(f"position {text!r}: {self.seat_name(seat)} has more than {SPHERES} spheres")
        if state["phase"] == PLACING:
            return
        if self.removal == "greedy" or self.rules == "children":
            raise BadInput(f"position {text!r}: there is no take-back phase with {self.spec}")
        if int(both) >> APEX & 1 or not free_spheres(state, state["pylos_mover"]):
            raise BadInput(f"position {text!r}: there is nothing to take back")

    def draw(self, state: State) -> str:
        levels = self.level_rows(state)
        signs = str.maketrans(".wb", "·○●")
        lines = ["1 a b c d   2 a b c   3 a b   4 a"]
        for row in range(4):
            shown = [" ".join(rows[row]) if row < len(rows) else " " * (2 * len(rows) - 1) for rows in levels]
            labels = [str(row + 1) if row < len(rows) else " " for rows in levels]
            cells = [f"{label} {cell}" for label, cell in zip(labels, shown, strict=True)]
            lines.append("   ".join(cells).translate(signs).rstrip())
        left = [f"{self.seat_name(seat)} {sign} {reserve(state, seat)}" for seat, sign in ((0, "○"), (1, "●"))]
        return "\n".join([*lines, f"in reserve: {', '.join(left)}"])

    def cells_of(self, state: State, action: Action) -> tuple[Cell, ...]:
        """The cell a sphere comes to or is taken from; of a raise, where it ends."""
        if state["phase"] != PLACING and action == STOP:
            return ()
        return (board.PLACES[int(raised(action)[1]) if action >= CELLS else action],)

    def drawn_at(self, cell: Cell) -> tuple[int, int]:
        level, row, col = cell
        left = sum(2 * size + 4 for size in board.SIZES[:level])  # each level is that wide, with the gap behind it
        return 1 + row, left + 2 + 2 * col

    def move_text(self, state: State, action: Action) -> str:
        if state["phase"] != PLACING and action == STOP:
            return "stop"
        if action >= CELLS:
            return "-".join(board.cell_text(int(cell)) for cell in raised(action))
        return ("x" if state["phase"] != PLACING else "") + board.cell_text(action)

    def parse_move(self, state: State, text: str) -> Action:
        if text == "stop":
            return STOP
        if text.startswith("x"):
            if state["phase"] == PLACING:
                raise BadInput(f"move {text!r}: there is nothing to take back now; write a cell, or cell-cell to raise")
            return board.parse_cell(text[1:])
        if state["phase"] != PLACING:
            raise BadInput(
                f"move {text!r}: take a sphere back, written x and its cell; after the first, stop is allowed"
            )
        source, dash, destination = text.partition("-")
        if not dash:
            return board.parse_cell(source)
        pair = board.parse_cell(source), board.parse_cell(destination)
        if board.PLACES[pair[0]][0] >= board.PLACES[pair[1]][0]:
            raise BadInput(f"move {text!r}: a raise goes to a higher level")
        return int(OFFSETS[pair[0]]) + pair[1]

    def symmetries(self) -> Symmetries:
        """The 8 symmetries of the square; only the identity where the lowest spheres are taken, which no turn keeps."""
        if self.removal == "greedy":
            return super().symmetries()
        cells = board.cell_symmetries()
        actions = np.tile(np.arange(ACTIONS), (len(cells), 1))
        basic = np.tile(np.arange(32), (len(cells), 1))
        rich = np.tile(np.arange(92), (len(cells), 1))
        for s, table in enumerate(cells.values()):
            actions[s, :CELLS] = table
            for action, (source, destination) in enumerate(board.raise_pairs(), start=CELLS):
                if destination != APEX:  # never legal as raises; the last of them means stop, which must stay
                    actions[s, action] = OFFSETS[table[source]] + table[destination]
            origin = np.argsort(table)
            basic[s, :CELLS] = origin
            rich[s, :90] = np.concatenate([origin, origin + 30, origin + 60])
        return Symmetries(tuple(cells), actions, {"basic": basic, "rich": rich})
