"""Arrays whose users are not counted.

Numba counts the users of an array with an atomic instruction whenever a variable names it, which in a loop over small
steps costs more than the steps. A walk that is handed arrays by its caller can do without: the caller holds them.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def borrowed(typing_context: Any, held: Any) -> Any:
    """Return an array, or a tuple of arrays, without an owner; somebody else must hold it as long as this is used."""
    if not isinstance(held, types.Array | types.BaseTuple):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return without_owner(context, builder, held, arguments[0])

    return held(held), generate


def without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Generate a copy of an array's description, or of all in a tuple, that names no owner."""
    if isinstance(kind, types.Array):
        view = cgutils.create_struct_proxy(kind)(context, builder, value)
        view.meminfo = cgutils.get_null_value(view.meminfo.type)
        return view._getvalue()
    if isinstance(kind, types.BaseTuple):
        for i, part in enumerate(kind):
            inside = without_owner(context, builder, part, builder.extract_value(value, i))
            value = builder.insert_value(value, inside, i)
    return value
