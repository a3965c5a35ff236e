"""Games of the Domineering study in files.

A file is a NumPy archive (NPZ, not compressed, read by `np.load` without pickle):

    moves     [G, 128] int16   actions as in games/domineering.py, -1 behind the end
    lengths   [G]      int16   plies
    winners   [G]      bool    whether Vertical won
    explored  [G, 128] bool    whether a move was drawn at random, in the opening or later

The first three are those of the study's plan; files that have no more, or less room, are read as well, their moves
taken as not explored. Beside a file NAME.npz lies NAME.json, which says how its games were made. The same games give
the same bytes: an archive holds no dates.

Whoever reads a file gets games that can be: each is played through the rules, and length and winner are compared with
what comes out. Anything else is refused with the name of the file and the number of the game, counted from 0.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rookery.errors import BadInput
from rookery.games.library import load
from rookery.search.domineering_guided import LONGEST
from rookery.search.domineering_replay import (
    BAD_LENGTH,
    ILLEGAL,
    NOT_PADDED,
    SOUND,
    UNFINISHED,
    WRONG_WINNER,
    first_fault,
)  # fmt: skip
from rookery.studies.archives import digest, packed, unpacked
from rookery.writing import write_whole

FORMAT = "rookery domineering games"
VERSION = 1
DTYPES = {"moves": np.int16, "lengths": np.int16, "winners": np.bool_, "explored": np.bool_}
NAME = re.compile(r"phase(\d+)_games")
LARGEST_ARRAY = 1 << 34  # bytes; more than any file of games has, and less than would end a machine's memory

COMPLAINTS = {
    BAD_LENGTH: "has the length {length}, with room for {room} moves",
    ILLEGAL: "holds an illegal move, {action}, at ply {ply}",
    UNFINISHED: "ends after {ply} moves though whose turn it is can move",
    WRONG_WINNER: "is marked as won by {marked}, but its moves say otherwise",
    NOT_PADDED: "goes on behind its end, at ply {ply}",
}


@dataclass(frozen=True)
class GameRecords:
    """Some games; the arrays are those of a file, with room for the longest game."""

    moves: np.ndarray
    lengths: np.ndarray
    winners: np.ndarray
    explored: np.ndarray

    def __len__(self) -> int:
        return len(self.moves)

    def __getitem__(self, some: Any) -> GameRecords:
        """Return some of the games, by a slice or an array of numbers or marks."""
        return GameRecords(*(array[some] for array in self.arrays().values()))

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays by their names, in the order of the file."""
        return {name: getattr(self, name) for name in DTYPES}


def records_of(moves: np.ndarray, lengths: np.ndarray, explored: np.ndarray) -> GameRecords:
    """Make records of whole games; Vertical moves first, so he has won where the number of plies is odd."""
    return GameRecords(moves, lengths, lengths % 2 == 1, explored)


def joined(parts: Sequence[GameRecords]) -> GameRecords:
    """Put games behind one another."""
    return GameRecords(*(np.concatenate([part.arrays()[name] for part in parts]) for name in DTYPES))


# ---- writing -------------------------------------------------------------------------------------


def archive_of(records: GameRecords) -> bytes:
    """Return the bytes of a file."""
    return packed({name: np.asarray(array, DTYPES[name]) for name, array in records.arrays().items()})


def sidecar_of(path: Path) -> Path:
    """Return the file that says how the games of a file were made."""
    return path.with_suffix(".json")


def write_games(path: Path, records: GameRecords, about: Mapping[str, Any] | None = None) -> None:
    """Write a file whole, then the one beside it that says how the games were made, if that is told."""
    content = archive_of(records)
    write_whole(path, content)
    if about is not None:
        known = {"format": FORMAT, "version": VERSION, "games": len(records), **about, "sha256": digest(content)}
        write_whole(sidecar_of(path), (json.dumps(known, indent=1, allow_nan=False) + "\n").encode())


# ---- reading -------------------------------------------------------------------------------------


