"""Readers of texts that people and programs write about games, players, settings and runs."""

from __future__ import annotations

import copy
import json
from functools import cache
from typing import Any

from fuzz.boards import GAMES, WORDS, folder, game_of, in_file
from fuzz.target import Target, accepts, reader, same
from rookery.arena.clocks import parse_time_control
from rookery.arena.exports import game_text, parse_games
from rookery.arena.kinds import check_fit
from rookery.arena.openings import Openings, read_openings
from rookery.arena.players import FORMS, KINDS
from rookery.arena.ratings import parse_pin
from rookery.arena.records import GameRecord
from rookery.arena.texts import read_text
from rookery.games.library import load, split_spec
from rookery.games.texas42_auction import read_bid
from rookery.games.texas42_tiles import read_declaration, tile_text
from rookery.lc0.positions import chess_game, positions_in
from rookery.learn.curriculum_settings import read_curriculum
from rookery.learn.manifest import read_manifest
from rookery.learn.settings import (
    check_settings,
    override_values,
    packaged_folder,
    read_settings,
    settings_yaml,
    write_settings,
)
from rookery.learn.summaries import read_progress
from rookery.learn.yaml_text import read_yaml
from rookery.search.texas42_answers import read_position
from rookery.search.texas42_bidding import hand_position

# ---- games, players, openings --------------------------------------------------------------------


def read_game(text: str) -> None:
    """Load a game by its text; files are programs and not for strangers, so none is opened."""
    if split_spec(text)[0].endswith(".py"):
        return
    game = load(text)
    same(load(game.spec).spec, game.spec)
    same(load(game.spec).options, game.options)


def read_player(text: str) -> None:
    """Read a player's text, and look whether it plays some games; nobody is started and no file is opened."""
    given = read_text(text, FORMS)
    if given.form.argument != "PLAYER":
        again = read_text(given.text, FORMS)
        same((again.command, again.extras), (given.command, given.extras))
        same(again.text, given.text)
    for spec in ("gomoku:size=9", "chess", "texas42"):
        accepts(check_fit, KINDS[given.form.name], given, game_of(spec), False)


def read_opening_text(text: str) -> None:
    """Draw the first opening; the name of a file is not for strangers."""
    if text.partition(":")[0] not in ("random", "centre") and text != "book":
        return
    for spec in ("gomoku:size=9", "chess", "pylos", "domineering:rows=4,cols=4", "texas42"):
        accepts(lambda game: next(iter(Openings(game, text, 1))).position().text(), game_of(spec))


def read_opening_file(text: str) -> None:
    """Read a file of openings; its first byte chooses the game."""
    games = ("chess", "gomoku:size=9", "texas42", "pylos")
    path = in_file("openings.txt", text[1:].encode("utf-8", "replace"))
    for opening in read_openings(game_of(games[ord(text[0]) % 4] if text else games[0]), str(path)):
        opening.position().text()


def read_small(text: str) -> None:
    """Read a time control and a pinned rating."""
    accepts(parse_pin, text)
    control = parse_time_control(text)
    assert parse_time_control(str(control)).base > 0


# ---- Texas 42 ------------------------------------------------------------------------------------


def read_texas42_line(text: str) -> None:
    """Read a position as a line of JSON."""
    game = game_of("texas42")
    position = read_position(text, game)
    same(game.position(position.text()).text(), position.text())


def texas42_lines() -> list[bytes]:
    """Write positions as programs do."""
    hands = [list(range(seat, 28, 4)) for seat in range(4)]
    whole = {"hands": hands, "declaration": 3, "leader": 1, "plays": []}
    hidden = whole | {"hands": [hands[0], None, None, None], "leader": 0, "plays": [[0, hands[0][2]]]}
    named = whole | {"hands": [[tile_text(tile) for tile in hand] for hand in hands], "declaration": "doubles-trump"}
    return [json.dumps(each).encode() for each in (whole, hidden, named)]


def read_texas42_words(text: str) -> None:
    """Read a hand, a declaration and a bid, whichever it is."""
    for read in (read_declaration, read_bid):
        accepts(read, text)
    hand_position(text)


# ---- settings ------------------------------------------------------------------------------------


def read_run_settings(text: str) -> None:
    """Read settings of a run, or of a curriculum, from a file, write them and read them again."""
    path = in_file("settings.yaml", text.encode("utf-8", "replace"))
    if names_a_file(text):
        return
    if "stages" in text:
        read_curriculum(path)
    settings = read_settings(path)
    write_settings(settings, path)
    same(settings_yaml(read_settings(path)), settings_yaml(settings))


