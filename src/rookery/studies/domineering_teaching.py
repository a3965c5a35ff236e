"""Teaching a tower what the games of the Domineering study came to, and the moves that were played.

The value learns who won, from the mover's side; the policy, where it is taught, the moves that were not drawn at
random. Positions begin behind the random opening and come in all eight symmetries: the four that keep vertical dominoes
vertical are drawn for each position, and the second half of every batch is turned on its diagonal, which swaps the
players.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from rookery.games.library import load
from rookery.nets.configs import TowerConfig
from rookery.nets.files import About
from rookery.nets.network import Network
from rookery.nets.residual import build
from rookery.nets.tower import Tower
from rookery.studies.domineering_batches import MOVES, SIDE, SQUARES, Batch, GameTable, Positions
from rookery.studies.domineering_files import GameRecords
from rookery.studies.domineering_judge import PLANES, planes_of
from rookery.studies.domineering_play import Tell, nothing_told
from rookery.studies.order import Order

WEIGHT_DECAY = 0.01
WARMING = 50
"""steps in which the rate of learning rises"""
MOST_MEASURED = 100_000
"""positions that a loss is measured on at most"""


@dataclass(frozen=True)
class Lesson:
    """How a tower is taught."""

    passes: int
    """over all positions"""
    rate: float
    """highest rate of learning; it falls to 0 along a cosine"""
    batch: int = 2048
    policy: float = 0.0
    """weight of the policy's loss; 0 teaches the value alone"""


@dataclass(frozen=True)
class Mark:
    """How well a tower knows some games."""

    positions: int
    loss: float
    """mean cross-entropy of the value"""
    accuracy: float
    """share of positions whose winner it finds"""


def new_tower(width: int, blocks: int, seed: int) -> Tower:
    """Make a tower for 16 x 16 Domineering with random weights."""
    config = TowerConfig(
        planes=PLANES, rows=SIDE, cols=SIDE, policy_planes=2, pairs=True, width=width, blocks=blocks,
        policy_hidden=min(width, 32), value_hidden=64,
    )  # fmt: skip
    network = build(config, seed)
    assert isinstance(network, Tower)
    return network


def about_tower(games: int, notes: str) -> About:
    """Say what such a tower was taught."""
    game = load("domineering")
    return About(game=game.spec, rules_version=game.version, observation="planes", step=games, notes=notes)


# ---- what is asked and answered ------------------------------------------------------------------


def questions(batch: Batch, turn: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return planes, whether the mover wins, moves played and legal moves of a batch built with a side token.

    turn  whether the second half of it is turned on its diagonal
    """
    covered, vertical = batch.tokens[:, :SQUARES].bool(), batch.tokens[:, SQUARES] == 2
    wins = torch.where(vertical, batch.value, 1 - batch.value)
    moves, legal = batch.policy, batch.legal
    if turn:
        half = len(batch) // 2
        turned = covered[half:].view(-1, SIDE, SIDE).mT.flatten(1)
        covered = torch.cat((covered[:half], turned))
        vertical = torch.cat((vertical[:half], ~vertical[half:]))
        moves = torch.cat((moves[:half], (moves[half:] + MOVES // 2) % MOVES))
        legal = torch.cat((legal[:half], legal[half:].roll(MOVES // 2, 1)))
    return planes_of(covered, vertical), wins, moves, legal


def answers(network: Tower, planes: Tensor) -> tuple[Tensor, Tensor]:
    """Return logits of moves, and the logit of the mover's win: twice the value before its tanh."""
    logits, score = network.scored(planes.flatten(1))
    return logits, 2 * score.float()


def loss_of(network: Tower, batch: Batch, policy: float) -> Tensor:
    """Return what is minimised."""
    planes, wins, moves, legal = questions(batch, turn=True)
    logits, wins_logit = answers(network, planes)
    loss = functional.binary_cross_entropy_with_logits(wins_logit, wins)
    if policy:
        masked = logits.float().masked_fill(~legal, -torch.inf)
        each = functional.cross_entropy(masked, moves, reduction="none")
        loss = loss + policy * each.masked_fill(batch.explored, 0).mean()
    return loss


# ---- teaching and measuring ----------------------------------------------------------------------


@contextmanager
def autocast(device: torch.device) -> Iterator[None]:
    """Compute in bfloat16 on a card."""
    with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        yield


def teach(
    network: Network, records: GameRecords, lesson: Lesson, seed: int, device: torch.device, tell: Tell = nothing_told
) -> Tower:
    """Teach a tower the games of the training part, in place; return it, on the CPU and ready for judging."""
    assert isinstance(network, Tower)
    positions = Positions(GameTable(records, device), "train", side_token=True)
    if len(positions) == 0:
        return network.eval()
    order = Order(len(positions), min(lesson.batch, len(positions)), seed, device)
    steps = lesson.passes * order.steps
    network.to(device, memory_format=torch.channels_last).train()  # type: ignore[call-overload]
    optimizer = torch.optim.AdamW(network.parameters(), lr=lesson.rate, weight_decay=WEIGHT_DECAY)
    for step in range(steps):
        if step % 50 == 0:
            tell(step / steps, f"step {step} of {steps}")
        for group in optimizer.param_groups:
            group["lr"] = lesson.rate * pace(step, steps)
        optimizer.zero_grad(set_to_none=True)
        with autocast(device):
            loss = loss_of(network, positions.batch(*order.at(step)), lesson.policy)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    network.to("cpu", memory_format=torch.contiguous_format)  # type: ignore[call-overload]
    return network.eval()


def pace(step: int, steps: int) -> float:
    """Return the share of the highest rate at a step: it rises, then falls along a cosine."""
    rising = min(WARMING, max(1, steps // 10))
    return min(1.0, (step + 1) / rising) * 0.5 * (1 + math.cos(math.pi * step / steps))


@torch.no_grad()
def measured(network: Network, records: GameRecords, device: torch.device) -> Mark:
    """Tell how well a tower knows who won the games of the validation part."""
    assert isinstance(network, Tower)
    positions = Positions(GameTable(records, device), "valid", side_token=True)
    network.to(device).eval()
    loss = torch.zeros((), dtype=torch.float64)
    right, count = 0, 0
    for some in positions.in_order(4096):
        planes, wins, _, _ = questions(some, turn=False)
        logit = answers(network, planes)[1]
        loss += functional.binary_cross_entropy_with_logits(logit, wins, reduction="sum").cpu()
        right += int(((logit > 0) == (wins > 0.5)).sum())
        count += len(some)
        if count >= MOST_MEASURED:
            break
    network.to("cpu")
    return Mark(count, float(loss) / max(count, 1), right / max(count, 1))
