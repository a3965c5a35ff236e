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
from contextlib import contextmanager
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
    try:
        from lightning_fabric import Fabric
        from lightning_fabric.plugins.environments.lightning import LightningEnvironment
        from lightning_fabric.strategies.ddp import DDPStrategy
    except ImportError:
        raise BadInput("training on several devices needs Fabric: pip install 'rookery[cluster]'") from None

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
        self.running = [
            context.Process(
                target=accompany, daemon=True,
                args=(kind, processes, rank, port, trainer.network.config, settings, torch.get_num_threads()),
            )
            for rank in range(1, processes)
        ]  # fmt: skip
        for process in self.running:
            process.start()
        self.shared = Shared(fabric_of(kind, processes, 0, port), trainer.network, trainer.optimizer)
        self.shapes: list[tuple[torch.Size, torch.dtype]] = []

    def announce(self, rates: list[float], like: Batch) -> None:
        """Tell the others how many steps follow, with which learning rates, and what batches look like."""
        self.shapes = []
        for tensor in like:
            kind = torch.uint8 if tensor.dtype == torch.bool else tensor.dtype
            self.shapes.append((torch.Size([self.trainer.settings.batch // self.processes, *tensor.shape[1:]]), kind))
        self.shared.fabric.broadcast((rates, self.shapes))

    def close(self) -> None:
        """Let the others end."""
        if all(process.is_alive() for process in self.running):
            self.shared.fabric.broadcast(None)
        for process in self.running:
            process.join(10)
            process.kill()
        distributed.destroy_process_group()


def accompany(
    device: str, processes: int, rank: int, port: int, config: NetworkConfig, settings: TrainingSettings, threads: int
) -> None:
    """Make steps together with a trainer until it says that there are no more, or is gone: a process of its own."""
    from rookery.learn.trainer import make_step, new_optimizer

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the trainer hears it, too, and says what follows
    threading.Thread(target=leave_with_parent, daemon=True).start()
    torch.set_num_threads(threads)
    fabric = fabric_of(device, processes, rank, port)
    network = build(config, 0).to(fabric.device).train()
    rate = torch.tensor(0.0, device=fabric.device) if device == "cuda" else 0.0
    optimizer = new_optimizer(network, settings, rate)
    shared = Shared(fabric, network, optimizer)
    while (told := fabric.broadcast(None)) is not None:
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
    try:
        yield
    finally:
        trainer.others.close()
        trainer.others = None


def check_processes(trainer: Trainer, processes: int) -> None:
    """Refuse numbers of processes that cannot be."""
    batch = trainer.settings.batch
    if batch % processes:
        raise BadInput(f"--devices {processes}: a batch of {batch} (training.batch) cannot be shared out evenly")
    if trainer.device.type == "cuda" and processes > torch.cuda.device_count():
        raise BadInput(f"--devices {processes}: this machine has {torch.cuda.device_count()} cards")
    if trainer.device.type not in ("cuda", "cpu"):
        raise BadInput(f"--devices {processes}: several devices of kind {trainer.device.type} cannot learn together")
