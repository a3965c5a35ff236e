"""Commands that prove who wins."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from rookery.cli.shared import JsonOption, PositionOption, app, print_json
from rookery.errors import BadInput

if TYPE_CHECKING:
    from rookery.games.position import Position
    from rookery.search.solve.domineering import Outcome
    from rookery.search.solve.retrograde import Solution

solve = typer.Typer(help="Prove who wins: exact values, no estimates.", no_args_is_help=True)
app.add_typer(solve, name="solve")

TableOption = Annotated[int, Option("--table-mb", min=1, help="memory for results of a search, in MB")]
SEATS = ("Vertical", "Horizontal")
COMPILING = "loading the solver; the first time it is compiled for this machine"
WON_AT_ONCE = "wbwb/bwbw/wbwb/bwbw wbw/bwb/wbw wb/bw . w - 0"  # a position of Pylos whose graph is tiny


@solve.command()
def domineering(
    rows: Annotated[int | None, Option(help="rows of the board, 1 to 16; with a position, as many as it has")] = None,
    cols: Annotated[int | None, Option(help="columns of the board")] = None,
    position: PositionOption = None,
    table: Annotated[int | None, Option(help="solve all boards up to this size")] = None,
    table_mb: TableOption = 256,
    threads: Annotated[int, Option(min=1, help="CPU threads for the boards of a table")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Solve a board of Domineering: class, winners, nodes and seconds.

    V and H are won by Vertical and Horizontal whoever starts, N by whoever starts, P by the other.

    rookery solve domineering --rows 8 --cols 8

    rookery solve domineering --table 6 --json

    rookery solve domineering --position '..../.##./..../.... h'
    """
    from rookery.search.solve.domineering import solve_board, solve_both, solve_table
    from rookery.terminal import progress_bar, waiting

    if sum([table is not None, position is not None, rows is not None or cols is not None]) != 1:
        raise BadInput("give either --rows and --cols, or --position, or --table")
    begin = None if table is not None else first_position(rows, cols, position)
    with waiting(lambda: COMPILING):
        solve_board(1, 1, 1)
    nodes, begun = [0], time.perf_counter()
    with progress_bar() as progress:
        task = progress.add_task("solving", total=(table or 1) ** 2, note="")

        def report(new: int, boards: int = 0) -> None:
            nodes[0] += new
            rate = nodes[0] / max(time.perf_counter() - begun, 1e-9)
            progress.update(task, advance=boards, note=f"{nodes[0]:,} nodes, {rate:,.0f} a second")

        if begin is None:
            show_table(solve_table(table or 0, table_mb, threads, report), as_json)
            return
        outcome = solve_both(begin, table_mb, report=report)
    show_outcome(outcome, begin, position is not None, as_json)


def first_position(rows: int | None, cols: int | None, position: str | None) -> Position:
    """Return the position to be solved: an empty board, or one that is given as text."""
    from rookery.games.library import load

    if position is not None:
        if not position.strip():
            raise BadInput(f"position {position!r} of domineering is empty; it should look like '../.# v'")
        board = position.split()[0].split("/")
        return load("domineering", rows=len(board), cols=len(board[0])).position(position)
    if rows is None or cols is None:
        raise BadInput("a board needs both --rows and --cols")
    return load("domineering", rows=rows, cols=cols).start()


def outcome_facts(outcome: Outcome) -> dict[str, Any]:
    """Return what is known of a board, for JSON."""
    names = ("vertical starts", "horizontal starts")
    results = zip(names, outcome.results, strict=True)
    return {"rows": outcome.rows, "cols": outcome.cols, "class": outcome.letter} | {
        name: {"winner": SEATS[r.winner].lower(), "nodes": r.nodes, "seconds": round(r.seconds, 3)}
        for name, r in results
    }


