"""What networks read of Texas 42, told on a card: the same numbers as `rookery.search.texas42_batch`.

A world is 112 bytes, what the rules make of it 561 numbers: it is sooner told where the network is than sent there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import int8
from torch import Tensor

from rookery.games.texas42 import Texas42
from rookery.games.texas42_open import OPEN_FEATURES, OPEN_TOKENS, open_hands
from rookery.search.cuda import cuda, require_card

NUMBERS = OPEN_TOKENS * OPEN_FEATURES
LANES, WARPS = 32, 16


@cuda.jit(cache=True)
def open_tokens_on_card(states: Any, first: Any, tokens: Any) -> None:
    """Tell `open` of the positions from number `first` on, as many as there are tokens; behind the last it again.

    The lanes of a warp find the same number of 32 positions, so that they go the same ways through the rules. What they
    find goes to the card's memory in order: a position's numbers lie far from those of the next.
    """
    found = cuda.shared.array((LANES, NUMBERS), int8)
    begin = cuda.blockIdx.x * LANES
    row = min(first + begin + cuda.threadIdx.x, states.shape[0] - 1)
    for number in range(cuda.threadIdx.y, NUMBERS, WARPS):
        found[cuda.threadIdx.x, number] = open_hands(states[row], number)
    cuda.syncthreads()
    for here in range(cuda.threadIdx.y, min(LANES, tokens.shape[0] - begin), WARPS):
        for number in range(cuda.threadIdx.x, NUMBERS, LANES):
            tokens[begin + here, number] = found[here, number]


class OpenTokens:
    """Positions that lie on a card, and what is told of them."""

    def __init__(self, sent: Tensor):
        """Take the bytes of positions [N, size of a record] uint8, on the card."""
        require_card()
        self.sent = sent
        kind: np.dtype[Any] = Texas42().empty_states(0).dtype
        self.states = cuda.as_cuda_array(sent.view(-1)).view(kind)

    def __call__(self, first: int, last: int) -> Tensor:
        """Return the observations `open` [last - first, 33, 17] int8; behind the last position it is there again."""
        tokens = torch.empty(last - first, NUMBERS, dtype=torch.int8, device=self.sent.device)
        blocks = -(-len(tokens) // LANES)
        stream = cuda.external_stream(torch.cuda.current_stream().cuda_stream)
        open_tokens_on_card[blocks, (LANES, WARPS), stream](self.states, np.int64(first), cuda.as_cuda_array(tokens))
        return tokens.view(-1, OPEN_TOKENS, OPEN_FEATURES)
