"""Commands on Lc0's networks."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from rookery.cli.shared import JsonOption, app, print_json
from rookery.errors import BadInput
from rookery.nets.zoo import ZOO_SIGN

if TYPE_CHECKING:
    from rookery.games.position import Position
    from rookery.lc0.evaluator import Evaluation, Evaluator

lc0 = typer.Typer(
    help="Networks of Leela Chess Zero: look inside, judge positions, convert files.", no_args_is_help=True
)
app.add_typer(lc0, name="lc0")


class Fill(StrEnum):
    """What stands for boards before the first known one."""

    fen_only = "fen_only"
    no = "no"
    always = "always"


class Encodings(StrEnum):
    """How a file holds its numbers."""

    linear16 = "linear16"
    f16 = "f16"
    bf16 = "bf16"
    f32 = "f32"


class Precision(StrEnum):
    """In what numbers a network is run."""

    f32 = "f32"
    bf16 = "bf16"
    f16 = "f16"


class AnyDevice(StrEnum):
    """Where a network is run."""

    cpu = "cpu"
    cuda = "cuda"
    mps = "mps"


FileArgument = Annotated[Path, Argument(metavar="NET", help="a weight file, .pb.gz or .pb")]
NetArgument = Annotated[Path, Argument(metavar="NET", help="a weight file, .pb.gz or .pb; or zoo:chess")]
FenArgument = Annotated[str, Argument(metavar="[FEN]", help="a position in quotes, or startpos")]
MovesArgument = Annotated[list[str] | None, Argument(metavar="[MOVE]...", help="moves made from it: e2e4 e7e5")]
FormatOption = Annotated[int, Option("--format", help="input format: 1, 2, 3, 4, 5, 132 or 133")]
FillOption = Annotated[Fill, Option(help="what stands for boards before the first known one")]
Chess960Option = Annotated[bool, Option("--chess960", help="castling from any file, written as king takes rook")]
PolicyHeadOption = Annotated[str | None, Option(help="of a file with several: vanilla, optimistic, soft, opponent")]
ValueHeadOption = Annotated[str | None, Option(help="of a file with several: winner, q, st")]
DeviceOption = Annotated[AnyDevice, Option(help="where the network is run")]
PrecisionOption = Annotated[Precision, Option(help="f32 is exact; bf16 and f16 are faster where the device has them")]
AT_ONCE = 256


def compile_encoder() -> None:
    """Compile what reads and encodes positions, or take it from the cache, telling the person who waits."""
    from rookery.lc0.evaluator import policy_indices, shown_planes
    from rookery.lc0.positions import chess_game, position_after
    from rookery.terminal import compiling_announced

    with compiling_announced("chess and Lc0's planes"):
        position = position_after("startpos", ["e2e4"], chess_game())
        shown_planes(position, 1, 0)
        policy_indices([position], 1)


def position_given(fen: str, moves: list[str] | None, chess960: bool) -> Position:
    """Read the position a person gives; a FEN may stand without quotes, its fields among the moves."""
    from rookery.games.chess_text import UCI
    from rookery.lc0.positions import chess_game, position_after

    compile_encoder()
    fields, given = [fen], list(moves or [])
    while "/" in fen and given and len(fields) < 6 and " " not in fen and not UCI.fullmatch(given[0]):
        fields.append(given.pop(0))
    return position_after(" ".join(fields), given, chess_game(chess960))


def checked_format(form: int) -> int:
    """Refuse an input format that there is not."""
    from rookery.games.chess_lc0_input import FORMATS

    if form not in FORMATS:
        raise BadInput(f"--format {form} should be one of {', '.join(map(str, FORMATS))}")
    return form


# ---- what networks see ---------------------------------------------------------------------------


@lc0.command()
def planes(
    fen: FenArgument = "startpos",
    moves: MovesArgument = None,
    form: FormatOption = 1,
    fill: FillOption = Fill.fen_only,
    plane: Annotated[int | None, Option(min=0, max=111, help="show this plane as a board")] = None,
    chess960: Chess960Option = False,
    as_json: JsonOption = False,
) -> None:
    """Show the planes of a position: the sum of each, or one as a board.

    rookery lc0 planes startpos e2e4 e7e5

    rookery lc0 planes '8/8/4k3/8/8/2N5/1K1R4/8 w - - 3 40' --format 3 --plane 5
    """
    from rookery.lc0.evaluator import fill_number, shown_planes
    from rookery.terminal import out

    position = position_given(fen, moves, chess960)
    found, turn = shown_planes(position, checked_format(form), fill_number(fill.value))
    if plane is not None:
        rows = [[float(value) for value in row] for row in found[plane]]
        if as_json:
            print_json({"plane": plane, "turn": turn, "ranks": rows})
        else:
            out.print(plane_text(rows), markup=False)
        return
    sums = [float(one.sum()) for one in found]
    if as_json:
        print_json({"fen": position_fen(position), "format": form, "fill": fill.value, "turn": turn, "sums": sums})
        return
    for board in range(8):
        part = " ".join(f"{value:3g}" for value in sums[13 * board : 13 * board + 13])
        out.print(f"{13 * board:3d}  {part}", markup=False)
    out.print(f"104  {' '.join(f'{value:3g}' for value in sums[104:])}", markup=False)


def plane_text(rows: list[list[float]]) -> str:
    """Write a plane as a board, the eighth rank first; a dot is 0."""
    cells = [[f"{value:g}" if value else "·" for value in row] for row in rows]
    width = max(len(cell) for row in cells for cell in row)
    ranks = [f"{rank + 1} {' '.join(f'{cell:>{width}s}' for cell in cells[rank])}" for rank in reversed(range(8))]
    return "\n".join([*ranks, f"  {' '.join(f'{file:>{width}s}' for file in 'abcdefgh')}"])


@lc0.command()
def moves(
    fen: Annotated[str | None, Argument(metavar="[FEN]", help="list the legal moves of a position only")] = None,
    made: MovesArgument = None,
    form: FormatOption = 1,
    chess960: Chess960Option = False,
    as_json: JsonOption = False,
) -> None:
    """Show the index of each move in the policy: all 1858 as the mover sees them, or those of a position.

    rookery lc0 moves

    rookery lc0 moves startpos e2e4 --json
    """
    from rookery.games.chess_lc0 import policy_texts
    from rookery.lc0.evaluator import policy_indices
    from rookery.terminal import out

    if fen is None:
        table = {text: index for index, text in enumerate(policy_texts())}
    else:
        table = policy_indices([position_given(fen, made, chess960)], checked_format(form))[0]
    if as_json:
        print_json(table)
        return
    for move, index in table.items():
        out.print(f"{move:5s} {index:4d}", markup=False)


# ---- networks ------------------------------------------------------------------------------------


@lc0.command()
def describe(net: NetArgument, as_json: JsonOption = False) -> None:
    """Say what a network is made of.

    rookery lc0 describe network.pb.gz
    """
    from rookery.lc0.described import described, facts_of
    from rookery.nets.lc0.named import named_network
    from rookery.terminal import out

    network = named_network(net)
    if as_json:
        print_json(facts_of(network))
        return
    lines = described(network)
    width = max(len(name) for name, _ in lines)
    for name, text in lines:
        out.print(f"{name:{width}s}  {text}", markup=False, soft_wrap=True)


@lc0.command("eval")
def evaluate(
    net: NetArgument,
    fen: FenArgument = "startpos",
    moves: MovesArgument = None,
    positions: Annotated[
        Path | None, Option(metavar="FILE.jsonl", help='judge a whole file, each line {"fen": ..., "moves": [...]}')
    ] = None,
    policy_head: PolicyHeadOption = None,
    value_head: ValueHeadOption = None,
    fill: FillOption = Fill.fen_only,
    temperature: Annotated[float, Option(help="of the policy; Lc0 plays with 1.359")] = 1.0,
    show_planes: Annotated[bool, Option("--planes", help="also show what the network sees")] = False,
    svg: Annotated[
        Path | None, Option(metavar="FILE", help="draw the board with arrows of the likeliest moves")
    ] = None,
    top: Annotated[int | None, Option(min=0, help="moves to show; all if not given")] = None,
    device: DeviceOption = AnyDevice.cpu,
    precision: PrecisionOption = Precision.f32,
    chess960: Chess960Option = False,
    as_json: JsonOption = False,
) -> None:
    """Judge a position, or a file of them: chances, Q, moves left, and the policy by move.

    rookery lc0 eval network.pb.gz startpos e2e4 e7e5

    rookery lc0 eval network.pb.gz --positions games.jsonl --json > judged.jsonl
    """
    from rookery.lc0.evaluator import load
    from rookery.lc0.pictures import board_svg
    from rookery.lc0.positions import chess_game, read_lines
    from rookery.writing import write_whole

    if positions is not None and (svg is not None or moves or fen != "startpos"):
        raise BadInput("--positions judges a whole file; give no FEN, moves or --svg with it")
    network = load(net, device.value, precision.value, policy_head, value_head, fill.value)
    if positions is None:
        given: Iterable[Position] = [position_given(fen, moves, chess960)]
    else:
        compile_encoder()
        given = read_lines(positions, chess_game(chess960))
    for position, found in judged(network, given, temperature):
        if as_json:
            sys.stdout.write(json.dumps(told(network, position, found, show_planes, top)) + "\n")
        else:
            print_evaluation(network, position, found, show_planes, top)
        if svg is not None:
            write_whole(svg, board_svg(position, found).encode())


def judged(
    network: Evaluator, positions: Iterable[Position], temperature: float
) -> Iterator[tuple[Position, Evaluation]]:
    """Judge positions in batches, each as soon as its batch is read."""
    remaining = iter(positions)
    while batch := list(islice(remaining, AT_ONCE)):
        yield from zip(batch, network.evaluate(batch, temperature), strict=True)


def told(
    network: Evaluator, position: Position, found: Evaluation, show_planes: bool, top: int | None
) -> dict[str, Any]:
    """Return an evaluation for programs."""
    from dataclasses import asdict

    from rookery.games.chess_lc0_input import pairs_of

    moves = {text: asdict(move) for text, move in list(found.moves.items())[:top]}
    facts = {"fen": position_fen(position), "q": found.q, "d": found.d, "m": found.m, "wdl": found.wdl, "moves": moves}
    if show_planes:
        masks, values, turns = pairs_of(position.states, network.format, network.fill)
        pairs = [[f"{int(mask):016x}", float(value)] for mask, value in zip(masks[0], values[0], strict=True)]
        facts |= {"planes": pairs, "turn": int(turns[0])}
    return facts


def position_fen(position: Position) -> str:
    """Write the present board of a position."""
    from rookery.games.chess import Chess

    assert isinstance(position.game, Chess)
    return position.game.fen(position.state)


def print_evaluation(
    network: Evaluator, position: Position, found: Evaluation, show_planes: bool, top: int | None
) -> None:
    """Print an evaluation for people."""
    from rookery.lc0.evaluator import shown_planes
    from rookery.terminal import out

    win, draw, lose = found.wdl
    out.print(position_fen(position), markup=False, soft_wrap=True)
    out.print(
        f"win {win:.4f}  draw {draw:.4f}  lose {lose:.4f}  Q {found.q:+.5f}  moves left {found.m:.1f}", markup=False
    )
    for text, move in list(found.moves.items())[:top]:
        out.print(f"{text:6s} {move.index:5d} {move.logit:9.4f} {move.p:8.2%}", markup=False)
    if show_planes:
        sums, _ = shown_planes(position, network.format, network.fill)
        out.print(" ".join(f"{plane}:{one.sum():g}" for plane, one in enumerate(sums)), markup=False, soft_wrap=True)


@lc0.command()
def convert(
    net: FileArgument,
    target: Annotated[
        Path | None,
        Argument(metavar="[OUT]", help="ends in .pb.gz, or in .pb where it is not packed; NET.f16.pb.gz if not given"),
    ] = None,
    *,
    encoding: Annotated[Encodings, Option(help="linear16 is read by every Lc0, the others from 0.33 on")],
) -> None:
    """Write a network with its numbers in another encoding.

    rookery lc0 convert network.pb.gz --encoding f16

    rookery lc0 convert network.pb.gz half.pb --encoding f16
    """
    from rookery.nets.lc0.files import convert as converted
    from rookery.nets.lc0.files import read_file, write_file
    from rookery.nets.lc0.numbers import ENCODINGS
    from rookery.terminal import out

    target = target or beside(net, f".{encoding.value}.pb.gz")
    write_file(target, converted(read_file(net), ENCODINGS[encoding.value]))
    out.print(str(target), markup=False, soft_wrap=True)


def beside(net: Path, ending: str) -> Path:
    """Name a file beside a weight file by another ending; refuse to write over what is there."""
    made = net.with_name(net.name.removeprefix(ZOO_SIGN).removesuffix(".gz").removesuffix(".pb") + ending)
    if made.exists():
        raise BadInput(f"{str(made)!r} is there already; name the file to write")
    return made


@lc0.command()
def onnx(
    net: NetArgument,
    target: Annotated[Path | None, Argument(metavar="[OUT]", help="ends in .onnx; NET.onnx if not given")] = None,
    policy_head: PolicyHeadOption = None,
    value_head: ValueHeadOption = None,
) -> None:
    """Write a network as ONNX, for other programs.

    rookery lc0 onnx network.pb.gz

    rookery lc0 onnx network.pb.gz soft.onnx --policy-head soft
    """
    from rookery.nets.lc0.named import named_network
    from rookery.nets.lc0.onnx import onnx_bytes
    from rookery.terminal import out
    from rookery.writing import write_whole

    target = target or beside(net, ".onnx")
    if target.suffix != ".onnx":
        raise BadInput(f"{str(target)!r}: an ONNX file ends in .onnx")
    network = named_network(net)
    network.choose_heads(policy_head, value_head)
    write_whole(target, onnx_bytes(network))
    out.print(str(target), markup=False, soft_wrap=True)
