"""What an analysis looks like in a terminal: the board with its warm cells, and a table of the best lines."""

from __future__ import annotations

from rich.console import Group
from rich.table import Table
from rich.text import Text

from rookery.arena.findings import heat, moves_of, shares
from rookery.games.position import Position
from rookery.search.analysis import Analysis

COLD, WARM = (45, 45, 60), (255, 150, 0)
LEAST_HEAT = 0.02  # cells colder than this are left as they are
BAR = 24  # characters of a full bar
MOVES_SHOWN = 10  # of a line


def analysis_picture(position: Position, analysis: Analysis, lines: int) -> Group:
    """Lay out a board and the best lines."""
    return Group(board_picture(position, analysis), Text(""), lines_table(position, analysis, lines))


def board_picture(position: Position, analysis: Analysis) -> Text:
    """Draw a board, its cells the warmer the more they were looked at."""
    drawing = position.draw()
    begins = [0]
    for row in drawing.split("\n"):
        begins.append(begins[-1] + len(row) + 1)
    picture = Text(drawing)
    for cell, warmth in heat(position, analysis).items():
        if warmth >= LEAST_HEAT:
            line, column = position.game.drawn_at(cell)
            picture.stylize(style_of(warmth), begins[line] + column, begins[line] + column + 1)
    return picture


def style_of(warmth: float) -> str:
    """Return the colours of a cell."""
    mixed = (round(cold + (warm - cold) * warmth) for cold, warm in zip(COLD, WARM, strict=True))
    return f"{'black' if warmth > 0.5 else 'white'} on rgb({','.join(map(str, mixed))})"


def lines_table(position: Position, analysis: Analysis, lines: int) -> Table:
    """List the best lines; with a bar for each where there is no board to show it on."""
    table = Table(box=None, pad_edge=False)
    for column in ("move", "value", "visits", "share"):
        table.add_column(column, justify="left" if column == "move" else "right")
    table.add_column("best play")
    share_of, gridless = shares(analysis), not heat(position, analysis)
    if gridless:
        table.add_column("")
    for line in analysis.lines[:lines]:
        share, play = share_of[line.action], moves_of(position, line)
        shown = " ".join(play[:MOVES_SHOWN]) + (" ..." if len(play) > MOVES_SHOWN else "")
        move = position.move_text(line.action) + (" *" if line.action == analysis.action else "")
        bar = ["█" * round(BAR * share)] if gridless else []
        cells = [move, f"{line.value:+.3f}", f"{line.visits:,}", f"{100 * share:.1f} %", shown, *bar]
        table.add_row(*(Text(cell) for cell in cells))
    return table


def summary_text(analysis: Analysis, name: str, move: str, seconds: float) -> str:
    """Say in one line what a player found."""
    parts = [f"value {analysis.value:+.3f}" + (" (proven)" if analysis.proven else "")]
    parts += [f"depth {analysis.depth}"] if analysis.depth else []
    parts += [f"{analysis.nodes:,} nodes", f"{seconds:.2f} s"]
    parts += [analysis.note] if analysis.note else []
    return f"{name} plays {move}: {', '.join(parts)}"