def names_a_file(text: str) -> bool:
    """Tell whether settings may name a game by a file, which is a program."""
    return ".py" in text


def settings_seeds() -> list[bytes]:
    """Return settings that come with the package, without remarks, and the beginning of an original's file."""
    own = [without_remarks(packaged_folder() / f"{name}.yaml") for name in ("pylos_quick", "pylos_v5")]
    curriculum = without_remarks(packaged_folder("curricula") / "gomoku_curriculum_quick.yaml")
    original = b"model: {hidden: 64, num_blocks: 2}\ntraining: {selfplay_games: 100, batch_size: 32}\n"
    return [*own, curriculum, original, b"game: pylos\nnetwork: {kind: residual, width: 8}\nseed: 1e3\n"]


def without_remarks(path: Any) -> bytes:
    """Read settings, leaving out what is there for people."""
    lines = (line.partition(" #")[0].rstrip() for line in path.read_text(encoding="utf-8").splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("#")).encode()


def read_override(text: str) -> None:
    """Read a text of --set."""
    if not names_a_file(text):
        values = copy.deepcopy(override_base())
        override_values(values, text)
        settings = check_settings(values, "settings")
        written = settings_yaml(settings)
        same(settings_yaml(check_settings(read_yaml(written, "settings"), "settings")), written)


@cache
def override_base() -> dict[str, Any]:
    """Return the settings that are changed."""
    values: dict[str, Any] = read_yaml(settings_seeds()[0].decode(), "settings")
    return values


# ---- games in files, lines of positions, runs ----------------------------------------------------


def read_export(text: str) -> None:
    """Read games as `rookery export` writes them, write them and read them again."""
    records = list(parse_games(text))
    written = "\n".join(game_text(record) for record in records)
    same("\n".join(game_text(record) for record in parse_games(written)), written)


def sample_record(**changes: object) -> GameRecord:
    """Return a game of a few moves of Gomoku."""
    game = game_of("gomoku:size=9")
    position = game.start()
    actions = (40, 41, 31, 32)
    moves = []
    for action in actions:
        moves.append(position.move_text(action))
        position.play(action)
    values = {
        "game": game.spec, "version": game.version, "start": game.start().text(), "actions": actions,
        "moves": tuple(moves), "opening": 1, "players": ("random", "mcts:sims=8"), "first_team": 0, "score": 1.0,
        "payoff": 1.0, "reason": "five in a row", "seconds": (0.5, 0.25), "seed": 7, "match": "m", "number": 1,
        "pair": 0, "time_control": "10+0.1", "date": "2030-01-02T03:04:05+00:00",
    }  # fmt: skip
    return GameRecord(**(values | changes))


def export_seeds() -> list[bytes]:
    """Write a game and two games."""
    one = game_text(sample_record())
    return [one.encode(), (one + "\n" + game_text(sample_record(players=("a b", "c%d"), reason="é\tx"))).encode()]


def read_chess_lines(text: str) -> None:
    """Read positions of chess in lines of JSON."""
    for position in positions_in(text.splitlines(), "lines", chess_game()):
        position.text()


def read_run(text: str) -> None:
    """Read what a run's folder tells of it: its manifest, and its progress."""
    in_file("manifest.json", text.encode("utf-8", "replace"))
    in_file("progress.json", text.encode("utf-8", "replace"))
    read_progress(folder())
    read_manifest(folder())


def manifest_seeds() -> list[bytes]:
    """Return a manifest as runs write it."""
    entry = {"file": "checkpoint_00100.pth", "step": 100, "elo": 12.5, "interval": [1.0, 24.0], "timestamp": "now"}
    whole = {"format": 1, "game": "pylos", "rules": 1, "best": None, "checkpoints": [entry], "pruned": []}
    progress = {"current_game": 3, "total_games": 10, "games_per_second": 1.5, "eta_seconds": 4.0}
    return [json.dumps(whole).encode(), json.dumps(progress).encode()]


def listed(*texts: str) -> list[bytes]:
    """Write texts as inputs."""
    return [text.encode() for text in texts]


