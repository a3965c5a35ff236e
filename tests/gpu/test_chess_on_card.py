"""Chess on a card: networks of Lc0's kind learn there through the same trainer, and play there."""

from __future__ import annotations

import pytest
import torch

from lc0_taught import planes, tiny
from learn.tiny_chess import NETWORK, made
from learn.tiny_imitation import learned
from rookery.learn.imitation import Imitation
from rookery.learn.loop import Training, new_run
from rookery.learn.settings import RunSettings
from rookery.nets.captured import Captured
from rookery.nets.folded import fold

pytestmark = pytest.mark.gpu


def test_imitation_on_a_card_learns_as_on_a_processor(tmp_path):
    folders = {device: made(tmp_path / device, device=device) for device in ("cpu", "cuda")}
    for folder in folders.values():
        assert learned(folder)
    one, other = (Imitation(folder).figures.read() for folder in folders.values())
    for name in ("policy_loss", "value_loss", "taught_policy_loss"):
        assert other[-1][name] == pytest.approx(one[-1][name], rel=0.2)


def test_a_captured_pass_takes_new_weights():
    first, second, seen = tiny(seed=1), tiny(seed=2), planes(64).cuda()
    folded = fold(first, "cuda", torch.float32)
    captured = Captured(folded, 64)
    captured.static_input.copy_(seen)
    for network in (first, second):
        folded.update(network)
        captured.replay()
        with torch.no_grad():
            logits, values = network.cuda()(seen)
        torch.testing.assert_close(captured.static_logits, logits, atol=5e-3, rtol=5e-3)
        torch.testing.assert_close(captured.static_values, values, atol=5e-3, rtol=5e-3)


@pytest.mark.parametrize("precision", ["32", "bf16"])
def test_self_play_on_a_card_finishes_games_and_learns_from_them(tmp_path, precision):
    settings = RunSettings.model_validate({
        "game": "chess", "device": "cuda", "network": NETWORK,
        "selfplay": {"games": 32, "at_once": 16, "simulations": 8, "urgency": "lc0", "ply_limit": 40},
        "training": {"batch": 64, "steps_per_game": 1, "replay": 2000, "mask_policy": True, "precision": precision},
    })  # fmt: skip
    run = new_run(tmp_path / "run", settings)
    with run.training():
        training = Training(run)
        before = [weights.detach().clone() for weights in training.trainer.network.parameters()]
        assert training.train()
    assert training.games == 32
    assert all(weights.isfinite().all() for weights in training.trainer.network.parameters())
    assert any(not torch.equal(a, b) for a, b in zip(before, training.trainer.network.parameters(), strict=True))
