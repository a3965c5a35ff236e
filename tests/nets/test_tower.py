"""The convolutional tower."""

from __future__ import annotations

import pytest
import torch

from nets.samples import SMALL, worn
from rookery import load
from rookery.errors import BadInput
from rookery.nets.configs import TowerConfig, read_config
from rookery.nets.residual import build
from rookery.nets.tower import cell_logits, resized

CONFIG = TowerConfig(planes=3, rows=9, cols=9, width=8, blocks=2, policy_planes=2, policy_hidden=4, value_hidden=4)


def reach(config: TowerConfig) -> int:
    """Tell how far a cell is seen: one step for each 3x3 convolution."""
    return 1 + 2 * config.blocks


def planes(rows: int, cols: int, marks: list[tuple[int, int, int]]) -> torch.Tensor:
    """Write an observation with ones at (plane, row, col)."""
    board = torch.zeros(1, 3, rows, cols)
    for plane, row, col in marks:
        board[0, plane, row, col] = 1
    return board.flatten(1)


@pytest.mark.parametrize(("rows", "cols"), [(15, 15), (5, 7), (1, 1)])
def test_weights_learned_on_one_board_fit_another(rows, cols):
    small = worn(build(CONFIG))
    large = resized(small, rows, cols)
    assert (large.config.rows, large.config.cols, large.config.width) == (rows, cols, 8)
    for name, tensor in small.state_dict().items():
        assert torch.equal(large.state_dict()[name], tensor)
    logits, values = large(torch.randn(4, large.config.inputs))
    assert logits.shape == (4, 2 * rows * cols)
    assert values.shape == (4,)
    assert not large.training


def test_resizing_leaves_the_network_as_it_was():
    small = worn(build(CONFIG))
    x = torch.randn(2, CONFIG.inputs)
    before = small(x)
    with torch.no_grad():
        resized(small, 15, 15).input_conv.weight.zero_()
    assert all(torch.equal(now, then) for now, then in zip(small(x), before, strict=True))


def test_a_shifted_position_gives_shifted_logits():
    network = resized(worn(build(CONFIG)), 25, 25)
    far, shift = reach(CONFIG), 4
    marks = [(0, 10, 10), (1, 11, 10), (2, 10, 12)]
    moved = [(plane, row + shift, col - 1) for plane, row, col in marks]
    first = network(planes(25, 25, marks))[0].view(2, 25, 25)
    second = network(planes(25, 25, moved))[0].view(2, 25, 25)
    inner = slice(far, 25 - far - shift)  # cells that see no edge of the board, before and after
    shifted = slice(far + shift, 25 - far)
    torch.testing.assert_close(second[:, shifted, far : 24 - far], first[:, inner, far + 1 : 25 - far])
    assert first[:, inner, inner].detach().std() > 1e-3  # there is something to see


def test_a_position_looks_the_same_on_a_larger_board_to_cells_that_see_no_edge():
    small = resized(worn(build(CONFIG)), 15, 15)
    large = resized(small, 19, 21)
    marks = [(0, 7, 7), (1, 8, 6)]
    here = small(planes(15, 15, marks))[0].view(2, 15, 15)
    there = large(planes(19, 21, [(plane, row + 2, col + 3) for plane, row, col in marks]))[0].view(2, 19, 21)
    far = reach(CONFIG)
    torch.testing.assert_close(
        there[:, far + 2 : 17 - far, far + 3 : 18 - far], here[:, far : 15 - far, far : 15 - far]
    )


def test_the_value_and_extra_actions_do_not_depend_on_where_a_pattern_lies():
    config = CONFIG.model_copy(update={"extra_actions": 3})
    network = resized(worn(build(config)), 25, 25)
    first = network(planes(25, 25, [(0, 10, 10), (1, 11, 11)]))
    second = network(planes(25, 25, [(0, 13, 12), (1, 14, 13)]))
    torch.testing.assert_close(first[0][:, -3:], second[0][:, -3:])
    torch.testing.assert_close(first[1], second[1])


def test_logits_are_ordered_plane_by_plane_and_by_rows():
    config = CONFIG.model_copy(update={"rows": 4, "cols": 5, "extra_actions": 1})
    network = build(config).eval()
    with torch.no_grad():
        network.policy_conv2.weight.zero_()
        network.policy_conv2.bias.copy_(torch.tensor([1.0, 2.0]))
        network.extra_fc.weight.zero_()
        network.extra_fc.bias.fill_(3)
    logits = network(torch.randn(1, config.inputs))[0][0]
    assert logits.tolist() == [1.0] * 20 + [2.0] * 20 + [3.0]


def test_logits_of_pairs_belong_to_their_upper_or_left_cell():
    """On a network whose planes are marks of the cells themselves, each action finds the cell it covers first."""
    config = TowerConfig(planes=2, rows=4, cols=5, policy_planes=2, pairs=True, width=2, blocks=0)
    marks = torch.arange(40.0).view(1, 2, 4, 5)
    expected = [5 * row + col for row in range(3) for col in range(5)]
    expected += [20 + 5 * row + col for col in range(4) for row in range(4)]
    assert cell_logits(marks, config)[0].tolist() == expected
    assert config.actions == len(expected) == load("domineering:rows=4,cols=5").actions


@pytest.mark.parametrize("wrong", [{"policy_planes": 1}, {"extra_actions": 1}, {"rows": 1, "cols": 1}])
def test_pairs_beside_other_actions_are_refused(wrong):
    values = {"kind": "tower", "planes": 2, "rows": 4, "cols": 5, "policy_planes": 2, "pairs": True}
    with pytest.raises(BadInput, match="pairs need two policy_planes, no extra_actions"):
        read_config(values | wrong)


def test_a_board_that_cannot_be_is_refused():
    with pytest.raises(BadInput, match="rows"):
        resized(build(CONFIG), 0, 3)


def test_only_a_tower_can_be_resized():
    with pytest.raises(BadInput, match="residual"):
        resized(build(SMALL), 3, 3)
