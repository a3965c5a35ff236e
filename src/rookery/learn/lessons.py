"""Lessons: games in which a supervisor says of every position what it would do and what that is worth.

Game number g of a seed begins with some random moves and goes on by the supervisor's, except that some are drawn at
random, so that it says what to do in strange positions, too. Games of chess begin with a part of an ordinary opening,
drawn for each, and the random moves follow. Games are kept in shards of `SHARD`, each a file that is there whole or not
at all. Where a game takes long it is a file of its own until its shard is whole. Who was stopped goes on with what is
missing.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from rookery.arena.chess_openings import CHESS_OPENINGS
from rookery.arena.openings import Centre, Opening, RandomMoves, parse_moves, usual_openings
from rookery.arena.player import Player, turn_of, turn_seed
from rookery.arena.players import FORMS, make_player
from rookery.arena.searching import Analyst
from rookery.arena.texts import read_text
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.gomoku import Gomoku
from rookery.games.library import load
from rookery.games.position import Position
from rookery.games.rng import random_below
from rookery.games.rules import legal, mover, observe, payoff, play, start
from rookery.learn.book import Rows
from rookery.learn.files import remove_quietly, sweep, told, write_whole
from rookery.learn.replay import empty_rows
from rookery.learn.sections import LessonSettings
from rookery.learn.spread import Processes, Spreader, Threads
from rookery.search.gomoku_baseline import WIN
from rookery.search.gomoku_groups import SCALE
from rookery.search.gomoku_guided import Guidance, guided_games
from rookery.search.threads import cores

SHARD = 32
"""games of a file"""
QUICK_DEPTH = 6  # up to which compiled code makes a shard in seconds
Piece = tuple[int, int]
"""the first of some games that are made together, and how many they are"""
SWAP2_STONES = 3  # that are laid before colours are chosen
ATTEMPTS = 50  # draws of an opening that does not end the game
WHOLE = 1_000_000  # parts of all games in which the share held out is counted
STRAY = 1 << 20  # random numbers of a game from here on choose its random moves


NOTHING = (-1, -1, 0, -1, 0)  # what stands in the columns of `Lessons` behind the end of a game


class Lessons(NamedTuple):
    """G games of P plies at most; W moves at most have a worth."""

    moves: Any  # [G, P] int16: played; -1 behind the end
    chosen: Any  # [G, P] int16: what the supervisor would do; -1 where it was not asked
    values: Any  # [G, P] float32: what that is worth, for the mover, in [-1, 1]
    considered: Any  # [G, P, W] int16: moves of which the worth is known, -1 behind the last; [G, 0, W] if none is
    worths: Any  # [G, P, W] float32: their worths, for the mover

    @property
    def positions(self) -> int:
        """Positions of which the supervisor was asked."""
        return int((self.chosen >= 0).sum())


# ---- supervisors ---------------------------------------------------------------------------------


def baseline_depth(text: str, game: Game) -> int:
    """Return how far a player looks ahead if it is Gomoku's baseline and compiled code plays its games, else 0.

    That code knows nothing of swap2, whose choices of colours only the player itself makes.
    """
    given = read_text(text, FORMS)
    is_compiled = given.form.name == "baseline" and game.options.get("opening") == "none"
    return int(given.value("depth") or 0) if is_compiled else 0


def make_supervisor(text: str, game: Game) -> Player:
    """Make who teaches; refuse a player that does not play the game, or does not say what it thinks of a position."""
    player = make_player(text, game)
    if not isinstance(player, Analyst):
        player.close()
        raise BadInput(f"the supervisor {text!r} does not say what it thinks of a position, as players that search do")
    return player


def make_lessons(
    game: Game, settings: LessonSettings, seed: int, first: int, count: int, player: Player | None = None
) -> Lessons:
    """Make games `first`, `first` + 1, ... of a seed, on one thread; `player` is the supervisor, if it is made."""
    depth = baseline_depth(settings.supervisor, game)
    if not depth:
        if player is not None:
            return played_lessons(game, settings, seed, first, count, player)
        with closing(make_supervisor(settings.supervisor, game)) as made_here:
            return played_lessons(game, settings, seed, first, count, made_here)
    make_player(settings.supervisor, game).close()  # refuses a game that it does not play
    guidance = Guidance(depth, settings.opening, settings.explore, all_moves=settings.temperature > 0)
    made = guided_games(count, int(game.options["size"]), seed, first, guidance)
    return Lessons(made.moves, made.chosen, values_of(made.scores), made.considered, values_of(made.worths))


def values_of(scores: np.ndarray) -> np.ndarray:
    """Turn scores of the baseline player into values; a win is exactly 1."""
    return np.where(abs(scores) >= WIN, np.sign(scores), np.tanh(scores / SCALE)).astype(np.float32)


def played_lessons(game: Game, settings: LessonSettings, seed: int, first: int, count: int, player: Player) -> Lessons:
    """Let any player of the arena play the games, one after the other."""
    shape = count, game.longest
    made = Lessons(
        np.full(shape, -1, np.int16), np.full(shape, -1, np.int16), np.zeros(shape, np.float32),
        np.zeros((count, 0, 1), np.int16), np.zeros((count, 0, 1), np.float32),
    )  # fmt: skip
    player.prepare(game.start())
    for g in range(count):
        play_lesson(game, settings, seed, first + g, player, Lessons(*(column[g] for column in made)))
    return made


def play_lesson(game: Game, settings: LessonSettings, seed: int, number: int, player: Player, out: Lessons) -> None:
    """Play one game and note what the player thinks."""
    begin = game.start()
    for seat in range(len(game.teams)):
        player.new_game(begin, seat)
    position, moves = opening_of(game, settings, seed, number)
    out.moves[: len(moves)] = moves
    while not position.over:
        ply = len(moves)
        choice = player.choose(turn_of(player, begin, position, moves, seed=turn_seed(seed, number, ply)))
        if choice.analysis is None:
            raise BadInput(f"the supervisor {player.name!r} does not say what it thinks of a position")
        out.chosen[ply], out.values[ply] = choice.action, choice.analysis.value
        moves.append(choice.action)
        if random_below(100, seed, number, STRAY + 2 * ply) < settings.explore:
            free = position.legal()
            moves[-1] = int(free[random_below(len(free), seed, number, STRAY + 2 * ply + 1)])
        out.moves[ply] = moves[-1]
        position.play(moves[-1])


def opening_of(game: Game, settings: LessonSettings, seed: int, number: int) -> tuple[Position, list[int]]:
    """Draw the random moves a game begins with; return where they lead, and the moves."""
    draw = opening_draw(game, settings, seed, number)
    for attempt in range(ATTEMPTS):
        if found := draw(number * ATTEMPTS + attempt):
            return found.position(), list(found.moves)
    raise BadInput(f"lessons.opening: {settings.opening} random moves end games of {game.label}; give fewer")


def opening_draw(game: Game, settings: LessonSettings, seed: int, number: int) -> Callable[[int], Opening | None]:
    """Return what draws the random moves of a game: in the middle for Gomoku, behind a part of the book for chess."""
    if game.name == "gomoku":
        stones = Centre(game, seed, min(settings.opening, SWAP2_STONES) if swaps(game) else settings.opening)
        return partial(with_choices, stones, settings.opening) if swaps(game) else stones
    if usual_openings(game) != "book":
        return RandomMoves(game, seed, settings.opening)
    line = parse_moves(game, CHESS_OPENINGS[random_below(len(CHESS_OPENINGS), seed, number, STRAY - 2)])
    known = random_below(len(line.moves) + 1, seed, number, STRAY - 1)
    return RandomMoves(game, seed, settings.opening, Opening(line.start, line.moves[:known]))


def swaps(game: Game) -> bool:
    """Tell whether colours are chosen in the opening of a game."""
    return isinstance(game, Gomoku) and game.opening == "swap2"


def with_choices(stones: Centre, plies: int, attempt: int) -> Opening | None:
    """Draw the first three stones of a game with swap2, then choices and stones as they come."""
    found = stones(attempt)
    if found is None or plies <= len(found.moves):
        return found
    return RandomMoves(stones.game, stones.seed, plies - len(found.moves), found)(attempt)


# ---- shards --------------------------------------------------------------------------------------


def shard_path(folder: Path, number: int) -> Path:
    """Name the file of a shard."""
    return folder / f"shard_{number:05d}.npz"


def save_lessons(path: Path, lessons: Lessons) -> None:
    """Write lessons as arrays by name, whole."""
    whole = io.BytesIO()
    np.savez_compressed(whole, **lessons._asdict())
    write_whole(path, whole.getvalue())


def trimmed(lessons: Lessons) -> Lessons:
    """Leave out the plies behind the longest game: the longest that there could be is many times as long in chess."""
    longest = int((lessons.moves >= 0).sum(1).max(initial=0))
    return Lessons(*(column[:, :longest] for column in lessons))


def load_lessons(path: Path) -> Lessons:
    """Read lessons; nothing in the file is run."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            return Lessons(*(file[name] for name in Lessons._fields))
    except Exception as error:  # damaged archives and headers raise errors of a dozen kinds
        reason = str(error) or type(error).__name__
        raise BadInput(f"{path} is damaged: {reason}; remove it and it is made again") from None


