"""A network of Lc0's that judges chess positions.

    network = load("network.pb.gz", device="cpu")
    network.evaluate(["startpos", {"fen": "startpos", "moves": ["e2e4"]}])
    network.judge(states)                      # arrays, for programs

What a network sees of a position is its planes, so answers are remembered by these: positions that differ only in what
is not shown get the same answer. `clear` forgets them.
"""

from __future__ import annotations

import hashlib
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from rookery.drawing import table
from rookery.errors import BadInput
from rookery.games.chess_lc0_input import FILLS, PLANES, fill_planes, moves_of, pairs_of, planes_of
from rookery.games.options import whole_number
from rookery.games.position import Position
from rookery.lc0.passes import Answered, CardPasses, UnderWay
from rookery.lc0.positions import Given, chess_game, position_of
from rookery.nets.lc0.named import named_network
from rookery.nets.lc0.network import Answers as HeadAnswers
from rookery.nets.lc0.network import Lc0Network

PRECISIONS = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
DEVICES = ("cpu", "cuda", "mps")
MOST_ROWS = 1 << 20
REMEMBERED = 10_000
"""positions; each takes 8 kB"""

SHOWN = 12  # moves in a notebook
ADVICE = ("TensorFloat32 tensor cores", r"\s*Online softmax is disabled")
"""how warnings of PyTorch's compiler begin that say what might be faster: coarser numbers, a softmax in one pass"""


@dataclass(frozen=True)
class MoveEvaluation:
    """What a network says of a move."""

    index: int
    """among the 1858, after the turn of a canonical board"""
    logit: float
    p: float
    """share of the move among the legal ones"""


@dataclass(frozen=True)
class Evaluation:
    """What a network says of a position, for the player to move."""

    q: float
    """chance to win minus chance to lose, in [-1, 1]"""
    d: float
    """chance of a draw; 0 if the network tells none"""
    m: float
    """plies to the end of the game; 0 if the network tells none"""
    wdl: tuple[float, float, float]
    """chances to win, draw and lose"""
    moves: dict[str, MoveEvaluation]
    """legal moves in UCI, the likeliest first"""

    def _repr_html_(self) -> str:
        """Show the likeliest moves in a notebook."""
        rows = [(text, f"{move.p:.1%}", move.index) for text, move in list(self.moves.items())[:SHOWN]]
        chances = ", ".join(f"{word} {part:.1%}" for word, part in zip(("win", "draw", "loss"), self.wdl, strict=True))
        return table(("move", "share", "index"), rows, f"{chances}; Q {self.q:+.3f}")


class Judged(NamedTuple):
    """What a network says of N positions. Rows of moves are filled up to the number of legal ones."""

    chances: np.ndarray
    """[N, 3] to win, draw and lose"""
    q: np.ndarray
    """[N]"""
    moves_left: np.ndarray
    """[N]"""
    actions: np.ndarray
    """[N, most] legal moves"""
    indices: np.ndarray
    """[N, most] where each stands in the policy"""
    logits: np.ndarray
    """[N, most]"""
    counts: np.ndarray
    """[N] how many legal moves there are"""


class Answers:
    """The latest answers of a network, by what it saw."""

    def __init__(self, most: int):
        self.most = most
        self.kept: OrderedDict[bytes, np.ndarray] = OrderedDict()

    def find(self, key: bytes) -> np.ndarray | None:
        """Return an answer, which is then the latest."""
        found = self.kept.get(key)
        if found is not None:
            self.kept.move_to_end(key)
        return found

    def keep(self, key: bytes, answer: np.ndarray) -> None:
        """Remember an answer; the oldest one is forgotten where there are too many."""
        if self.most > 0:
            self.kept[key] = answer
            if len(self.kept) > self.most:
                self.kept.popitem(last=False)


