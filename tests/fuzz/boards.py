"""Readers of positions and moves of all games, and what the other targets share with them."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from fuzz.target import Target, reader, same
from rookery.games.game import Game
from rookery.games.library import load
from rookery.games.position import Position
from support import random_walk

LOOKED_AT = 12
"""legal moves of a position that are written and read again"""
GAMES = {
    "chess": ("chess", "chess:chess960=3"),
    "gomoku": ("gomoku:size=9", "gomoku:size=7,rule=renju,opening=swap2", "gomoku:size=8,rule=caro"),
    "pylos": ("pylos", "pylos:removal=greedy,repetition_cap=3", "pylos:rules=children"),
    "domineering": ("domineering:rows=4,cols=4", "domineering:rows=3,cols=7", "domineering"),
    "texas42": (
        "texas42",
        "texas42:auction=redeal",
        "texas42:auction=redeal,nello=any,splash=both,plunge=4,sevens=nearest",
    ),
}
"""games whose texts are fuzzed; the first byte of an input chooses one"""
WORDS = {
    "chess": (
        *"pnbrqkPNBRQK12345678/",
        " w ",
        " b ",
        "KQkq",
        " - ",
        "e3",
        "0 1",
        "99 200",
        "startpos",
        " moves ",
        "e2e4",
        "e1g1",
        "e7e8q",
        "O-O",
        "Nf3",
        "exd6",
        "e8=Q+",
        "HAha",
        "fen ",
    ),
    "gomoku": (".", "x", "o", "/", " b ", " w ", " - ", "h8", "a1", "black", "white", "more", "1", "?"),
    "pylos": ("x", "o", ".", "/", " ", "1a1", "2b2", "a1", "-", "take", "15", "0"),
    "domineering": ("v", "h", "#", ".", "/", " ", "a1-a2", "b2-c2", "1", "V", "H"),
    "texas42": (
        "6-6",
        "5-0",
        "0-0",
        "|",
        "/",
        " ",
        ",",
        "sixes",
        "doubles-trump",
        "no-trump",
        "30",
        "84",
        "pass",
        "?",
        "0:",
        "3:",
        "-",
    ),
}


@cache
def folder() -> Path:
    """Make a folder for files of this process."""
    return Path(tempfile.mkdtemp(prefix="rookery-fuzz-"))


def in_file(name: str, data: bytes) -> Path:
    """Write an input into a file."""
    path = folder() / name
    path.write_bytes(data)
    return path


@cache
def game_of(spec: str) -> Game:
    """Load a game once."""
    return load(spec)


# ---- positions and moves -------------------------------------------------------------------------


def read_position_text(game: Game, text: str) -> None:
    """Read a position, write it and its moves, and read all of that again."""
    position = game.position(text)
    written = position.text()
    same(game.position(written).text(), written)
    position.draw()
    legal = [] if position.over else position.legal().tolist()
    assert len(legal) <= game.most_legal, f"{len(legal)} legal moves"
    for action in legal[:LOOKED_AT]:
        same(position.action(position.move_text(action)), action)
    if legal:
        position.play(legal[len(written) % len(legal)])
        same(game.position(position.text()).text(), position.text())


def position_reader(name: str) -> Target:
    """Make the target of a game's positions."""
    specs = GAMES[name]

    def read(text: str) -> None:
        read_position_text(game_of(specs[ord(text[0]) % len(specs)] if text else specs[0]), text[1:])

    return Target(
        f"position-{name}", reader(read), lambda: position_seeds(name), WORDS[name],
        (f"rookery.games.{name}", *MODULES.get(name, ()), "rookery.games.notation"),
    )  # fmt: skip


MODULES = {
    "chess": ("rookery.games.chess_fen", "rookery.games.chess_text"),
    "gomoku": ("rookery.games.gomoku_text",),
    "texas42": ("rookery.games.texas42_setup", "rookery.games.texas42_house"),
}
"""modules of a game's texts that hold nothing which is compiled"""


def choice(number: int, specs: tuple[str, ...]) -> str:
    """Return a sign that chooses a game by its number."""
    return next(sign for sign in "0123456789" if ord(sign) % len(specs) == number)


def walked(spec: str, plies: tuple[int, ...] = (0, 1, 3, 6, 9)) -> list[Position]:
    """Return some positions of random games."""
    return [
        position.copy()
        for seed in (0, 1)
        for ply, (position, _) in enumerate(random_walk(game_of(spec), seed))
        if ply in plies
    ]


def position_seeds(name: str) -> list[bytes]:
    """Write positions of random games; those of chess from the rule books, too."""
    specs = GAMES[name]
    texts = [choice(number, specs) + each.text() for number, spec in enumerate(specs) for each in walked(spec)]
    if name == "chess":
        texts += [
            "0r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
            "04k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1",
            "0startpos moves e2e4 e7e5 Nf3",
        ]
    if name == "texas42":
        texts += ["0" + each.seen_by(2).text() for each in walked("texas42")]
    return [text.encode() for text in texts]


def read_move(text: str) -> None:
    """Read a move where the first byte says, then write it."""
    places = move_places()
    position = places[ord(text[0]) % len(places)] if text else places[0]
    action = position.action(text[1:])
    position = position.copy()
    position.play(action)
    position.text()


@cache
def move_places() -> tuple[Position, ...]:
    """Return positions of all games in which a move is to be made."""
    fens = ("r3k2r/1P6/8/3pP3/8/8/8/R3K2R w KQkq d6 0 1",)
    own = [game_of("chess").position(fen) for fen in fens]
    return (*own, *(position for specs in GAMES.values() for position in walked(specs[0], (0, 4)) if not position.over))


def move_seeds() -> list[bytes]:
    """Write legal moves, those of chess in SAN, too."""
    texts = [chr(number) + text for number, at in enumerate(move_places()) for text in at.moves()[:4]]
    texts += [chr(0) + san for san in ("O-O", "O-O-O", "exd6", "b8=Q+", "Rxa8!", "0-0", "Ra1xa8", "e1c1")]
    return [text.encode() for text in texts]


TARGETS = (
    *(position_reader(name) for name in GAMES),
    Target("move", reader(read_move), move_seeds, WORDS["chess"] + WORDS["gomoku"], MODULES["chess"]),
)
"""readers of positions and moves"""
