"""Records by address: stepping from one to its neighbours, and copying one.

A record in compiled code is an address. An array is more: its owner is counted, and a function that takes ten arrays
pays for ten counts at every call, which took half the time of a tree search. So search code takes the first record of
each array and reaches the others with `at`. The arrays must outlive the records; kernels hold them.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.core.cpu import CPUContext
from numba.extending import intrinsic

Record = Any  # an element of a structured array


@intrinsic
def at(typing_context: Any, record: Any, index: Any) -> Any:
    """Return the record `index` places behind a record of an array."""
    if not isinstance(record, types.Record) or not isinstance(index, types.Integer):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return step_by(builder, arguments[0], arguments[1], record.size)

    return record(record, types.intp), generate


def step_by(builder: Any, address: Any, index: Any, size: int) -> Any:
    """Generate address + index * size."""
    plain = builder.bitcast(address, ir.IntType(8).as_pointer())
    moved = builder.gep(plain, [builder.mul(index, ir.Constant(index.type, size))])
    return builder.bitcast(moved, address.type)


@intrinsic
def prefetch(typing_context: Any, record: Any) -> Any:
    """Ask for a record's memory ahead of its use; a card, whose threads wait for each other's memory, is not asked."""
    if not isinstance(record, types.Record):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if isinstance(context, CPUContext):
            ask_for(builder, arguments[0])
        return context.get_dummy_value()

    return types.void(record), generate


def ask_for(builder: Any, address: Any) -> None:
    """Generate the question for memory that is going to be written."""
    pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
    ask = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
    for_writing, keep, data = (ir.Constant(number, flag) for flag in (1, 3, 1))
    builder.call(ask, [builder.bitcast(address, pointer), for_writing, keep, data])


@intrinsic
def copy_of(typing_context: Any, record: Any) -> Any:
    """Return a copy that nothing else can write to, on a card the record itself.

    A compiler then need not read it again whenever something was written elsewhere.
    """
    if not isinstance(record, types.Record):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if not isinstance(context, CPUContext):
            return arguments[0]  # a copy for every lane would cost more
        with builder.goto_entry_block():
            copied = builder.alloca(arguments[0].type.pointee)
        copied.align = 16
        cgutils.raw_memcpy(builder, copied, arguments[0], ir.Constant(ir.IntType(64), record.size), 1, align=1)
        return copied

    return record(record), generate


def word_bytes(record_bytes: int) -> int:
    """Return the size of the largest word that records of so many bytes consist of."""
    return next(size for size in (8, 4, 2, 1) if record_bytes % size == 0)


def words_of(front: int, record_bytes: int) -> int:
    """Return how many words of a record hold so many bytes at its front."""
    return -(-front // word_bytes(record_bytes))


@intrinsic
def word_count(typing_context: Any, record: Any) -> Any:
    """Return how many words make up a record."""
    if not isinstance(record, types.Record):
        return None
    count = words_of(record.size, record.size)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.get_constant(types.intp, count)

    return types.intp(record), generate


@intrinsic
def copy_word(typing_context: Any, target: Any, source: Any, index: Any) -> Any:
    """Copy one word of a record to another record of the same kind."""
    if not isinstance(target, types.Record) or target != source:
        return None
    size = word_bytes(target.size)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(8 * size).as_pointer()
        to, origin = (step_by(builder, builder.bitcast(a, word), arguments[2], size) for a in arguments[:2])
        builder.store(builder.load(origin, align=size), to, align=size)
        return context.get_dummy_value()

    return types.void(target, source, types.intp), generate


@njit(cache=True, nogil=True)
def copy_front(target: Record, source: Record, words: int, lane: int, width: int) -> None:
    """Copy the first words of a record, the lanes taking them in turn."""
    for i in range(lane, words, width):
        copy_word(target, source, i)


@njit(cache=True, nogil=True)
def copy_record(target: Record, source: Record, lane: int, width: int) -> None:
    """Copy a record, the lanes taking its words in turn."""
    copy_front(target, source, word_count(source), lane, width)
