"""Commands on players: list, analyse."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from rookery.cli.shared import GameArgument, JsonOption, app, failures_told, opened, print_json
from rookery.cli.texas42 import USUAL_WORLDS, Wish, analyse_file, analyse_position
from rookery.errors import BadInput

if TYPE_CHECKING:
    from rich.console import Group
    from rich.text import Text

    from rookery.arena.player import Choice, Player
    from rookery.games.position import Position
    from rookery.search.analysis import Analysis

USUAL_LINES = 5


@app.command()
def players(as_json: JsonOption = False) -> None:
    """List the kinds of players and their options.

    rookery players
    """
    from rich.table import Table

    from rookery.arena.players import KINDS
    from rookery.terminal import out

    if as_json:
        print_json([kind.facts() for kind in KINDS.values()])
        return
    table = Table("for example", "", "options", box=None, pad_edge=False)
    for kind in KINDS.values():
        facts = kind.facts()
        options = [*facts["options"], *([f"{facts['prefix']}NAME"] if facts["prefix"] else [])]
        only = f" ({facts['game']})" if facts["game"] else ""
        table.add_row(facts["example"], facts["summary"] + only, ", ".join(options))
    out.print(table, markup=False)


@app.command()
def analyse(
    game: GameArgument,
    player: Annotated[
        str | None, Option(metavar="PLAYER", help="who looks at it; see `rookery players`. Texas 42 needs none")
    ] = None,
    position: Annotated[
        str | None, Argument(metavar="[POSITION]", help="a position's text; else the first one")
    ] = None,
    lines: Annotated[int | None, Option(min=1, help="lines to show; 5 if not given")] = None,
    seconds: Annotated[float | None, Option(min=0.001, help="time, for players without one of their own")] = None,
    seed: Annotated[int | None, Option(help="deals, and same seed, same choice; 0 if not given")] = None,
    positions: Annotated[
        str | None, Option(metavar="FILE", help="Texas 42: a file of positions, one JSON object a line")
    ] = None,
    worlds: Annotated[int | None, Option(min=1, help="Texas 42: worlds to average over; 200 if not given")] = None,
    bid: Annotated[int | None, Option(min=1, max=42, help="Texas 42: points the declarers need")] = None,
    holders: Annotated[bool, Option("--holders", help="Texas 42: also show who may hold what")] = False,
    threads: Annotated[int | None, Option(min=1, help="Texas 42: CPU threads; all cores if not given")] = None,
    as_json: JsonOption = False,
) -> None:
    """Let a player look at a position: best lines, values, visits, and where on the board it looked.

    Texas 42 without a player: what each play is worth by what the seat can know (mean and spread in points, chance of
    the bid), voids and possible worlds; of a finished hand, what each play has cost. Status 2 if a line of a file is
    wrong; the other lines are answered all the same.

    rookery analyse pylos --player mcts:sims=2000

    rookery analyse gomoku:size=9 --player advanced --seconds 3 --lines 3

    rookery analyse chess 'startpos moves e2e4' --player uci:stockfish,depth=18,option.MultiPV=3 --json

    rookery analyse texas42 'sixes 0 2-2,3-0,4-0,5-1,5-3,6-0,6-6/?/?/? -' --bid 30

    rookery analyse texas42 --positions hands.jsonl --json
    """
    of_42 = {"--positions": positions, "--worlds": worlds, "--bid": bid, "--holders": holders or None}
    of_42["--threads"] = threads
    if player is None:
        for name, given in (("--lines", lines), ("--seconds", seconds)):
            if given is not None:
                raise BadInput(f"{name} {given} is for an analysis by a player; --player is missing")
        from rookery.search.threads import cores

        if positions is not None and as_json:
            for name, value in {"--seed": seed, **of_42}.items():
                if value is not None and name not in ("--positions", "--threads"):
                    raise BadInput(f"{name} changes nothing in the exact answers of --positions with --json")
        wish = Wish(worlds or USUAL_WORLDS, seed or 0, bid, threads or cores(), holders)
        analyse_texas42(game, position, positions, wish, as_json)
        return
    for name, value in of_42.items():
        if value is not None:
            raise BadInput(f"{name} is for an analysis of texas42 without --player, not with {player!r}")
    look(game, player, position, lines or USUAL_LINES, seconds, seed or 0, as_json)


def analyse_texas42(game: str, position: str | None, positions: str | None, wish: Wish, as_json: bool) -> None:
    """Analyse a position of Texas 42, or a file of them."""
    if game.partition(":")[0] != "texas42":
        raise BadInput(f"--player is missing; only texas42 is analysed without one, not {game!r}")
    if positions is not None and position is not None:
        raise BadInput(f"give either a position or --positions {positions}, not both")
    if positions == "":
        raise BadInput("--positions '' names no file")
    loaded, shown = opened(game, position, wish.seed)
    if positions is not None:
        analyse_file(Path(positions), loaded, wish, as_json)
        return
    for name, given in (("--bid", wish.bid), ("--holders", wish.holders or None)):
        if shown.over and given is not None:
            raise BadInput(f"{name} is for a hand that is still played; this one is over, {shown.text()!r}")
    analyse_position(shown, wish, as_json)


def look(
    game: str, player: str, position: str | None, lines: int, seconds: float | None, seed: int, as_json: bool
) -> None:
    """Let a player look at a position and print what it finds."""
    from rookery.arena.findings import analysis_facts
    from rookery.arena.searching import Analyst
    from rookery.terminal import begin_game, out, playing

    loaded, shown = opened(game, position, seed)
    if shown.over:
        raise BadInput(f"the game is over in {shown.text()!r}")
    with failures_told(), playing([player], loaded) as (chooser,):
        if isinstance(chooser, Analyst):
            chooser.lines_wanted = lines  # which engines are told when a game begins
        begin_game(chooser, shown, shown.mover)
        begun = time.perf_counter()  # getting ready, which may mean compiling, is no part of looking
        choice, seen = looked_at(chooser, shown, seed, seconds, lines, live=out.is_terminal and not as_json)
        spent = time.perf_counter() - begun
    analysis, move = choice.analysis, seen.move_text(choice.action)
    if as_json:
        facts: dict[str, Any] = {"game": loaded.spec, "position": seen.text(), "player": chooser.name, "move": move}
        facts |= {"seconds": round(spent, 3)}
        print_json(facts | (analysis_facts(seen, analysis, lines) if analysis else {}))
        return
    if analysis is None:
        out.print(f"{chooser.name} plays {move}, and says nothing about it", markup=False)
        return
    from rookery.cli.pictures import analysis_picture, summary_text

    out.print(analysis_picture(seen, analysis, lines))
    out.print(f"\n{summary_text(analysis, chooser.name, move, spent)}", markup=False, soft_wrap=True)


def looked_at(
    player: Player, position: Position, seed: int, seconds: float | None, lines: int, live: bool
) -> tuple[Choice, Position]:
    """Let a player choose, and show what it finds on the way if that is wanted; return what it saw as well."""
    from rich.live import Live
    from rich.text import Text

    from rookery.arena.player import turn_of, turn_seed
    from rookery.arena.searching import Analyst
    from rookery.cli.pictures import analysis_picture
    from rookery.terminal import compiling_announced, out, waiting_text

    turn = turn_of(player, position, position, (), seed=turn_seed(seed, 0, 0), seconds=seconds)
    if not live or not isinstance(player, Analyst):
        with compiling_announced(player.name):
            return player.choose(turn), turn.position
    found: list[Analysis] = []
    message = waiting_text(player.name)

    def picture() -> Group | Text:
        return analysis_picture(turn.position, found[-1], lines) if found else Text(message())

    player.report = found.append
    with Live(get_renderable=picture, console=out, transient=True, refresh_per_second=8):
        return player.choose(turn), turn.position