def show_outcome(outcome: Outcome, begin: Position, given: bool, as_json: bool) -> None:
    """Print what is known of one board or position."""
    from rookery.terminal import out

    facts, own = outcome_facts(outcome), outcome.results[begin.mover]
    move = None if own.best is None else begin.move_text(own.best)
    if given:
        facts |= {"position": begin.text(), "winner": SEATS[own.winner].lower(), "winning move": move}
    if as_json:
        print_json(facts)
        return
    out.print(f"{outcome.rows} x {outcome.cols}: class {outcome.letter}")
    for seat, result in enumerate(outcome.results):
        out.print(
            f"{SEATS[seat] + ' to move:':20s} {SEATS[result.winner]:10s} wins   "
            f"{result.nodes:>13,} nodes {result.seconds:9.2f} s"
        )
    if given:
        out.print(f"{SEATS[begin.mover]} is to move and " + (f"wins with {move}" if move else "loses"))


def show_table(outcomes: list[Outcome], as_json: bool) -> None:
    """Print the classes of all boards of a table."""
    from rookery.terminal import out

    if as_json:
        print_json([outcome_facts(outcome) for outcome in outcomes])
        return
    size = outcomes[-1].rows
    out.print("rows\\cols " + " ".join(f"{col:2d}" for col in range(1, size + 1)), markup=False)
    for row in range(size):
        letters = [outcome.letter for outcome in outcomes[row * size : (row + 1) * size]]
        out.print(f"{row + 1:9d} " + " ".join(f"{letter:>2s}" for letter in letters))
    nodes, seconds = sum(o.nodes for o in outcomes), sum(o.seconds for o in outcomes)
    out.print(f"{len(outcomes)} boards, {nodes:,} nodes, {seconds:.2f} s of searching")


