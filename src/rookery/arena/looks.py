"""A position and what a player finds in it, kept together: a notebook shows the board with the moves it likes."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import Any

from rookery.arena.findings import moves_of, shares
from rookery.arena.marks import marks_of, value_text
from rookery.arena.player import shown_to, turn_of, turn_seed
from rookery.arena.players import make_player
from rookery.arena.searching import Analyst
from rookery.drawing import MARK, block, circle, number, sheet, table, words
from rookery.errors import BadInput
from rookery.games.pictures import picture_of, svg_of
from rookery.games.pictures.scene import drawn
from rookery.games.position import Position
from rookery.search.analysis import Analysis

ROWS_SHOWN = 8
LINE_SHOWN = 6  # moves of a line


@dataclass(frozen=True)
class Look:
    """A position, as the player was shown it, and what the player found."""

    position: Position
    player: str
    move: str
    """the move it would play"""
    analysis: Analysis | None
    """None for a player that says nothing of its choice"""

    def _repr_html_(self) -> str:
        """Show the board with marks, and a table of the best moves."""
        if self.analysis is None:
            return block(svg_of(self.position), table(("player", "plays"), [(self.player, self.move)]))
        share = shares(self.analysis)
        rows = [
            (
                self.position.move_text(line.action), f"{share[line.action]:.1%}", f"{line.value:+.3f}", line.visits,
                " ".join(moves_of(self.position, line)[:LINE_SHOWN]),
            )
            for line in self.analysis.lines[:ROWS_SHOWN]
        ]  # fmt: skip
        proven = ", proven" if self.analysis.proven else ""
        told = f"{self.player} plays {self.move}; value {value_text(self.analysis.value)}{proven}"
        return block(
            look_svg(self.position, self.analysis), table(("move", "share", "value", "visits", "line"), rows, told)
        )


def look(position: Position, player: str = "mcts:sims=400", seed: int = 0) -> Look:
    """Let a player look at a position; `player` is a text as `rookery players` explains it."""
    if position.over:
        raise BadInput(f"the game is over in {position.text()!r}")
    with closing(make_player(player, position.game)) as looking:
        if isinstance(looking, Analyst):
            looking.lines_wanted = ROWS_SHOWN
        looking.new_game(shown_to(looking, position, position.mover), position.mover)
        turn = turn_of(looking, position, position, (), seed=turn_seed(seed, 0, 0))
        choice = looking.choose(turn)
    return Look(turn.position, looking.name, turn.position.move_text(choice.action), choice.analysis)


def look_svg(position: Position, analysis: Analysis) -> str:
    """Draw a position with the moves that a search likes over it."""
    picture = picture_of(position)
    if picture is None:
        return svg_of(position)
    marks = "".join(mark_svg(mark) for mark in marks_of(picture, analysis))
    return sheet(picture.width, picture.height, drawn(picture), marks, label=position.text())


def mark_svg(mark: dict[str, Any]) -> str:
    """Draw a disc with its value, or an arrow."""
    faint = f'opacity="{mark["opacity"]}"'
    if "arrow" in mark:
        return f'<path class="mark" d="{mark["arrow"]}" fill="{MARK}" {faint}/>'
    disc = circle(mark["x"], mark["y"], float(number(mark["r"])), MARK, f'class="mark" {faint}')
    return disc + words(mark["x"], mark["y"], mark["text"], 10.5, fill="#FFFFFF")
