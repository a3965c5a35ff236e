"""The settings of a run: one YAML file, checked before anything begins.

    settings = read_settings("pylos_v5", ["training.batch=512"])

Every problem of a file is told in one message, each with the path of its key, the value and what is allowed. Settings
that pass can be run: combinations that cannot are refused here, too.
"""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ValidationError, model_validator

from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.gomoku import Gomoku
from rookery.games.library import load
from rookery.games.options import given_path
from rookery.learn import original
from rookery.learn.complaints import in_one_message, problem_lines, shown
from rookery.learn.network_sections import NetworkSettings
from rookery.learn.sections import (
    CheckpointSettings,
    GateSettings,
    PlayingPrecision,
    Section,
    SelfplaySettings,
    Text,
    TrackingSettings,
    TrainingSettings,
    refuse,
    span,
)
from rookery.learn.yaml_text import read_yaml, yaml_text


class RunSettings(Section):
    """Everything that makes a run what it is."""

    game: Text
    """the game, as `rookery games` lists it: name, name:option=value,... or the path of a game file"""
    seed: Annotated[int, span(-(2**63), 2**63 - 1)] = 1
    """same seed, same run"""
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    """where the network runs; auto: a CUDA card, else Apple's, else the processor"""
    threads: Annotated[int, span(0, 1024)] = 0
    """processor threads; 0: as many as are fastest, measured when the run is made"""
    precision: PlayingPrecision = "auto"
    """numbers in which networks judge positions when they play: 32, bf16, or auto: bf16 on a CUDA card, else 32.
    Processors with instructions for bf16 are faster with it, others much slower"""
    folder: Text = ""
    """where the run is kept; empty: under runs/, by the name of its settings"""
    start: Text = ""
    """weights to begin with: a file, a run or zoo:NAME, the same network but for the board's size; empty: random"""
    network: NetworkSettings
    """the network"""
    selfplay: SelfplaySettings = SelfplaySettings()
    """how games are played"""
    training: TrainingSettings = TrainingSettings()
    """how the network learns from them"""
    checkpoints: CheckpointSettings = CheckpointSettings()
    """when networks are saved"""
    gate: GateSettings = GateSettings()
    """which network plays"""
    tracking: TrackingSettings = TrackingSettings()
    """where figures go besides the run's folder"""

    @model_validator(mode="after")
    def fits(self) -> RunSettings:
        """Refuse values that exclude each other, and what the game does not have."""
        steps, warmup = self.planned_steps, self.training.warmup_steps
        planned = f"{self.selfplay.games} games at {self.training.steps_per_game:g} steps a game"
        refuse(
            steps < 1 and f"training.steps_per_game: {planned} make no step at all",
            0 < steps <= warmup and f"training.warmup_steps: must be below the {steps} steps planned, not {warmup}",
            self.training.replay * self.selfplay.full_share < self.training.batch <= self.training.replay
            and f"training.replay: must be at least {math.ceil(self.training.batch / self.selfplay.full_share)}, since "
            f"only a share of {self.selfplay.full_share:g} (selfplay.full_share) is taught, not {self.training.replay}",
            self.training.precision == "tf32"
            and self.device in ("cpu", "mps")
            and f"training.precision: tf32 needs a CUDA card; device is {self.device}",
            self.selfplay.opponent_taught
            and self.training.root_value_share
            and "training.root_value_share: must be 0 where selfplay.opponent_taught is true, since its moves come "
            f"without a value, not {self.training.root_value_share:g}",
            *self.game_problems(),
        )
        return self

    def game_problems(self) -> list[str]:
        """Say what these settings ask for and the game does not have."""
        try:
            game = load(self.game)
        except BadInput as error:
            return [f"game: {error}"]
        play, longest = self.selfplay, self.selfplay.ply_limit or game.longest
        symmetries = game.symmetries() if self.training.symmetries else None
        found = [*network_problems(self.network, game), *muon_problems(self.network, self.training.muon)]
        if symmetries and (len(symmetries) == 1 or self.network.observation not in symmetries.observations):
            found.append(f"training.symmetries: must be false, since {game.label} has none")
        if play.ply_limit > game.longest:
            found.append(
                f"selfplay.ply_limit: must be at most {game.longest}, after which {game.label} ends by itself, "
                f"not {play.ply_limit}"
            )
        found += fours_problems(play, game)
        most_middle = game.size if isinstance(game, Gomoku) and game.opening == "none" else 0
        if play.random_middle > most_middle:
            most = f"at most {most_middle}" if most_middle else "0"
            found.append(f"selfplay.random_middle: must be {most} in {game.label}, not {play.random_middle}")
        if play.random_plies >= longest:
            found.append(f"selfplay.random_plies: must be below {longest}, the longest game, not {play.random_plies}")
        return found + opponent_problems(play.opponent, game)

    @property
    def planned_steps(self) -> int:
        """Gradient steps of the whole run."""
        return self.training.steps_after(self.selfplay.games)


