"""Who plays best: the players of the three phases of the Domineering study against each other.

    alphabeta      phase 1: alpha-beta of 1 to 3 plies, without its random moves
    lookahead      phase 2: one move ahead, with the last network of phase 2
    lookahead1     the same with the network taught on phase 1 alone, which phase 2 began with
    rave           phase 3: RAVE with its network and so many simulations, always the most visited move

Each pair of them meets from random openings, every opening twice with colours swapped. Scores are points a game of the
first, with a 95 % interval by the openings.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import torch

from rookery.arena.evaluator import steady
from rookery.errors import BadInput
from rookery.games.options import whole_number
from rookery.nets.files import load_network
from rookery.search.domineering_boards import LONGEST_OPENING
from rookery.studies.domineering_bootstrap import FIRST_NETWORK, LAST_NETWORK
from rookery.studies.domineering_judge import BoardJudge, LookAhead
from rookery.studies.domineering_play import DUELS, AlphaBeta, Chooser, Tell, compare, derived_seed, nothing_told
from rookery.studies.domineering_rave import NETWORK, RavePlayer, RaveSettings, rows_for
from rookery.writing import write_whole

PLAYERS = ("rave", "lookahead", "lookahead1", "alphabeta")
USUAL = ("rave", "lookahead", "alphabeta")
RESULTS = "players.json"


def checked_players(names: Sequence[str]) -> tuple[str, ...]:
    """Refuse players that there are not, or one alone."""
    for name in names:
        if name not in PLAYERS:
            raise BadInput(f"--players {name}: the players there are: {', '.join(PLAYERS)}")
    if len(set(names)) != len(names) or len(names) < 2:
        raise BadInput(f"--players {','.join(names)}: a comparison needs two players or more, each named once")
    return tuple(names)


def player_of(
    name: str, folder: Path, device: torch.device, threads: int, rave: RaveSettings, positions: int
) -> Chooser:
    """Make a player by its name, from the networks in a folder of data."""
    if name == "alphabeta":
        return AlphaBeta(threads=threads)
    if name == "rave":
        network = load_network(folder / NETWORK).network
        return RavePlayer(BoardJudge(network, device, rows_for(device, positions)), rave, threads)
    network = load_network(folder / (LAST_NETWORK if name == "lookahead" else FIRST_NETWORK)).network
    return LookAhead(BoardJudge(network, device))


def compare_players(
    folder: Path,
    names: Sequence[str] = USUAL,
    openings: int = 200,
    plies: int = 10,
    seed: int = 0,
    device: torch.device | None = None,
    threads: int = 1,
    rave: RaveSettings | None = None,
    tell: Callable[[str], Tell] = lambda pair: nothing_told,
) -> dict[str, Any]:
    """Let all pairs of players meet, and write what came of it beside the data; return it."""
    whole_number("openings", openings, 1, 1_000_000)
    whole_number("plies of an opening", plies, 0, LONGEST_OPENING)
    device, how = device or torch.device("cpu"), rave or RaveSettings()
    players = {
        name: player_of(name, folder, device, threads, how, 2 * openings) for name in checked_players(names)
    }  # fmt: skip
    results = []
    with steady(device):
        for one, other in combinations(players, 2):
            pairs, records = compare(
                players[one], players[other], openings, plies, derived_seed(seed, DUELS), tell(f"{one} - {other}")
            )
            vertical = float(records.winners.mean())
            results.append({"first": one, "second": other, **pairs.facts(), "vertical": vertical})
    facts = {
        "seed": seed, "plies": plies, "device": device.type, "simulations": how.simulations, "results": results,
    }  # fmt: skip
    write_whole(folder / RESULTS, (json.dumps(facts, indent=1, allow_nan=False) + "\n").encode())
    return facts