@solve.command()
def pylos(
    position: PositionOption = None,
    rules: Annotated[str, Option(help="children, standard or mature")] = "mature",
    removal: Annotated[str, Option(help="choice or greedy")] = "choice",
    sample: Annotated[int | None, Option(help="solve so many late positions of random games")] = None,
    seed: Annotated[int, Option(help="same seed, same sample")] = 0,
    spheres_left: Annotated[int, Option(help="for a sample: most spheres in both reserves together")] = 6,
    output: Annotated[Path | None, Option(help="file of the sample, .npz")] = None,
    most_positions: Annotated[int, Option(help="give up on a position beyond so many others")] = 2_000_000,
    threads: Annotated[int, Option(min=1, help="CPU threads for a sample")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Solve a late position of Pylos by the pure rules, without caps: its value and that of each move.

    rookery solve pylos --position 'wbwb/bwbw/wbwb/bwbw wbw/bwb/wbw wb/.. . w - 30'

    rookery solve pylos --sample 1000 --seed 1 --spheres-left 6 --output late.npz
    """
    from rookery.games.library import load
    from rookery.search.solve import pylos as solver
    from rookery.terminal import progress_bar, waiting

    game = load("pylos", rules=rules, removal=removal)
    if (position is None) == (sample is None):
        raise BadInput("give either --position or --sample")
    if (sample is None) != (output is None):
        raise BadInput("a sample needs --output, a file that ends in .npz, and a position has none")
    if output is not None:
        draw_sample(game, sample or 0, seed, spheres_left, most_positions, threads, output, as_json)
        return
    begin = game.position(position or "")
    with waiting(lambda: COMPILING):
        solver.solve(game.position(WON_AT_ONCE))
    with progress_bar() as progress:
        task = progress.add_task("exploring", total=most_positions, note="positions at most")
        solution = solver.solve(begin, most_positions, report=lambda met: progress.update(task, completed=met))
    show_solution(begin, solution, as_json)


def show_solution(begin: Position, solution: Solution, as_json: bool) -> None:
    """Print the value of a position and of its moves."""
    from rookery.terminal import out

    moves = {begin.move_text(move.action): {"value": move.value, "plies": move.plies} for move in solution.moves}
    best = None if solution.best is None else begin.move_text(solution.best)
    facts = {"game": begin.game.spec, "position": begin.text(), "value": solution.value, "plies": solution.plies}
    facts |= {"best": best, "positions": solution.positions, "complete": solution.complete, "moves": moves}
    if as_json:
        print_json(facts)
        return
    words = {1: "wins", 0: "draws", -1: "loses", None: "is not known"}
    seat = begin.game.seat_name(begin.mover)
    within = "" if solution.plies is None else f" {'in' if solution.complete else 'within'} {solution.plies} plies"
    out.print(f"{seat} to move {words[solution.value]}{within}" + (f"; best: {best}" if best else ""))
    for move, known in moves.items():
        plies = "" if known["plies"] is None else f"{known['plies']:4d} plies"
        out.print(f"  {move:10s} {words[known['value']]:14s}{plies}", markup=False)
    out.print(f"{solution.positions:,} positions" + (", all that can be reached" if solution.complete else ""))


def draw_sample(
    game: Any, count: int, seed: int, left: int, most: int, threads: int, output: Path, as_json: bool
) -> None:
    """Make a sample, write it and say what is in it."""
    from rookery.search.solve import pylos, pylos_samples
    from rookery.terminal import out, progress_bar, waiting

    pylos_samples.check_path(output)
    with waiting(lambda: COMPILING):
        pylos.solve(game.position(WON_AT_ONCE))
    begun = time.perf_counter()
    with progress_bar() as progress:
        task = progress.add_task("solving", total=count, note="")

        def report(solved: int) -> None:
            rate = solved / max(time.perf_counter() - begun, 1e-9)
            progress.update(task, completed=solved, note=f"{rate:.1f} a second")

        drawn = pylos_samples.sample(game, count, seed, left, most, threads, report)
    pylos_samples.write(drawn, output)
    values = [solution.value for _, solution in drawn.solved]
    facts = {"file": str(output), "solved": len(values), "unsolved": drawn.unsolved}
    facts |= {"won": values.count(1), "drawn": values.count(0), "lost": values.count(-1)}
    if as_json:
        print_json(facts | {"settings": drawn.settings})
        return
    out.print(", ".join(f"{name} {value}" for name, value in facts.items()), markup=False, soft_wrap=True)


@solve.command()
def texas42(
    position: Annotated[str, Argument(metavar="POSITION", help="all four hands open, as `show` prints it")],
    as_json: JsonOption = False,
) -> None:
    """Solve a position of Texas 42 with all hands open: its value and that of every tile that may be played.

    Values are the points still to come, team 0 (South and North) minus team 1, with best play by all.

    rookery solve texas42 'sixes 0 2-2,3-0,4-0,5-1,5-3,6-0,6-6/3-3,4-1,4-2,4-4,5-0,5-4,6-3/1-0,1-1,2-1,4-3,5-2,6-4,6-5/0-0,2-0,3-1,3-2,5-5,6-1,6-2 -'
    """  # noqa: E501
    from rookery.games.library import load
    from rookery.search.solve.texas42 import solve as solve_states
    from rookery.terminal import waiting

    begin = load("texas42").position(position)
    with waiting(lambda: COMPILING):
        solved = solve_states(begin.states)
    show_tiles(begin, int(solved.values[0]), solved.q[0].tolist(), as_json)


def show_tiles(begin: Position, value: int, q: list[int], as_json: bool) -> None:
    """Print the value of a position of Texas 42 and of the tiles that may be played."""
    from rookery.games.texas42 import points
    from rookery.search.solve.texas42 import ILLEGAL
    from rookery.terminal import out

    moves = {begin.move_text(slot): known for slot, known in enumerate(q) if known != ILLEGAL}
    best = [move for move, known in moves.items() if known == value]
    facts: dict[str, Any] = {"game": begin.game.spec, "position": begin.text(), "points": points(begin)}
    facts |= {"to_move": None if begin.over else begin.mover, "value": value, "best": best, "moves": moves}
    if as_json:
        print_json(facts | {"q": [None if known == ILLEGAL else known for known in q]})
        return
    if begin.over:
        out.print("the hand is over")
    else:
        out.print(f"{begin.game.seat_name(begin.mover)} to move; to come, team 0 minus team 1: {value:+d}")
    for move, known in moves.items():
        out.print(f"  {move:5s} {known:+4d}{'  best' if move in best else ''}", markup=False)
    taken = facts["points"]
    final = (42 + taken[0] - taken[1] + value) // 2
    out.print(f"points so far {taken[0]} to {taken[1]}; in the end {final} to {42 - final}")
