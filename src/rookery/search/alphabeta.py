"""Alpha-beta for every game: negamax with a transposition table, deepened ply by ply.

    search(position, Limits(depth=4))
    search(position, Limits(seconds=1.0), lines=3)

The walk itself is compiled (`rookery.search.alphabeta_walk`); here it is called in slices until depth, nodes or time
are used up. What a game knows about its positions is in `rookery.search.evaluations`.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from rookery.errors import BadInput
from rookery.games.options import whole_number
from rookery.games.position import Action, Position
from rookery.search.alphabeta_desk import BARRED, LEVEL, NODES, Desk, Settings, new_desk
from rookery.search.alphabeta_walk import begin, depth_for, is_settled, judged, walk
from rookery.search.analysis import Analysis, Limits, Line, Watch, out_of_time
from rookery.search.evaluations import UNIT
from rookery.search.table import Table, lent, new_search, new_table

DEEPEST = 400
MOST_QUIET_PLIES = 60
FEW_PLIES = 4  # a search to this depth meets too few positions for a large table
SLICE_SECONDS = 0.008
FIRST_SLICE = 2_000  # positions; later slices are made to last SLICE_SECONDS
LARGEST_SLICE = 1_000_000
FEATURES = ("table", "killers", "history", "promise", "windows")
DOMINEERING_DEPTHS = ((90, 1), (35, 2), (0, 3))
"""the Domineering study's depths: 1 with 90 legal moves or more, 2 with 35 to 89, 3 with fewer"""


def search(
    position: Position,
    limits: Limits,
    watch: Watch | None = None,
    *,
    lines: int = 1,
    progressive: Sequence[tuple[int, int]] | None = None,
    quiet_plies: int = 8,
    random_ties: bool = False,
    seed: int = 0,
    table_megabytes: int | None = None,
    table: Table | None = None,
    without: Collection[str] = (),
) -> Analysis:
    """Search a position until a limit is reached, the watch ends, or its value is known.

    lines        how many of the best moves to value exactly, each with its play
    progressive  (least number of legal moves, depth) in falling order, the last from 0 on: looks no deeper than that
    quiet_plies  how far forcing moves are followed beyond the depth, in games that name some
    random_ties  choose by `seed` among moves of equal value; otherwise the first one found is kept
    table        what earlier searches of the same game with the same quiet_plies have learnt, from `new_table`; one
                 search at a time may use it. Otherwise a new one is made, of `table_megabytes`: by default 64, and 1
                 for a few plies, where touching fresh memory costs more than the search
    without      what to leave out, for measurements: table, killers, history, promise (of moves), windows (narrow ones)

    In a game with hidden information it looks at all hands.
    """
    check_position(position)
    depth = deepest(position, limits, progressive)
    quiet_plies = whole_number("quiet_plies", quiet_plies, 0, MOST_QUIET_PLIES)
    if table_megabytes is None:
        table_megabytes = 1 if depth <= FEW_PLIES else 64
    table = table or new_table(table_megabytes)
    desk = new_desk(position.game, depth + quiet_plies, table)
    desk.states[0] = position.state
    seed = whole_number("seed", seed, -(2**63), 2**63 - 1)
    settings = Settings(quiet_plies=quiet_plies, random_ties=bool(random_ties), seed=seed)
    settings = settings._replace(**dict.fromkeys(checked_features(without), False))
    most_lines = whole_number("lines", lines, 1, 10_000)
    with lent(table, position.game, quiet_plies):
        compile_for(desk, settings)
        run = Run(position, desk, settings, limits, watch or Watch(limits.seconds), most_lines)
        return run.deepen(depth)


def check_position(position: Position) -> None:
    """Refuse what cannot be searched."""
    game = position.game
    if position.over:
        raise BadInput(f"there is nothing to search in {position.text()!r}: the game is over ({game.name})")
    if len(set(game.teams)) > 2:
        raise BadInput(f"alpha-beta needs two teams; {game.name} has {len(set(game.teams))}")
    if game.information == "hidden" and position.seen_by(position.mover).states.tobytes() == position.states.tobytes():
        raise BadInput(
            f"alpha-beta looks at all hands of {game.name}; in {position.text()!r} those of other seats are hidden"
        )


def deepest(position: Position, limits: Limits, progressive: Sequence[tuple[int, int]] | None) -> int:
    """Return how many plies to look ahead at most; no game goes on for more than its longest."""
    depth = min(DEEPEST, max(1, position.game.longest))
    if limits.depth is not None:
        depth = min(depth, whole_number("depth of alpha-beta", limits.depth, 1, DEEPEST))
    if progressive is not None:
        depth = min(depth, depth_for(len(position.legal()), checked_thresholds(progressive)))
    return depth


