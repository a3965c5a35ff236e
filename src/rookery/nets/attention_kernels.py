"""Kernels for attention over the squares of a board and the board's own token, in Triton.

One program has one head of one position. All keys of the squares fit in it, so that a query's weights are known at
once: nothing is computed in turns, and backwards no two programs add to the same number. The board's token, the last,
is not part of the squares' products, whose sides are then powers of two: as a key it is one number for each query, as a
query one row.

Queries, keys and values are read where one product has put them, [N, T, 3, heads, width], and gradients are written
the same way. Sums are kept in single precision; logarithms and powers have base 2, which a card computes itself.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def mix_kernel(  # type: ignore[no-untyped-def]
    parted, mixed, sums, scale,
    tokens: tl.constexpr, heads: tl.constexpr, width: tl.constexpr, keys: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """Mix the values of one head of one position.

    parted  [N, tokens, 3, heads, width]  queries, keys, values
    mixed   [N, tokens, heads, width]     what comes out
    sums    [N, heads, tokens]            logarithms of each query's sum of powers, for the way back
    scale   width^-0.5, times that of a base other than 2
    keys    squares, rounded up to a power of two
    block   queries at once
    """
    row, head = tl.program_id(0) // heads, tl.program_id(0) % heads
    last: tl.constexpr = tokens - 1
    step: tl.constexpr = 3 * heads * width
    line: tl.constexpr = heads * width
    columns, places = tl.arange(0, width), tl.arange(0, keys)
    read = parted + row.to(tl.int64) * tokens * step + head * width + columns
    write = mixed + row.to(tl.int64) * tokens * line + head * width + columns
    sums += (row * heads + head) * tokens
    squares, known = places[:, None] * step, places[:, None] < last
    board_key = tl.load(read + line + last * step).to(tl.float32)
    board_value = tl.load(read + 2 * line + last * step).to(tl.float32)
    # the board's query
    query = tl.load(read + last * step).to(tl.float32)
    wide_key = tl.load(read + line + squares, known, 0.0).to(tl.float32)
    wide_value = tl.load(read + 2 * line + squares, known, 0.0).to(tl.float32)
    row_scores = tl.where(places < last, tl.sum(wide_key * query[None, :], 1) * scale, float("-inf"))
    board_score = tl.sum(query * board_key, 0) * scale
    row_highest = tl.maximum(tl.max(row_scores, 0), board_score)
    row_shares, board_share = tl.exp2(row_scores - row_highest), tl.exp2(board_score - row_highest)
    row_total = tl.sum(row_shares, 0) + board_share
    row_out = (tl.sum(row_shares[:, None] * wide_value, 0) + board_share * board_value) / row_total
    tl.store(write + last * line, row_out.to(mixed.dtype.element_ty))
    tl.store(sums + last, row_highest + tl.log2(row_total))
    # those of the squares
    key, value = tl.load(read + line + squares, known, 0.0), tl.load(read + 2 * line + squares, known, 0.0)
    for start in range(0, last, block):
        number = start + tl.arange(0, block)
        there = number[:, None] < last
        queries = tl.load(read + number[:, None] * step, there, 0.0)
        scores = tl.dot(queries, tl.trans(key))
        if keys != last:
            scores = tl.where(places[None, :] < last, scores, float("-inf"))
        beside = tl.sum(queries.to(tl.float32) * board_key[None, :], 1)
        highest = tl.maximum(tl.max(scores, 1), beside) * scale
        shares, beside = tl.exp2(scores * scale - highest[:, None]), tl.exp2(beside * scale - highest)
        total = tl.sum(shares, 1) + beside
        out = tl.dot(shares.to(value.dtype), value) + beside[:, None] * board_value[None, :]
        tl.store(write + number[:, None] * line, (out / total[:, None]).to(value.dtype), there)
        tl.store(sums + number, highest + tl.log2(total), number < last)


@triton.jit
def mix_back_kernel(  # type: ignore[no-untyped-def]
    parted, mixed, sums, gradient, found, scale, plain_scale,
    tokens: tl.constexpr, heads: tl.constexpr, width: tl.constexpr, keys: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """Find the gradients of one head of one position.

    gradient     [N, tokens, heads, width]     of what came out
    found        [N, tokens, 3, heads, width]  those for queries, keys and values
    plain_scale  width^-0.5; the others are as above
    """
    row, head = tl.program_id(0) // heads, tl.program_id(0) % heads
    last: tl.constexpr = tokens - 1
    step: tl.constexpr = 3 * heads * width
    line: tl.constexpr = heads * width
    columns, places = tl.arange(0, width), tl.arange(0, keys)
    begin, begin_out = row.to(tl.int64) * tokens * step + head * width, row.to(tl.int64) * tokens * line + head * width
    read, write = parted + begin + columns, found + begin + columns
    mixed, gradient = mixed + begin_out + columns, gradient + begin_out + columns
    sums += (row * heads + head) * tokens
    squares, known = places[:, None] * step, places[:, None] < last
    board_key = tl.load(read + line + last * step).to(tl.float32)
    board_value = tl.load(read + 2 * line + last * step).to(tl.float32)
    # the board's query: it begins what is added up for keys and values
    query, slope = tl.load(read + last * step).to(tl.float32), tl.load(gradient + last * line).to(tl.float32)
    row_through = tl.sum(slope * tl.load(mixed + last * line).to(tl.float32), 0)
    row_total = tl.load(sums + last)
    wide_key = tl.load(read + line + squares, known, 0.0).to(tl.float32)
    wide_value = tl.load(read + 2 * line + squares, known, 0.0).to(tl.float32)
    row_shares = tl.exp2(tl.sum(wide_key * query[None, :], 1) * scale - row_total)
    board_share = tl.exp2(tl.sum(query * board_key, 0) * scale - row_total)
    row_slopes = row_shares * (tl.sum(wide_value * slope[None, :], 1) - row_through)
    if keys != last:
        row_shares, row_slopes = tl.where(places < last, row_shares, 0.0), tl.where(places < last, row_slopes, 0.0)
    board_slope = board_share * (tl.sum(slope * board_value, 0) - row_through)
    to_row = (tl.sum(row_slopes[:, None] * wide_key, 0) + board_slope * board_key) * plain_scale
    tl.store(write + last * step, to_row.to(found.dtype.element_ty))
    to_keys, to_values = row_slopes[:, None] * query[None, :], row_shares[:, None] * slope[None, :]
    to_board_key, to_board_value = board_slope * query, board_share * slope
    # those of the squares: keys down, queries across
    key, value = tl.load(read + line + squares, known, 0.0), tl.load(read + 2 * line + squares, known, 0.0)
    for start in range(0, last, block):
        number = start + tl.arange(0, block)
        there = number[:, None] < last
        queries = tl.load(read + number[:, None] * step, there, 0.0)
        slopes_out = tl.load(gradient + number[:, None] * line, there, 0.0)
        wide_queries, wide_slopes_out = queries.to(tl.float32), slopes_out.to(tl.float32)
        through = tl.sum(wide_slopes_out * tl.load(mixed + number[:, None] * line, there, 0.0).to(tl.float32), 1)
        total = tl.load(sums + number, number < last, 0.0)
        shares = tl.exp2(tl.dot(key, tl.trans(queries)) * scale - total[None, :])
        if keys != last:
            shares = tl.where(known, shares, 0.0)
        to_values += tl.dot(shares.to(key.dtype), slopes_out)
        slopes = (shares * (tl.dot(value, tl.trans(slopes_out)) - through[None, :])).to(key.dtype)
        to_keys += tl.dot(slopes, queries)
        beside = tl.exp2(tl.sum(wide_queries * board_key[None, :], 1) * scale - total)
        beside_slope = beside * (tl.sum(wide_slopes_out * board_value[None, :], 1) - through)
        to_board_value += tl.sum(beside[:, None] * wide_slopes_out, 0)
        to_board_key += tl.sum(beside_slope[:, None] * wide_queries, 0)
        to_queries = tl.dot(tl.trans(slopes), key) + beside_slope[:, None] * board_key[None, :]
        tl.store(write + number[:, None] * step, (to_queries * plain_scale).to(key.dtype), there)
    tl.store(write + line + squares, (to_keys * plain_scale).to(key.dtype), known)
    tl.store(write + 2 * line + squares, to_values.to(key.dtype), known)
    tl.store(write + line + last * step, (to_board_key * plain_scale).to(key.dtype))
    tl.store(write + 2 * line + last * step, to_board_value.to(key.dtype))
