"""Networks in files."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import pickle
import zipfile
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from nets.originals import V4_SHAPE, V5_SHAPE, checkpoint, v3, v4, v5
from nets.samples import KINDS, SMALL, worn
from rookery import writing
from rookery.errors import BadInput
from rookery.nets.configs import PerceptronConfig, ResidualConfig
from rookery.nets.files import About, load_network, safetensors_bytes, save_network
from rookery.nets.network import Network
from rookery.nets.residual import build

ABOUT = About(game="pylos:removal=greedy", rules_version=2, observation="rich", step=1000, notes="best, so far: ü")


def same_weights(first: Network, second: Network) -> bool:
    one, two = first.state_dict(), second.state_dict()
    return one.keys() == two.keys() and all(torch.equal(one[name], two[name]) for name in one)


# ---- ours ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("config", KINDS, ids=lambda config: config.kind)
@pytest.mark.parametrize("suffix", [".pth", ".safetensors"])
def test_what_was_saved_is_loaded(config, suffix, tmp_path):
    network = worn(build(config, seed=5))
    save_network(tmp_path / f"a{suffix}", network, ABOUT)
    loaded = load_network(tmp_path / f"a{suffix}")
    assert (loaded.config, loaded.about) == (config, ABOUT)
    assert same_weights(loaded.network, network)
    assert not loaded.network.training
    assert all(parameter.requires_grad for parameter in loaded.network.parameters())


@pytest.mark.parametrize("suffix", [".pth", ".safetensors"])
def test_half_precision_rounds_every_number_and_takes_less_room(suffix, tmp_path):
    network = worn(build(SMALL, seed=5))
    for name, half in (("whole", False), ("half", True)):
        save_network(tmp_path / f"{name}{suffix}", network, ABOUT, half)
    sizes = [(tmp_path / f"{name}{suffix}").stat().st_size for name in ("whole", "half")]
    assert sizes[1] < sizes[0]
    loaded = load_network(tmp_path / f"half{suffix}").network.state_dict()
    for name, tensor in network.state_dict().items():
        assert loaded[name].dtype == tensor.dtype
        assert torch.equal(loaded[name], tensor.half().to(tensor.dtype) if tensor.is_floating_point() else tensor)


def test_numbers_too_large_for_half_precision_are_refused(tmp_path):
    network = build(SMALL)
    with torch.no_grad():
        network.value_fc2.bias.fill_(1e5)
    with pytest.raises(BadInput, match=r"value_fc2\.bias has numbers beyond 65504"):
        save_network(tmp_path / "a.pth", network, ABOUT, half=True)
    assert not list(tmp_path.iterdir())


def test_a_loaded_network_can_be_trained(tmp_path):
    save_network(tmp_path / "a.pth", build(SMALL), ABOUT)
    network = load_network(tmp_path / "a.pth").network.train()
    logits, values = network(torch.randn(4, SMALL.inputs))
    (logits.sum() + values.sum()).backward()
    torch.optim.SGD(network.parameters(), lr=0.1).step()
    assert not same_weights(network, build(SMALL))


def test_ours_is_read_by_the_tools_of_the_original(tmp_path):
    config = ResidualConfig(inputs=92, actions=303, blocks=10, value_hidden=128, policy_hidden=256)
    save_network(tmp_path / "a.pth", build(config), ABOUT)
    content = torch.load(tmp_path / "a.pth", weights_only=True)
    assert content["model_config"] == V5_SHAPE | {"rich_obs": True}
    assert content["step"] == 1000
    v5().load_state_dict(content["model_state_dict"])


# ---- the original's ------------------------------------------------------------------------------

ORIGINALS = {
    "v3": (v3, {"step": 127_000}, "basic", 127_000),
    "v4": (v4, {"step": 85_000}, "basic", 85_000),
    "v4 with its shape": (v4, {"step": 1, "model_config": V4_SHAPE | {"rich_obs": False}}, "basic", 1),
    "v5": (v5, {"step": 235_000, "model_config": V5_SHAPE | {"rich_obs": True}}, "rich", 235_000),
}


@pytest.mark.parametrize(("make", "more", "kind", "step"), ORIGINALS.values(), ids=ORIGINALS)
def test_checkpoints_of_the_original_give_its_answers(make, more, kind, step, tmp_path):
    module = worn(make())
    loaded = load_network(checkpoint(tmp_path / "checkpoint.pth", module, **more))
    assert loaded.about == About(game="pylos:removal=greedy", observation=kind, step=step)
    x = torch.randn(8, loaded.config.inputs, generator=torch.Generator().manual_seed(0))
    value, policy = module(x)
    logits, values = loaded.network(x)
    torch.testing.assert_close(values, value[:, 0])
    torch.testing.assert_close(logits.log_softmax(1), policy)


@pytest.mark.parametrize("make", [v3, v4, v5])
def test_bare_weights_of_the_original_are_recognised(make, tmp_path):
    module = make()
    torch.save(module.state_dict(), tmp_path / "bare.pth")
    loaded = load_network(tmp_path / "bare.pth")
    assert loaded.network.weights == sum(parameter.numel() for parameter in module.parameters())
    assert loaded.about.step == 0


def test_bare_weights_in_safetensors_are_recognised(tmp_path):
    save_file(v4().state_dict(), tmp_path / "bare.safetensors")
    assert load_network(tmp_path / "bare.safetensors").about.observation == "basic"


def test_weights_of_another_shape_are_not_taken_for_pylos(tmp_path):
    torch.save(build(SMALL).state_dict(), tmp_path / "small.pth")
    loaded = load_network(tmp_path / "small.pth")
    assert (loaded.config, loaded.about.game) == (SMALL, "")


# ---- what is refused -----------------------------------------------------------------------------


def good(path: Path) -> Path:
    save_network(path, build(SMALL), ABOUT)
    return path


class Trap:
    """What runs code when it is unpickled freely."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (str(self.path),))


