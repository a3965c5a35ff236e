"""The transformer of the Domineering study."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nets.slow_transformer import slow_heads, slow_stream, squares_of_moves
from rookery.errors import BadInput
from rookery.games.library import load
from rookery.nets.configs import (
    LARGE,
    LARGE_FINAL,
    MEDIUM,
    PRESETS,
    SMALL,
    SMALL_FINAL,
    TransformerConfig,
    read_config,
)  # fmt: skip
from rookery.nets.files import load_network
from rookery.nets.folded import fold
from rookery.nets.residual import build
from rookery.nets.surgery import random_tokens
from rookery.nets.transformer import Transformer, masked

ODD = TransformerConfig(
    rows=3, cols=5, width=12, heads=3, head_width=4, layers=3, mlp=10, sectors=5, policy_hidden=7, side_token=True,
)  # fmt: skip
SIZES = [ODD, TransformerConfig(rows=4, cols=4, width=8, mlp=6), TransformerConfig(rows=1, cols=4, width=8, heads=1),
         TransformerConfig(rows=5, cols=1, width=8, layers=0, states=4)]  # fmt: skip


def worn(config: TransformerConfig, seed: int = 1) -> Transformer:
    """Make a network whose LayerNorms scale and shift, as training leaves them."""
    network, random = build(config, seed), torch.Generator().manual_seed(seed)
    assert isinstance(network, Transformer)
    for name, parameter in network.named_parameters():
        if "ln" in name:
            parameter.data += torch.randn(parameter.shape, generator=random) / 2
    return network.eval()


def precise(config: TransformerConfig, seed: int = 1) -> Transformer:
    return worn(config, seed).double()


# ---- sizes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "count"),
    [(SMALL, 398_738), (LARGE, 1_913_618), (SMALL_FINAL, 563_730), (LARGE_FINAL, 1_650_066), (MEDIUM, 397_298)],
)
def test_the_presets_have_the_number_of_parameters_of_the_original(config, count):
    network = build(config)
    assert network.weights == count
    assert not list(network.buffers())


@pytest.mark.parametrize("config", [SMALL, LARGE])
def test_a_side_token_is_one_state_more(config):
    told = config.model_copy(update={"side_token": True})
    assert build(told).weights == build(config).weights + 128


def test_presets_fit_the_game_as_it_stands():
    game = load("domineering")
    for config in PRESETS.values():
        assert (config.inputs, config.actions) == (*game.observations["tokens"], game.actions)


@pytest.mark.parametrize("name", ["W_Q", "W_K", "W_V", "W_O"])
def test_the_weights_of_a_head_are_a_matrix_that_can_be_copied(name):
    network, other = build(ODD, 1), build(ODD, 2)
    source, target = (getattr(each.layers[1].attn, name) for each in (network, other))
    before = target.detach().clone()
    with torch.no_grad():
        target[2].copy_(source[1])
    assert target[2].shape == (ODD.head_width, ODD.width)
    assert torch.equal(target[2], source[1])
    assert torch.equal(target[:2], before[:2])
    assert not torch.equal(target[2], before[2])


# ---- against the definition ----------------------------------------------------------------------


@pytest.mark.parametrize("config", SIZES, ids=lambda config: f"{config.rows}x{config.cols}")
@pytest.mark.parametrize("depth", [None, 0, 1])
def test_answers_are_those_of_the_definition(config, depth):
    network, tokens = precise(config), random_tokens(config, 6)
    with torch.no_grad():
        fast, slow = network.heads(tokens, depth), slow_heads(network, tokens, depth)
    for mine, expected in zip(fast, slow, strict=True):
        torch.testing.assert_close(mine, expected, atol=1e-12, rtol=1e-10)


def test_the_small_network_of_the_study_answers_as_the_definition_says():
    network, tokens = precise(SMALL), random_tokens(SMALL, 2)
    with torch.no_grad():
        fast, slow = network.heads(tokens), slow_heads(network, tokens)
    for mine, expected in zip(fast, slow, strict=True):
        torch.testing.assert_close(mine, expected, atol=1e-11, rtol=1e-10)


def test_gradients_are_those_of_the_definition():
    network, tokens = precise(ODD), random_tokens(ODD, 3)
    gradients = []
    for judge in (network.heads, lambda rows: slow_heads(network, rows)):
        network.zero_grad()
        found = judge(tokens)
        (found.vertical_win_logit.sum() + (found.policy**2).sum() + (found.sectors**2).sum()).backward()
        gradients.append([parameter.grad.clone() for parameter in network.parameters()])
    for mine, expected in zip(*gradients, strict=True):
        torch.testing.assert_close(mine, expected, atol=1e-10, rtol=1e-8)


def test_the_stream_behind_some_layers_is_that_of_the_definition():
    network, tokens = precise(ODD), random_tokens(ODD, 4)
    with torch.no_grad():
        slow = torch.stack([slow_stream(network, row, 2) for row in tokens])
        torch.testing.assert_close(network.stream(tokens, 2), slow, atol=1e-12, rtol=1e-10)


@pytest.mark.parametrize("spec", ["domineering", "domineering:rows=3,cols=5", "domineering:rows=1,cols=4"])
def test_the_squares_of_a_move_are_those_that_the_game_covers(spec):
    game = load(spec)
    config, position = TransformerConfig(rows=game.rows, cols=game.cols), game.start(0)
    assert config.actions == game.actions
    for action, squares in enumerate(squares_of_moves(config)):
        cells = game.cells_of(position.state, action)
        assert tuple(row * game.cols + col for _, row, col in cells) == squares


def test_a_move_is_judged_by_its_own_two_squares():
    """A change of what the head sees of one square reaches the logits of the moves that cover it, and no others."""
    network = precise(ODD)
    squares = torch.randn(1, ODD.squares, ODD.width, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    before = network.policy_head(squares)
    for square in range(ODD.squares):
        changed = squares.clone()
        changed[0, square] += 1
        moved = (network.policy_head(changed) != before)[0]
        assert moved.tolist() == [square in pair for pair in squares_of_moves(ODD)]


# ---- from the mover's side -----------------------------------------------------------------------


def observations(spec: str, kind: str, seed: int = 0) -> tuple[torch.Tensor, list[int]]:
    """Return what is seen along a random game, and who is to move."""
    random, position = np.random.default_rng(seed), load(spec).start(0)
    seen, movers = [], []
    while not position.over:
        seen.append(np.asarray(position.observe(kind), np.float32).reshape(-1))
        movers.append(position.mover)
        position.play(int(random.choice(position.legal())))
    return torch.from_numpy(np.stack(seen)), movers


@pytest.mark.parametrize(("kind", "side_token"), [("tokens", False), ("tokens_mover", True), ("tokens_mover", False)])
def test_values_are_vertical_chances_seen_by_the_mover(kind, side_token):
    rows, movers = observations("domineering:rows=4,cols=4", kind)
    network = precise(TransformerConfig(rows=4, cols=4, width=8, mlp=6, side_token=side_token))
    with torch.no_grad():
        logits, values = network(rows)
        tokens = rows.long() if side_token else rows.long().clamp_max(2)
        found = network.heads(tokens)
    vertical = 2 * found.vertical_win_logit.sigmoid() - 1
    assert set(movers) == {0, 1}
    for value, chance, mover in zip(values, vertical, movers, strict=True):
        assert value.item() == pytest.approx(chance.item() * (1 if mover == 0 else -1), abs=1e-12)
    assert torch.equal(logits, found.policy)


def test_only_a_side_token_tells_who_is_to_move_to_the_network():
    for side_token in (True, False):
        network = precise(ODD.model_copy(update={"side_token": side_token}))
        tokens = random_tokens(ODD, 5)
        tokens[:, -1] = 2
        other = tokens.clone()
        other[:, -1] = 3
        with torch.no_grad():
            same = torch.equal(network(tokens.float())[0], network(other.float())[0])
        assert same is not side_token


# ---- masking -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_masked_moves_have_no_chance_and_no_gradient_in_any_precision(dtype):
    policy = (torch.randn(4, 9) * 60).to(dtype).requires_grad_()
    legal = torch.rand(4, 9) < 0.5
    legal[:, 0], legal[3] = True, False
    legal[3, 4] = True
    chances = masked(policy, legal).log_softmax(1)
    assert chances.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    assert torch.isfinite(chances).all()
    assert (chances.exp()[~legal] == 0).all()
    target = legal / legal.sum(1, keepdim=True)  # 0 on illegal moves: with an infinite mask this would be no number
    loss = -(target * chances).sum()
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(policy.grad).all()
    assert (policy.grad[~legal] == 0).all()
    assert (policy.grad[legal] != 0).any()


def test_a_position_without_legal_moves_does_no_harm():
    chances = masked(torch.randn(1, 5).half(), torch.zeros(1, 5, dtype=torch.bool)).softmax(1)
    torch.testing.assert_close(chances, torch.full((1, 5), 0.2))


# ---- learning and files --------------------------------------------------------------------------


def test_it_learns_a_few_positions_by_heart():
    config = TransformerConfig(rows=4, cols=4, width=16, head_width=8, mlp=32, sectors=1, policy_hidden=16)
    network = build(config, 3)
    tokens, moves = random_tokens(config, 8), torch.arange(8)
    wins = (moves % 2).float()
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3)
    for _ in range(120):
        found = network.heads(tokens)
        value = torch.nn.functional.binary_cross_entropy_with_logits(found.vertical_win_logit, wins)
        loss = value + torch.nn.functional.cross_entropy(found.policy, moves)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.3
    assert (found.policy.argmax(1) == moves).all()


@pytest.mark.slow
def test_it_is_one_graph_for_a_compiler_and_its_answers_stay_the_same():
    network, tokens = worn(ODD), random_tokens(ODD, 4)
    compiled = torch.compile(network.heads, backend="aot_eager", fullgraph=True)
    for mine, expected in zip(compiled(tokens), network.heads(tokens), strict=True):
        torch.testing.assert_close(mine, expected)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_training_in_half_precision_gives_finite_gradients(dtype):
    config = TransformerConfig(rows=4, cols=4, width=16, head_width=8, mlp=32, sectors=1, policy_hidden=16)
    network, tokens = build(config, 3), random_tokens(config, 8)
    legal = torch.rand(8, config.actions, generator=torch.Generator().manual_seed(0)) < 0.5
    legal[:, 0] = True
    with torch.autocast("cpu", dtype):
        found = network.heads(tokens)
        loss = torch.nn.functional.cross_entropy(masked(found.policy, legal), torch.zeros(8, dtype=torch.int64))
    (loss * 1024).backward()
    assert found.sectors.dtype == dtype
    gradients = [parameter.grad for parameter in network.parameters() if parameter.grad is not None]
    assert all(torch.isfinite(gradient).all() for gradient in gradients)
    assert all(gradient.dtype == torch.float32 for gradient in gradients)
    assert max(gradient.abs().max() for gradient in gradients) > 0


def test_same_seed_same_weights():
    first, second, other = (build(SMALL, seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not torch.equal(first["layers.0.attn.W_Q"], other["layers.0.attn.W_Q"])


@pytest.mark.parametrize("values", [{"rows": 1, "cols": 1}, {"rows": 0, "cols": 4}, {"rows": 4, "cols": 4, "states": 2},
                                    {"rows": 4, "cols": 4, "side_token": 1}])  # fmt: skip
def test_a_configuration_that_cannot_be_is_refused(values):
    with pytest.raises(BadInput, match=r"network\.transformer"):
        read_config({"kind": "transformer"} | values)


@pytest.mark.parametrize("config", SIZES, ids=lambda config: f"{config.rows}x{config.cols}")
def test_no_positions_get_no_answers(config):
    network, nothing = worn(config), torch.zeros(0, config.inputs)
    for logits, values in (network(nothing), fold(network)(nothing)):
        assert (logits.shape, values.shape) == ((0, config.actions), (0,))


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"layers": 1 << 20}, "1048576 layers"), ({"width": 1 << 20, "heads": 1 << 20, "head_width": 1 << 20}, "1048576"),
     ({"rows": 256, "cols": 256, "policy_hidden": 1 << 20}, "pos_embed|policy_head")],
)  # fmt: skip
def test_a_file_that_claims_to_be_larger_than_it_is_is_refused(changes, message, tmp_path):
    network = {"kind": "transformer", **SMALL.model_dump(), **changes}
    torch.save({"model_state_dict": build(SMALL).state_dict(), "network": network}, tmp_path / "odd.pth")
    with pytest.raises(BadInput, match=rf"odd\.pth.*({message})"):
        load_network(tmp_path / "odd.pth")


# ---- files of the original project ---------------------------------------------------------------


def original_weights(network: Transformer) -> dict[str, torch.Tensor]:
    """Write weights as the original did: a matrix for each head, [width, head_width] but for W_O, and some tables."""
    found = {}
    for name, tensor in network.state_dict().items():
        if ".W_" in name and "attn" in name:
            for head, matrix in enumerate(tensor):
                found[f"{name}.{head}"] = matrix.clone() if name.endswith("W_O") else matrix.T.contiguous()
        else:
            name = name.replace("policy_head.W_in", "policy_head.mlp.0").replace(
                "policy_head.W_out", "policy_head.mlp.2"
            )
            found[name] = tensor
    tables = {"positions": torch.arange(257), "policy_head.sq1_indices": torch.arange(480)}
    return found | tables | {"policy_head.sq2_indices": torch.arange(480)}


@pytest.mark.parametrize("config", [SMALL, LARGE_FINAL, MEDIUM], ids=["small", "large", "medium"])
@pytest.mark.parametrize("bare", [True, False])
def test_a_checkpoint_of_the_original_is_recognised(config, bare, tmp_path):
    network = worn(config)
    weights = original_weights(network)
    torch.save(weights if bare else {"model_state_dict": weights, "epoch": 3, "val_loss": 0.5}, tmp_path / "best.pt")
    loaded = load_network(tmp_path / "best.pt")
    assert loaded.config == config
    assert (loaded.about.game, loaded.about.observation) == ("domineering", "tokens")
    assert all(torch.equal(tensor, loaded.network.state_dict()[name]) for name, tensor in network.state_dict().items())


def test_bare_weights_of_ours_are_recognised(tmp_path):
    config = TransformerConfig(rows=5, cols=5, width=8, heads=2, head_width=4, mlp=6, side_token=True, sectors=4)
    torch.save(build(config).state_dict(), tmp_path / "bare.pth")
    loaded = load_network(tmp_path / "bare.pth")
    assert loaded.config == config
    assert (loaded.about.game, loaded.about.observation) == ("domineering:rows=5,cols=5", "tokens_mover")


def without(*names: str) -> dict[str, torch.Tensor]:
    return {name: tensor for name, tensor in original_weights(build(SMALL)).items() if name not in names}


BROKEN = {
    "a head": (without("layers.1.attn.W_K.3"), r"layers\.1\.attn\.W_K"),
    "a head in the middle": (without("layers.0.attn.W_V.1"), r"layers\.0\.attn\.W_V"),
    "a layer": (without(*(f"layers.0.attn.W_Q.{head}" for head in range(4))), r"layers\.0\.attn\.W_Q"),
    "a head of another shape": (
        without() | {"layers.0.attn.W_O.1": torch.zeros(8, 128)}, "several shapes"),
    "places": (without() | {"pos_embed.weight": torch.zeros(16 * 15 + 1, 128)}, "241 tokens"),
    "sectors": (without("sector_head.weight"), r"sector_head\.weight"),
    "something more": (without() | {"more": torch.zeros(1)}, "more.*should be absent"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_checkpoint_of_the_original_is_refused(content, message, tmp_path):
    torch.save(content, tmp_path / "odd.pt")
    with pytest.raises(BadInput, match=rf"odd\.pt.*{message}"):
        load_network(tmp_path / "odd.pt")
