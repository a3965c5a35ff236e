"""Commands on the auction of Texas 42: what a hand can be bid on, and whole games to seven marks."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from rookery.cli.shared import (
    INTERRUPTED,
    GameArgument,
    JsonOption,
    app,
    ends_are_interrupts,
    failures_told,
    print_json,
)
from rookery.errors import BadInput


@app.command()
def bid(
    game: GameArgument,
    hand: Annotated[str, Argument(metavar="HAND", help="seven tiles, like 6-6,6-5,6-4,6-2,5-5,1-0,0-0")],
    worlds: Annotated[int, Option(help="deals of the other hands")] = 100,
    play: Annotated[
        str | None,
        Option(metavar="PLAYER", help="play the deals out by this player; exact play with open hands if not given"),
    ] = None,
    declaration: Annotated[
        list[str] | None,
        Option(metavar="NAME", help="only this declaration, nello and sevens too; may be given several times"),
    ] = None,
    seed: Annotated[int, Option(help="same seed, same deals")] = 0,
    threads: Annotated[int | None, Option(help="CPU threads; one a core if not given")] = None,
    as_json: JsonOption = False,
) -> None:
    """Print how often a hand makes each bid with each declaration, over deals of the other hands.

    Options of the game add its house contracts: texas42:auction=redeal,nello=low,sevens=free.

    rookery bid texas42 6-6,6-5,6-4,6-2,5-5,1-0,0-0

    rookery bid texas42 6-6,6-5,6-4,6-2,5-5,1-0,0-0 --declaration sixes --play eq:worlds=10 --worlds 50
    """
    from rookery.arena.texas42_playouts import bid_json, bid_lines, chances_for, declarations_for, game_to_bid_in
    from rookery.search.texas42_bidding import hand_position
    from rookery.search.threads import cores
    from rookery.terminal import out, progress_bar

    count, position = cores() if threads is None else threads, hand_position(hand, game_to_bid_in(game))
    tried = declarations_for(position, declaration)
    with failures_told(), ends_are_interrupts(), progress_bar(shown=play != "human") as progress:
        task = progress.add_task("deals", total=worlds * len(tried), note="")
        report = partial(progress.advance, task)
        chances = chances_for(position, worlds, seed, tried, play, count, report)
    if as_json:
        print_json(bid_json(hand, position.state, chances, seed, play))
        return
    out.print("\n".join(bid_lines(hand, position.state, chances, play)), markup=False, soft_wrap=True)


@app.command()
def marks(
    players: Annotated[list[str], Argument(metavar="A B [C D]", help="two players, one a team, or four, one a seat")],
    game: Annotated[str, Option(metavar="GAME", help="texas42 with an auction")] = "texas42:auction=redeal",
    games: Annotated[int, Option(help="games to play, in pairs of the same deals with the teams swapped")] = 100,
    to: Annotated[int, Option(help="marks that win a game")] = 7,
    seed: Annotated[int, Option(help="same seed, same games")] = 0,
    threads: Annotated[int | None, Option(help="CPU threads; one a core if not given")] = None,
    at_once: Annotated[int, Option(help="games a thread plays together")] = 16,
    hands: Annotated[Path | None, Option(metavar="FILE", help="write every hand, one JSON object a line")] = None,
    as_json: JsonOption = False,
) -> None:
    """Play whole games of Texas 42, with the auction, to seven marks.

    rookery marks bidder:eq:worlds=10 heuristic --games 20

    rookery marks heuristic random heuristic random --game texas42:auction=forced,nello=high --seed 3 --json
    """
    from rookery.arena.texas42_marks import MarksMatch, MarksSettings, hands_json, marks_json, marks_lines, play_marks
    from rookery.search.threads import cores
    from rookery.terminal import out, prepared, progress_bar
    from rookery.writing import write_whole

    if hands and (hands.is_dir() or not hands.parent.is_dir()):
        raise BadInput(f"--hands {hands}: a file in a folder that is there is needed, before games are played for it")
    settings = MarksSettings(games, seed, to, cores() if threads is None else threads, at_once)
    loaded = prepared(game, "rules")
    with failures_told(), ends_are_interrupts(), progress_bar(shown="human" not in players) as progress:
        task = progress.add_task(" - ".join(players), total=games, note="")

        def finished(match: MarksMatch) -> None:
            progress.update(task, completed=len(match.games))

        played = play_marks(loaded, players, settings, finished)
    if as_json:
        print_json(marks_json(played))
    else:
        out.print("\n".join(marks_lines(played)), markup=False, soft_wrap=True)
    if hands:  # after the result, which a full disk shall not cost
        write_whole(hands, "".join(json.dumps(line) + "\n" for line in hands_json(played)).encode())
    if played.interrupted:
        raise typer.Exit(INTERRUPTED)
