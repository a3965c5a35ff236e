"""Networks of Lc0's kind by what names them."""

from __future__ import annotations

import pytest
import torch

from rookery import lc0
from rookery.errors import BadInput
from rookery.learn.weight_files import export_weights
from rookery.nets.lc0.named import check_named, named_network
from rookery.nets.zoo import zoo_file

POSITIONS = ["startpos", "startpos moves e2e4 c7c5 g1f3", "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1"]


def test_the_network_of_the_zoo_says_what_its_weight_file_says(tmp_path):
    export_weights("zoo:chess", tmp_path / "chess.pb.gz", "f32")
    named, written = (lc0.load(name) for name in ("zoo:chess", tmp_path / "chess.pb.gz"))
    for mine, wanted in zip(named.evaluate(POSITIONS), written.evaluate(POSITIONS), strict=True):
        assert (mine.q, mine.wdl, mine.m) == (wanted.q, wanted.wdl, wanted.m)
        assert mine.moves == wanted.moves


def test_a_file_names_the_same_network():
    one, other = named_network("zoo:chess"), named_network(zoo_file("chess"))
    assert all(torch.equal(mine, theirs) for mine, theirs in zip(one.parameters(), other.parameters(), strict=True))


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("zoo:nobody", "the zoo has no network 'nobody'; it has chess"),
        ("nowhere.pb.gz", "'nowhere.pb.gz' cannot be read: No such file"),
        ("nowhere.safetensors", "'nowhere.safetensors' is not there"),
    ],
)
def test_what_names_no_network_is_refused(name, complaint):
    for read in (named_network, check_named):
        with pytest.raises(BadInput, match=complaint):
            read(name)


def test_a_network_of_another_kind_is_refused():
    with pytest.raises(BadInput, match="'zoo:pylos': a network of kind 'residual' cannot be a weight file"):
        named_network("zoo:pylos")
