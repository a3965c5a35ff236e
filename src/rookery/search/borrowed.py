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
def borrowed(typing_context: Any, array: Any) -> Any:
    """Return the same array without an owner; it must be held by somebody else as long as this is used."""
    if not isinstance(array, types.Array):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = cgutils.create_struct_proxy(array)(context, builder, arguments[0])
        view.meminfo = cgutils.get_null_value(view.meminfo.type)
        return view._getvalue()

    return array(array), generate
