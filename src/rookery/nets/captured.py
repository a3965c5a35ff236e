"""A folded network captured in a CUDA graph: one launch instead of dozens.

    pass_ = Captured(fold(network, "cuda", torch.bfloat16), rows=4096)
    pass_.static_input.copy_(observations)     # or let a kernel write there
    pass_.replay()
    pass_.static_logits, pass_.static_values   # on the card, until the next replay

Nothing here waits for the card. A caller with a graph of its own captures the folded network itself, which is a plain
function. `Folded.update` changes weights in place, so a graph goes on with the new ones.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from rookery.nets.folded import Folded

WARMING = 3  # passes before capturing, in which libraries choose their kernels and take their memory


def new_stream() -> torch.cuda.Stream:
    """Make a stream beside the present one."""
    make: Callable[[], torch.cuda.Stream] = torch.cuda.Stream
    return make()


def captured(work: Callable[[], object], warming: int = WARMING) -> torch.cuda.CUDAGraph:
    """Capture work that always does the same on the same memory, after doing it on a stream aside as that demands.

    warming  how often; work that may not be done for nothing has to be warmed up by its caller, in another way
    """
    aside, present = new_stream(), torch.cuda.current_stream()
    aside.wait_stream(present)
    with torch.cuda.stream(aside):
        for _ in range(warming):
            work()
    present.wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):  # other threads may use the card
        work()
    return graph


class Captured:
    """One pass over a fixed number of rows."""

    def __init__(self, folded: Folded, rows: int, device: torch.device | str = "cuda"):
        """Capture a pass; the answers of rows that were not written are those of whatever stands there."""
        self.folded, self.rows = folded, rows
        self.static_input = torch.zeros(rows, folded.config.inputs, device=device)
        with torch.cuda.device(self.static_input.device):
            self.graph = captured(self.work)

    def work(self) -> None:
        """Judge, into memory that is the graph's own."""
        self.static_logits, self.static_values = self.folded(self.static_input)

    def replay(self) -> None:
        """Judge what stands in `static_input`; the answers stand in `static_logits` and `static_values`."""
        self.graph.replay()