YAML_WORDS = (
    ": ",
    "- ",
    "\n  ",
    "!!python/object:os.system",
    "&a",
    "*a",
    "<<: *a",
    "|",
    ">",
    "{",
    "}",
    "[",
    "]",
    "null",
    "1e3",
    ".inf",
    ".nan",
    "0o7",
    "0x1F",
    "1:30",
    "2020-01-01",
    "!!binary",
    "!!set",
    "? ",
    "---",
    "game",
    "seed",
    "network",
    "selfplay",
    "training",
    "checkpoints",
    "gate",
    "kind",
    "residual",
    "tower",
    "stages",
    "games",
    "threads",
    "batch",
)
PLAYER_WORDS = (
    "mcts",
    "random",
    "alphabeta",
    "rave",
    "net",
    "uci",
    "gomocup",
    "lc0",
    "eq",
    "oracle",
    "bidder",
    "human",
    ":",
    ",",
    "=",
    "sims=",
    "depth=",
    "time=",
    "option.Threads=",
    "'",
    '"',
    "\\",
    "worlds=",
    "choice=make",
    "c=",
    "1e3",
    "true",
)
GAME_WORDS = (
    "gomoku",
    "pylos",
    "chess",
    "domineering",
    "texas42",
    ":",
    ",",
    "=",
    "size=",
    "rule=",
    "opening=",
    "rows=",
    "cols=",
    "chess960=",
    "auction=",
    "declaration=",
    "bid=",
    "renju",
    "swap2",
    "redeal",
    "ply_cap=",
    "removal=greedy",
    "true",
)
JSON_WORDS = ('"', ":", ",", "{", "}", "[", "]", "null", "true", "NaN", "Infinity", "1e999", '"\\ud800"', "-0", "0.5")

TARGETS = (
    Target(
        "game",
        reader(read_game),
        lambda: listed("gomoku:size=9", "chess:chess960=3", *(s for all in GAMES.values() for s in all)),
        GAME_WORDS,
        ("rookery.games.library", "rookery.games.options"),
    ),
    Target(
        "player",
        reader(read_player),
        lambda: listed(
            "mcts:sims=200",
            "uci:stockfish,time=0.1,option.Threads=1",
            "net:'a, b.pth',sims=20",
            "oracle:mcts:sims=400",
            "bidder:'eq:worlds=50,choice=make',worlds=40",
            "alphabeta:depth=3",
            "random",
            "rave:sims=100",
        ),
        PLAYER_WORDS,
        ("rookery.arena.texts", "rookery.arena.players", "rookery.games.options"),
    ),
    Target(
        "opening", reader(read_opening_text), lambda: listed("random:6", "centre:3", "book", "random:0", "centre:24")
    ),
    Target(
        "opening-file",
        reader(read_opening_file),
        lambda: listed(
            "xe4 e5 Nf3\n# a remark\n1. d4 d5 2. c4\n",
            "ye5 d5 f6\n",
            "\x00rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        ),
        WORDS["chess"],
    ),
    Target("small-texts", reader(read_small), lambda: listed("10+0.1", "10", "random=0", "mcts:sims=8=12.5")),
    Target(
        "texas42-lines",
        reader(read_texas42_line),
        texas42_lines,
        (*JSON_WORDS, "hands", "declaration", "leader", "plays"),
        ("rookery.search.texas42_answers", "rookery.games.texas42_setup"),
    ),
    Target(
        "texas42-words",
        reader(read_texas42_words),
        lambda: listed("6-6,6-5,6-4,6-2,5-5,1-0,0-0", "sixes", "30", "84", "pass"),
        WORDS["texas42"],
    ),
    Target(
        "settings",
        reader(read_run_settings),
        settings_seeds,
        YAML_WORDS,
        (
            "rookery.learn.settings",
            "rookery.learn.yaml_text",
            "rookery.learn.complaints",
            "rookery.learn.original",
            "yaml.scanner",
            "yaml.parser",
            "yaml.constructor",
            "yaml.resolver",
            "yaml.composer",
        ),
    ),
    Target(
        "set",
        reader(read_override),
        lambda: listed(
            "training.batch=512",
            "seed=3",
            "network.width=16",
            "selfplay.opponent=random",
            "folder=a b",
            "game=gomoku:size=9",
        ),
        YAML_WORDS,
        ("rookery.learn.settings", "rookery.learn.yaml_text", "rookery.learn.complaints"),
    ),
    Target(
        "export",
        reader(read_export),
        export_seeds,
        ("game:", "players:", "%20", "%0A", "nan", "1e5"),
        ("rookery.arena.exports", "rookery.arena.records"),
    ),
    Target(
        "chess-lines",
        reader(read_chess_lines),
        lambda: listed('{"fen": "startpos", "moves": ["e2e4", "e7e5"]}', '{"moves": "d2d4 d7d5"}'),
        (*JSON_WORDS, "fen", "moves"),
        ("rookery.lc0.positions",),
    ),
    Target(
        "run",
        reader(read_run),
        manifest_seeds,
        (*JSON_WORDS, "checkpoints", "pruned", "format", "step", "file"),
        ("rookery.learn.manifest", "rookery.learn.summaries"),
    ),
)
"""readers of texts"""
