"""Games as text, to be shared and read again: PGN for chess, a few lines for the others.

    game: domineering:rows=8,cols=8
    moves: a1-a2 c3-d3

A text may also be a position alone, as `rookery show` prints it, or a FEN. It comes from a stranger: its game must be
one of those that are offered, for what `load` reads may be a file with a program in it.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection

from rookery.errors import BadInput
from rookery.games.chess import Chess
from rookery.games.game import Game
from rookery.games.library import load
from rookery.games.position import Action, Position
from rookery.games.texas42 import Texas42
from rookery.search.worlds import dealt_out
from rookery.web.session import GameSession

LONGEST_TEXT = 100_000
# Texts come from strangers: no pattern may look at a sign again and again, as `\d+x` does in a long row of digits.
TAG = re.compile(r'^[ \t]*\[(\w{1,40})[ \t]+"((?:[^"\\\n]|\\.)*)"\][ \t\r]*$', re.M)
ASIDE = re.compile(r"[{;()$]")
MOVE_NUMBER = re.compile(r"^\d{1,4}\.+")
RESULTS = ("1-0", "0-1", "1/2-1/2", "*")


def shared_text(session: GameSession) -> str:
    """Write a game for others; while tiles are hidden, only the position as the visitor sees it."""
    game, start = session.game, session.positions[0]
    if isinstance(game, Chess):
        return chess_text(game, session)
    if game.information == "hidden" and not session.over:
        return f"game: {game.spec}\nposition: {session.scene().position.text()}\n"
    lines = [f"game: {game.spec}"]
    if start.text() != game.start(0).text():
        lines.append(f"start: {start.text()}")
    return "\n".join([*lines, f"moves: {' '.join(session.texts)}", f"position: {session.position.text()}"]) + "\n"


def position_text(session: GameSession) -> str:
    """Write the position that a visitor sees now: a FEN for chess, else what `rookery show` prints."""
    position = session.scene().position
    return position.game.fen(position.state) if isinstance(position.game, Chess) else position.text()


def chess_text(game: Chess, session: GameSession) -> str:
    """Write a game of chess as PGN."""
    you = {seat: "visitor" if seat in session.plan.people else session.plan.opponent for seat in (0, 1)}
    result = pgn_result(session)
    tags = {"Event": "?", "Site": "?", "Date": "????.??.??", "Round": "-", "White": you[0], "Black": you[1]}
    tags["Result"] = result
    base = game.fen(session.positions[0].state)
    if game.king_takes_rook:
        tags["Variant"] = "Chess960"
    if base != Chess().start().text():
        tags |= {"SetUp": "1", "FEN": base}
    words = []
    for ply, action in enumerate(session.actions):
        state = session.positions[ply].state
        if int(state["chess_mover"]) == 0 or ply == 0:
            words.append(f"{int(state['fullmove'])}{'.' if int(state['chess_mover']) == 0 else '...'}")
        words.append(game.san(state, action))
    head = "\n".join(f'[{name} "{value}"]' for name, value in tags.items())
    return f"{head}\n\n{' '.join([*words, result])}\n"


def pgn_result(session: GameSession) -> str:
    """Return PGN's sign for how a game ended."""
    if session.resigned is not None:
        return ("0-1", "1-0")[session.resigned]
    if not session.position.over:
        return "*"
    return {1.0: "1-0", -1.0: "0-1"}.get(session.position.payoff(0), "1/2-1/2")


# ---- reading -------------------------------------------------------------------------------------


def read_shared(text: str, game: Game, allowed: Collection[str]) -> tuple[Game, str, list[Action]]:
    """Read a game or a position: the game, the text of its first position (empty: the usual one), and its moves."""
    if len(text) > LONGEST_TEXT:
        raise BadInput(f"the text has {len(text):,} characters; {LONGEST_TEXT:,} are read at most")
    fields = dict(re.findall(r"^(game|start|moves|position):[ \t]*(.*)$", text, re.M))
    if "game" in fields:
        if fields["game"] not in allowed:
            raise BadInput(f"the game {fields['game']!r} is not offered here; there are {', '.join(sorted(allowed))}")
        game = load(fields["game"])
        begin = fields.get("start", "") if "moves" in fields else fields.get("position", "")
        return played(game, all_dealt(game, begin), fields.get("moves", "").split())
    if isinstance(game, Chess) and ("[" in text or re.search(r"\b\d{1,3}\.", text)):
        return read_pgn(text, game)
    return played(game, all_dealt(game, " ".join(text.split())), [])


def all_dealt(game: Game, start: str) -> str:
    """Deal what a text of Texas 42 hides; other texts stay as they are."""
    if not isinstance(game, Texas42) or "?" not in start:
        return start
    return dealt_out(game.position(start), secrets.randbelow(2**31)).text()


def read_pgn(text: str, game: Chess) -> tuple[Game, str, list[Action]]:
    """Read the main line of a game of chess in PGN."""
    tags = dict(TAG.findall(text))
    words = [MOVE_NUMBER.sub("", word) for word in main_line(TAG.sub(" ", text)).split()]
    return played(game, tags.get("FEN", ""), [word for word in words if word and word not in RESULTS])


def main_line(body: str) -> str:
    """Take comments, variations and marks out of moves; BadInput where one of them does not end, or never began."""
    kept, depth, at = list[str](), 0, 0
    while (found := ASIDE.search(body, at)) is not None:
        if depth == 0:
            kept.append(body[at : found.start()])
        at = found.end()
        if found[0] == "{":
            at = body.find("}", at) + 1
            if at == 0:
                raise BadInput("a comment of the PGN, which begins with {, does not end")
        elif found[0] == ";":
            end = body.find("\n", at)
            at = len(body) if end < 0 else end
        elif found[0] == "$":
            at += len(body[at : at + 4]) - len(body[at : at + 4].lstrip("0123456789"))
        else:
            depth += 1 if found[0] == "(" else -1
            if depth < 0:
                raise BadInput("a variation of the PGN ends with ) where none has begun")
    if depth > 0:
        raise BadInput("a variation of the PGN, which begins with (, does not end")
    return " ".join([*kept, body[at:]])


def played(game: Game, start: str, words: list[str]) -> tuple[Game, str, list[Action]]:
    """Play some moves from a position and return them as actions; BadInput names the one that is wrong."""
    position: Position = game.position(start) if start else game.start(0)
    actions = []
    for word in words:
        actions.append(position.action(word))
        position.play(actions[-1])
    return game, start, actions
