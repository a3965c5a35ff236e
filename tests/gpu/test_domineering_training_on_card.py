"""Steps of the Domineering study on a card: a graph of a block, half precision, a compiler."""

from __future__ import annotations

import pytest
import torch

from nets.mixing import mixed_and_gradient, nearly, plainly_mixed
from rookery.nets.attention import attend
from rookery.nets.configs import TransformerConfig
from rookery.studies import domineering_runs
from rookery.studies.domineering_batches import GameTable, Positions
from rookery.studies.domineering_runs import Run, load_data
from rookery.studies.domineering_training import Speed, Trainer
from studies.domineering_samples import some_records
from studies.domineering_tiny import NumberOfWeights, network_of, tiny, tiny_study

pytestmark = pytest.mark.gpu

STEPS = 12
SMALL = TransformerConfig(rows=16, cols=16, width=32, heads=2, head_width=16, mlp=128, policy_hidden=16)
"""for which there are kernels"""


def trained(device: str, speed: Speed, **changes) -> Trainer:
    positions = Positions(GameTable(some_records(30, seed=6), device))
    settings = tiny("small-aux", network=SMALL, steps=STEPS, learning_rate=1e-3, batch=16, **changes)
    trainer = Trainer(network_of(settings), settings, positions, speed)
    trainer.train(STEPS - 1)  # a block of eight, and three steps that are too few for one
    return trainer


def test_a_graph_makes_the_steps_of_the_processor():
    here, there = trained("cpu", Speed(block=1)), trained("cuda", Speed())
    assert there.read() == pytest.approx(here.read(), rel=1e-3, abs=1e-3)
    for name, weights in here.network.state_dict().items():
        if name != "policy_head.W_out.bias":  # whose gradient is but rounding
            torch.testing.assert_close(there.network.state_dict()[name].cpu(), weights, atol=2e-3, rtol=1e-2)


@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp16", "bf16-all", "fp16-all"])
@pytest.mark.parametrize("attention", ["auto", "own"])
def test_every_precision_learns_about_the_same_in_a_graph(precision, attention):
    exact = trained("cpu", Speed(block=1)).read()
    found = trained("cuda", Speed(attention=attention), precision=precision)
    if found.scale is None:  # with a scale some of the first steps are left out
        assert found.read() == pytest.approx(exact, rel=0.05, abs=0.05)
    assert all(weights.isfinite().all() for weights in found.network.state_dict().values())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("attention", ["auto", "own"])
def test_a_compiled_step_learns_the_same(attention):
    plain = trained("cuda", Speed(), precision="bf16").read()
    compiled = trained("cuda", Speed(compile=True, attention=attention), precision="bf16")
    assert compiled.note == ""
    assert compiled.read() == pytest.approx(plain, rel=0.02, abs=0.02)


def test_capturing_changes_nothing():
    trainers = [trained("cuda", Speed(graph=graph)) for graph in (True, False)]
    assert trainers[0].read() == pytest.approx(trainers[1].read(), rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize(("tokens", "width"), [(257, 16), (257, 32), (82, 16), (17, 32), (2, 16)])
def test_kernels_mix_as_attention_does_on_a_card(tokens, width, dtype):
    exact = mixed_and_gradient(plainly_mixed, tokens, torch.float64, width)
    usual = mixed_and_gradient(plainly_mixed, tokens, dtype, width, "cuda")
    nearly(mixed_and_gradient(attend, tokens, dtype, width, "cuda"), usual, exact)


def test_a_run_on_a_card_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(domineering_runs, "Probing", NumberOfWeights)
    study = tiny_study(tmp_path)
    data = load_data(study, device="cuda")
    settings = tiny("small-aux", steps=70, every=35)
    assert not Run(study, settings).train(data, Speed(), until=0.0)
    run = Run(study, settings)
    assert run.train(data, Speed())
    assert [line["step"] for line in run.progress.read()] == [0, 35, 70]
