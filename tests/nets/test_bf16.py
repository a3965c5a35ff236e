"""A processor is asked whether it has instructions for bf16, whatever PyTorch calls the question."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from rookery.nets import bf16
from rookery.nets.bf16 import computes_bf16


@pytest.mark.parametrize(("amx", "avx"), [(False, False), (True, False), (False, True)])
def test_either_kind_of_instructions_will_do(monkeypatch, amx, avx):
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx, raising=False)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: avx, raising=False)
    assert computes_bf16() == (amx or avx)


def test_a_version_of_pytorch_that_cannot_be_asked_has_none(monkeypatch):
    for name in bf16.INSTRUCTIONS:
        monkeypatch.delattr(torch.cpu, name, raising=False)
    assert not computes_bf16()


def test_the_answer_is_that_of_the_system():
    told = Path("/proc/cpuinfo")
    if told.is_file() and "flags" in (flags := told.read_text()):
        assert computes_bf16() == bool({"avx512_bf16", "amx_tile"} & set(flags.split()))
