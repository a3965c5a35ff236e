"""The command that rates the checkpoints of runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from rookery.cli.shared import INTERRUPTED, JsonOption, app, print_json

if TYPE_CHECKING:
    from rookery.arena.matches import Match
    from rookery.learn.rating import Contest, RatingSettings

GAMES = 40  # of a checkpoint against each anchor, where nobody says


@app.command()
def elo(
    chosen: Annotated[list[str], Argument(metavar="RUN...", help="folders of runs, or names under ./runs")],
    games: Annotated[
        int | None,
        Option(help="games of a checkpoint against each anchor, in pairs; the first run's rating_games, else 40"),
    ] = None,
    search_iters: Annotated[int, Option(help="simulations a move")] = 32,
    anchor_spacing: Annotated[int, Option(help="games of self-play from one anchor of a run to the next")] = 10_000,
    round_robin_games: Annotated[int, Option(help="games of each two anchors, in pairs")] = 50,
    references: Annotated[
        list[str] | None,
        Option(
            metavar="PLAYER",
            help="a player that belongs to no run, beside random; may be given several times; "
            "none: random alone; else alphabeta:depth=1 and alphabeta:depth=3",
        ),
    ] = None,
    game: Annotated[str | None, Option(metavar="GAME", help="what networks meet on; else the first run's game")] = None,
    opening: Annotated[str | None, Option(metavar="TEXT", help="random:PLIES, or a file; the game's own")] = None,
    seed: Annotated[int, Option(help="same seed, same games")] = 0,
    threads: Annotated[int | None, Option(min=1, help="for players that are no networks; one a core")] = None,
    again: Annotated[bool, Option("--again", help="rate checkpoints anew that are rated")] = False,
    figure: Annotated[
        Path | None, Option(metavar="FILE", help="where ratings are drawn, as PNG; else ratings.png in the first run")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Rate the checkpoints of runs on one scale, on which a random player is 0, and enter the ratings.

    Anchors (all checkpoints of a run if ten or fewer, else one in --anchor-spacing games) and reference players meet
    each other, every other checkpoint meets them; one fit rates all. Interrupted, the same command goes on.

    rookery elo pylos_v5

    rookery elo pylos_v4 pylos_v5 --game pylos:removal=greedy --games 100 --figure ladder.png

    rookery elo pylos_quick --references alphabeta:depth=1 --references mcts:sims=100 --again --json
    """
    from rookery.games.library import load
    from rookery.learn.rating import Contest, RatingSettings
    from rookery.learn.rating_report import draw_ratings, rating_json
    from rookery.learn.runs import Run, run_folder
    from rookery.search.threads import cores
    from rookery.terminal import out

    folders = list(dict.fromkeys(run_folder(text).resolve() for text in chosen))
    runs = [Run.open(folder) for folder in folders]
    wanted = games if games is not None else runs[0].settings.checkpoints.rating_games or GAMES
    settings = RatingSettings(
        wanted, round_robin_games, search_iters, anchor_spacing, reference_texts(references, RatingSettings), opening,
        seed, threads or cores(), again,
    )  # fmt: skip
    contest = Contest(runs, settings, load(game) if game else None)
    play_contest(contest)
    ratings = contest.rate()
    facts = rating_json(contest, ratings)
    place = figure or folders[0] / "ratings.png"
    draw_ratings(folders, facts["references"], place)
    if as_json:
        print_json(facts | {"figure": str(place)})
        return
    print_ratings(facts)
    out.print(f"\nfigure: {place}", markup=False, soft_wrap=True)


def reference_texts(given: list[str] | None, settings: type[RatingSettings]) -> tuple[str, ...]:
    """Return the reference players that a person asks for; the word none stands for no more than random."""
    return settings.references if given is None else tuple(text for text in given if text != "none")


def play_contest(contest: Contest) -> None:
    """Play what is missing, with a progress bar."""
    from rookery.arena.report import progress_note
    from rookery.terminal import compiling_announced, err, progress_bar

    with compiling_announced(contest.game.label):
        contest.prepare()
    missing = contest.missing()
    total = sum(pairing.games for pairing in contest.pairings)
    before = total - sum(pairing.games for pairing in missing)
    ended = [before]

    def say(match: Match) -> None:
        ended[0] += 1
        note = " - ".join(name.partition("#")[0].removeprefix("net:") for name in match.names)
        whole = len(match.records) == match.settings.games
        bar.update(task, completed=ended[0], note=f"{note}  {progress_note(match) if whole else ''}")

    try:
        with progress_bar() as bar:
            task = bar.add_task("games", total=total, completed=before, note="")
            whole = contest.play(say)
    except KeyboardInterrupt:  # between two matches
        whole = False
    if not whole:
        err.print("interrupted; the matches that were over are kept, and the same command goes on", markup=False)
        raise typer.Exit(INTERRUPTED)


def print_ratings(facts: dict[str, Any]) -> None:
    """Print ratings in a table, and what the fit says beside them."""
    from rich.table import Table

    from rookery.terminal import out

    table = Table(box=None, pad_edge=False)
    table.add_column("player")
    for name in ("games", "Elo", "95 % interval", "rated in"):
        table.add_column(name, justify="right")
    table.add_column("")
    for row in facts["checkpoints"]:
        low, high = row["interval"] or (row["elo"], row["elo"])
        note = row["label"] + ("" if row["new"] else ", as rated before")
        elo, interval = f"{row['elo']:.0f}", f"{low:.0f} .. {high:.0f}" if row["interval"] else "-"
        table.add_row(row["run"], f"{row['step']:,}", elo, interval, f"{row['games'] or 0:,}", note)
    for name, row in facts["references"].items():
        interval = f"{row['low']:.0f} .. {row['high']:.0f}" if row["low"] < row["high"] else "pinned"
        table.add_row(name, "", f"{row['elo']:.0f}", interval, f"{row['games']:,}", "reference")
    out.print(table)
    fitted = facts["fit"]
    if fitted:
        out.print(
            f"\n{facts['game']}, {facts['simulations']} simulations a move, openings {facts['openings']}: "
            f"{fitted['games']:,} games; beginning is worth {fitted['advantage']:+.0f} Elo (error "
            f"{fitted['advantage_error']:.0f}), equal players draw {100 * fitted['draws']:.1f} %",
            markup=False, soft_wrap=True,
        )  # fmt: skip
