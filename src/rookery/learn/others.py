"""Many processes that learn as one: each makes the step on its share of the batch, gradients are averaged.

    with accompanied(trainer, 4):
        trainer.train(first, count)

The trainer's process has the replay and all that is saved. Beside it run others, each on a card of its own or on the
processor, that hold the network and the optimiser alone: they are sent their share of every batch, and since all have
the same averaged gradients (DDP, by Lightning Fabric), all have the same weights after each step. BatchNorms see the
share only.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from multiprocessing import connection
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, distributed

from rookery.errors import BadInput
from rookery.learn.replay import Batch
from rookery.learn.sections import TrainingSettings
from rookery.learn.spread import leave_with_parent
from rookery.nets.configs import NetworkConfig
from rookery.nets.network import Network
from rookery.nets.residual import build

if TYPE_CHECKING:
    from rookery.learn.trainer import Trainer

HERE = "127.0.0.1"


def meeting_point(processes: int, port: int = 0) -> Any:
    """Return where processes find each other: a port of this machine; without one, a free port is opened."""
    group: Any = distributed  # its types do not name what it has from C++
    return group.TCPStore(HERE, port, processes, is_master=port == 0, wait_for_workers=False)


def join_group(device: str, processes: int, rank: int, store: Any) -> None:
    """Let this process be one of several that compute together; blocks until all are there."""
    if sys.platform == "linux":
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # all are on this machine, whatever its name may mean
    backend = "nccl" if device == "cuda" else "gloo"
    distributed.init_process_group(backend, store=store, rank=rank, world_size=processes)


def fabric_of(device: str, processes: int, rank: int) -> Any:
    """Return what Lightning Fabric knows of a group that was joined."""
    from lightning_fabric import Fabric
    from lightning_fabric.plugins.environments.lightning import LightningEnvironment
    from lightning_fabric.strategies.ddp import DDPStrategy

    class Ranks(LightningEnvironment):
        """Processes that were started by somebody else, all on this machine."""

        creates_processes_externally = True

        def local_rank(self) -> int:
            return rank

        def node_rank(self) -> int:
            return 0

    strategy = DDPStrategy(cluster_environment=Ranks())
    fabric = Fabric(accelerator=device, devices=processes, strategy=strategy)
    fabric.launch()
    return fabric


class Shared:
    """A network that several processes teach: their gradients are averaged in the backward pass."""

    def __init__(self, fabric: Any, network: Network, optimizer: torch.optim.Optimizer):
        self.fabric = fabric
        self.module = fabric.setup_module(network)  # sends the weights of the first process to all
        self.module.mark_forward_method("taught")
        memory = fabric.broadcast(optimizer.state_dict())
        if fabric.global_rank:
            optimizer.load_state_dict(memory)

    def taught(self, observations: Tensor) -> Any:
        """Return what the network says."""
        return self.module.taught(observations)

    def backward(self, loss: Tensor) -> None:
        """Compute gradients, averaged over all processes."""
        self.fabric.backward(loss)

    def share(self, batch: Batch | None, shapes: list[tuple[torch.Size, torch.dtype]]) -> Batch:
        """Send every process its share of a batch, which the first one has, and return that of this process."""
        parts = []
        for place, (shape, kind) in enumerate(shapes):
            part = torch.empty(shape, dtype=kind, device=self.fabric.device)
            whole = None if batch is None else [*batch[place].to(kind).chunk(self.fabric.world_size)]
            distributed.scatter(part, whole)
            parts.append(part)
        shared = Batch(*parts)
        return shared._replace(legal=shared.legal.bool())

    def mean(self, losses: Tensor) -> Tensor:
        """Average losses over all processes."""
        averaged: Tensor = self.fabric.all_reduce(losses, reduce_op="mean")
        return averaged


class Others:
    """The processes beside a trainer's."""

    shared: Shared
    shapes: list[tuple[torch.Size, torch.dtype]]
    left_waiting = False
    """whether a thread of this process waits for one that was lost"""

    def __init__(self, trainer: Trainer, processes: int):
        """Make ready; nothing is started before `begin`."""
        self.trainer, self.processes = trainer, processes
        self.running: list[Any] = []
        self.pipes: list[connection.Connection] = []

    def begin(self) -> None:
        """Start the processes and have them all meet; whatever goes wrong, `close` ends those that were started."""
        if Others.left_waiting:
            raise BadInput(f"{self.too_early}, in an earlier attempt; begin again in a new process")
        trainer, kind = self.trainer, self.trainer.device.type
        store = meeting_point(self.processes)
        for rank in range(1, self.processes):
            self.start(rank, store.port)
        self.await_all()
        self.meet(store)
        self.shared = Shared(fabric_of(kind, self.processes, 0), trainer.network, trainer.optimizer)

    def start(self, rank: int, port: int) -> None:
        """Start a process."""
        trainer, context = self.trainer, multiprocessing.get_context("spawn")
        pipe, theirs = context.Pipe()
        process = context.Process(
            target=accompany, daemon=True,
            args=(trainer.device.type, self.processes, rank, port, trainer.network.config, trainer.settings,
                  torch.get_num_threads(), theirs),
        )  # fmt: skip
        process.start()
        theirs.close()  # so that the pipe ends with the process
        self.running.append(process)
        self.pipes.append(pipe)

    def await_all(self) -> None:
        """Wait until all processes have begun; who waits for one that is gone would wait for long."""
        for pipe in self.pipes:
            try:
                pipe.recv()
            except (EOFError, OSError):
                raise BadInput(self.too_early) from None

    @property
    def too_early(self) -> str:
        """What is said of a process that was never of use."""
        return f"--devices {self.processes}: a process that was to learn along has ended before it began"

    def meet(self, store: Any) -> None:
        """Join the others, in a thread: who waits there for a process that has ended waits for long, so here is looked.

        A thread that is left waiting ends with this process. Until then the processes of another attempt would miss
        each other, for groups are numbered, so there is none.
        """
        failures: list[Exception] = []

        def join() -> None:
            try:
                join_group(self.trainer.device.type, self.processes, 0, store)
            except Exception as error:
                failures.append(error)

        joining = threading.Thread(target=join, daemon=True)
        joining.start()
        while joining.is_alive():
            joining.join(0.05)
            if joining.is_alive() and not self.whole(0.0):
                Others.left_waiting = True
                raise BadInput(self.too_early)
        for failure in failures:
            raise failure

    def announce(self, rates: list[float], like: Batch) -> None:
        """Tell the others how many steps follow, with which learning rates, and what batches look like."""
        self.shapes = []
        for tensor in like:
            kind = torch.uint8 if tensor.dtype == torch.bool else tensor.dtype
            self.shapes.append((torch.Size([self.trainer.settings.batch // self.processes, *tensor.shape[1:]]), kind))
        self.tell((rates, self.shapes))

    def tell(self, what: tuple[list[float], list[tuple[torch.Size, torch.dtype]]] | None) -> None:
        """Tell the others what follows; by pipes, for they may have to wait for hours, and DDP has little patience."""
        for pipe in self.pipes:
            with suppress(OSError):  # one that has ended is missed in the next step
                pipe.send(what)

    def whole(self, patience: float) -> bool:
        """Tell whether all processes are there; one that has just ended may take a moment to be seen."""
        return not connection.wait([process.sentinel for process in self.running], timeout=patience)

    def close(self, told: bool) -> None:
        """Let the others end; where they are in the middle of something, `told` is False, and they hear nothing."""
        if told:
            self.tell(None)
            for process in self.running:
                process.join(10)
        for process in self.running:
            process.kill()
            process.join()
        for pipe in self.pipes:
            pipe.close()
        if distributed.is_initialized():  # not before the others are gone: it waits for what is under way with them
            distributed.destroy_process_group()


def accompany(
    device: str, processes: int, rank: int, port: int, config: NetworkConfig, settings: TrainingSettings, threads: int,
    orders: connection.Connection,
) -> None:  # fmt: skip
    """Make steps together with a trainer until it says that there are no more, or is gone: a process of its own."""
    from rookery.learn.trainer import make_step, optimizer_of

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the trainer hears it, too, and says what follows
    threading.Thread(target=leave_with_parent, daemon=True).start()
    torch.set_num_threads(threads)
    store = meeting_point(processes, port)
    orders.send(rank)
    join_group(device, processes, rank, store)
    fabric = fabric_of(device, processes, rank)
    network = build(config, 0).to(fabric.device).train()
    rate = torch.tensor(0.0, device=fabric.device) if device == "cuda" else 0.0
    optimizer = optimizer_of(network, settings, rate)
    shared = Shared(fabric, network, optimizer)
    while (told := orders.recv()) is not None:
        rates, shapes = told
        for each in rates:
            for group in optimizer.param_groups:
                group["lr"] = rate.fill_(each) if isinstance(rate, Tensor) else each
            found = make_step(network, optimizer, settings, shared.share(None, shapes), shared)
            shared.mean(torch.stack([loss.detach() for loss in found]))
    distributed.destroy_process_group()


@contextmanager
def accompanied(trainer: Trainer, processes: int) -> Iterator[None]:
    """Let a trainer make its steps together with other processes, so many in all."""
    if processes == 1:
        yield
        return
    check_processes(trainer, processes)
    others, between_steps = Others(trainer, processes), False
    try:
        others.begin()
        trainer.others = others
        yield
        between_steps = True
    except RuntimeError as error:
        if others.whole(10.0):
            raise
        raise BadInput(
            f"--devices {processes}: a process that learned along has ended; what was saved before is intact, and "
            "`rookery resume` goes on"
        ) from error
    finally:  # whoever leaves by an error may leave in the middle of a step, in which the others wait for a share
        trainer.others = None
        others.close(between_steps)


def check_shares(batch: int, processes: int) -> None:
    """Refuse to share out a batch where it cannot be done."""
    if processes > 1 and find_spec("lightning_fabric") is None:
        raise BadInput("training on several devices needs Fabric: pip install 'rookery[cluster]'")
    if batch % processes:
        raise BadInput(f"--devices {processes}: a batch of {batch} (training.batch) cannot be shared out evenly")


def check_processes(trainer: Trainer, processes: int) -> None:
    """Refuse numbers of processes that cannot be."""
    check_shares(trainer.settings.batch, processes)
    if trainer.device.type == "cuda" and processes > torch.cuda.device_count():
        raise BadInput(f"--devices {processes}: this machine has {torch.cuda.device_count()} cards")
    if trainer.device.type not in ("cuda", "cpu"):
        raise BadInput(f"--devices {processes}: several devices of kind {trainer.device.type} cannot learn together")
