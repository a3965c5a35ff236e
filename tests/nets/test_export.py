"""Networks for other programs."""

from __future__ import annotations

import builtins
import json

import numpy as np
import pytest
import torch

from nets.samples import KINDS, PAIRS, SMALL, V3, V4, V5, worn
from rookery.errors import BadInput
from rookery.nets.configs import TransformerConfig
from rookery.nets.export import export_network, onnx_bytes
from rookery.nets.files import About, load_network
from rookery.nets.residual import build
from rookery.nets.surgery import random_tokens

ABOUT = About(game="pylos", rules_version=1, observation="rich", step=12)


@pytest.mark.parametrize("config", [*KINDS, PAIRS, V3, V4, V5], ids=lambda config: f"{config.kind} {config.inputs}")
def test_an_onnx_file_gives_the_answers_of_the_network(config, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    network = worn(build(config))
    export_network(tmp_path / "a.onnx", network, ABOUT)
    session = runtime.InferenceSession(tmp_path / "a.onnx", providers=["CPUExecutionProvider"])
    for count in (1, 9):
        x = np.random.default_rng(count).standard_normal((count, config.inputs)).astype(np.float32)
        logits, values = session.run(["logits", "values"], {"observations": x})
        with torch.no_grad():
            expected = network(torch.from_numpy(x))
        assert values.shape == (count,)
        np.testing.assert_allclose(logits, expected[0].numpy(), atol=2e-5, rtol=1e-5)
        np.testing.assert_allclose(values, expected[1].numpy(), atol=2e-5, rtol=1e-5)


@pytest.mark.parametrize("side_token", [False, True])
def test_an_onnx_file_of_a_transformer_knows_the_side_to_move(side_token, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    config = TransformerConfig(rows=4, cols=3, width=16, layers=1, mlp=8, sectors=1, side_token=side_token)
    network, told = build(config, 2).eval(), config.model_copy(update={"side_token": True})
    export_network(tmp_path / "a.onnx", network, ABOUT)
    session = runtime.InferenceSession(tmp_path / "a.onnx", providers=["CPUExecutionProvider"])
    x = random_tokens(told, 40).float()
    logits, values = session.run(["logits", "values"], {"observations": x.numpy()})
    with torch.no_grad():
        expected = network(x)
    np.testing.assert_allclose(logits, expected[0].numpy(), atol=2e-5, rtol=1e-5)
    np.testing.assert_allclose(values, expected[1].numpy(), atol=2e-5, rtol=1e-5)
    assert len({value > 0 for value in values}) == 2  # both sides are to move


def test_an_onnx_file_says_what_the_network_was_taught(tmp_path):
    onnx = pytest.importorskip("onnx")
    model = onnx.load_from_string(onnx_bytes(build(SMALL), ABOUT))
    facts = json.loads({entry.key: entry.value for entry in model.metadata_props}["rookery"])
    assert facts == {"network": SMALL.model_dump(mode="json"), "about": ABOUT.model_dump()}


@pytest.mark.parametrize("suffix", [".safetensors", ".pth"])
def test_other_endings_are_files_that_we_read(suffix, tmp_path):
    export_network(tmp_path / f"a{suffix}", build(SMALL), ABOUT)
    assert load_network(tmp_path / f"a{suffix}").about == ABOUT


def test_an_unknown_ending_is_refused(tmp_path):
    with pytest.raises(BadInput, match=r"a\.tflite.*\.onnx"):
        export_network(tmp_path / "a.tflite", build(SMALL), ABOUT)


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    pytest.importorskip("onnx")
    with pytest.raises(FileNotFoundError, match=r"none/a\.onnx"):
        export_network(tmp_path / "none" / "a.onnx", build(SMALL), ABOUT)


def test_without_the_package_the_way_to_it_is_told(tmp_path, monkeypatch):
    found = builtins.__import__

    def without_onnx(name, *arguments, **more):
        if name == "onnx":
            raise ImportError(name)
        return found(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", without_onnx)
    with pytest.raises(BadInput, match=r"rookery\[export\]"):
        export_network(tmp_path / "a.onnx", build(SMALL), ABOUT)
    assert not list(tmp_path.iterdir())