@pytest.mark.faults
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_pickle_that_would_run_code_is_refused_and_runs_none(protocol, tmp_path):
    marker, what = tmp_path / "ran", "asks for (posix|nt).mkdir" if protocol < 4 else "cannot be read"
    for bare in (True, False):
        content = Trap(marker) if bare else {"model_state_dict": build(SMALL).state_dict(), "step": Trap(marker)}
        (tmp_path / "bad.pth").write_bytes(pickle.dumps(content, protocol=protocol))
        with pytest.raises(BadInput, match=r"bad\.pth"):
            load_network(tmp_path / "bad.pth")
        torch.save(content, tmp_path / "bad.pth", pickle_protocol=max(2, protocol))
        with pytest.raises(BadInput, match=rf"bad\.pth.*unsafe.*{what}") as refused:
            load_network(tmp_path / "bad.pth")
        assert "weights_only" not in str(refused.value)  # nobody is told how to run it all the same
    assert not marker.exists()


def test_an_archive_whose_parts_are_packed_is_refused_before_they_are_unpacked(tmp_path, monkeypatch):
    whole = good(tmp_path / "whole.pth")
    with zipfile.ZipFile(whole) as plain, zipfile.ZipFile(tmp_path / "packed.pth", "w", zipfile.ZIP_DEFLATED) as packed:
        for part in plain.infolist():
            packed.writestr(part.filename, plain.read(part.filename))
    load_network(whole)
    monkeypatch.setattr(torch, "load", None)
    with pytest.raises(BadInput, match=r"packed\.pth.*parts are packed"):
        load_network(tmp_path / "packed.pth")


