"""Commands on games: list, show, play, perft."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from rookery.cli.shared import GameArgument, JsonOption, PositionOption, app, failures_told, opened, print_json
from rookery.errors import BadInput

if TYPE_CHECKING:
    from rookery.games.position import Position, Seat

USUAL_PLAYERS = {"texas42": ("eq", "eq:worlds=200")}
"""game -> whom a person plays against and whom to ask for hints, unless others are named"""


@app.command()
def games(as_json: JsonOption = False) -> None:
    """List the games.

    rookery games --json
    """
    from rookery.games.library import load, names
    from rookery.terminal import err, facts_of, games_text, out

    loaded = []
    for name in names():
        try:
            loaded.append(load(name))
        except BadInput as error:  # a game of another package; the others are listed all the same
            err.print(f"{error}", style="red", markup=False)
    if as_json:
        print_json([facts_of(game) for game in loaded])
    else:
        out.print(games_text(loaded), markup=False, soft_wrap=True)


@app.command()
def show(
    game: GameArgument,
    position: Annotated[
        str | None, Argument(metavar="[POSITION]", help="a position's text; else the first one")
    ] = None,
    seed: Annotated[int, Option(help="deals, in games with a deal")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Show a position: the board, its text, who moves and what is legal.

    rookery show pylos

    rookery show domineering:rows=4,cols=4 '..../.##./..../.... h'
    """
    from rookery.terminal import describe, out

    loaded, shown = opened(game, position, seed)
    moves = shown.moves()
    if as_json:
        seats = range(loaded.seats)
        payoffs = [shown.payoff(seat) for seat in seats] if shown.over else None
        facts = {"game": loaded.spec, "text": shown.text(), "key": f"{shown.key:016x}", "over": shown.over}
        print_json(facts | {"mover": shown.mover, "payoffs": payoffs, "legal": moves})
        return
    out.print(describe(shown), markup=False)
    out.print(f"text: {shown.text()}", markup=False, soft_wrap=True)
    out.print(f"legal ({len(moves)}): {' '.join(moves)}", markup=False, soft_wrap=True)


@app.command()
def play(
    game: GameArgument,
    seat: Annotated[str, Option(help="your seat, by number or name; none to watch")] = "0",
    against: Annotated[
        str | None,
        Option(
            metavar="PLAYER",
            help="who holds the other seats, or all when watching; random, in texas42 eq. See `rookery players`",
        ),
    ] = None,
    second: Annotated[
        str | None, Option(metavar="PLAYER", help="when watching: who holds the seats of the second team")
    ] = None,
    partner: Annotated[
        str | None, Option(metavar="PLAYER", help="who holds the other seats of your team, if somebody else")
    ] = None,
    hint: Annotated[
        str | None, Option(metavar="PLAYER", help="whom the command `hint` asks; in texas42 eq:worlds=200")
    ] = None,
    seed: Annotated[int, Option(help="same seed, same opponent")] = 0,
    position: PositionOption = None,
    delay: Annotated[float, Option(help="seconds a position is shown when watching in a terminal")] = 0.1,
) -> None:
    """Play in the terminal against a player, or watch two.

    rookery play pylos

    rookery play gomoku:size=9 --against advanced:time=0.5

    rookery play chess --seat none --against alphabeta:depth=4 --second uci:stockfish,depth=1

    rookery play domineering:rows=8,cols=8 --seat horizontal --seed 7

    rookery play examples/connect_four.py --seat none

    rookery play texas42:bid=30 --against heuristic --partner eq
    """
    from rookery.terminal import Session, parse_seat, playing, watch

    loaded, begin = opened(game, position, seed)
    chosen = parse_seat(loaded, seat)
    usual, adviser = USUAL_PLAYERS.get(loaded.name, ("random", None))
    against, hint = against or usual, hint or adviser
    if chosen is None:
        for name, value in (("--partner", partner), ("--hint", hint if hint != adviser else None)):
            if value is not None:
                raise BadInput(f"{name} {value!r} is for playing; give a --seat, or no {name}")
        begin = all_dealt(begin, None, seed)
        with failures_told(), playing([against, second or against], loaded) as players:
            watch(begin, players, seed, delay)
        return
    if second is not None:
        raise BadInput(f"--second {second!r} is for watching; give --seat none, or no --second")
    if partner is not None and loaded.teams.count(loaded.teams[chosen]) == 1:
        raise BadInput(f"--partner {partner!r}: nobody else plays for the team of {loaded.seat_name(chosen)}")
    texts = [against, partner or against, *([hint] if hint else [])]
    begin = all_dealt(begin, chosen, seed)
    with failures_told(), playing(texts, loaded) as players:
        Session(begin, chosen, seed, input, *players).run()


def all_dealt(position: Position, seat: Seat | None, seed: int) -> Position:
    """Deal what a position hides, and say so; refuse one that hides the person's own hand."""
    from rookery.search.worlds import dealt_out
    from rookery.terminal import out

    game = position.game
    hidden = game.hidden_seats(position.state)
    if not hidden:
        return position
    if seat in hidden:
        known = " or ".join(f"--seat {other}" for other in range(game.seats) if other not in hidden)
        name, text = game.seat_name(seat), position.text()
        raise BadInput(f"--seat {seat}: the hand of {name} is hidden in {text!r}; {known or 'none'} is known")
    dealt = dealt_out(position, seed)
    out.print(f"Hidden hands are dealt at random with seed {seed}, as the record allows.", markup=False)
    return dealt


@app.command()
def perft(
    game: GameArgument,
    depth: Annotated[int, Option(min=1, help="number of actions")],
    position: PositionOption = None,
    threads: Annotated[int | None, Option(min=1, help="CPU threads; all cores if not given")] = None,
    divide: Annotated[bool, Option(help="also print the count behind each move")] = False,
    as_json: JsonOption = False,
) -> None:
    """Count the sequences of DEPTH actions, to check rules.

    rookery perft pylos --depth 6

    rookery perft domineering:rows=4,cols=4 --depth 5 --position '..../..../..../.... h' --json
    """
    import time

    from rookery.search.perft import perft as count
    from rookery.search.threads import cores
    from rookery.terminal import out, progress_bar

    loaded, begin = opened(game, position, uses=("rules", "perft"))
    start, counted = time.perf_counter(), [0]

    def report(leaves: int, moves: int) -> None:
        counted[0] += leaves
        rate = counted[0] / max(time.perf_counter() - start, 1e-9)
        progress.update(task, advance=moves, note=f"{counted[0]:,} leaves, {rate:,.0f} a second")

    with progress_bar() as progress:
        task = progress.add_task(f"perft {depth}", total=len(begin.legal()), note="")
        counts = count(begin, depth, threads or cores(), report)
    seconds, leaves = time.perf_counter() - start, sum(counts.values())
    if as_json:
        facts = {"game": loaded.spec, "position": begin.text(), "depth": depth, "leaves": leaves}
        print_json(facts | {"seconds": round(seconds, 3), "moves": counts})
        return
    if divide:
        for move, number in counts.items():
            out.print(f"{move:12s} {number:>15,}", markup=False)
    out.print(f"{leaves:,} leaves at depth {depth} in {seconds:.2f} s ({leaves / max(seconds, 1e-9):,.0f} a second)")