class LessonMaker:
    """Makes games, on one thread, and asks the same player in all of them."""

    player: Player | None = None

    def __init__(self, spec: str, settings: LessonSettings, seed: int):
        self.game, self.settings, self.seed = load(spec), settings, seed

    def __call__(self, piece: Piece) -> Lessons:
        """Make some games."""
        if not baseline_depth(self.settings.supervisor, self.game) and self.player is None:
            self.player = make_supervisor(self.settings.supervisor, self.game)
        return trimmed(make_lessons(self.game, self.settings, self.seed, *piece, self.player))

    def __del__(self) -> None:
        if self.player is not None:
            self.player.close()


def makers(spread: Spreader | None, game: Game, settings: LessonSettings) -> Spreader:
    """Return who makes games: of threads or processes, as many as there may be.

    Games that are compiled as a whole are made by threads, which are as fast as processes.
    """
    threads = Threads(settings.threads or cores())
    if not isinstance(spread, Processes):
        return spread or threads
    return threads if baseline_depth(settings.supervisor, game) else Processes(settings.threads or spread.count)


def pieces_of(number: int, count: int) -> list[Piece]:
    """List the pieces of so many games that a shard is made of."""
    return [(first, count) for first in range(number * SHARD, (number + 1) * SHARD, count)]


