"""Commands between training and weight files of Lc0's."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from rookery.cli.lc0 import Encodings, NetArgument, lc0
from rookery.cli.shared import JsonOption, print_json


@lc0.command()
def export(
    run: Annotated[str, Argument(metavar="RUN", help="a run, a curriculum, a checkpoint, or zoo:NAME")],
    target: Annotated[Path, Argument(metavar="NET", help="ends in .pb.gz, or in .pb where it is not packed")],
    encoding: Annotated[
        Encodings, Option(help="linear16 is read by every Lc0, the others from 0.33 on; f32 is exact")
    ] = Encodings.linear16,
    as_json: JsonOption = False,
) -> None:
    """Write a network of kind lc0 that was trained here as a weight file that Lc0 reads.

    rookery lc0 export runs/chess_lc0 chess.pb.gz

    rookery lc0 export runs/chess_lc0/stages/selfplay/checkpoint_01000.pth exact.pb.gz --encoding f32
    """
    from rookery.learn.weight_files import export_weights
    from rookery.terminal import err, out

    facts = export_weights(run, target, encoding.value)
    if as_json:
        print_json(facts)
        return
    out.print(facts["file"], markup=False, soft_wrap=True)
    err.print(f"{facts['parameters']:,} parameters from {facts['source']}", markup=False, soft_wrap=True, style="dim")


@lc0.command()
def settings(net: NetArgument, as_json: JsonOption = False) -> None:
    """Print the section `network` of a run that begins with a weight file.

    rookery lc0 settings network.pb.gz

    rookery train chess_lc0 --set start=network.pb.gz --set network="$(rookery lc0 settings network.pb.gz --json)"
    """
    import sys

    from rookery.learn.yaml_text import yaml_text
    from rookery.nets.lc0.stored import load_network
    from rookery.nets.lc0.trained import config_from

    config = config_from(load_network(net).config, str(net))
    found = {"kind": config.kind, "observation": "classical"} | config.model_dump(exclude=set(config.unused))
    if as_json:
        print_json(found)
    else:
        sys.stdout.write(yaml_text({"network": found}))
