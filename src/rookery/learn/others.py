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
import socket
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
from rookery.nets.configs import NetworkConfig
from rookery.nets.network import Network
from rookery.nets.residual import build

if TYPE_CHECKING:
    from rookery.learn.trainer import Trainer

HERE = "127.0.0.1"


def fabric_of(device: str, processes: int, rank: int, port: int) -> Any:
    """Let this process be one of several that compute together; blocks until all are there."""
    from lightning_fabric import Fabric
    from lightning_fabric.plugins.environments.lightning import LightningEnvironment
    from lightning_fabric.strategies.ddp import DDPStrategy

    class Ranks(LightningEnvironment):
        """Processes that were started by somebody else, all on this machine."""

        creates_processes_externally = True
        main_address, main_port = HERE, port

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

    def __init__(self, trainer: Trainer, processes: int):
        self.trainer, self.processes = trainer, processes
        with socket.socket() as free:
            free.bind((HERE, 0))
            port = free.getsockname()[1]
        kind, settings = trainer.device.type, trainer.settings
        context = multiprocessing.get_context("spawn")
        self.running, self.pipes = [], []
        for rank in range(1, processes):
            pipe, theirs = context.Pipe()
            process = context.Process(
                target=accompany, daemon=True,
                args=(kind, processes, rank, port, trainer.network.config, settings, torch.get_num_threads(), theirs),
            )  # fmt: skip
            process.start()
            theirs.close()  # so that the pipe ends with the process
            self.running.append(process)
            self.pipes.append(pipe)
        self.await_all()
        self.shared = Shared(fabric_of(kind, processes, 0, port), trainer.network, trainer.optimizer)
        self.shapes: list[tuple[torch.Size, torch.dtype]] = []

    def await_all(self) -> None:
        """Wait until all processes have begun; who waits for one that is gone would wait for long."""
        for pipe in self.pipes:
            try:
                pipe.recv()
            except EOFError:
                raise BadInput("a process that was to learn along has ended before it began") from None

    def announce(self, rates: list[float], like: Batch) -> None:
        """Tell the others how many steps follow, with which learning rates, and what batches look like."""
        self.shapes = []
        for tensor in like:
            kind = torch.uint8 if tensor.dtype == torch.bool else tensor.dtype
            self.shapes.append((torch.Size([self.trainer.settings.batch // self.processes, *tensor.shape[1:]]), kind))
        self.tell((rates, self.shapes))

    def tell(self, what: tuple[list[float], list[tuple[torch.Size, torch.dtype]]] | None) -> None:
        """Tell the others what follows; by pipes, for they may have to wait for hours, and DDP has little patience."""
        with suppress(OSError):  # one that has ended is missed in the next step
            for pipe in self.pipes:
                pipe.send(what)

    def whole(self) -> bool:
        """Tell whether all processes are there; one that has just ended may take a moment to be seen."""
        return not connection.wait([process.sentinel for process in self.running], timeout=10.0)

    def close(self, told: bool) -> None:
        """Let the others end; where they are in the middle of something, `told` is False, and they hear nothing."""
        if told:
            self.tell(None)
            for process in self.running:
                process.join(10)
        for process in self.running:
            process.kill()
            process.join()
        distributed.destroy_process_group()


def accompany(
    device: str, processes: int, rank: int, port: int, config: NetworkConfig, settings: TrainingSettings, threads: int,
    orders: connection.Connection,
) -> None:  # fmt: skip
    """Make steps together with a trainer until it says that there are no more, or is gone: a process of its own."""
    from rookery.learn.trainer import make_step, new_optimizer

    orders.send(rank)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the trainer hears it, too, and says what follows
    threading.Thread(target=leave_with_parent, daemon=True).start()
    torch.set_num_threads(threads)
    fabric = fabric_of(device, processes, rank, port)
    network = build(config, 0).to(fabric.device).train()
    rate = torch.tensor(0.0, device=fabric.device) if device == "cuda" else 0.0
    optimizer = new_optimizer(network, settings, rate)
    shared = Shared(fabric, network, optimizer)
    while (told := orders.recv()) is not None:
        rates, shapes = told
        for each in rates:
            for group in optimizer.param_groups:
                group["lr"] = rate.fill_(each) if isinstance(rate, Tensor) else each
            found = make_step(network, optimizer, settings, shared.share(None, shapes), shared)
            shared.mean(torch.stack([loss.detach() for loss in found]))


def leave_with_parent() -> None:
    """End this process when the one that started it has ended, which may be by force."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)


@contextmanager
def accompanied(trainer: Trainer, processes: int) -> Iterator[None]:
    """Let a trainer make its steps together with other processes, so many in all."""
    if processes == 1:
        yield
        return
    check_processes(trainer, processes)
    trainer.others = Others(trainer, processes)
    between_steps = False
    try:
        yield
        between_steps = True
    except RuntimeError as error:
        if trainer.others.whole():
            raise
        raise BadInput(
            f"--devices {processes}: a process that learned along has ended; what was saved before is intact, and "
            "`rookery resume` goes on"
        ) from error
    finally:  # whoever leaves by an error may leave in the middle of a step, in which the others wait for a share
        trainer.others.close(between_steps)
        trainer.others = None


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