def read_games(path: str | Path) -> GameRecords:
    """Read and check a file, and what lies beside it."""
    place = Path(path)
    try:
        content = place.read_bytes()
    except FileNotFoundError:
        raise BadInput(f"{place}: there is no such file of games") from None
    except OSError as error:
        raise BadInput(f"{place} cannot be read: {error.strerror}") from None
    try:
        arrays = arrays_in(content)
    except Exception as error:  # damaged archives and headers raise errors of a dozen kinds
        raise BadInput(f"{place} is no file of games, or cut off: {str(error) or type(error).__name__}") from None
    records = shaped(place, arrays)
    check_games(place, records)
    about = read_about(place)
    if about is not None and (about["games"], about["sha256"]) != (len(records), digest(content)):
        raise BadInput(f"{place} is not the file that {sidecar_of(place).name} tells of: its content is another")
    if about is not None:
        check_label(place, about)
    return records


def check_label(place: Path, about: Mapping[str, Any]) -> None:
    """Refuse games of another phase than their file is called by, of another game, or by other rules."""
    game, called = load("domineering"), NAME.fullmatch(place.stem)
    wanted = {"game": game.spec, "rules_version": game.version} | ({"phase": int(called[1])} if called else {})
    for key, value in wanted.items():
        if about.get(key, value) != value:
            told = f"{sidecar_of(place).name} tells of {key} {about[key]!r}"
            raise BadInput(f"{place} should hold games with {key} {value!r}, but {told}")


def read_about(path: Path) -> dict[str, Any] | None:
    """Return what lies beside a file; None if there is nothing."""
    place = sidecar_of(path)
    try:
        about = json.loads(place.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{place} does not tell how games were made: {error}") from None
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise BadInput(f"{place} does not tell how games were made: its format should be {FORMAT!r}")
    if about.get("version") != VERSION:
        raise BadInput(f"{place} is of version {about.get('version')!r}; this program reads version {VERSION}")
    if not isinstance(about.get("games"), int) or "sha256" not in about:
        raise BadInput(f"{place} should tell the number of games and the sha256 of {path.name}")
    return about


def arrays_in(content: bytes) -> dict[str, np.ndarray]:
    """Return the arrays of an archive whose names are known; checksums are compared."""
    found = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name in DTYPES:
            if f"{name}.npy" in archive.namelist():
                found[name] = unpacked(archive, name, LARGEST_ARRAY)
    return found


def shaped(place: Path, arrays: dict[str, np.ndarray]) -> GameRecords:
    """Check types and shapes, and give each game room for the longest."""
    missing = [name for name in ("moves", "lengths", "winners") if name not in arrays]
    if missing:
        raise BadInput(f"{place} has no array {', '.join(missing)}; a file of games has moves, lengths and winners")
    moves = arrays["moves"]
    arrays.setdefault("explored", np.zeros(moves.shape, np.bool_))
    shapes = {"moves": moves.shape, "explored": moves.shape, "lengths": moves.shape[:1], "winners": moves.shape[:1]}
    for name, dtype in DTYPES.items():
        array = arrays[name]
        if array.dtype != dtype or array.shape != shapes[name] or moves.ndim != 2 or moves.shape[1] > LONGEST:
            raise BadInput(
                f"{place}: array {name} is {array.dtype} of shape {array.shape}; it should be {np.dtype(dtype)}, "
                f"moves of shape [games, {LONGEST} or less], the others to fit"
            )
    room = ((0, 0), (0, LONGEST - moves.shape[1]))
    return GameRecords(
        np.pad(moves, room, constant_values=-1), arrays["lengths"], arrays["winners"], np.pad(arrays["explored"], room)
    )


def check_games(place: Path, records: GameRecords) -> None:
    """Play all games through the rules; refuse the first that cannot be."""
    state = load("domineering").start().state
    arrays = (records.moves, records.lengths, records.winners, records.explored)
    fault, game, ply = (int(number) for number in first_fault(state, *(np.ascontiguousarray(a) for a in arrays)))
    if fault == SOUND:
        return
    complaint = COMPLAINTS[fault].format(
        ply=ply, action=records.moves[game, min(ply, LONGEST - 1)], length=records.lengths[game], room=LONGEST,
        marked="Vertical" if records.winners[game] else "Horizontal",
    )  # fmt: skip
    raise BadInput(f"{place}: game {game} {complaint}")
