"""Chess as a picture: the viewer's side is below. The men are drawn here, each within a square of 40 units."""

from __future__ import annotations

from functools import cache

from rookery.drawing import rectangle, words
from rookery.games import chess_text as notation
from rookery.games.chess import Chess
from rookery.games.chess_fen import men_on_board, name
from rookery.games.pictures.scene import CELL, Man, Picture, Scene, Spot, Way, symbol
from rookery.games.position import Action
from rookery.games.rules import State

LIGHT, DARK = "#DEE3E6", "#8CA2AD"
KINDS = {"k": "king", "q": "queen", "r": "rook", "b": "bishop", "n": "knight", "p": "pawn"}
PROMOTIONS = ("Queen", "Rook", "Bishop", "Knight")
BASE = "M-12 15 h24 v-3.5 q0 -2 -2 -2 h-20 q-2 0 -2 2z"
BODIES = {
    "p": "M-5 -8 a5 5 0 1 1 10 0 q0 2.6 -2.2 4 q1.2 7.5 6.2 13 h-18 q5 -5.5 6.2 -13 q-2.2 -1.4 -2.2 -4z",
    "r": "M-10 -15 h5 v3.5 h2.5 v-3.5 h5 v3.5 h2.5 v-3.5 h5 v7.5 l-3 3 l1.5 13 h-17 l1.5 -13 l-3 -3z",
    "n": "M-9 9 q0 -9 6 -14 l-6 2.5 q-2.5 1 -3.5 -1.5 q-0.5 -1.5 1 -3.5 l5 -6.5 q1 -1.5 1.5 -4 l3.5 3 q12.5 3 11 24z",
    "b": "M0 -17 a2.3 2.3 0 0 1 1.5 4 q7 5.5 6.5 11.5 q-0.3 3.5 -3.5 5.5 l1.5 5 h-12 l1.5 -5 q-3.2 -2 "
    "-3.5 -5.5 q-0.5 -6 6.5 -11.5 a2.3 2.3 0 0 1 1.5 -4z",
    "q": "M-13 -10 l5 6 l2.5 -10 l5.5 9 l5.5 -9 l2.5 10 l5 -6 l-3 19 h-20z",
    "k": "M-1.5 -18 h3 v3 h3 v3 h-3 v4 q10.5 -3 11.5 4.5 q0.5 5 -4.5 12.5 h-17 q-5 -7.5 -4.5 -12.5 q1 -7.5 "
    "11.5 -4.5 v-4 h-3 v-3 h3z",
}
DETAILS = {
    "n": '<circle cx="-1.5" cy="-8" r="1.3" fill="{line}" stroke="none"/>',
    "b": '<path d="M0 -8v7M-3 -4.500h6" fill="none"/>',
    "q": '<path d="M-8.5 5h17" fill="none"/>',
    "k": '<path d="M0 -6v13M-8 5h16" fill="none"/>',
    "r": '<path d="M-7 -4.500h14M-7.5 6h15" fill="none"/>',
    "p": "",
}
COLOURS = {True: ("#FBFAF6", "#2B2B2B"), False: ("#2E2D2B", "#EDEAE2")}  # white or not: fill, inner lines


def man_symbol(letter: str) -> str:
    """Define a man by its letter, White's as capitals."""
    fill, line = COLOURS[letter.isupper()]
    kind, white = letter.lower(), letter.isupper()
    edge = f'stroke="{"#2B2B2B" if white else "#141414"}" stroke-width="1.4" stroke-linejoin="round"'
    body = f'<path d="{BODIES[kind]}" fill="{fill}" {edge}/><path d="{BASE}" fill="{fill}" {edge}/>'
    detail = f'<g stroke="{line}" stroke-width="1.4">{DETAILS[kind].format(line=line)}</g>'
    return symbol(f"chess-{'w' if white else 'b'}{kind}", body, detail)


