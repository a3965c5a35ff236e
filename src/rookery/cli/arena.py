"""Commands on matches, ratings and the ledger."""

from __future__ import annotations

import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from rookery.cli.cluster import RayOption, WorkersOption, hired
from rookery.cli.shared import INTERRUPTED, GameArgument, JsonOption, app, ends_are_interrupts, print_json
from rookery.errors import BadInput

if TYPE_CHECKING:
    from rookery.arena.matches import Hire, Match
    from rookery.arena.records import GameRecord

LedgerOption = Annotated[
    Path | None,
    Option(metavar="FILE", help="the ledger; else $ROOKERY_LEDGER or rookery/ledger.sqlite where data is kept"),
]
NOTE_EVERY = 0.5  # seconds


class ExportFormat(StrEnum):
    """How games and networks are written."""

    pgn = "pgn"
    json = "json"
    text = "text"
    safetensors = "safetensors"
    onnx = "onnx"
    pth = "pth"


NETWORK_FORMATS = (ExportFormat.safetensors, ExportFormat.onnx, ExportFormat.pth)


@app.command()
def match(
    first: Annotated[str, Argument(metavar="A", help="a player")],
    second: Annotated[str, Argument(metavar="B", help="another player, or the same")],
    game: Annotated[str, Option(metavar="GAME", help="name, name:option=value,... or path/to/game.py")],
    games: Annotated[int, Option(help="games to play, in pairs with the seats swapped")] = 200,
    sprt: Annotated[
        tuple[float, float] | None, Option(metavar="ELO0 ELO1", help="stop when one of two Elo differences is accepted")
    ] = None,
    alpha: Annotated[float, Option(help="chance of accepting ELO1 where ELO0 holds")] = 0.05,
    beta: Annotated[float, Option(help="chance of accepting ELO0 where ELO1 holds")] = 0.05,
    tc: Annotated[
        str | None, Option(metavar="SECONDS+INCREMENT", help="time control of each seat, such as 10+0.1")
    ] = None,
    opening: Annotated[
        str | None,
        Option(metavar="TEXT", help="random:PLIES, centre:STONES, book, or a file; the game's own if not given"),
    ] = None,
    plies: Annotated[int | None, Option(help="call a game with so many moves a draw")] = None,
    seed: Annotated[int, Option(help="same seed, same games")] = 0,
    threads: Annotated[int | None, Option(help="games at once on threads; one a core if not given")] = None,
    at_once: Annotated[int, Option(help="games at once of players that choose for many together")] = 64,
    ledger: LedgerOption = None,
    store: Annotated[bool, Option(help="keep the games in the ledger")] = True,
    as_json: JsonOption = False,
    ray: RayOption = None,
    workers: WorkersOption = None,
) -> None:
    """Play a match and print its result with a 95 % interval.

    rookery match random random --game pylos --games 100

    rookery match alphabeta:depth=4 mcts:sims=400 --game gomoku:size=9 --sprt 0 20 --seed 7

    rookery match uci:engine1 uci:engine2 --game chess --tc 10+0.1 --opening openings.txt --threads 2

    rookery match net:runs/pylos_v5 alphabeta:depth=5 --game pylos --ray 10.0.0.1:6379
    """
    from rookery.arena.clocks import parse_time_control
    from rookery.arena.matches import MatchSettings
    from rookery.arena.report import match_json, match_lines
    from rookery.arena.sprt import Sprt
    from rookery.search.threads import cores
    from rookery.terminal import out

    settings = MatchSettings(
        games=games, seed=seed, opening=opening, time_control=None if tc is None else parse_time_control(tc),
        sprt=Sprt(*sprt, alpha, beta) if sprt else None, threads=cores() if threads is None else threads,
        at_once=at_once, most_plies=plies,
    )  # fmt: skip
    with ends_are_interrupts(), hired(ray, workers, first, second) as hire:
        played = watched_match(game, first, second, settings, ledger, store, hire)
    if as_json:
        print_json(match_json(played))
    else:
        out.print("\n".join(match_lines(played)), markup=False, soft_wrap=True)
    if played.interrupted:
        raise typer.Exit(INTERRUPTED)


