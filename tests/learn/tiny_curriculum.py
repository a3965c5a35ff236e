"""A curriculum so small that it takes some seconds."""

from __future__ import annotations

from pathlib import Path

import torch

from learn.tiny_imitation import TOWER
from rookery.learn.curriculum import Curriculum, Outcome
from rookery.learn.curriculum_settings import CurriculumSettings, read_curriculum

TINY = f"""
seed: 3
device: cpu
threads: 1
network: {TOWER}
stages:
  - name: 1a
    kind: imitation
    game: gomoku:size=5
    lessons: {{positions: 600, threads: 1}}
    training: {{batch: 32, passes: 4, learning_rate: 0.01}}
    until:
      {{plateau: {{of: loss, over: 1, gain: 100}}, beats: [{{player: random, share: 0.1}}], games: 4, simulations: 4}}
  - name: 2
    kind: selfplay
    game: gomoku:size=5
    selfplay: {{games: 40, at_once: 8, simulations: 4, random_plies: 2, urgency: parent}}
    training: {{batch: 16, replay: 300, steps_per_game: 0.5, symmetries: true}}
    checkpoints: {{every: 10, least_seconds: 0, keep: {{last: 3, every: 0}}}}
    gate: {{kind: share, games: 4, share: 0.5, simulations: 4}}
    until: {{plateau: {{of: elo, over: 2, gain: 1000}}, watched: [random], watched_games: 4, simulations: 4}}
  - name: 3
    kind: imitation
    game: gomoku:size=6
    lessons: {{positions: 600, threads: 1}}
    training: {{batch: 32, passes: 2}}
    until: {{games: 4, simulations: 4}}
"""
"""both kinds of stages, boards of two sizes, a gate, and every kind of condition"""


def tiny_file(folder: Path, text: str = TINY) -> Path:
    """Write the settings of a tiny curriculum into a folder and return the file."""
    path = folder / "stages.yaml"
    path.write_text(text)
    return path


def tiny_settings(folder: Path, *changes: str) -> CurriculumSettings:
    """Return the settings of a tiny curriculum."""
    return read_curriculum(tiny_file(folder), changes)


def worked(folder: Path, stop=lambda: False) -> Outcome:
    """Go on with a curriculum."""
    before = torch.get_num_threads()
    try:
        with Curriculum(folder) as curriculum:
            return curriculum.work(stop)
    finally:
        torch.set_num_threads(before)
