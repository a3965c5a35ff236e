"""What is measured of the chess study's network beside its games: its weight files, and what its layers show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from rookery.arena.evaluator import steady
from rookery.errors import BadInput
from rookery.lc0.evaluator import Evaluator, Judged
from rookery.lc0.evaluator import load as load_weights
from rookery.learn.spread import Say
from rookery.learn.weight_files import any_lc0_network, export_weights
from rookery.nets.lc0.numbers import ENCODINGS
from rookery.probes.chess_concepts import CONCEPTS, Concept, Found
from rookery.probes.lc0 import LayerScores, Positions, ProbeSettings, make_positions, probed
from rookery.studies.chess import Study
from rookery.studies.matches import mark
from rookery.studies.stages import keep_result, read_result

FILES, FILES_FOUND, PROBES = "files", "files.json", "probes.json"
SEED = 1


def probe_settings(study: Study) -> ProbeSettings:
    """Say at which positions the network is looked at."""
    return ProbeSettings(positions=study.preset.positions, seed=SEED, device=study.device)


def inputs_of(study: Study) -> dict[str, Any]:
    """Return what the results follow from."""
    return {"network": mark(study.network), "positions": study.preset.positions, "seed": SEED}


# ---- weight files --------------------------------------------------------------------------------


def weight_file(study: Study, encoding: str) -> Path:
    """Return where the network lies as a weight file."""
    return study.folder / FILES / f"chess-{encoding}.pb.gz"


def judged(evaluator: Evaluator, states: np.ndarray) -> Judged:
    """Let a network judge positions; on a processor always by the same sums."""
    with steady(evaluator.device):
        return evaluator.judge(states)


def apart(one: Judged, other: Judged) -> dict[str, float]:
    """Say how far two answers to the same positions are from each other."""
    legal = np.arange(one.logits.shape[1]) < one.counts[:, None]
    best, chosen = (np.where(legal, each.logits, -np.inf).argmax(1) for each in (one, other))
    return {
        "logit": float(abs(one.logits - other.logits)[legal].max()),
        "value": float(abs(one.q - other.q).max()),
        "same_move": float((best == chosen).mean()),
    }


def export(study: Study, say: Say) -> dict[str, Any]:
    """Write the network as weight files in every encoding, and compare each with it; what is there is not done again.

    All are judged by a processor in single precision, so that the encoding is all that differs.
    """
    inputs, found = inputs_of(study), files_found(study)
    if found is not None and all(weight_file(study, encoding).exists() for encoding in ENCODINGS):
        return found
    (study.folder / FILES).mkdir(parents=True, exist_ok=True)
    positions = make_positions(probe_settings(study), lambda count: say(count, study.preset.positions, "positions"))
    exact = judged(Evaluator(any_lc0_network(str(study.network)), remembered=0), positions.states)
    found = {"parameters": 0, "positions": len(positions.states), "encodings": {}}
    for number, encoding in enumerate(ENCODINGS, start=1):
        path = weight_file(study, encoding)
        found["parameters"] = export_weights(str(study.network), path, encoding)["parameters"]
        differences = apart(exact, judged(load_weights(path, remembered=0), positions.states))
        found["encodings"][encoding] = differences | {"bytes": path.stat().st_size}
        say(number, len(ENCODINGS), encoding)
    keep_result(study.folder / FILES_FOUND, inputs, found)
    return found


def files_found(study: Study) -> dict[str, Any] | None:
    """Return what is known of the weight files of the network that is there; without one, of the last there was."""
    return read_result(study.folder / FILES_FOUND, inputs_of(study) if study.networks() else None)


# ---- probes --------------------------------------------------------------------------------------


def told_concept(concept: Concept, found: Found, rows: list[LayerScores]) -> dict[str, Any]:
    """Return what was found of a concept, for JSON."""
    return {
        "says": concept.says, "truth": concept.truth, "samples": len(found.targets),
        "mean": float(found.targets.mean()), "layers": [asdict(row) for row in rows],
    }  # fmt: skip


def probe(study: Study, over: Callable[[], bool], say: Say) -> bool:
    """Probe the network for every concept that is missing; False if time was up before all were there."""
    inputs, found = inputs_of(study), probes_found(study) or {}
    missing = [concept for name, concept in CONCEPTS.items() if name not in found]
    if not missing:
        return True
    if over():
        return False
    settings, network = probe_settings(study), any_lc0_network(str(study.network))
    positions: Positions = make_positions(settings, lambda count: say(count, settings.positions, "positions"))
    for concept in missing:
        if over():
            return False
        say(len(found), len(CONCEPTS), concept.name)
        try:
            rows, asked = probed(network, concept, positions, settings)
            found[concept.name] = told_concept(concept, asked, rows)
        except BadInput as error:  # too few positions to tell anything apart
            found[concept.name] = {"says": concept.says, "truth": concept.truth, "refused": str(error), "layers": []}
        keep_result(study.folder / PROBES, inputs, found)
    return True


def probes_found(study: Study) -> dict[str, Any] | None:
    """Return what is known of the layers of the network that is there; without one, of the last there was."""
    return read_result(study.folder / PROBES, inputs_of(study) if study.networks() else None)
