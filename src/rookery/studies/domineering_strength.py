"""Games between networks of the Domineering study, many side by side.

A network plays the legal move that its policy likes most; with more `candidates` it looks at so many moves it likes
most and plays the one after which its own value for the mover is best. Neither draws lots, so all difference between
games comes from their openings: random plies, the same for every match. Each opening is played twice, with the seats
swapped, and the two games count as one sample.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from rookery.arena.evaluator import on_threads
from rookery.games.options import whole_number
from rookery.nets.transformer import Transformer, masked
from rookery.search.domineering_guided import LONGEST
from rookery.studies.domineering_batches import (
    BOARD_TOKEN,
    MOVES,
    OPENING,
    SIDE,
    SQUARES,
    possible_moves,
    squares_of_moves,
    tokens_of,
)
from rookery.studies.intervals import pairs_estimate

AT_ONCE = {"cpu": 128, "cuda": 4096}
"""positions that a network judges together"""
HALF = MOVES // 2


def openings(count: int, seed: int) -> Tensor:
    """Draw boards [N, 256] after OPENING random plies, True where covered; the same on every machine."""
    whole_number("openings", count, 1, 1 << 20)
    random = torch.Generator().manual_seed(seed)
    covered = torch.zeros(count, SQUARES, dtype=torch.bool)
    for ply in range(OPENING):
        legal = legal_moves(covered, ply % 2)
        marks = torch.rand(legal.shape, generator=random).masked_fill(~legal, -1)
        played(covered, marks.argmax(1))
    return covered


def legal_moves(covered: Tensor, side: int) -> Tensor:
    """Return the moves [N, 480] of Vertical (0) or Horizontal (1)."""
    legal = possible_moves(~covered.view(-1, SIDE, SIDE))
    legal[:, (1 - side) * HALF : (2 - side) * HALF] = False
    return legal


def played(covered: Tensor, moves: Tensor) -> None:
    """Cover the squares of moves [N] on boards [N, 256]."""
    squares = torch.from_numpy(squares_of_moves()).to(covered.device)[moves]
    covered.scatter_(1, squares, True)


@dataclass(frozen=True)
class Mover:
    """A network that chooses moves."""

    network: Transformer
    candidates: int = 1

    @torch.no_grad()
    def moves(self, covered: Tensor, legal: Tensor, side: int) -> Tensor:
        """Choose a move for each board [N, 256], with at least one legal move each: [N]."""
        parts = parted(self.network, covered, legal)
        return torch.cat([self.some(boards, allowed, side) for boards, allowed in parts])

    def some(self, covered: Tensor, legal: Tensor, side: int) -> Tensor:
        """Choose moves for as many boards as go through the network at once."""
        policy = masked(self.judged(covered, side)[0], legal)
        if self.candidates == 1:
            return policy.argmax(1)
        moves = policy.topk(self.candidates, 1).indices
        after = covered.repeat_interleave(self.candidates, 0)
        played(after, moves.flatten())
        wins = torch.cat([self.judged(boards, 1 - side)[1] for (boards,) in parted(self.network, after)])
        own = wins.float() * (1 if side == 0 else -1)
        own = torch.where(legal_moves(after, 1 - side).any(1), own, torch.inf)  # who cannot move has lost
        own = own.view(moves.shape).masked_fill(~legal.gather(1, moves), -torch.inf)
        return moves.gather(1, own.argmax(1, keepdim=True)).squeeze(1)

    def judged(self, covered: Tensor, side: int) -> tuple[Tensor, Tensor]:
        """Return the policy [N, 480] and Vertical's chances, before the sigmoid [N]."""
        board = torch.full((len(covered),), BOARD_TOKEN + side, device=covered.device)
        tokens = tokens_of(covered, board if self.network.config.side_token else None)
        with torch.autocast("cuda", torch.bfloat16) if covered.is_cuda else nullcontext():
            found = self.network.heads(tokens)
        return found.policy, found.vertical_win_logit


def parted(network: Transformer, *tensors: Tensor) -> list[tuple[Tensor, ...]]:
    """Split boards, and what belongs to them, into as many as go through a network at once."""
    size = AT_ONCE.get(network.state_embed.weight.device.type, AT_ONCE["cpu"])
    return list(zip(*(torch.split(tensor, size) for tensor in tensors), strict=True))


def play(first: Mover, second: Mover, starts: Tensor) -> Tensor:
    """Play every opening twice; return whether the first network won, [N, 2]: as Vertical, then as Horizontal.

    On a CPU one thread plays: few boards are left in the end, and several threads would wait for each other.
    """
    with on_threads(1) if starts.device.type == "cpu" else nullcontext():
        return played_out(first, second, starts)


def played_out(first: Mover, second: Mover, starts: Tensor) -> Tensor:
    """Play every opening twice."""
    covered = starts.repeat(2, 1)
    count = len(starts)
    is_first = torch.arange(2 * count, device=covered.device) < count  # whether the first network is Vertical
    vertical_won = torch.zeros(2 * count, dtype=torch.bool, device=covered.device)
    going = torch.arange(2 * count, device=covered.device)
    for ply in range(OPENING, LONGEST + 1):
        side = ply % 2
        legal = legal_moves(covered[going], side)
        can = legal.any(1)
        vertical_won[going[~can]] = side == 1  # who cannot move has lost
        going, legal = going[can], legal[can]
        if not len(going):
            break
        for mover, turn in ((first, is_first[going] == (side == 0)), (second, is_first[going] != (side == 0))):
            if turn.any():
                boards = covered[going[turn]]
                played(boards, mover.moves(boards, legal[turn], side))
                covered[going[turn]] = boards
    return (vertical_won == is_first).view(2, count).T


def match_facts(won: Tensor) -> dict[str, Any]:
    """Return the result of a match from whether the first won, [N, 2]; its interval is over openings."""
    both, split, neither = (int((won.sum(1) == points).sum()) for points in (2, 1, 0))
    found = pairs_estimate(both, split, neither)
    return {
        "games": won.numel(), "score": found.mean, "low": max(0.0, found.low), "high": min(1.0, found.high),
        "as_vertical": float(won[:, 0].double().mean()), "as_horizontal": float(won[:, 1].double().mean()),
        "both": both, "split": split, "neither": neither,
    }  # fmt: skip