def piece_path(folder: Path, piece: Piece) -> Path:
    """Name the file of a piece: its shard, if it is a whole one."""
    first, count = piece
    return shard_path(folder, first // SHARD) if count == SHARD else folder / f"game_{first:07d}.npz"


def join_pieces(folder: Path, pieces: list[Piece]) -> None:
    """Make a shard of its pieces, the same that it would be if it had been made at once."""
    paths = [piece_path(folder, piece) for piece in pieces]
    found = [load_lessons(path) for path in paths]
    longest = max(some.moves.shape[1] for some in found)
    columns = [
        np.concatenate([padded(getattr(some, name), longest, fill) for some in found])
        for name, fill in zip(Lessons._fields, NOTHING, strict=True)
    ]
    save_lessons(shard_path(folder, pieces[0][0] // SHARD), Lessons(*columns))
    for path in paths:
        remove_quietly(path)


def padded(column: np.ndarray, plies: int, fill: int) -> np.ndarray:
    """Return what is known of some games with room for so many plies; where no worths are known there is no room."""
    room = [(0, 0), (0, plies - column.shape[1] if column.shape[1] else 0), *[(0, 0)] * (column.ndim - 2)]
    return np.pad(column, room, constant_values=fill)


def gather_lessons(
    folder: Path,
    game: Game,
    settings: LessonSettings,
    seed: int,
    stop: Callable[[], bool] = lambda: False,
    say: Callable[[int], None] = lambda positions: None,
    spread: Spreader | None = None,
) -> list[Lessons] | None:
    """Return shards with as many positions as asked for, making those that are missing; None if told to stop.

    As many shards as there are threads are made side by side, or by `spread` as many as seem to be needed, game by game
    where one takes long. `stop` is asked after each piece, and `say` told how many positions there are.
    """
    spread = makers(spread, game, settings)
    together = SHARD if 0 < baseline_depth(settings.supervisor, game) <= QUICK_DEPTH else 1
    with told(folder):
        os.makedirs(folder, exist_ok=True)
    sweep(folder)
    found: list[Lessons] = []
    positions, threads = 0, settings.threads or cores()
    make = partial(LessonMaker, game.spec, settings, seed)
    while positions < settings.positions:
        each = positions // len(found) if found else SHARD * game.longest // 4  # of a shard; the first guess is high
        more = 0 if isinstance(spread, Threads) else (settings.positions - positions) // each
        wanted = range(len(found), len(found) + max(threads, more))
        missing = [number for number in wanted if not shard_path(folder, number).exists()]
        if missing and missing[0] > wanted[0]:  # what is there may be enough
            wanted, missing = range(wanted[0], missing[0]), []
        if missing and stop():
            return None
        shards = {number: pieces_of(number, together) for number in missing}
        pieces = [piece for part in shards.values() for piece in part]
        made = positions
        for piece, lessons in spread(make, [piece for piece in pieces if not piece_path(folder, piece).exists()]):
            save_lessons(piece_path(folder, piece), lessons)
            made += lessons.positions
            say(made)
            if stop():
                return None
        for part in shards.values() if together < SHARD else ():
            join_pieces(folder, part)
        for number in wanted:
            if positions < settings.positions:  # how many there are must not depend on the threads
                found.append(load_lessons(shard_path(folder, number)))
                positions += found[-1].positions
        say(positions)
    return found


# ---- rows ----------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def write_weights(lessons: Lessons, g: int, ply: int, temperature: float, actions: Any, weights: Any) -> None:
    """Write the policy that is taught into the weights of the legal actions: the supervisor's move, or all by worth."""
    if temperature > 0 and lessons.considered[g, ply, 0] >= 0:
        count = int((lessons.considered[g, ply] >= 0).sum())
        best = lessons.worths[g, ply, :count].max()
        for i in range(count):
            place = np.searchsorted(actions, lessons.considered[g, ply, i])
            weights[place] = np.exp((lessons.worths[g, ply, i] - best) / temperature)
    else:
        weights[np.searchsorted(actions, lessons.chosen[g, ply])] = 1.0


@njit(cache=True, nogil=True)
def write_rows(
    states: Any, kind: int, lessons: Lessons, first: int, temperature: float, rows: Rows, buffer: Any
) -> int:
    """Write every position of which the supervisor was asked into a row; return how many there are.

    states  [1], with the game's options; buffer [most_legal]; `first` is the number of the first game
    """
    state, row = states[0], 0
    seats = np.zeros(lessons.moves.shape[1], np.int32)
    for g in range(lessons.moves.shape[0]):
        start(state, 0)
        begun = row
        for ply in range(lessons.moves.shape[1]):
            if lessons.moves[g, ply] < 0:
                break
            if lessons.chosen[g, ply] >= 0:
                for i in range(rows.observations.shape[1]):
                    rows.observations[row, i] = observe(state, kind, i)
                count = legal(state, buffer)
                for k in range(count):
                    rows.actions[row, k] = buffer[k]
                write_weights(lessons, g, ply, temperature, rows.actions[row, :count], rows.weights[row])
                rows.counts[row], rows.taught[row], rows.played[row] = count, 1, lessons.chosen[g, ply]
                rows.values[row], rows.plies[row], rows.games[row] = lessons.values[g, ply], ply, first + g
                seats[row - begun] = mover(state)
                row += 1
            play(state, int(lessons.moves[g, ply]))
        for r in range(begun, row):
            rows.outcomes[r] = payoff(state, int(seats[r - begun]))
    return row


def rows_of(game: Game, kind: str, lessons: Lessons, first: int, temperature: float) -> Rows:
    """Turn lessons into rows of a replay; `first` is the number of their first game."""
    rows, buffer = empty_rows(game, kind, lessons.positions), np.zeros(max(1, game.most_legal), np.int32)
    number = list(game.observations).index(kind)
    written = write_rows(game.empty_states(1), number, lessons, first, float(temperature), rows, buffer)
    assert written == len(rows.counts)
    return rows


def is_held_out(games: np.ndarray, share: float) -> np.ndarray:
    """Tell by their numbers which games are kept from the network: evenly spread, the first among them."""
    parts = round(share * WHOLE)
    apart: np.ndarray = games * parts % WHOLE < parts
    return apart


def count_held_out(lessons: list[Lessons], share: float) -> int:
    """Count the positions of the games that are kept from the network."""
    found = 0
    for number, some in enumerate(lessons):
        apart = is_held_out(number * SHARD + np.arange(len(some.chosen)), share)
        found += int((some.chosen[apart] >= 0).sum())
    return found
