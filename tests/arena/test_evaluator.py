"""Networks as evaluators."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import torch

from nets.samples import KINDS, SMALL, V4, V5, on_one_thread, worn
from rookery.arena.evaluator import NetworkEvaluator, chosen_device
from rookery.arena.memory import Memory
from rookery.errors import BadInput
from rookery.nets.configs import PerceptronConfig, ResidualConfig
from rookery.nets.network import Network
from rookery.nets.residual import build

SEEN = {"atol": 2e-5, "rtol": 1e-5}


@pytest.fixture(autouse=True)
def one_thread():
    with on_one_thread():
        yield


def observations(network: Network, rows: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((rows, network.config.inputs)).astype(np.float32)


def plain(network: Network, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ask the module itself, one position at a time."""
    with torch.no_grad():
        answers = [network(torch.from_numpy(row)[None]) for row in rows]
    return np.concatenate([a[0].numpy() for a in answers]), np.concatenate([a[1].numpy() for a in answers])


@pytest.mark.parametrize("config", [*KINDS, V4, V5], ids=lambda config: f"{config.kind} {config.inputs}")
@pytest.mark.parametrize("options", [{}, {"batch": 8}, {"cache": 10}, {"threads": 2}, {"batch": 5, "cache": 100}])
def test_answers_are_those_of_the_module(config, options):
    network = worn(build(config))
    rows = observations(network, 21)
    evaluator = NetworkEvaluator(network, "rich", device="cpu", **options)
    for asked in (rows, rows[:1], rows[3:9]):
        logits, values = evaluator(asked)
        assert logits.dtype == values.dtype == np.float32
        expected = plain(network, asked)
        np.testing.assert_allclose(logits, expected[0], **SEEN)
        np.testing.assert_allclose(values, expected[1], **SEEN)


def test_more_rows_than_fit_into_a_pass_are_split():
    network = worn(build(SMALL))
    rows = observations(network, 3000)
    logits, values = NetworkEvaluator(network, "rich", device="cpu")(rows)
    with torch.no_grad():
        expected = network(torch.from_numpy(rows))
    np.testing.assert_allclose(logits, expected[0].numpy(), **SEEN)
    np.testing.assert_allclose(values, expected[1].numpy(), **SEEN)


def test_same_input_gives_same_answers():
    network = worn(build(V4))
    rows = observations(network, 100)
    first, second = (NetworkEvaluator(network, "basic", device="cpu", threads=1) for _ in range(2))
    answers = [first(rows), first(rows), second(rows)]
    for logits, values in answers[1:]:
        assert np.array_equal(logits, answers[0][0])
        assert np.array_equal(values, answers[0][1])


STEADY = [
    PerceptronConfig(inputs=5, actions=7, hidden=(32, 16)),
    ResidualConfig(inputs=5, actions=7, width=16, blocks=2, value_hidden=8, policy_hidden=8),
    V4,
    V5,
]


@pytest.mark.parametrize("config", STEADY, ids=lambda config: f"{config.kind} {config.inputs}")
def test_an_answer_does_not_depend_on_what_else_is_asked(config):
    network = worn(build(config))
    evaluator = NetworkEvaluator(network, "rich", device="cpu", threads=1)
    rows = observations(network, 100)
    logits, values = evaluator(rows)
    for first, last in [(0, 1), (7, 8), (3, 5), (1, 4), (10, 17), (0, 33), (36, 100)]:
        some_logits, some_values = evaluator(rows[first:last])
        assert np.array_equal(some_logits, logits[first:last])
        assert np.array_equal(some_values, values[first:last])


def test_in_passes_of_one_size_no_answer_of_a_tower_depends_on_what_else_is_asked():
    network = worn(build(KINDS[2]))
    evaluator = NetworkEvaluator(network, "rich", device="cpu", threads=1, batch=32)
    rows = observations(network, 100)
    logits, values = evaluator(rows)
    for first, last in [(0, 1), (7, 8), (3, 5), (10, 17), (36, 100)]:
        some_logits, some_values = evaluator(rows[first:last])
        assert np.array_equal(some_logits, logits[first:last])
        assert np.array_equal(some_values, values[first:last])


def test_in_bf16_a_processor_answers_nearly_the_same_and_always_alike():
    network = worn(build(KINDS[2]))
    rows = observations(network, 64)
    exact, rough, again = (
        NetworkEvaluator(network, "rich", "cpu", precision, batch=32, threads=1) for precision in ("32", "bf16", "bf16")
    )
    (logits, values), (near_logits, near_values) = exact(rows), rough(rows)
    assert near_logits.dtype == near_values.dtype == np.float32
    spread = logits.std()
    assert 0 < np.abs(near_logits - logits).max() < 0.1 * spread
    assert 0 < np.abs(near_values - values).max() < 0.05
    for asked in (rows, rows[:40]):
        assert np.array_equal(again(asked)[0], near_logits[: len(asked)])
    for number in (5, 17):
        assert np.array_equal(rough(rows[number : number + 1])[0][0], near_logits[number])


def test_the_numbers_are_those_that_are_usual_on_the_device_unless_others_are_named():
    found = [NetworkEvaluator(build(SMALL), "rich", "cpu", precision).precision for precision in ("auto", "32", "bf16")]
    assert found == ["32", "32", "bf16"]