@pytest.mark.faults
@pytest.mark.parametrize("suffix", [".pth", ".safetensors"])
def test_a_truncated_file_is_refused(suffix, tmp_path):
    whole = good(tmp_path / f"whole{suffix}").read_bytes()
    for length in [0, 1, 7, 8, 9, 100, len(whole) // 2, len(whole) - 1]:
        (tmp_path / f"part{suffix}").write_bytes(whole[:length])
        with pytest.raises(BadInput, match="part"):
            load_network(tmp_path / f"part{suffix}")


@pytest.mark.faults
@pytest.mark.parametrize("suffix", [".pth", ".safetensors"])
def test_a_file_with_changed_bytes_is_refused_or_loads_as_a_network(suffix, tmp_path):
    whole = good(tmp_path / f"whole{suffix}").read_bytes()
    random = torch.Generator().manual_seed(0)
    for _ in range(60):
        changed = bytearray(whole)
        for place in torch.randint(0, len(whole), (5,), generator=random).tolist():
            changed[place] ^= 255
        (tmp_path / f"bad{suffix}").write_bytes(bytes(changed))
        with contextlib.suppress(BadInput):  # anything else it raises fails the test
            assert load_network(tmp_path / f"bad{suffix}").network.weights > 0


def zipped() -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("hello.txt", "hello")
    return archive.getvalue()


@pytest.mark.parametrize("suffix", [".pth", ".safetensors"])
@pytest.mark.parametrize(
    "content",
    [b"hello", b"\x89PNG\r\n\x1a\n" + bytes(100), zipped(), b"{}" * 50, bytes(64)],
    ids=["text", "picture", "archive", "json", "zeros"],  # an archive's bytes hold the time: no name for a test
)
def test_a_foreign_file_is_refused(content, suffix, tmp_path):
    (tmp_path / f"foreign{suffix}").write_bytes(content)
    with pytest.raises(BadInput, match="foreign"):
        load_network(tmp_path / f"foreign{suffix}")


def changed(**more: object) -> dict[str, object]:
    """Return the content of a good file with some of it replaced."""
    network = {"format": 1, "network": SMALL.model_dump(mode="json"), "about": {}}
    return {"model_state_dict": build(SMALL).state_dict()} | network | more


def changed_weights(name: str, tensor: torch.Tensor | None) -> dict[str, object]:
    """Return the content of a good file with one tensor replaced, added or left out."""
    weights = {key: value for key, value in build(SMALL).state_dict().items() if key != name}
    return changed(model_state_dict=weights | ({} if tensor is None else {name: tensor}))


REFUSED = {
    "a list": ([1, 2], "dictionary, not a list"),
    "nothing": ({}, "no weights"),
    "other names": ({"conv.weight": torch.zeros(3)}, r"conv\.weight belong to none"),
    "no tensors": ({"model_state_dict": {"fc1.weight": 3}}, r"fc1\.weight.*int"),
    "number as name": ({"model_state_dict": {1: torch.zeros(1)}}, "by name"),
    "another format": (changed(format=2), "format 2"),
    "a tensor for a format": (changed(format=torch.ones(3)), "is of format tensor"),
    "an unknown key": (changed(network=SMALL.model_dump() | {"colour": 1}), r"network\.residual\.colour"),
    "no such kind": (changed(network={"kind": "oracle"}), "oracle"),
    "an impossible step": (changed(about={"step": -1}), r"about\.step"),
    "wrong shape": (changed_weights("input_fc.bias", torch.zeros(9)), r"input_fc\.bias.* 8, but"),
    "one missing": (changed_weights("input_fc.bias", None), r"input_fc\.bias.*are absent"),
    "one too many": (changed_weights("more", torch.zeros(1)), "more.*should be absent"),
    "not a number": (changed_weights("input_fc.bias", torch.full((8,), torch.nan)), "not numbers"),
    "sparse": (changed_weights("input_fc.bias", torch.zeros(8).to_sparse()), "of a kind"),
    "of eight bits": (changed_weights("input_fc.bias", torch.zeros(8).to(torch.float8_e4m3fn)), "of a kind"),
    "complex": (changed_weights("input_fc.bias", torch.zeros(8) * 1j), "of a kind"),
    "larger than its file": (
        changed_weights("input_fc.bias", torch.zeros(1).expand(1 << 40)), "more weights",
    ),
    "too many blocks": (changed(network=SMALL.model_dump() | {"blocks": 1 << 20}), "1048576 blocks"),
    "too wide": (changed(network=SMALL.model_dump() | {"width": 1 << 20}), "1048576"),
    "another shape said": (
        {"model_state_dict": build(SMALL).state_dict(), "model_config": {"num_blocks": 3}}, "num_blocks 3.*have 2",
    ),
    "another observation said": (
        {"model_state_dict": v4().state_dict(), "model_config": {"rich_obs": True}}, "rich_obs True.*32",
    ),
    "a tensor for a size": (
        {"model_state_dict": build(SMALL).state_dict(), "model_config": {"num_blocks": torch.ones(2)}},
        r"num_blocks tensor.*have 2",
    ),
    "a tensor for an observation": (
        {"model_state_dict": v4().state_dict(), "model_config": {"rich_obs": torch.ones(2)}}, "rich_obs tensor",
    ),
    "a shape that is none": ({"model_state_dict": v4().state_dict(), "model_config": 3}, "model_config"),
    "a layer of one dimension": ({"model_state_dict": {"input_fc.weight": torch.zeros(3)}}, "1 dimensions"),
    "a head that is missing": ({"model_state_dict": {"input_fc.weight": torch.zeros(3, 3)}}, "are absent"),
    "a perceptron with a gap": (
        {name.replace("fc2", "fc3"): tensor for name, tensor in v3().state_dict().items()}, "fc2.*absent",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("content", "message"), REFUSED.values(), ids=REFUSED)
def test_a_file_that_holds_no_network_is_refused_with_the_reason(content, message, tmp_path):
    torch.save(content, tmp_path / "odd.pth")
    with pytest.raises(BadInput, match=rf"odd\.pth.*{message}"):
        load_network(tmp_path / "odd.pth")


@pytest.mark.parametrize("metadata", ["[]", "{", '{"network": {"kind": "residual"}}', "[" * 100_000])
def test_safetensors_with_odd_metadata_are_refused(metadata, tmp_path):
    save_file(build(SMALL).state_dict(), tmp_path / "odd.safetensors", metadata={"rookery": metadata})
    with pytest.raises(BadInput, match="odd"):
        load_network(tmp_path / "odd.safetensors")


def test_a_file_of_half_precision_loads_in_single(tmp_path):
    network = build(PerceptronConfig(inputs=3, actions=2, hidden=(4,)))
    torch.save({name: tensor.half() for name, tensor in network.state_dict().items()}, tmp_path / "half.pth")
    loaded = load_network(tmp_path / "half.pth").network
    assert {parameter.dtype for parameter in loaded.parameters()} == {torch.float32}


def test_a_missing_file_or_a_folder_is_refused_by_name(tmp_path):
    with pytest.raises(BadInput, match=r"none\.pth.*not there"):
        load_network(tmp_path / "none.pth")
    with pytest.raises(BadInput, match="is a folder"):
        load_network(tmp_path)


# ---- writing -------------------------------------------------------------------------------------


def test_an_ending_that_says_nothing_is_refused(tmp_path):
    with pytest.raises(BadInput, match=r"a\.bin.*\.pth"):
        save_network(tmp_path / "a.bin", build(SMALL), ABOUT)


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none/a\.pth"):
        save_network(tmp_path / "none" / "a.pth", build(SMALL), ABOUT)


@pytest.mark.faults
def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    good(tmp_path / "a.pth")
    before = (tmp_path / "a.pth").read_bytes()

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(writing.os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left.*a\.pth"):
        save_network(tmp_path / "a.pth", build(SMALL, seed=3), ABOUT)
    assert [path.name for path in tmp_path.iterdir()] == ["a.pth"]
    assert (tmp_path / "a.pth").read_bytes() == before


def test_metadata_of_safetensors_can_be_read_by_others(tmp_path):
    good(tmp_path / "a.safetensors")
    content = (tmp_path / "a.safetensors").read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    facts = json.loads(header["__metadata__"]["rookery"])
    assert facts["about"]["game"] == "pylos:removal=greedy"
    assert facts["network"]["kind"] == "residual"


def test_the_same_network_gives_the_same_bytes_of_safetensors(tmp_path):
    network = build(SMALL, 1)
    about = ABOUT
    contents = {safetensors_bytes(network, about) for _ in range(20)}
    assert len(contents) == 1
    save_network(tmp_path / "a.safetensors", network, about)
    assert load_network(tmp_path / "a.safetensors").about == about
