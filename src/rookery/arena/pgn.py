"""Games of chess as PGN."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from rookery.arena.records import GameRecord, check_rules
from rookery.errors import BadInput
from rookery.games.chess import Chess
from rookery.games.game import Game
from rookery.games.position import Position

WIDTH = 80
RESULTS = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}


def game_pgn(game: Game, record: GameRecord) -> str:
    """Write a game: tags, an empty line, moves in SAN, and why it ended as a comment."""
    if not isinstance(game, Chess):
        raise BadInput(f"PGN is written for games of chess, not of {game.name}; there are json and text")
    check_rules(game, record)
    base, _, before = record.start.partition(" moves ")
    result = RESULTS[record.score]
    tags = "\n".join(f'[{name} "{tag_text(text)}"]' for name, text in tags_of(game, record, base, result).items())
    comment = "{" + record.reason.replace("{", "(").replace("}", ")") + "}"
    words = [*move_words(game, record, base, before), comment, result]
    return f"{tags}\n\n{textwrap.fill(' '.join(words), WIDTH, break_on_hyphens=False, break_long_words=False)}\n"


def move_words(game: Chess, record: GameRecord, base: str, before: str) -> Iterator[str]:
    """Yield move numbers and moves from the position `base`, those of `before` first."""
    position = game.position(base)
    _, side, _, _, _, number = base.split()
    actions = [position_after.action(word) for position_after, word in walked(position.copy(), before.split())]
    for half, action in enumerate([*actions, *record.actions], start=side == "b"):
        if half % 2 == 0:
            yield f"{int(number) + half // 2}."
        elif half == 1 and side == "b":
            yield f"{number}..."
        yield game.san(position.state, action)
        position.play(action)


def walked(position: Position, words: list[str]) -> Iterator[tuple[Position, str]]:
    """Yield a position with the next of some moves, which is played after that."""
    for word in words:
        yield position, word
        position.play(word)


def tags_of(game: Chess, record: GameRecord, base: str, result: str) -> dict[str, str]:
    """Return the tags of a game: the seven of the standard, where it starts if not as usual, and the circumstances."""
    tags = {
        "Event": f"match {record.match[:8]}" if record.match else "?",
        "Site": "?",
        "Date": record.date[:10].replace("-", ".") or "????.??.??",
        "Round": f"{record.pair + 1}.{record.number % 2 + 1}",
        "White": record.players[0],
        "Black": record.players[1],
        "Result": result,
    }
    if game.king_takes_rook:
        tags["Variant"] = "Chess960"
    if game.king_takes_rook or base != Chess().start().text():
        tags |= {"SetUp": "1", "FEN": base}
    tags["Termination"] = termination(record)
    if record.time_control:
        tags["TimeControl"] = record.time_control
    return tags


def termination(record: GameRecord) -> str:
    """Return PGN's word for how a game ended."""
    failed = [reason for name in record.players if (reason := record.reason.removeprefix(f"{name}: ")) != record.reason]
    if not failed:
        return "normal"
    if failed[0].startswith("lost on time"):
        return "time forfeit"
    return "rules infraction" if failed[0].startswith("illegal move") else "abandoned"


def tag_text(text: str) -> str:
    """Escape a tag's value."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
