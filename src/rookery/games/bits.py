"""Counting and finding bits of unsigned words, on the CPU and on a card.

LLVM's own operations serve both machines, so there is one implementation. In Python the functions work
on plain integers, so that rules can be stepped through without compiling.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload


@intrinsic
def count_ones(typing_context: Any, word: Any) -> Any:
    """Population count of an unsigned integer of any width."""
    if not isinstance(word, types.Integer):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        count = builder.ctpop(arguments[0])
        return context.cast(builder, count, word, types.int64)

    return types.int64(word), generate


@intrinsic
def count_trailing_zeros(typing_context: Any, word: Any) -> Any:
    """Number of zeros below the lowest one; the width of the word if there is none."""
    if not isinstance(word, types.Integer):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        count = builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))
        return context.cast(builder, count, word, types.int64)

    return types.int64(word), generate


@intrinsic
def count_leading_zeros(typing_context: Any, word: Any) -> Any:
    """Number of zeros above the highest one; the width of the word if there is none."""
    if not isinstance(word, types.Integer):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        count = builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))
        return context.cast(builder, count, word, types.int64)

    return types.int64(word), generate


@intrinsic
def swap_bytes(typing_context: Any, word: Any) -> Any:
    """The bytes of an integer in reverse order."""
    if not isinstance(word, types.Integer):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bswap(arguments[0])

    return word(word), generate


Word = Any  # an unsigned integer of fixed width; Any, because it is one of Numba's, not Python's


def popcount(word: Word) -> int:
    """Count the ones of an unsigned word."""
    return int(word).bit_count()


def lowest_bit(word: Word) -> int:
    """Return the index of the lowest one of an unsigned word, which must not be zero."""
    return (int(word) & -int(word)).bit_length() - 1


def highest_bit(word: Word) -> int:
    """Return the index of the highest one of a 64-bit word, which must not be zero."""
    return int(word).bit_length() - 1


def reverse_bytes(word: Word) -> Word:
    """Return the bytes of a 64-bit word in reverse order; on an 8 x 8 board, turn the rows upside down."""
    return int.from_bytes(int(word).to_bytes(8, "little"), "big")


overload(popcount)(lambda word: lambda word: count_ones(word))
overload(lowest_bit)(lambda word: lambda word: count_trailing_zeros(word))
overload(highest_bit)(lambda word: lambda word: 63 - count_leading_zeros(word))
overload(reverse_bytes)(lambda word: lambda word: swap_bytes(word))
