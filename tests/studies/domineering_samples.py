"""Games of the Domineering study for several tests."""

from __future__ import annotations

import numpy as np

from rookery.search.domineering_guided import guided_games
from rookery.studies.domineering_files import GameRecords, records_of


def some_records(games: int, seed: int) -> GameRecords:
    """Make some guided games."""
    found = guided_games(games, seed=seed)
    return records_of(found.moves, found.lengths, found.explored)


def turned(moves: np.ndarray, over_rows: bool, over_cols: bool) -> np.ndarray:
    """Turn every move around, from the squares it covers."""
    out = moves.copy()
    for game, ply in np.argwhere(moves >= 0):
        action = int(moves[game, ply])
        vertical = action < 240
        row, col = (action // 16, action % 16) if vertical else ((action - 240) % 16, (action - 240) // 16)
        row = (14 if vertical else 15) - row if over_rows else row
        col = (15 if vertical else 14) - col if over_cols else col
        out[game, ply] = 16 * row + col if vertical else 240 + 16 * col + row
    return out
