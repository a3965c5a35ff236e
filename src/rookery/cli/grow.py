"""The command that embeds a small network in a large one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from rookery.cli.shared import app
from rookery.errors import BadInput

SIZES = ("width", "heads", "head_width", "layers", "mlp")
"""what a preset says of a large network; its board, heads and observation are those of the small one"""


@app.command()
def grow(
    small: Annotated[str, Argument(metavar="SMALL", help="a run, a file of weights, or zoo:NAME")],
    large: Annotated[
        str,
        Argument(
            metavar="LARGE_CONFIG",
            help="small, medium, large, small-final, large-final, 5x64, 6x64, 10x128, or a YAML file",
        ),
    ],
    changes: Annotated[
        list[str] | None, Option("--set", metavar="KEY=VALUE", help="change a size of the large network: layers=9")
    ] = None,
    output: Annotated[Path | None, Option("--out", metavar="FILE", help="else NAME-grown.pth, here")] = None,
    seed: Annotated[int, Option(min=0, max=(1 << 63) - 2, help="same seed, same fresh weights")] = 0,
    fresh_heads: Annotated[
        bool, Option("--fresh-heads", help="control: the last norm and the heads of the network are not copied")
    ] = False,
    identity: Annotated[
        bool, Option("--identity", help="control: layers above the embedded ones begin by adding nothing")
    ] = False,
    random: Annotated[
        bool, Option("--random", help="control: what is embedded has SMALL's shape, but has learned nothing")
    ] = False,
) -> None:
    """Embed a small network in a larger one, which then begins with what the small one knows.

    Sizes that LARGE_CONFIG does not say are those of the small network. The result is compared with it behind the
    embedded layers before it is written.

    rookery grow small.pth large --out grown.pth

    rookery grow runs/small my_large.yaml --seed 42 --identity

    rookery grow small.pth small --set layers=4 --set heads=8
    """
    from rookery.cli.zoo import weights_file
    from rookery.nets.files import SUFFIXES, load_network, save_network
    from rookery.nets.growth import grow as grown_from
    from rookery.nets.growth import larger_config
    from rookery.nets.residual import build
    from rookery.terminal import err, out

    source, stem = weights_file(small)
    target = output or Path(f"{stem}-grown.pth")
    if target.is_dir() or target.suffix not in SUFFIXES:
        raise BadInput(f"--out {str(target)!r} must name a file that ends in {' or '.join(SUFFIXES)}")
    if not target.parent.is_dir():
        raise BadInput(f"--out {str(target)!r}: there is no folder {str(target.parent)!r}")
    if target.exists() and target.samefile(source):
        raise BadInput(f"--out {str(target)!r} is the small network itself")
    loaded = load_network(source)
    config = larger_config(loaded.config, large_values(large, changes or []), large)
    first = build(loaded.config, seed + 1) if random else loaded.network
    grown = grown_from(first, config, seed, not fresh_heads, identity)
    controls = {"a random network": random, "fresh heads": fresh_heads, "identity above": identity}
    told = ", ".join([f"grown from {source.name}", f"seed {seed}", *(name for name, held in controls.items() if held)])
    save_network(target, grown, loaded.about.model_copy(update={"step": 0, "notes": told}))
    sizes = f"{loaded.network.weights:,} weights embedded in {grown.weights:,}, verified at the cut"
    err.print(sizes, style="dim", markup=False, soft_wrap=True)
    out.print(str(target), markup=False, soft_wrap=True)


def large_values(text: str, changes: list[str]) -> dict[str, Any]:
    """Return the sizes that a person gives for a large network: by a preset or a file, and single ones."""
    from rookery.learn.settings import override_values
    from rookery.learn.yaml_text import read_yaml
    from rookery.nets.configs import PRESETS, TOWERS

    values: Any
    if text in TOWERS:
        values = {"kind": "tower"} | dict(zip(("blocks", "width"), TOWERS[text], strict=True))
    elif text in PRESETS:
        values = {name: getattr(PRESETS[text], name) for name in ("kind", *SIZES)}
    else:
        values = read_yaml(file_text(text), text)
        values = values.get("network", values) if isinstance(values, dict) else values
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise BadInput(f"{text} should hold the sizes of a network by name, like layers: 7")
    for change in changes:
        override_values(values, change)
    return {key: value for key, value in values.items() if key not in ("observation", "preset")}


def file_text(path: str) -> str:
    """Read a file of sizes."""
    from rookery.games.options import given_path
    from rookery.nets.configs import PRESETS, TOWERS

    try:
        return given_path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise BadInput(
            f"{path!r} cannot be read: {reason}; give a file, or one of {', '.join([*PRESETS, *TOWERS])}"
        ) from None