class Evaluator:
    """A network with all that is needed to ask it about positions."""

    def __init__(
        self, network: Lc0Network, device: str = "cpu", precision: str = "f32", fill: str = "fen_only",
        batch: int = 64, remembered: int = REMEMBERED, compiled: bool = False, name: str = "",
    ):  # fmt: skip
        """Put a network on a device.

        precision   f32, bf16 or f16; f32 is exact
        fill        what stands for boards before the first known one: fen_only as in play, no as in training, always
        batch       positions the network judges at once
        remembered  answers that are kept; 0 for none
        compiled    whether torch.compile joins its steps, which takes a minute at the first pass of each size
        name        by which people know the network
        """
        self.name, self.precision = name, precision
        if precision not in PRECISIONS:
            raise BadInput(f"precision {precision!r} should be one of {', '.join(PRECISIONS)}")
        self.dtype = PRECISIONS[precision]
        self.device = checked_device(device)
        self.network = network.to(self.device, self.dtype).eval()
        self.fill = fill_number(fill)
        self.batch = whole_number("batch of a network", batch, 1, MOST_ROWS)
        self.remembered = Answers(whole_number("remembered answers", remembered, 0, 1 << 40))
        self.game = chess_game()
        self.planes = np.empty((batch, PLANES, 64), np.float32)  # filled again and again: fresh memory is slow
        self.heads = compiled_heads(self.network) if compiled else self.network.heads
        self.card = CardPasses(self.judged_on, batch, self.device) if self.device.type == "cuda" else None

    def _repr_html_(self) -> str:
        """Show the network's layers in a notebook."""
        return self.network._repr_html_()

    @property
    def format(self) -> int:
        """The number of the input format."""
        return int(self.network.config.input)

    def clear(self) -> None:
        """Forget all answers."""
        self.remembered.kept.clear()

    def choose_heads(self, policy: str | None = None, value: str | None = None) -> None:
        """Let other heads answer, of a network with several."""
        self.network.choose_heads(policy, value)
        self.clear()
        if self.card:
            self.card.graphs.clear()

    def evaluate(self, positions: Iterable[Given], temperature: float = 1.0) -> list[Evaluation]:
        """Judge positions; `temperature` divides the logits before they become shares (Lc0 plays with 1.359)."""
        if not temperature > 0:
            raise BadInput(f"temperature should be above 0, not {temperature}")
        if isinstance(positions, str | dict | Position):
            positions = [positions]
        read = [position_of(given, self.game) for given in positions]
        if not read:
            return []
        found = self.judge(np.concatenate([position.states for position in read]))
        return [self.told(position, found, row, temperature) for row, position in enumerate(read)]

    def told(self, position: Position, found: Judged, row: int, temperature: float) -> Evaluation:
        """Return what was found of one position by the names of its moves."""
        count = int(found.counts[row])
        logits = found.logits[row, :count]
        shares = softmax(logits.astype(np.float64), temperature)
        moves = {}
        for k in np.argsort(-shares, kind="stable"):
            text = position.move_text(int(found.actions[row, k]))
            moves[text] = MoveEvaluation(int(found.indices[row, k]), float(logits[k]), float(shares[k]))
        win, draw, lose = (float(chance) for chance in found.chances[row])
        return Evaluation(float(found.q[row]), draw, float(found.moves_left[row]), (win, draw, lose), moves)

    def judge(self, states: np.ndarray, unsound: bool = False) -> Judged:
        """Judge N states of chess, all of one game's options.

        An answer that is no finite number is refused, unless `unsound` ones are wanted.
        """
        masks, values, turns = pairs_of(states, self.format, self.fill)
        actions, indices, counts = moves_of(states, turns, self.game.most_legal)
        rows = self.answers(masks, values)
        logits = np.zeros(indices.shape, np.float32)
        for i, count in enumerate(counts):
            logits[i, :count] = rows[i, indices[i, :count]]
        if not unsound:
            self.refuse_no_numbers(states, logits, rows[:, -5:])
        return Judged(rows[:, -5:-2], rows[:, -2], rows[:, -1], actions, indices, logits, counts)

    def refuse_no_numbers(self, states: np.ndarray, logits: np.ndarray, others: np.ndarray) -> None:
        """Refuse answers of which any is no finite number, naming the first position."""
        wrong = ~(np.isfinite(logits).all(1) & np.isfinite(others).all(1))
        if wrong.any():
            raise self.no_numbers(self.game.fen(states[int(wrong.argmax())]))

    def no_numbers(self, fen: str = "") -> BadInput:
        """Return the complaint about a network whose answers are no finite numbers."""
        remedy = {
            "f32": "its weights are broken; get the file again, or check what wrote it (`rookery check` looks inside)",
            "bf16": "its weights are broken, or it needs more exact numbers: run it in f32 (--precision f32)",
            "f16": "its numbers do not fit into f16, or its weights are broken: run it in bf16 or f32 "
            "(--precision f32; in the UCI engine, option Backend cpu)",
        }
        name, where = f"network {self.name!r}" if self.name else "the network", f" at {fen!r}" if fen else ""
        return BadInput(f"{name} answers with numbers that are not finite{where}: {remedy[self.precision]}")

    def answers(self, masks: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return what the network says of N positions [N, 1858 + 5]: logits, chances, q and the moves left."""
        keys = [view_key(masks[i], values[i]) for i in range(len(masks))]
        rows: dict[bytes, np.ndarray] = {}
        asked: list[int] = []
        for i, key in enumerate(keys):
            if key in rows:
                continue
            known = self.remembered.find(key)
            rows[key] = np.empty(0) if known is None else known
            if known is None:
                asked.append(i)
        for first in range(0, len(asked), self.batch):
            part = asked[first : first + self.batch]
            for i, answer in zip(part, self.run(masks[part], values[part]), strict=True):
                rows[keys[i]] = answer
                self.remembered.keep(keys[i], answer.copy())  # a row alone would hold on to its whole batch
        return np.stack([rows[key] for key in keys]) if keys else np.empty((0, 1863), np.float32)

    def input(self, masks: np.ndarray, values: np.ndarray) -> torch.Tensor:
        """Return the planes of a batch where the network reads them."""
        if self.device.type != "cpu":
            words = torch.from_numpy(masks.view(np.int64)).to(self.device)
            return planes_on(words, torch.from_numpy(values).to(self.device)).to(self.dtype)
        planes = self.planes[: len(masks)]
        fill_planes(masks, values, planes)
        return torch.from_numpy(planes).to(self.dtype).view(-1, PLANES, 8, 8)

    @contextmanager
    def exactly(self) -> Iterator[None]:
        """Let a card keep all bits of what it convolves in f32, for a pass or while one is captured; else it keeps ten.

        It is a setting of the whole process, so it is put back.
        """
        if self.device.type != "cuda" or self.dtype != torch.float32:
            yield
            return
        before = torch.backends.cudnn.allow_tf32
        torch.backends.cudnn.allow_tf32 = False
        try:
            yield
        finally:
            torch.backends.cudnn.allow_tf32 = before

    def columns(self, planes: torch.Tensor) -> torch.Tensor:
        """Return what the network says of planes, [N, 1858 + 5]."""
        with self.exactly():
            found = self.heads(planes)
        columns = (found.policy.float(), found.chances, found.value[:, None], found.moves_left[:, None])
        return torch.cat(columns, 1)

    def judged_on(self, masks: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        """Return what the network says of masks and values that are on its device."""
        return self.columns(planes_on(masks, values).to(self.dtype))

    def run(self, masks: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Let the network judge a batch."""
        if self.card:
            return self.card.begin(masks, values).wait().copy()
        with torch.inference_mode():
            answers: np.ndarray = self.columns(self.input(masks, values)).cpu().numpy()
        return answers

    def begin(self, masks: np.ndarray, values: np.ndarray) -> Answered | UnderWay:
        """Let the network judge a batch, on a card without waiting; `wait` of what comes back returns the answers.

        These stand until the pass after the next one is begun.
        """
        return self.card.begin(masks, values) if self.card else Answered(self.run(masks, values))


def compiled_heads(network: Lc0Network) -> Callable[[torch.Tensor], HeadAnswers]:
    """Have a network compiled, at its first pass of each size, without a word of the compiler's advice."""
    compiled = torch.compile(network.heads, dynamic=False)
    there: set[torch.Size] = set()
    """sizes that are compiled"""

    def judged(planes: torch.Tensor) -> HeadAnswers:
        if planes.shape in there:
            return compiled(planes)
        with warnings.catch_warnings():  # of the whole process, so not at every pass
            for message in ADVICE:
                warnings.filterwarnings("ignore", message, UserWarning)
            answers = compiled(planes)
        there.add(planes.shape)
        return answers

    return judged


def planes_on(masks: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Make planes [N, 112, 8, 8] from masks, int64, and values [N, 112], which are a twentieth of their size."""
    bits = masks[:, :, None] >> torch.arange(64, device=masks.device) & 1
    return (bits * values[:, :, None]).view(-1, PLANES, 8, 8)


def view_key(masks: np.ndarray, values: np.ndarray) -> bytes:
    """Hash what a network sees of a position."""
    return hashlib.blake2b(masks.tobytes() + values[109].tobytes(), digest_size=16).digest()


def softmax(x: np.ndarray, temperature: float) -> np.ndarray:
    """Return shares that sum to 1; none for none."""
    if not len(x):
        return x
    with np.errstate(over="ignore"):  # at a temperature near 0 the best is all there is
        shares: np.ndarray = np.exp((x - x.max()) / temperature)
    shares /= shares.sum()
    return shares


def fill_number(fill: str) -> int:
    """Read what stands for boards before the first known one."""
    if fill not in FILLS:
        raise BadInput(f"fill {fill!r} should be one of {', '.join(FILLS)}")
    return FILLS.index(fill)


def checked_device(name: str) -> torch.device:
    """Return a device that is there."""
    if name not in DEVICES:
        raise BadInput(f"device {name!r} should be one of {', '.join(DEVICES)}")
    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not there[name]:
        raise BadInput(f"there is no {name} device here; give --device cpu")
    return torch.device(name)


def load(
    path: str | Path, device: str = "cpu", precision: str = "f32", policy_head: str | None = None,
    value_head: str | None = None, fill: str = "fen_only", batch: int = 64, remembered: int = REMEMBERED,
    compiled: bool = False,
) -> Evaluator:  # fmt: skip
    """Read a network, a weight file (.pb.gz or .pb) or one taught here (a file, zoo:NAME), and put it on a device."""
    checked_device(device)
    network = named_network(path)
    network.choose_heads(policy_head, value_head)
    return Evaluator(network, device, precision, fill, batch, remembered, compiled, str(path))


def shown_planes(position: Position, form: int, fill: int) -> tuple[np.ndarray, int]:
    """Return the planes of one position [112, 8, 8], and how its board was turned."""
    planes, turns = planes_of(position.states, form, fill)
    return planes[0], int(turns[0])


def policy_indices(positions: Sequence[Position], form: int) -> list[dict[str, int]]:
    """Return the policy index of each legal move of positions, by UCI."""
    found = []
    for position in positions:
        _, _, turns = pairs_of(position.states, form, 0)
        actions, indices, counts = moves_of(position.states, turns, position.game.most_legal)
        pairs = zip(actions[0, : counts[0]], indices[0, : counts[0]], strict=True)
        found.append({position.move_text(int(action)): int(index) for action, index in pairs})
    return found
