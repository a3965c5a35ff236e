"""Kernels for attention over a few tokens, in Triton.

One program has one head of one row, all of it in registers: shares are computed anew on the way back, where nothing is
read but what went in and the gradient of what came out. No two programs write to the same number. Queries, keys and
values are read where one product has put them, [N, T, 3, heads, width], and gradients are written the same way. Sums
are kept in single precision; powers have base 2, which a card computes itself.
"""

from __future__ import annotations

import triton
import triton.language as tl

HIDDEN = tl.constexpr(-1.0e30)
"""the score of a key that is not seen: no share, and where none is seen (behind the last token) no nonsense either"""
BASE = tl.constexpr(1.4426950408889634)
"""the logarithm of e with base 2"""


@triton.jit
def shares_of(  # type: ignore[no-untyped-def]
    query, key, mask, mask_step, scale, places, tokens: tl.constexpr, masked: tl.constexpr
):  # fmt: skip
    """Return the share of each key in each query."""
    scores = tl.dot(query, tl.trans(key)) * (scale * BASE)
    sees = places[None, :] < tokens
    if masked:
        inside = (places[:, None] < tokens) & sees
        sees = tl.load(mask + places[:, None] * mask_step + places[None, :], inside, 0) != 0
    scores = tl.where(sees, scores, HIDDEN)
    powers = tl.exp2(scores - tl.max(scores, 1)[:, None])
    return powers / tl.sum(powers, 1)[:, None]


@triton.jit
def mix_few_kernel(  # type: ignore[no-untyped-def]
    parted, mask, mask_row, mask_step, scale, mixed,
    tokens: tl.constexpr, heads: tl.constexpr, width: tl.constexpr, size: tl.constexpr, masked: tl.constexpr,
):  # fmt: skip
    """Mix the values of one head of one row.

    parted  [N, tokens, 3, heads, width]  queries, keys, values
    mask    uint8, 1 where a query sees a key; `mask_row` and `mask_step` lead to the next row and the next query
    scale   width^-0.5
    mixed   [N, tokens, heads, width]     what comes out
    size    tokens, rounded up to a power of two
    """
    row, head = (tl.program_id(0) // heads).to(tl.int64), tl.program_id(0) % heads
    line: tl.constexpr = heads * width
    places, columns = tl.arange(0, size), tl.arange(0, width)
    there = places[:, None] < tokens
    read = parted + row * tokens * 3 * line + head * width + places[:, None] * 3 * line + columns[None, :]
    query, key = tl.load(read, there, 0.0), tl.load(read + line, there, 0.0)
    value = tl.load(read + 2 * line, there, 0.0)
    shares = shares_of(query, key, mask + row * mask_row, mask_step, scale, places, tokens, masked)
    out = tl.dot(shares.to(value.dtype), value).to(value.dtype)
    write = mixed + row * tokens * line + head * width + places[:, None] * line + columns[None, :]
    tl.store(write, out, there)


@triton.jit
def mix_few_back_kernel(  # type: ignore[no-untyped-def]
    parted, mask, mask_row, mask_step, scale, gradient, found,
    tokens: tl.constexpr, heads: tl.constexpr, width: tl.constexpr, size: tl.constexpr, masked: tl.constexpr,
):  # fmt: skip
    """Find the gradients of one head of one row.

    gradient  [N, tokens, heads, width]     of what came out
    found     [N, tokens, 3, heads, width]  those for queries, keys and values; the others are as above
    """
    row, head = (tl.program_id(0) // heads).to(tl.int64), tl.program_id(0) % heads
    line: tl.constexpr = heads * width
    places, columns = tl.arange(0, size), tl.arange(0, width)
    there = places[:, None] < tokens
    begin = row * tokens * 3 * line + head * width + places[:, None] * 3 * line + columns[None, :]
    read, write = parted + begin, found + begin
    query, key = tl.load(read, there, 0.0), tl.load(read + line, there, 0.0)
    value = tl.load(read + 2 * line, there, 0.0)
    slope = tl.load(
        gradient + row * tokens * line + head * width + places[:, None] * line + columns[None, :], there, 0.0
    )
    shares = shares_of(query, key, mask + row * mask_row, mask_step, scale, places, tokens, masked)
    tl.store(write + 2 * line, tl.dot(tl.trans(shares.to(slope.dtype)), slope).to(slope.dtype), there)
    to_shares = tl.dot(slope, tl.trans(value))
    slopes = shares * (to_shares - tl.sum(shares * to_shares, 1)[:, None]) * scale
    slopes = slopes.to(key.dtype)
    tl.store(write, tl.dot(slopes, key).to(key.dtype), there)
    tl.store(write + line, tl.dot(tl.trans(slopes), query).to(key.dtype), there)
