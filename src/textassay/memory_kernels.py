"""Machine instructions that Python has no word for: 8-byte loads, prefetching, trailing zeros.

They exist for speed alone: a word's bytes are scanned, hashed and compared eight at a time, and a
matcher that runs several lanes asks for the next state of each lane before it needs it.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _item_pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    view = context.make_array(array_type)(context, builder, array)
    return cgutils.get_item_pointer(
        context, builder, array_type, view, [index], wraparound=False, boundscheck=False
    )


@intrinsic
def load_eight_bytes(typing_context: Any, buffer: Any, index: Any) -> Any:
    """Read buffer[index : index + 8] as one little-endian uint64, at any alignment.

    The caller keeps 8 bytes of padding behind the last index it asks for.
    """
    signature = types.uint64(buffer, types.intp)

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _item_pointer(context, builder, signature.args[0], *arguments)
        wide = builder.bitcast(pointer, ir.IntType(64).as_pointer())
        return builder.load(wide, align=1)

    return signature, code


@intrinsic
def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Ask for the cache line of array[index] of a one-dimensional array; never faults."""
    signature = types.void(array, types.intp)

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _item_pointer(context, builder, signature.args[0], *arguments)
        byte_pointer = builder.bitcast(pointer, ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [byte_pointer.type, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0")
        # read access, keep in all cache levels, data cache
        builder.call(function, [byte_pointer, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return signature, code


@intrinsic
def trailing_zeros(typing_context: Any, word: Any) -> Any:
    """How many of the lowest bits of a uint64 are 0 before the first 1; 64 if there is none."""
    signature = types.intp(types.uint64)

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(0))

    return signature, code
