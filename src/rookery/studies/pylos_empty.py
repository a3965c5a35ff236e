"""What a network thinks of the empty board: its value, and that after longer and longer searches.

Values are for the player who begins. Searches are those of the network's self-play without noise: a network taught with
a discount is searched with it, so a far win is worth less than 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from rookery.arena.evaluator import NetworkEvaluator
from rookery.arena.networks import network_for
from rookery.games.library import load
from rookery.learn.settings import RunSettings
from rookery.learn.spread import Say
from rookery.search.tree_settings import TreeSettings
from rookery.search.trees import Trees
from rookery.studies.pylos_exact import Tell, told

OFFICIAL = "pylos"
SIMULATIONS = (100, 1_000, 10_000)
LONGEST_LINE = 24  # moves that are written down


def searched(networks: Mapping[str, tuple[Path, RunSettings]], say: Say) -> dict[str, Any]:
    """Search the empty board of the official game; return the content of empty.json."""
    found = {}
    for name, (path, settings) in networks.items():
        found[name] = searched_by(path, settings, partial(told, say, 0, sum(SIMULATIONS), name))
    return {"networks": found}


def searched_by(path: Path, settings: RunSettings, tell: Tell) -> dict[str, Any]:
    """Search the empty board with one network."""
    game = load(OFFICIAL)
    loaded = network_for(str(path), game)
    evaluator = NetworkEvaluator(loaded.network, loaded.about.observation, cache=sum(SIMULATIONS))
    start, play = game.start(), settings.selfplay
    _, values = evaluator(start.observe(evaluator.kind).reshape(1, -1))
    searches: list[dict[str, Any]] = []
    for simulations in SIMULATIONS:
        made = TreeSettings(
            simulations=simulations, c=play.c, urgency=play.urgency, reduction=play.reduction, discount=play.discount
        )
        trees = Trees(game, made)
        trees.begin([start])
        trees.run(evaluator)
        analysis = trees.analysis(0)
        position, line = start.copy(), []
        for action in analysis.lines[0].moves[:LONGEST_LINE]:
            line.append(position.move_text(action))
            position.play(action)
        searches.append({"simulations": simulations, "value": analysis.value, "line": line})
        tell(sum(search["simulations"] for search in searches))
    return {
        "game": game.spec, "step": loaded.about.step, "network": float(values[0]), "searches": searches,
        "discount": play.discount,
    }  # fmt: skip