def test_answers_are_the_callers_own():
    network = worn(build(SMALL))
    evaluator = NetworkEvaluator(network, "rich", device="cpu", cache=8)
    rows = observations(network, 3)
    first, _ = evaluator(rows)
    kept = first.copy()
    evaluator(observations(network, 3, seed=1))
    assert np.array_equal(first, kept)
    first[:] = 7
    assert np.array_equal(evaluator(rows)[0], kept)


def test_no_rows_get_no_answers():
    logits, values = NetworkEvaluator(build(SMALL), "rich", device="cpu", cache=4)(np.empty((0, 5), np.float32))
    assert (logits.shape, values.shape) == ((0, 7), (0,))


def test_what_is_read_only_or_not_contiguous_is_read_too():
    network = worn(build(SMALL))
    rows = observations(network, 6)
    evaluator = NetworkEvaluator(network, "rich", device="cpu")
    expected = evaluator(rows)[0]
    frozen = rows.copy()
    frozen.flags.writeable = False
    for other in (frozen, np.asfortranarray(rows), rows.astype(np.float64)):
        np.testing.assert_allclose(evaluator(other)[0], expected, **SEEN)


def test_new_weights_are_taken_over_and_old_answers_forgotten():
    first, second = worn(build(SMALL, 1), 1), worn(build(SMALL, 2), 2)
    rows = observations(first, 4)
    evaluator = NetworkEvaluator(first, "rich", device="cpu", cache=10)
    evaluator(rows)
    evaluator.update(second)
    np.testing.assert_allclose(evaluator(rows)[0], plain(second, rows)[0], **SEEN)


def test_the_number_of_threads_is_as_before_after_a_pass():
    before = torch.get_num_threads()
    evaluator = NetworkEvaluator(build(SMALL), "rich", device="cpu", threads=before + 1)
    evaluator(np.zeros((2, 5), np.float32))
    assert torch.get_num_threads() == before


def test_several_threads_may_ask_one_evaluator():
    network = worn(build(SMALL))
    evaluator = NetworkEvaluator(network, "rich", device="cpu", cache=20, batch=8)
    found: dict[int, bool] = {}

    def ask(number: int) -> None:
        rows = observations(network, 30, seed=number % 2)
        expected = plain(network, rows)[0]
        found[number] = all(np.allclose(evaluator(rows)[0], expected, **SEEN) for _ in range(5))

    workers = [threading.Thread(target=ask, args=[number]) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == dict.fromkeys(range(4), True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "tpu"}, "device must be one of"),
        ({"device": "cpu:3"}, "no device 'cpu:3'"),
        ({"precision": "int4"}, "precision must be one of 32, bf16"),
        ({"batch": 0}, "batch"),
        ({"threads": 0}, "threads"),
        ({"cache": -1}, "cache"),
    ],
)
def test_settings_that_cannot_be_are_refused(options, message):
    with pytest.raises(BadInput, match=message):
        NetworkEvaluator(build(SMALL), "rich", **({"device": "cpu"} | options))


def test_a_device_that_is_not_there_is_refused():
    if not torch.backends.mps.is_available():
        with pytest.raises(BadInput, match="mps"):
            chosen_device("mps")
    assert chosen_device("auto").type in ("cpu", "cuda", "mps")


@pytest.mark.parametrize("shape", [(5,), (2, 4), (2, 5, 1)])
def test_observations_of_another_shape_are_refused(shape):
    with pytest.raises(BadInput, match=r"\[N, 5\]"):
        NetworkEvaluator(build(SMALL), "rich", device="cpu")(np.zeros(shape, np.float32))


# ---- the cache -----------------------------------------------------------------------------------


class Counting:
    """A judge that counts what it is asked: logits are twice the row, the value is its sum."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    def __call__(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.asked += rows[:, 0].tolist()
        return 2 * rows, rows.sum(1)


def rows_of(*numbers: float) -> np.ndarray:
    return np.array([[number, 1] for number in numbers], np.float32).reshape(-1, 2)


@pytest.mark.parametrize("room", [1, 2, 7, 1000])
def test_answers_with_a_cache_are_those_without(room):
    random, memory, judge = np.random.default_rng(0), Memory(2, room), Counting()
    for _ in range(200):
        rows = rows_of(*random.integers(0, 12, random.integers(0, 9)))
        logits, values = memory.answers(rows, judge)
        assert np.array_equal(logits, 2 * rows)
        assert np.array_equal(values, rows.sum(1))
        assert len(memory.slots) == len(memory.keys) <= room


def test_a_position_is_judged_once_while_it_is_kept():
    memory, judge = Memory(2, 3), Counting()
    memory.answers(rows_of(1, 2, 1, 3), judge)
    assert judge.asked == [1, 2, 3]
    memory.answers(rows_of(3, 2, 1), judge)
    assert judge.asked == [1, 2, 3]
    memory.answers(rows_of(4, 2), judge)  # 1 is the oldest
    memory.answers(rows_of(2, 1), judge)
    assert judge.asked == [1, 2, 3, 4, 1]
    assert (memory.asked, memory.found) == (11, 6)


def test_observations_that_differ_in_one_bit_are_different():
    memory, judge = Memory(2, 10), Counting()
    near = np.nextafter(np.float32(1), np.float32(2))
    memory.answers(rows_of(1, near), judge)
    assert len(judge.asked) == 2
