"""What `rookery analyse texas42` prints: a position, a file of positions, the plays of a finished hand."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from rookery.cli.shared import print_json
from rookery.errors import BadInput

if TYPE_CHECKING:
    from rookery.games.game import Game
    from rookery.games.position import Position

USUAL_WORLDS = 200
AT_ONCE = 256  # positions of a file that are solved together
COMPILING = "loading the solver of texas42; the first time it is compiled for this machine"


@dataclass(frozen=True)
class Wish:
    """How plays are to be valued."""

    worlds: int = USUAL_WORLDS
    seed: int = 0
    bid: int | None = None
    threads: int = 1
    holders: bool = False


def analyse_position(position: Position, wish: Wish, as_json: bool) -> None:
    """Print what plays are worth; of a finished hand, what they have cost."""
    facts, lines = finished(position, wish) if position.over else to_play(position, wish)
    if as_json:
        print_json(facts)
    else:
        print_lines([position.draw(), "", *lines])


def to_play(position: Position, wish: Wish) -> tuple[dict[str, Any], list[str]]:
    """Value the plays of a position, for programs and for people."""
    import numpy as np

    from rookery.arena.texas42_report import holder_lines, known_lines, play_lines
    from rookery.games.texas42_tiles import NOT_NAMED
    from rookery.search.expected import Exact, bids_of, expected
    from rookery.search.texas42_answers import answers
    from rookery.search.worlds import Worlds
    from rookery.terminal import progress_bar, waiting

    with waiting(lambda: COMPILING):
        exact, worlds = Exact(wish.threads), Worlds(position)
        expected(position, 1, wish.seed, exact, wish.bid)
        facts = answers([position], exact.solver)[0]
        q = None if position.game.hidden_seats(position.state) else exact(position.states)[0]
    with progress_bar() as progress:
        task = progress.add_task("worlds", total=min(wish.worlds, worlds.count), note="")
        exact.report = partial(progress.advance, task)
        found = expected(position, wish.worlds, wish.seed, exact, wish.bid)
    assert isinstance(facts, dict), "the worlds were counted before"
    numbers = {name: getattr(found, name) for name in ("mean", "spread", "make")}
    plays = [
        {"slot": int(slot), "tile": position.move_text(int(slot))}
        | {name: float(values[slot]) for name, values in numbers.items()}
        for slot in np.flatnonzero(found.legal)
    ]
    house = position.state["declaration"] > NOT_NAMED
    bid = None if house else int(bids_of(position.states)[0]) if wish.bid is None else wish.bid
    facts = {"game": position.game.spec, "position": position.text(), **facts, "bid": bid}
    facts |= {"sampled": found.worlds, "complete": found.complete, "plays": plays}
    lines = [*known_lines(position, worlds, wish.bid), ""]
    lines += play_lines(position, found, q)
    seen = f"all {found.worlds:,} worlds" if found.complete else f"{found.worlds:,} worlds drawn with seed {wish.seed}"
    told = "points still to come, own team minus the other"
    told = "42 if the own team makes the contract or sets the other's, else -42" if house else told
    lines += ["", f"E[Q] and spread: {told}, over {seen}"]
    if wish.holders:
        lines += ["", *holder_lines(position, worlds)]
    return facts | {"best": position.move_text(found.choice())}, lines


def finished(position: Position, wish: Wish) -> tuple[dict[str, Any], list[str]]:
    """Tell what each play of a finished hand has cost; where no points were played for, how it ended."""
    from rookery.arena.texas42_report import cost_lines, end_without_points
    from rookery.games.texas42 import points
    from rookery.games.texas42_tiles import tile_text
    from rookery.search.texas42_costs import costs
    from rookery.terminal import progress_bar

    facts = {"game": position.game.spec, "position": position.text(), "points": list(points(position))}
    if end := end_without_points(position):
        return facts | {"plays": [], "end": end}, [end]
    with progress_bar() as progress:
        task = progress.add_task("plays", total=int(position.state["plays"]), note="")
        found = costs(
            position, wish.worlds, wish.seed, wish.threads, lambda done: progress.update(task, completed=done)
        )
    plays = []
    for cost in found:
        plays.append(asdict(cost))
        for name in ("tile", "known_best", "open_best"):
            plays[-1][name] = tile_text(plays[-1][name])
    lines = [
        *cost_lines(position, found),
        "",
        f"cost: points given away by what the seat could know, over at most {wish.worlds:,} worlds",
        "all open: points given away with all hands seen",
    ]
    return facts | {"plays": plays}, lines


# ---- files ---------------------------------------------------------------------------------------


def analyse_file(path: Path, game: Game, wish: Wish, as_json: bool) -> None:
    """Answer every line of a file; a line that is wrong gets its complaint, and the others their answers."""
    from rookery.search.solve.texas42 import Solver
    from rookery.search.texas42_answers import positions_in
    from rookery.terminal import err, waiting

    wrong, lines = 0, positions_in(path, game)
    with waiting(lambda: COMPILING):
        solver = Solver(wish.threads)
    while block := list(islice(lines, AT_ONCE)):
        if as_json:
            told = answer_lines(path, block, solver)
        else:
            told = [show_line(f"{path}, line {number}", number, read, wish) for number, read in block]
        for complaint in told:
            if complaint:
                wrong += 1
                err.print(f"rookery: {complaint}", markup=False, style="red", soft_wrap=True)
    if wrong:
        raise typer.Exit(2)


def answer_lines(path: Path, block: list[Any], solver: Any) -> list[str]:
    """Print the answers to some lines as JSON, one a line; return the complaints."""
    from rookery.search.texas42_answers import answers

    found = iter(answers([read for _, read in block if not isinstance(read, BadInput)], solver))
    complaints = []
    for number, read in block:
        known = read if isinstance(read, BadInput) else next(found)
        if isinstance(known, BadInput):
            complaint = str(known) if known is read else f"{path}, line {number}: {known}"
            complaints.append(complaint)
            known = {"error": complaint}
        sys.stdout.write(json.dumps(known) + "\n")
    sys.stdout.flush()
    return complaints


def show_line(where: str, number: int, read: Any, wish: Wish) -> str:
    """Print the position of a line for people; return the complaint, which says where it is, if there is one."""
    if isinstance(read, BadInput):
        return str(read)
    print_lines([f"line {number}: {read.text()}"])
    try:
        analyse_position(read, wish, as_json=False)
    except BadInput as error:
        return f"{where}: {error}"
    print_lines([""])
    return ""


def print_lines(lines: list[str]) -> None:
    """Print lines as they are."""
    from rookery.terminal import out

    for line in lines:
        out.print(line, markup=False, soft_wrap=True)
