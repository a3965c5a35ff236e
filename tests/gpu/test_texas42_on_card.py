"""Networks of Texas 42 on a card: the oracle, labels of worlds, steps by graphs."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nets.mixing import masks, mixed_and_gradient, nearly, plainly_mixed
from rookery.arena.texas42_networks import HandsOracle, HandTokens, fetched
from rookery.nets.configs import HandsConfig
from rookery.nets.residual import build
from rookery.nets.short_attention import attend, fits
from rookery.search.solve.texas42 import Solver
from rookery.search.texas42_batch import all_tokens, called, dealt, legal_slots, open_tokens, play_random_each
from rookery.studies.steps import Speed
from rookery.studies.texas42_decisions import DecisionSettings, NetworkLabeller, make_shard
from rookery.studies.texas42_runs import Run, stage_of
from rookery.studies.texas42_tables import load_tables
from rookery.studies.texas42_training import Trainer
from studies.texas42_samples import HANDS, settings_of, small_study

pytestmark = pytest.mark.gpu

CONFIG = HandsConfig(width=64, heads=4, layers=2, mlp=128)


def some_states(count: int = 300) -> np.ndarray:
    states, rng = dealt(np.arange(count)), np.random.default_rng(0)
    called(states, rng.integers(10, size=count), rng.integers(4, size=count), np.full(count, 30, np.int8))
    play_random_each(states, 0, np.arange(count), rng.integers(28, size=count))
    return states


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("kind", ["none", "keys", "pairs"])
@pytest.mark.parametrize(("tokens", "width"), [(32, 32), (32, 16), (33, 32), (33, 16), (29, 64), (64, 64), (5, 16)])
def test_kernels_for_a_few_tokens_mix_as_attention_does(tokens, width, kind, dtype):
    assert fits(torch.zeros(1, tokens, 3, 2, width, dtype=dtype, device="cuda"))
    here, mask = masks(tokens)[kind], masks(tokens, "cuda")[kind]
    exact = mixed_and_gradient(lambda parted: plainly_mixed(parted, here), tokens, torch.float64, width)
    usual = mixed_and_gradient(lambda parted: plainly_mixed(parted, mask), tokens, dtype, width, "cuda")
    nearly(mixed_and_gradient(lambda parted: attend(parted, mask), tokens, dtype, width, "cuda"), usual, exact)


def test_tokens_made_on_a_card_are_those_of_the_game():
    states, maker = some_states(), HandTokens("cuda")
    tokens = maker(torch.from_numpy(states["tiles"].copy()).cuda(), maker.public(states))
    assert (tokens.cpu().numpy() == all_tokens(states)).all()


def test_what_a_card_tells_of_open_hands_is_what_the_game_tells():
    from rookery.arena.texas42_cuda import OpenTokens

    states = some_states()
    told = OpenTokens(torch.from_numpy(states.view(np.uint8).reshape(len(states), -1)).cuda())
    for first, last in ((0, 300), (17, 50), (290, 400)):  # behind the last it is there again
        wanted = open_tokens(states[np.arange(first, last).clip(max=299)])
        assert (told(first, last).cpu().numpy() == wanted).all()


@pytest.mark.parametrize(("threads", "buckets"), [(1 << 16, 1 << 9), (48, 4)])  # a thread for each, and few for many
def test_a_card_solves_positions_as_a_processor_does(threads, buckets):
    from rookery.search.solve.texas42_cuda import SolverOnCard

    states, solver = some_states(2000), SolverOnCard(threads, buckets)
    states = states[states["plays"] >= 4]  # from an opening the longest search would keep the test waiting
    here = Solver(2).q(states)
    assert solver.q(states[:0]).q.shape == (0, 7)
    for _ in range(2):  # and again, with tables that are not new
        there = solver.q(states)
        assert (there.values == here.values).all()
        assert (there.q == here.q).all()


@pytest.mark.parametrize("reads", ["all", "open"])
@pytest.mark.parametrize("compiled", [False, True])
def test_an_oracle_on_a_card_agrees_with_one_on_a_processor(compiled, reads):
    network, states = build(CONFIG.model_copy(update={"reads": reads}), 1), some_states()
    here, there = HandsOracle(network, "cpu")(states), HandsOracle(network, "cuda", compiled=compiled)(states)
    apart = np.abs(here - there)[legal_slots(states)]  # of a tile that is gone nothing is said
    assert apart.mean() < 0.1
    assert apart.max() < 1


@pytest.mark.parametrize("plays", [0, 9, 22, 26])
@pytest.mark.parametrize("reads", ["all", "open"])
@pytest.mark.parametrize("compiled", [False, True])
def test_labels_of_a_card_agree_with_those_of_a_processor(compiled, reads, plays):
    network = build(CONFIG.model_copy(update={"reads": reads}), 1)
    states = dealt(np.arange(8))
    called(states, np.arange(8), np.arange(8) % 4, np.full(8, 30, np.int8))
    play_random_each(states, 0, np.arange(8), np.full(8, plays))
    here, there = (
        NetworkLabeller(HandsOracle(network, device, compiled=compiled and device == "cuda")).begin(
            states, 200, np.arange(8)
        )()
        for device in ("cpu", "cuda")
    )
    legal = legal_slots(states)
    assert np.abs(here.mean - there.mean)[legal].max() < 0.5
    assert np.abs(here.make - there.make)[legal].max() < 0.1


def test_what_is_asked_later_keeps_nobody_waiting_for_what_was_asked_before():
    first = fetched(torch.arange(3.0, device="cuda"))
    torch.cuda._sleep(2_000_000_000)  # a second or so
    later = torch.cuda.current_stream().record_event()
    assert first().tolist() == [0, 1, 2]
    assert not later.query()
    torch.cuda.synchronize()


@pytest.mark.parametrize("reads", ["all", "open"])
def test_hands_are_played_through_on_a_card(reads):
    network = build(CONFIG.model_copy(update={"reads": reads}), 1)
    labeller = NetworkLabeller(HandsOracle(network, "cuda"), threads=2)
    rows = make_shard(DecisionSettings(worlds=50), np.arange(64), labeller)
    assert rows["history"].shape == (64, 28)


@pytest.mark.parametrize("muon", [0.0, 2.0])
@pytest.mark.parametrize("stage", [1, 2])
@pytest.mark.parametrize("speed", [Speed(block=4), Speed(block=4, compile=True), Speed(graph=False)])
def test_steps_on_a_card_are_those_of_a_processor(tmp_path, stage, speed, muon):
    study, read = small_study(tmp_path), []
    for device, how in (("cpu", Speed()), ("cuda", speed)):
        settings = settings_of(stage, muon=muon)
        tables = load_tables(study, settings.kind, (), device)
        trainer = Trainer(stage_of(build(settings.network, 1)), settings, tables.train, how)
        trainer.train(11)  # blocks of four, and three steps that are too few for one
        assert not trainer.note
        read.append(trainer.read())
        trainer.close()
    assert read[1] == pytest.approx(read[0], rel=2e-2, abs=2e-2)


@pytest.mark.parametrize("muon", [0.0, 2.0])
def test_a_run_on_a_card_goes_on_in_half_precision(tmp_path, muon):
    study = small_study(tmp_path)
    settings = settings_of(1, precision="bf16", steps=200, every=100, muon=muon)
    tables = load_tables(study, "positions", (), "cuda")
    run = Run(study, settings)
    while not run.train(tables, Speed(block=4), until=0.0):
        pass
    assert run.complete
    assert [line["step"] for line in run.progress.read()] == [100, 200]
    assert settings.network == HANDS
