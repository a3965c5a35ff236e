"""The original's training files, read as ours.

They have the sections `model`, `training`, `checkpoints` and `wandb`. Each key has one here; what was fixed in the
original's code (greedy removal, unvisited moves first, a quarter of noise) becomes a setting. docs/training.md lists
the mapping.
"""

from __future__ import annotations

from typing import Any

from rookery.errors import BadInput
from rookery.learn.complaints import in_one_message, meant, shown

OWN_CAP = 200  # plies after which our game is a draw unless it is told otherwise
WORKERS = 8  # games after which the original made `epochs_per_game` steps: one per worker process

SECTIONS = ("model", "training", "checkpoints", "wandb")
KEYS: dict[str, str] = {
    "model.hidden": "network.width",
    "model.num_blocks": "network.blocks",
    "model.value_hidden": "network.value_hidden",
    "model.policy_hidden": "network.policy_hidden",
    "model.rich_obs": "network.observation",
    "training.selfplay_games": "selfplay.games",
    "training.search_iterations": "selfplay.simulations",
    "training.batch_size": "training.batch",
    "training.replay_buffer_size": "training.replay",
    "training.epochs_per_game": "training.steps_per_game",
    "training.learning_rate": "training.learning_rate",
    "training.min_learning_rate": "training.least_learning_rate",
    "training.weight_decay": "training.weight_decay",
    "training.max_grad_norm": "training.gradient_norm",
    "training.value_loss_weight": "training.value_weight",
    "training.c_puct": "selfplay.c",
    "training.dirichlet_alpha": "selfplay.alpha",
    "training.temp_threshold": "selfplay.temperature_plies",
    "training.selfplay_batch_size": "selfplay.at_once",
    "training.max_moves": "selfplay.ply_limit",
    "training.repetition_limit": "selfplay.repetition_limit",
    "training.move_limit_draw_penalty": "selfplay.ply_limit_value",
    "training.repetition_draw_penalty": "selfplay.repetition_value",
    "checkpoints.save_every": "checkpoints.every",
    "checkpoints.eval_games": "checkpoints.rating_games",
    "checkpoints.dir": "folder",
    "checkpoints.resume_from": "",
    "wandb.enabled": "tracking.wandb",
    "wandb.project": "tracking.project",
}
"""the original's keys and ours"""

FIXED: dict[str, Any] = {
    "game": "pylos:removal=greedy",
    "network.kind": "residual",
    "network.observation": "basic",
    "selfplay.urgency": "infinite",
    "selfplay.noise": 0.25,
    "selfplay.alpha": 0.3,
    "selfplay.c": 1.5,
    "selfplay.temperature_plies": 15,
    "training.least_learning_rate": 1e-5,
    "training.gradient_norm": 0.0,
}
"""what the original did without being told, where our defaults differ or may come to differ"""

MEANINGS: dict[str, Any] = {
    "model.rich_obs": lambda rich: "rich" if rich else "basic",
    "training.epochs_per_game": lambda steps: steps / WORKERS,
}
"""how a value is turned into ours, where it is not the same"""


def is_original(values: dict[Any, Any]) -> bool:
    """Tell the original's files by keys that ours do not have; one that names a section of ours is ours."""
    if {"game", "network", "selfplay"} & set(values):
        return False
    return "model" in values or "wandb" in values or any(KEYS.get(key, key) != key for key in flat_keys(values))


def flat_keys(values: dict[Any, Any]) -> dict[str, Any]:
    """Return the keys of all sections by their paths, with their values."""
    flat: dict[str, Any] = {}
    for section, inside in values.items():
        if isinstance(inside, dict):
            flat |= {f"{section}.{key}": value for key, value in inside.items()}
        else:
            flat[str(section)] = inside
    return flat


def translated(values: dict[Any, Any], name: str) -> dict[Any, Any]:
    """Return the settings that one of the original's files stands for; refuse keys it does not have."""
    found = {key: value for key, value in flat_keys(values).items() if not (key in SECTIONS and value is None)}
    problems = [
        f"{key}: there is no such key in the original's files; {meant(key, [*KEYS])}"
        for key in found
        if key not in KEYS
    ]
    problems += refusals(found)
    if problems:
        raise BadInput(in_one_message(f"{name} (a file of the original)", problems))
    ours = dict(FIXED)
    for key, value in found.items():
        if KEYS[key] and not (key == "training.selfplay_batch_size" and value == 0):
            ours[KEYS[key]] = MEANINGS[key](value) if key in MEANINGS else value
    most = found.get("training.max_moves", 0)
    if type(most) is int and most > OWN_CAP:
        ours["game"] += f",ply_cap={most}"
    return nested(ours)


def refusals(found: dict[str, Any]) -> list[str]:
    """Say which values cannot be turned into ours."""
    problems = []
    rich, epochs = found.get("model.rich_obs", False), found.get("training.epochs_per_game", 4)
    if not isinstance(rich, bool):
        problems.append(f"model.rich_obs: must be true or false, not {shown(rich)}")
    if isinstance(epochs, bool) or not isinstance(epochs, int | float):
        problems.append(f"training.epochs_per_game: must be a number, not {shown(epochs)}")
    if found.get("checkpoints.resume_from"):
        told = "`rookery resume` goes on with a run; the weights of the original's runs can play, but not go on"
        problems.append(
            f"checkpoints.resume_from: must be empty, not {shown(found['checkpoints.resume_from'])}: {told}"
        )
    return problems


def nested(flat: dict[str, Any]) -> dict[Any, Any]:
    """Put values given by their paths into sections."""
    values: dict[Any, Any] = {}
    for path, value in flat.items():
        section, _, key = path.rpartition(".")
        (values.setdefault(section, {}) if section else values)[key] = value
    return values