def checked_thresholds(progressive: Sequence[tuple[int, int]]) -> np.ndarray:
    """Return thresholds of progressive depth as the array the kernels read; refuse those that leave a gap."""
    rule = "pairs (least number of legal moves, depth) in falling order of the number, the last one 0"
    try:
        pairs = [
            (whole_number("least number of legal moves", least, 0, 2**31), whole_number("depth", depth, 1, DEEPEST))
            for least, depth in progressive
        ]
    except (TypeError, ValueError) as error:
        raise BadInput(f"progressive must be {rule}, not {progressive!r}: {error}") from None
    numbers = [least for least, _ in pairs]
    if not numbers or numbers[-1] != 0 or numbers != sorted(set(numbers), reverse=True):
        raise BadInput(f"progressive must be {rule}, not {progressive!r}")
    return np.array(pairs, np.int64)


def checked_features(without: Collection[str]) -> Collection[str]:
    """Refuse features that alpha-beta does not have."""
    unknown = [feature for feature in without if feature not in FEATURES]
    if isinstance(without, str) or unknown:
        raise BadInput(f"without must name some of {', '.join(FEATURES)}, not {without!r}")
    return without


def compile_for(desk: Desk, settings: Settings) -> None:
    """Call what a search calls once, so that its time begins when all is compiled."""
    begin(desk, settings, 1, -1)
    desk.place[LEVEL] = -1
    walk(desk, settings, 0, np.zeros(1, np.int32))


@dataclass
class Run:
    """One search under way."""

    position: Position
    desk: Desk
    settings: Settings
    limits: Limits
    watch: Watch
    most_lines: int
    slice: int = FIRST_SLICE
    done: int = 0
    """the depth that has been finished"""
    found: list[Line] = field(default_factory=list)
    """best first"""
    proven: bool = False
    settled: bool = False
    """whether looking deeper cannot change any of the lines"""

    def deepen(self, depth: int) -> Analysis:
        """Search to one depth after the other."""
        new_search(self.desk.table)
        finished = True
        for goal in range(1, depth + 1):
            finished = self.search_to(goal)
            if not finished or self.settled:
                break
            if self.watch.report is not None:
                self.watch.report(self.analysis(""))
        return self.analysis("" if finished else f"stopped while looking {self.done + 1} plies ahead")

    def search_to(self, depth: int) -> bool:
        """Find the best lines at one depth; return whether there was time for it."""
        desk, before = self.desk, self.found
        lines: list[Line] = []
        finished = True
        settled: list[bool] = []
        wanted = min(self.most_lines, len(self.position.legal()))
        while finished and len(lines) < wanted:
            for i, line in enumerate(lines):
                desk.barred[i] = line.action
            desk.place[BARRED] = len(lines)
            first = before[len(lines)].action if len(lines) < len(before) else -1
            begin(desk, self.settings, depth, first)
            nodes = int(desk.place[NODES])
            finished = self.walk_on()
            if desk.frames[0]["best_move"] >= 0:
                lines.append(self.line(int(desk.place[NODES]) - nodes))
            settled.append(bool(is_settled(desk)))
        lines.sort(key=lambda line: -line.value)
        known = {line.action for line in lines}
        self.found = lines + [line for line in before if line.action not in known][: wanted - len(lines)]
        if finished:
            self.done, self.proven, self.settled = depth, settled[0], all(settled)
        return finished

    def walk_on(self) -> bool:
        """Call the walk in slices; return whether it came to its end before a limit did."""
        while True:
            begun, nodes = time.perf_counter(), int(self.desk.place[NODES])
            left = LARGEST_SLICE if self.limits.nodes is None else self.limits.nodes - nodes
            if walk(self.desk, self.settings, min(self.slice, left), self.watch.stop):
                return True
            if self.ended:
                return False
            took = time.perf_counter() - begun
            speed = (int(self.desk.place[NODES]) - nodes) / max(took, 1e-6)
            self.slice = max(1, min(LARGEST_SLICE, 2 * self.slice, int(speed * SLICE_SECONDS)))

    @property
    def ended(self) -> bool:
        """Whether a limit is reached or the watch has ended."""
        limits, nodes = self.limits, int(self.desk.place[NODES])
        return out_of_time(limits, self.watch) or (limits.nodes is not None and nodes >= limits.nodes)

    def line(self, nodes: int) -> Line:
        """Return the best move of the root as the walk has left it."""
        desk = self.desk
        moves = tuple(int(move) for move in desk.lines[0, : desk.lengths[0]])
        return Line(int(desk.frames[0]["best_move"]), value_of(int(desk.frames[0]["best"])), nodes, moves=moves)

    def analysis(self, note: str) -> Analysis:
        """Return what is known so far."""
        nodes = int(self.desk.place[NODES])
        if not self.found:  # stopped before anything was known: the move that would have been looked at first
            action: Action = int(
                self.desk.moves[0, int(np.argmax(self.desk.orders[0, : self.desk.frames[0]["count"]]))]
            )
            value = value_of(int(judged(self.position.state)))
            return Analysis(action, value, (Line(action, value, moves=(action,)),), nodes, note=note)
        best = self.found[0]
        return Analysis(best.action, best.value, tuple(self.found), nodes, self.done, self.proven, note)


def value_of(score: int) -> float:
    """Turn a score of the walk into a value in [-1, 1]; a win or loss is 1 or -1, however far away."""
    return max(-1.0, min(1.0, score / UNIT))