def fours_problems(play: SelfplaySettings, game: Game) -> list[str]:
    """Say why wins by fours cannot be looked for in self-play."""
    if not play.fours:
        return []
    from rookery.search.gomoku_fours import refuse_other_games

    try:
        refuse_other_games(game)
    except BadInput as error:
        return [f"selfplay.fours: {error}"]
    return []


def opponent_problems(text: str, game: Game) -> list[str]:
    """Say why a player cannot hold the other side of a game; whether its file or program is there is seen later."""
    from rookery.arena.kinds import check_fit
    from rookery.arena.players import FORMS, KINDS
    from rookery.arena.texts import read_text

    try:
        if text:
            given = read_text(text, FORMS)
            check_fit(KINDS[given.form.name], given, game, whole=False)
            if given.form.name == "human":
                raise BadInput(f"player {text!r} is a person, who cannot play many games at once")
    except BadInput as error:
        return [f"selfplay.opponent: {error}"]
    return []


def network_problems(network: NetworkSettings, game: Game) -> list[str]:
    """Say why a network cannot play a game."""
    if network.observation not in game.observations:
        kinds = ", ".join(game.observations)
        return [f"network.observation: must be one of {kinds}, which {game.label} offers, not {network.observation!r}"]
    shape = game.observations[network.observation]
    if network.kind == "lc0" and not (game.name == "chess" and shape == (112, 8, 8)):
        return [
            f"network.kind: a network of kind lc0 reads Lc0's planes of chess, not {network.observation!r} of "
            f"{game.label}"
        ]
    if network.kind != "tower":
        return []
    if len(shape) != 3:
        return [
            f"network.kind: a tower needs an observation of planes; {network.observation!r} of {game.label} has the "
            f"shape {shape}"
        ]
    if game.actions < shape[1] * shape[2]:
        return [f"network.kind: a tower has an action for each cell; {game.label} has {game.actions} actions"]
    return []


def muon_problems(network: NetworkSettings, muon: float) -> list[str]:
    """Say why a network has no use for Muon."""
    blocks = len(network.hidden) - 1 if network.kind == "perceptron" else getattr(network, "blocks", 1)
    if muon and not blocks:
        return [f"training.muon: must be 0, since the network has no matrix between hidden units, not {muon:g}"]
    return []


def network_values(network: NetworkSettings, game: Game) -> dict[str, Any]:
    """Return what a network's own configuration says: its settings, with the sizes that follow from the game."""
    shape = game.observations[network.observation]
    values = network.model_dump(exclude={"observation", "preset"})
    if network.kind == "tower":
        planes, rows, cols = shape
        per_cell, extra = divmod(game.actions, rows * cols)
        sizes = {"planes": planes, "rows": rows, "cols": cols, "policy_planes": per_cell, "extra_actions": extra}
        return values | sizes
    if network.kind == "lc0":
        return values
    inputs = 1
    for length in shape:
        inputs *= length
    return values | {"inputs": inputs, "actions": game.actions}


# ---- reading -------------------------------------------------------------------------------------


RUNS, CURRICULA = "configs", "curricula"
"""folders in which settings come with the package: of runs, and of runs in stages"""


