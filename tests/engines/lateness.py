"""How late the moves of an engine come."""

from __future__ import annotations


def check_in_time(late: list[float]) -> None:
    """See that 95 % of moves come in time; `late` are seconds after it, below 0 before it."""
    late = sorted(late)
    print(
        f"{len(late)} moves; the latest came {late[-1]:.3f} s after its time, half of them {late[len(late) // 2]:.3f} s"
    )
    assert late[len(late) * 95 // 100] < 0  # the rest may have waited for a core
