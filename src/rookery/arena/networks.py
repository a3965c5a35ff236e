"""Which network a text names, and whether it plays a game.

checkpoint_01000.pth     a file, ours or the original's, or a .safetensors
runs/pylos_v5            a run: its newest checkpoint, by its manifest.json
runs/gomoku_curriculum   a curriculum: the network of the last of its stages that has one
zoo:NAME                 a network that comes with the package
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.library import load
from rookery.games.options import given_path
from rookery.nets.zoo import ZOO_SIGN, zoo_file
from rookery.search.gomoku_fours import knows_fours

if TYPE_CHECKING:
    from rookery.nets.configs import NetworkConfig
    from rookery.nets.files import Loaded

OTHER_PLAYERS = {"hands": "eq:oracle=FILE", "transcript": "stage2:FILE"}
"""kinds of networks that a search does not ask, and who plays by them"""
CURRICULUM, STAGES, PROGRESS, IMITATED = "curriculum.yaml", "stages", "progress.json", "network.pth"
"""of a curriculum: its settings, the folder of its stages, how far they are; and what a stage of imitation learned"""
PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", re.ASCII)


# ---- finding -------------------------------------------------------------------------------------


def network_name(text: str) -> str:
    """Return the text that goes on naming the same network: of a run or a curriculum, its newest one."""
    place = given_path(text)
    return text if text.startswith(ZOO_SIGN) or not place.is_dir() else str(newest_network(place))


def network_file(text: str) -> Path:
    """Return the file of a network that a text names; it need not be there unless it is in the zoo."""
    if text.startswith(ZOO_SIGN):
        return zoo_file(text.removeprefix(ZOO_SIGN))
    return given_path(network_name(text))


def zoo_facts(name: str) -> dict[str, Any]:
    """Return what the file of a network that comes with the package says of it."""
    from rookery.nets.files import load_network

    path = zoo_file(name)
    loaded = load_network(path)
    about = loaded.about
    return {
        "name": name, "game": about.game, "rules_version": about.rules_version, "observation": about.observation,
        "kind": loaded.config.kind, "parameters": sum(weights.numel() for weights in loaded.network.parameters()),
        "step": about.step, "notes": about.notes, "megabytes": round(path.stat().st_size / 1e6, 3),
        "has_card": path.with_suffix(".md").is_file(),
    }  # fmt: skip


def zoo_player(name: str, sims: int = 0, game: str | None = None) -> str:
    """Return the text of who plays by a network that comes with the package: a search, of so many simulations a move,
    or where a search cannot ask it, the player it was made for. `game` is the one it was taught unless given."""
    facts = zoo_facts(name)
    if facts["kind"] in OTHER_PLAYERS:
        return OTHER_PLAYERS[facts["kind"]].replace("FILE", ZOO_SIGN + name)
    searching = search_of(ZOO_SIGN + name, load(game or facts["game"]))
    return searching + (f",sims={sims}" if sims else "")


def search_of(network: str, game: Game) -> str:
    """Return the text of the search that asks a network; in freestyle Gomoku it looks for wins by fours, too."""
    return f"net:{network}" + (",vcf=leaves" if knows_fours(game) else "")


def newest_network(folder: Path) -> Path:
    """Return the newest network of a run, a stage of imitation, or the last stage of a curriculum that has one."""
    if (folder / IMITATED).is_file():
        return folder / IMITATED
    if not (folder / CURRICULUM).is_file():
        return newest_checkpoint(folder)
    for stage in reversed(begun_stages(folder)):
        try:
            return newest_network(stage)
        except BadInput:
            continue  # it has no checkpoint yet
    raise BadInput(f"no stage of {str(folder)!r} has a network yet")


def begun_stages(folder: Path) -> list[Path]:
    """Return the folders of the stages of a curriculum, in their order, as far as they were begun."""
    progress = folder / PROGRESS
    try:
        names = [stage["stage"] for stage in json.loads(progress.read_bytes())["stages"]] if progress.exists() else []
        plain = [name for name in names if Path(name).name == name]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadInput(f"{str(progress)!r} does not list stages ({error!r})") from None
    return [place for name in plain if (place := folder / STAGES / name).is_dir()]


def newest_checkpoint(run: Path) -> Path:
    """Return the checkpoint of a run with the most steps."""
    manifest = run / "manifest.json"
    if not manifest.is_file():
        raise BadInput(f"{str(run)!r} is no folder of a run: it holds no manifest.json")
    try:
        content = json.loads(manifest.read_text())
        steps: dict[str, Any] = {entry["file"]: entry["step"] for entry in content["checkpoints"]}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadInput(f"{str(manifest)!r} does not list checkpoints with file and step ({error!r})") from None
    for file, step in steps.items():
        if not isinstance(file, str) or not PLAIN_NAME.fullmatch(file) or not isinstance(step, int):
            raise BadInput(f"{str(manifest)!r} lists {file!r} at step {step!r}; files lie in the run's own folder")
    if not steps:
        raise BadInput(f"the run {str(run)!r} has no checkpoints yet")
    return run / max(steps, key=lambda file: (steps[file], file))


# ---- fitting -------------------------------------------------------------------------------------


def network_for(text: str, game: Game) -> Loaded:
    """Read the network that a text names, for the board of a game; refuse one that cannot play it."""
    from rookery.nets.files import load_network

    loaded = on_board(load_network(network_file(text)), game)
    why = misfit(loaded, game)
    if why:
        raise BadInput(f"the network {text!r} cannot play {game.label}: {why}")
    return loaded


def on_board(loaded: Loaded, game: Game) -> Loaded:
    """Return a tower as one for the board of a game, since no weight depends on its size; others as they are."""
    from rookery.nets.files import Loaded
    from rookery.nets.tower import Tower, resized

    shape, network = game.observations.get(loaded.about.observation, ()), loaded.network
    if not isinstance(network, Tower) or len(shape) != 3 or shape[1:] == (network.config.rows, network.config.cols):
        return loaded
    other = resized(network, *shape[1:])
    return Loaded(other, other.config, loaded.about)


def taught_game(spec: str) -> str:
    """Return the name of a game from its spec, which may be that of a file; nothing is loaded."""
    name = spec.partition(":")[0]
    return Path(name).stem if name.endswith(".py") else name


def misfit(loaded: Loaded, game: Game) -> str:
    """Say why a network cannot play a game; nothing if it can.

    Options of the game may differ from those it was taught, as long as it sees and answers the same numbers.
    """
    about, config, kinds = loaded.about, loaded.config, game.observations
    if not about.game or not about.observation:
        return "its file does not say which game it was taught, and from which observations"
    if taught_game(about.game) not in (game.name, taught_game(game.path)):
        return f"it was taught {about.game}"
    if about.rules_version not in (0, game.version):  # 0: nobody knows
        return f"it was taught by version {about.rules_version} of the rules; this is version {game.version}"
    if about.observation not in kinds:
        return f"it reads observations {about.observation!r}; the game has {', '.join(kinds)}"
    if getattr(config, "side_token", False) and about.observation == "tokens":
        return "it reads who is to move from a token, and the observation 'tokens' does not tell; 'tokens_mover' does"
    numbers = 1
    for length in kinds[about.observation]:
        numbers *= length
    if config.inputs != numbers:
        return f"it reads {config.inputs} numbers; the observation {about.observation!r} has {numbers}"
    if config.actions != game.actions:
        return f"it knows {config.actions} actions; the game has {game.actions} (it was taught {about.game})"
    if config.kind in OTHER_PLAYERS:
        return f"it tells of points still to come, not of the end; it plays as {OTHER_PLAYERS[config.kind]}"
    return other_board(config, game)


def other_board(config: NetworkConfig, game: Game) -> str:
    """Say that a network is for a board of another shape, which may have as many squares and actions; or nothing."""
    mine, theirs = (tuple(getattr(each, side, None) for side in ("rows", "cols")) for each in (config, game))
    if None in mine or None in theirs or mine == theirs:
        return ""
    return f"it is for a board of {mine[0]} x {mine[1]}; the game's has {theirs[0]} x {theirs[1]}"