def watched_match(
    spec: str, first: str, second: str, settings: object, path: Path | None, store: bool, hire: Hire
) -> Match:
    """Play a match with a progress bar, storing each game as it ends."""
    from rookery.arena.ledger import Ledger
    from rookery.arena.matches import MatchSettings, play_match
    from rookery.arena.players import make_player
    from rookery.arena.report import progress_note
    from rookery.terminal import compiling_announced, playing, prepared, progress_bar

    assert isinstance(settings, MatchSettings)
    game = prepared(spec, "rules")
    with playing([first, second], game) as players, compiling_announced(f"{first} and {second}"):
        for player in players:
            player.prepare(game.start())
        with_person = any(player.at_terminal for player in players)
    ledger, noted = Ledger(path) if store else None, [-NOTE_EVERY]

    def finished(match: Match, record: GameRecord) -> None:
        if ledger:
            ledger.store([record])
        progress.update(task, completed=len(match.records))
        if time.monotonic() - noted[0] > NOTE_EVERY:  # an interval takes longer to find than many a game
            progress.update(task, note=progress_note(match))
            noted[0] = time.monotonic()

    try:
        with progress_bar(shown=not with_person) as progress:  # it would write over the person's board
            task = progress.add_task(f"{first} - {second}", total=settings.games, note="")
            return play_match(
                game, lambda: make_player(first, game), lambda: make_player(second, game), settings, finished, hire
            )
    finally:
        if ledger:
            ledger.close()


@app.command()
def ratings(
    game: GameArgument,
    pin: Annotated[
        list[str] | None, Option(metavar="PLAYER=ELO", help="fix a rating; may be given several times")
    ] = None,
    ledger: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Rate all players of a game from the games in the ledger.

    rookery ratings pylos

    rookery ratings gomoku:size=9 --pin baseline:depth=2=1000 --json
    """
    from rookery.arena.ledger import Ledger
    from rookery.arena.ratings import fit, parse_pin
    from rookery.arena.report import ratings_json, ratings_lines
    from rookery.games.library import load
    from rookery.terminal import out

    loaded = load(game)
    with Ledger(ledger, create=False) as opened:
        results = opened.results(loaded.spec, loaded.version)
        if not results:
            raise BadInput(opened.nothing_of(loaded.spec, loaded.version))
    fitted = fit(results, dict(parse_pin(text) for text in pin or ()))
    if as_json:
        print_json(ratings_json(fitted, loaded.spec, loaded.version))
        return
    out.print("\n".join(ratings_lines(fitted, loaded.spec)), markup=False, soft_wrap=True)


@app.command()
def export(
    what: Annotated[
        str, Argument(metavar="GAME|RUN|FILE", help="a game: those of the ledger; a run, a checkpoint or zoo:NAME")
    ],
    form: Annotated[
        ExportFormat | None,
        Option("--format", help="games: text, json, or pgn for chess; networks: safetensors, onnx or pth"),
    ] = None,
    output: Annotated[
        Path | None,
        Option(
            "--output",
            "--out",
            metavar="FILE",
            help="written whole or not at all; a folder takes a file for each game. A network goes here unless named",
        ),
    ] = None,
    half: Annotated[bool, Option("--half", help="networks: numbers of half precision, half the size")] = False,
    ledger: LedgerOption = None,
) -> None:
    """Write the games of the ledger, or a network, for other programs and for people.

    Of a run the best checkpoint is written, or the newest where none was rated.

    rookery export chess --format pgn --output games.pgn

    rookery export gomoku --format json --output saved/

    rookery export pylos_v5 --format onnx --out pylos_v5.onnx

    rookery export runs/pylos_v5/checkpoint_50000.pth --out small.safetensors --half
    """
    from rookery.cli.zoo import export_weights, names_network

    if form in NETWORK_FORMATS or (form is None and names_network(what)):
        if ledger is not None:
            raise BadInput(f"--ledger {ledger}: a network is not in a ledger; {what} was taken for one")
        export_weights(what, form.value if form else None, output, half)
    elif form and names_network(what):
        raise BadInput(f"--format {form.value} is for games; {what} is a network: {', '.join(NETWORK_FORMATS)}")
    elif half:
        raise BadInput(f"--half is for networks; {what} was taken for a game")
    else:
        export_games(what, form or ExportFormat.text, output, ledger)


def export_games(game: str, form: ExportFormat, output: Path | None, ledger: Path | None) -> None:
    """Write the games of a ledger."""
    from rookery.arena.exports import export_folder, exported, write_whole
    from rookery.arena.ledger import Ledger
    from rookery.games.library import load
    from rookery.terminal import err

    try:
        loaded = load(game)
    except BadInput as error:
        raise BadInput(f"{error}; nor is {game!r} a run, or a file of weights") from None
    with Ledger(ledger, create=False) as opened:
        records = list(opened.games(loaded.spec, loaded.version))
        if not records:
            raise BadInput(opened.nothing_of(loaded.spec, loaded.version))
    if output is not None and output.is_dir():
        if form is not ExportFormat.json:
            raise BadInput(f"{output} is a folder; --output must name a file for --format {form.value}")
        export_folder(loaded, records, output)
    elif output is not None:
        write_whole(output, exported(loaded, records, form.value))
    else:
        sys.stdout.write(exported(loaded, records, form.value))
    err.print(f"{len(records)} games of {loaded.spec} exported", style="dim", markup=False)
