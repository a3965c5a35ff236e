"""Commands on players: list, analyse."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from rookery.cli.shared import GameArgument, JsonOption, app, failures_told, opened, print_json
from rookery.errors import BadInput

if TYPE_CHECKING:
    from rich.console import Group
    from rich.text import Text

    from rookery.arena.player import Choice, Player
    from rookery.games.position import Position
    from rookery.search.analysis import Analysis


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
    player: Annotated[str, Option(metavar="PLAYER", help="who looks at it; see `rookery players`")],
    position: Annotated[
        str | None, Argument(metavar="[POSITION]", help="a position's text; else the first one")
    ] = None,
    lines: Annotated[int, Option(min=1, help="lines to show")] = 5,
    seconds: Annotated[float | None, Option(min=0.001, help="time, for players without one of their own")] = None,
    seed: Annotated[int, Option(help="deals, and same seed, same choice")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Let a player look at a position: best lines, values, visits, and where on the board it looked.

    rookery analyse pylos --player mcts:sims=2000

    rookery analyse gomoku:size=9 --player advanced --seconds 3 --lines 3

    rookery analyse chess 'startpos moves e2e4' --player uci:stockfish,depth=18,option.MultiPV=3 --json
    """
    from rookery.arena.findings import analysis_facts
    from rookery.terminal import begin_game, out, playing

    loaded, shown = opened(game, position, seed)
    if shown.over:
        raise BadInput(f"the game is over in {shown.text()!r}")
    with failures_told(), playing([player], loaded) as (chooser,):
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
    if isinstance(player, Analyst):
        player.lines_wanted = lines
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