SYMBOLS = "".join(
    [
        *(man_symbol(letter) for letter in "KQRBNPkqrbnp"),
        symbol("chess-last", rectangle(-CELL / 2, -CELL / 2, CELL, CELL, "#7A5C00", 'opacity="0.35"')),
        symbol("chess-check", rectangle(-CELL / 2, -CELL / 2, CELL, CELL, "#B3261E", 'opacity="0.55"')),
    ]
)


def picture(scene: Scene) -> Picture:
    """Draw a position of chess."""
    position, state, game = scene.position, scene.position.state, scene.position.game
    assert isinstance(game, Chess)
    mover, turned = int(state["chess_mover"]), scene.viewer == 1
    letters = men_on_board(state["boards"][int(state["plies"]) & 7].tolist(), mover)
    men = [Man("chess-last", *place(square, turned)) for square in last_squares(scene)]
    if int(state["checkers"]):
        men.append(Man("chess-check", *place(letters.index("kK"[1 - mover]), turned)))
    men += [Man(symbol_of(letter), *place(square, turned)) for square, letter in enumerate(letters) if letter != "."]
    spots = tuple(spot(square, turned, letter) for square, letter in enumerate(letters))
    ways = sorted((way(game, state, int(action), letters, turned) for action in position.legal()), key=likely_first)
    return Picture(8 * CELL, 8 * CELL, SYMBOLS, ground(turned), tuple(men), spots, tuple(ways))


@cache
def spot(square: int, turned: bool, letter: str) -> Spot:
    """Return a square that can be pointed at, named with who stands there."""
    return Spot(*place(square, turned), CELL, CELL, f"{name(square)}{spoken(letter)}")


def symbol_of(letter: str) -> str:
    """Return the symbol of a man."""
    return f"chess-{'w' if letter.isupper() else 'b'}{letter.lower()}"


def spoken(letter: str) -> str:
    """Say which man stands on a square."""
    return "" if letter == "." else f", {'white' if letter.isupper() else 'black'} {KINDS[letter.lower()]}"


def place(square: int, turned: bool) -> tuple[float, float]:
    """Return the middle of a square."""
    col, row = (7 - square % 8, square // 8) if turned else (square % 8, 7 - square // 8)
    return (col + 0.5) * CELL, (row + 0.5) * CELL


def way(game: Chess, state: State, action: Action, letters: list[str], turned: bool) -> Way:
    """Say how a man is moved: from its square to the target; a king who castles, to where he ends.

    In Chess960 he may also step there, so he castles by way of his rook's square.
    """
    mover = int(state["chess_mover"])
    source, target, kind = notation.squares_of(action, mover)
    promotes = notation.promotes(state, action)
    if notation.castles(state, action) and not game.king_takes_rook:
        target = target // 8 * 8 + (6 if target > source else 2)
    letter = letters[source]
    label = ""
    if promotes:
        promoted = notation.PROMOTED[kind]
        label = KINDS[promoted].capitalize()
        letter = promoted.upper() if letter.isupper() else promoted
    return Way(action, (source, target), Man(symbol_of(letter), *place(target, turned)), label)


def likely_first(way: Way) -> int:
    """Order promotions as people want them: the queen first, then by strength."""
    return PROMOTIONS.index(way.label) if way.label else 0


def last_squares(scene: Scene) -> tuple[int, ...]:
    """Return where the last man came from and went."""
    if not scene.actions:
        return ()
    before = 1 - int(scene.position.state["chess_mover"])
    source, target, _ = notation.squares_of(scene.actions[-1], before)
    return source, target


@cache
def ground(turned: bool) -> str:
    """Draw the empty board with its coordinates inside the edge squares."""
    parts = []
    for square in range(64):
        x, y = place(square, turned)
        light = (square % 8 + square // 8) % 2 == 1
        parts.append(rectangle(x - CELL / 2, y - CELL / 2, CELL, CELL, LIGHT if light else DARK))
        ink = "#4D5F69" if light else "#F2F5F7"
        if y == 7.5 * CELL:
            parts.append(words(x + 16, y + 14, name(square)[0], 8, fill=ink))
        if x == 0.5 * CELL:
            parts.append(words(x - 16, y - 14, name(square)[1], 8, fill=ink))
    return "".join(parts)
