"""Ask one of Lc0's networks about a position.

    python examples/chess_lc0.py NETWORK.pb.gz [MOVE]...

Without a file, a tiny network of random weights is written in Lc0's format and read back: all parts work, and it knows
nothing.
"""

import sys
import tempfile
from pathlib import Path

from rookery import lc0
from rookery.nets.configs import AttentionBodyConfig
from rookery.nets.lc0.schema import Encoding
from rookery.nets.lc0.trained import save_weights
from rookery.nets.residual import build

SHOWN = 6


def random_file(folder: Path) -> Path:
    """Write a network of random weights as Lc0 would."""
    path = folder / "random.pb.gz"
    save_weights(path, build(AttentionBodyConfig(width=32, layers=2, heads=4, hidden=48), seed=1), Encoding.LINEAR16)
    return path


def main(file: str = "", *moves: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        network = lc0.load(file or random_file(Path(folder)))
    line = " ".join(["startpos", *(["moves", *moves] if moves else [])])
    (found,) = network.evaluate([line])
    win, draw, loss = found.wdl
    weights = sum(parameter.numel() for parameter in network.network.parameters())
    print(f"{file or 'random weights'}: {weights:,} parameters, input format {network.format}")
    print(f"{line}\nwin {win:.1%}, draw {draw:.1%}, loss {loss:.1%} for the player to move")
    for move, share in list(found.moves.items())[:SHOWN]:
        print(f"  {move:6} {share.p:6.1%}  {'#' * round(100 * share.p)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