def packaged_names(folder: str = RUNS) -> list[str]:
    """List the settings of a folder that come with the package."""
    files = (path.name for path in packaged_folder(folder).iterdir())
    return sorted(name.removesuffix(".yaml") for name in files if name.endswith(".yaml"))


def packaged_folder(folder: str = RUNS) -> Any:
    """Return where settings of the package lie."""
    return resources.files("rookery") / "studies" / folder


def read_settings(source: str | os.PathLike[str], overrides: Sequence[str] = ()) -> RunSettings:
    """Read settings from a file or by the name of packaged ones, each override being `section.key=value`.

    The original's files are understood, too; overrides use our names for them as well.
    """
    name, text = settings_text(os.fspath(source))
    values = read_yaml(text, name)
    if not isinstance(values, dict):
        told = "empty" if values is None else f"one value, {shown(values)}"
        raise BadInput(f"{name} is {told}; it should hold the keys {', '.join(RunSettings.model_fields)}")
    origins: dict[str, str] = {}
    if original.is_original(values):
        values = original.translated(values, name)
        origins = {ours: f"{key} in the file" for key, ours in original.KEYS.items() if ours}
    for override in overrides:
        origins[override_values(values, override)] = f"from --set {override}"
    return check_settings(values, name, origins)


def settings_text(source: str) -> tuple[str, str]:
    """Return what to call settings in an error, and their text."""
    path, stem = given_path(source), source.removesuffix(".yaml")
    try:
        for folder in (RUNS, CURRICULA) if not path.is_file() else ():
            if stem in packaged_names(folder):
                return stem, (packaged_folder(folder) / f"{stem}.yaml").read_text(encoding="utf-8")
        return source, path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{source} is no text: byte {error.start} is not UTF-8") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        names = ", ".join(packaged_names() + packaged_names(CURRICULA))
        raise BadInput(f"the settings {source!r} cannot be read: {reason}; give a file, or one of {names}") from None


def override_values(values: Any, override: str) -> str:
    """Put one `section.key=value` in its place and return the path of its key; part of a list is told by its name."""
    path, equals, text = override.partition("=")
    keys = path.strip().split(".")
    if not equals or not all(keys):
        raise BadInput(f"--set {override!r} should read section.key=value, such as training.batch=512")
    for depth, key in enumerate(keys[:-1], start=1):
        above, values = values, own_part(values, key)
        if values is None and isinstance(above, list):
            names = ", ".join(str(part.get("name")) for part in above if isinstance(part, dict))
            where = ".".join(keys[: depth - 1])
            raise BadInput(f"--set {override!r}: {where} has nothing named {key}; it has {names or 'nothing'}")
        last = depth == len(keys) - 1
        if not isinstance(values, dict if last else dict | list):
            raise BadInput(f"--set {override!r}: {'.'.join(keys[:depth])} is {shown(values)} and has no keys")
    values[keys[-1]] = read_yaml(text, f"--set {override!r}")
    return ".".join(keys)


def own_part(values: Any, key: str) -> Any:
    """Return a part by its key, or that of a list by its name, to be changed: a copy, since an anchor may share it."""
    if isinstance(values, dict):
        values[key] = copy.copy(values.get(key, {}))
        return values[key]
    for number, part in enumerate(values):
        if isinstance(part, dict) and str(part.get("name")) == key:
            values[number] = dict(part)
            return values[number]
    return None


def check_settings(values: dict[Any, Any], name: str, origins: dict[str, str] | None = None) -> RunSettings:
    """Make settings of plain values, or tell everything that is wrong with them.

    `origins` says of a key, by its path, where it came from if that is not plain.
    """
    try:
        return RunSettings.model_validate(values)
    except ValidationError as error:
        raise BadInput(in_one_message(name, problem_lines(error, RunSettings, origins or {}))) from None


# ---- writing -------------------------------------------------------------------------------------


def settings_yaml(settings: RunSettings) -> str:
    """Write settings as YAML that reads back equal."""
    return yaml_text(settings.model_dump(mode="json"))


def write_settings(settings: RunSettings, path: str | os.PathLike[str]) -> None:
    """Write settings to a file, whole or not at all."""
    from rookery.arena.exports import write_whole

    write_whole(Path(path), settings_yaml(settings))
