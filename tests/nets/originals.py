"""Modules and files as the original Pylos project made them, written from its description alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn


class OriginalPerceptron(nn.Module):
    """V1 to V3."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(32, 512), nn.Linear(512, 256)
        self.value_head, self.policy_head = nn.Linear(256, 1), nn.Linear(256, 303)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = self.fc2(self.fc1(x).relu()).relu()
        return self.value_head(x).tanh(), self.policy_head(x).log_softmax(1)


class OriginalBlock(nn.Module):
    def __init__(self, hidden: int):
        super().__init__()
        self.bn1, self.fc1 = nn.BatchNorm1d(hidden), nn.Linear(hidden, hidden)
        self.bn2, self.fc2 = nn.BatchNorm1d(hidden), nn.Linear(hidden, hidden)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.fc2(self.bn2(self.fc1(self.bn1(x).relu())).relu())


class OriginalResidual(nn.Module):
    """V4 and later."""

    def __init__(self, inputs: int, hidden: int, num_blocks: int, value_hidden: int, policy_hidden: int):
        super().__init__()
        self.input_fc, self.input_bn = nn.Linear(inputs, hidden), nn.BatchNorm1d(hidden)
        self.blocks = nn.ModuleList(OriginalBlock(hidden) for _ in range(num_blocks))
        self.value_fc1, self.value_bn = nn.Linear(hidden, value_hidden), nn.BatchNorm1d(value_hidden)
        self.value_fc2 = nn.Linear(value_hidden, 1)
        self.policy_fc1, self.policy_bn = nn.Linear(hidden, policy_hidden), nn.BatchNorm1d(policy_hidden)
        self.policy_fc2 = nn.Linear(policy_hidden, 303)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = self.input_bn(self.input_fc(x)).relu()
        for block in self.blocks:
            x = block(x)
        value = self.value_fc2(self.value_bn(self.value_fc1(x)).relu()).tanh()
        return value, self.policy_fc2(self.policy_bn(self.policy_fc1(x)).relu()).log_softmax(1)


V4_SHAPE = {"hidden": 256, "num_blocks": 6, "value_hidden": 64, "policy_hidden": 128}
V5_SHAPE = {"hidden": 256, "num_blocks": 10, "value_hidden": 128, "policy_hidden": 256}


def v3() -> nn.Module:
    return OriginalPerceptron()


def v4() -> nn.Module:
    return OriginalResidual(32, **V4_SHAPE)


def v5() -> nn.Module:
    return OriginalResidual(92, **V5_SHAPE)


def checkpoint(path: Path, module: nn.Module, **more: Any) -> Path:
    """Save a module as the original did; `more` goes beside the weights."""
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-3)
    content = {"model_state_dict": module.state_dict(), "optimizer_state_dict": optimizer.state_dict()}
    torch.save(content | more, path)
    return path
