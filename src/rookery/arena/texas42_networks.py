"""The networks of Texas 42 at work: Stage 1 as an oracle of E[Q], Stage 2 as a player.

    oracle = HandsOracle.of("runs/big/network.safetensors")
    expected(position, worlds=100, oracle=oracle)

`HandTokens` makes the tokens of many worlds where the network is: a world is 28 tiles, so little has to travel. What
the rules make of hands is told on a card by the card itself (`texas42_cuda`), elsewhere by compiled loops.
`as_taught` tells Stage 2 of a contract in the one way in which it was taught contracts, however it came about.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from rookery.arena.evaluator import chosen_device, on_threads
from rookery.arena.networks import network_file, taught_game
from rookery.arena.player import Choice, Player, Turn
from rookery.arena.searching import Analyst
from rookery.arena.texas42_heuristic import HeuristicPlayer
from rookery.arena.texas42_players import lead_of
from rookery.arena.texas42_report import play_lines
from rookery.errors import BadInput
from rookery.games.texas42 import state_of
from rookery.games.texas42_auction import PLAYING, SILENT
from rookery.games.texas42_tiles import CALLED_RANK, COUNT, HAND, HIGH, LOW, NAMES, NO_TILE, NOT_NAMED, SEATS, TILES
from rookery.nets.configs import HandsConfig
from rookery.nets.files import Loaded, load_network
from rookery.nets.texas42 import HANDS_TOKENS, POINTS, Expectation, Hands, Transcript
from rookery.search.analysis import Analysis, Line
from rookery.search.expected import Exact, Expected, bids_of
from rookery.search.texas42_batch import known_tokens, legal_slots, open_tokens

ROWS = {"cpu": 512, "cuda": 32768, "mps": 4096}
"""positions of one pass; kernels for attention take fewer than 65,536"""
HALF = {"cpu": torch.float32, "cuda": torch.float16, "mps": torch.float32}
FIRST_TRICK_TOKEN = 1 + TILES


# ---- tokens where the network is -----------------------------------------------------------------


def sent(array: np.ndarray, device: torch.device) -> Tensor:
    """Send numbers to a device; a card fetches them when it comes to it, and nobody waits."""
    here = torch.from_numpy(np.ascontiguousarray(array))
    return here.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else here.to(device)


def fetched(found: Tensor) -> Callable[[], np.ndarray]:
    """Have numbers brought back from a device; what is returned waits for them, and not for what is asked later."""
    if found.device.type != "cuda":
        here = found.cpu()
        return lambda: np.asarray(here.numpy())
    pinned = torch.empty(found.shape, dtype=found.dtype, pin_memory=True)
    pinned.copy_(found, non_blocking=True)
    arrived = torch.cuda.current_stream(found.device).record_event()

    def wait() -> np.ndarray:
        arrived.synchronize()
        return np.asarray(pinned.numpy())

    return wait


class HandTokens:
    """Makes the tokens `all` of worlds on a device, from tiles by slot and what is public."""

    def __init__(self, device: torch.device | str):
        pips = np.stack([HIGH, LOW, HIGH == LOW, COUNT[:TILES] // 5], 1).astype(np.int8)
        known = np.concatenate([np.broadcast_to(pips, (len(CALLED_RANK), TILES, 4)), CALLED_RANK[..., None]], 2)
        self.known = torch.from_numpy(np.ascontiguousarray(known, np.int8)).to(device)  # [declaration, tile, 5]
        self.device = torch.device(device)
        self.seats = torch.arange(SEATS, device=device)
        self.places = torch.arange(SEATS - 1, device=device)

    def public(self, states: np.ndarray) -> Tensor:
        """Return what is public of positions as whole numbers [P, 7]: declaration, mover, leader, played, trick."""
        lying = (states["plays"] & 3).astype(np.int64)
        at = np.minimum((states["plays"].astype(np.int64) & ~3)[:, None] + np.arange(SEATS - 1), TILES - 1)
        trick = np.where(np.arange(SEATS - 1) < lying[:, None], np.take_along_axis(states["history"], at, 1), NO_TILE)
        mover = states["texas42_mover"].astype(np.int64)
        columns = [states["declaration"], mover, (mover - lying) & 3, states["played"].astype(np.int64), *trick.T]
        return sent(np.stack([np.asarray(column, np.int64) for column in columns], 1), self.device)

    def __call__(self, tiles: Tensor, public: Tensor) -> Tensor:
        """Return the tokens [R, 32, 12] int8 of worlds.

        tiles   [R, 4, 7]  initial hands by slot
        public  [R, 7]     of each world's position
        """
        rows = len(tiles)
        name, me, leader, played = public[:, :4].unbind(1)
        tokens = torch.zeros(rows, HANDS_TOKENS, 12, dtype=torch.int8, device=self.device)
        tokens[:, :, 10], tokens[:, :, 11] = name[:, None], ((leader - me) & 3)[:, None]
        hands = tiles.long()
        mine = tokens[:, 1:FIRST_TRICK_TOKEN].view(rows, SEATS, HAND, 12)
        mine[..., :5] = self.known[name[:, None, None], hands]
        self.write_seat(mine, ((self.seats - me[:, None]) & 3)[..., None])
        mine[..., 8] = (played[:, None, None] >> hands) & 1 == 0
        mine[..., 9] = (1 + self.seats)[:, None]
        self.write_trick(tokens[:, FIRST_TRICK_TOKEN:], public)
        return tokens

    def write_trick(self, tokens: Tensor, public: Tensor) -> None:
        """Write the tokens of the current trick; those that stand for nothing stay zero in all features."""
        name, me, leader, trick = public[:, 0], public[:, 1], public[:, 2], public[:, 4:]
        there = trick < TILES
        tokens[..., :5] = self.known[name[:, None], trick.clamp_max(TILES - 1)]
        self.write_seat(tokens, (leader[:, None] + self.places - me[:, None]) & 3)
        tokens[..., 9] = 5 + self.places
        tokens *= there[..., None]

    def write_seat(self, tokens: Tensor, relative: Tensor) -> None:
        """Write the features that tell whose a tile is."""
        tokens[..., 5], tokens[..., 6], tokens[..., 7] = relative, relative == 0, relative == 2


# ---- stage 1 -------------------------------------------------------------------------------------


class HandsOracle:
    """Stage 1 as an oracle: states with all four hands -> Q [N, 7] from the mover's side.

    It was taught hands that are played for points; nello and sevens are left to exact search.
    """

    def __init__(
        self, network: Hands, device: str = "auto", rows: int | None = None, threads: int | None = 1,
        compiled: bool = False,
    ):  # fmt: skip
        """Make an oracle; with `compiled` PyTorch's compiler writes kernels for one number of rows and tokens."""
        self.device = chosen_device(device)
        kind = self.device.type
        self.rows, self.threads = rows or ROWS[kind], threads
        self.network = copy.deepcopy(network).to(self.device, HALF[kind]).eval()
        self.reads: str = network.config.reads
        self.tokens = HandTokens(self.device)
        self.compiled = compiled
        self.asked = torch.compile(self.network.points, dynamic=False) if compiled else self.network.points

    @classmethod
    def of(cls, text: str, device: str = "auto", answers: str = "q", compiled: bool = False) -> HandsOracle:
        """Make an oracle of the network that a text names; it must answer with q, maybe with a policy beside, or so."""
        network = load_stage(text, Hands).network
        assert isinstance(network, Hands)
        if network.config.in_points != (answers == "q"):
            raise BadInput(
                f"the network {text!r} answers with {network.config.answers!r}; here {answers!r} is asked for"
            )
        return cls(network, device, compiled=compiled)

    @torch.inference_mode()
    def __call__(self, states: np.ndarray) -> np.ndarray:
        """Judge positions of any kind."""
        q, house = np.zeros((len(states), HAND)), states["declaration"] > NOT_NAMED
        if house.any():
            q[house] = Exact()(states[house])
        if not house.all():
            q[~house] = self.of_points(states[~house] if house.any() else states)
        return q

    def of_points(self, states: np.ndarray) -> np.ndarray:
        """Judge positions of hands that are played for points."""
        with on_threads(self.threads):
            found = [self.judged(states[first : first + self.rows]) for first in range(0, len(states), self.rows)]
            return np.asarray(torch.cat(found).double().cpu().numpy())

    def judged(self, states: np.ndarray) -> Tensor:
        """Judge positions in one pass; on a device what is found may still be under way."""
        return self.points(self.told(states, states, self.threads or 1)(0, len(states)), common_plays(states))

    def points(self, tokens: Tensor, plays: int | None) -> Tensor:
        """Ask the network, which leaves out what stands for nothing once so many tiles were played, unless compiled."""
        found: Tensor = self.asked(tokens, None if self.compiled else plays)
        return found

    def told(self, drawn: np.ndarray, states: np.ndarray, threads: int) -> Callable[[int, int], Tensor]:
        """Return what makes the tokens of worlds, from one number to before another, on the device.

        Beyond the last world it is there again: kernels may want as many rows each time.

        drawn, states  [P * W], [P]: the worlds of each position, and the positions
        """
        count = len(drawn)
        if self.reads == "open" and self.device.type == "cuda":
            from rookery.arena.texas42_cuda import OpenTokens

            return OpenTokens(sent(drawn.view(np.uint8).reshape(count, -1), self.device))
        if self.reads == "open":
            numbers = np.arange(count + self.rows).clip(max=count - 1)
            return lambda first, last: sent(open_tokens(drawn[numbers[first:last]], threads), self.device)
        tiles, public = sent(drawn["tiles"], self.device), self.tokens.public(states)

        def made(first: int, last: int) -> Tensor:
            some = torch.arange(first, last, device=self.device).clamp_max(count - 1)
            return self.tokens(tiles[some], public[some // (count // len(states))])

        return made


def common_plays(states: np.ndarray) -> int | None:
    """Return how many tiles were played, if it is the same number in all positions."""
    plays = states["plays"]
    return int(plays[0]) if (plays == plays[0]).all() else None


def load_stage(text: str, stage: type[Hands] | type[Transcript]) -> Loaded:
    """Read a network of Texas 42; refuse one of another stage."""
    loaded = load_network(network_file(text))
    if not isinstance(loaded.network, stage):
        what = "Stage 1 (kind 'hands')" if stage is Hands else "Stage 2 (kind 'transcript')"
        raise BadInput(f"the network {text!r} is of kind {loaded.config.kind!r}; here one of {what} is needed")
    reads = loaded.config.reads if isinstance(loaded.config, HandsConfig) else "known"
    if loaded.about.observation and loaded.about.observation != reads:
        raise BadInput(
            f"the network {text!r} says that it was taught {loaded.about.observation!r}, but reads {reads!r}"
        )
    if loaded.about.game and taught_game(loaded.about.game) != "texas42":
        raise BadInput(f"the network {text!r} was taught {loaded.about.game}, not texas42")
    return loaded


# ---- stage 2 -------------------------------------------------------------------------------------


def as_taught(states: np.ndarray) -> np.ndarray:
    """Return positions [N] with their contracts told as in the hands that Stage 2 learned from.

    There nobody had spoken, and the first leader had the contract: 30 to 42 points for one mark. An auction tells of
    bids, passes and marks in numbers of which it never saw one, so they are left out. A bid of marks, splash or plunge
    needs all 42; after splash and plunge the first leader is the bidder's partner, and of the same team; where there is
    no bid, 30 are needed, as everywhere. Nello and sevens are other games, and are refused.
    """
    house = states["declaration"] > NOT_NAMED
    if house.any():
        name = NAMES[int(states["declaration"][house.argmax()])]
        raise BadInput(f"Stage 2 was taught hands that are played for points; it knows nothing of {name}")
    told = states.copy()
    told["wanted"], told["declarer"] = bids_of(states), states["leaders"][:, 0]
    told["bids"], told["high_bid"] = SILENT, SILENT
    return told


class TranscriptJudge:
    """Stage 2 asked about many decisions at once; it is told of every contract as it was taught."""

    def __init__(self, network: Transcript, device: str = "auto"):
        self.device = chosen_device(device)
        self.network = copy.deepcopy(network).to(self.device).eval()
        self.rows = ROWS[self.device.type] // 4

    @torch.inference_mode()
    def __call__(self, states: np.ndarray) -> Expectation:
        """Return what is expected, each [N, 7] on the CPU: mean and spread in points (or mean logits), make logit.

        Only what the seat to move knows is read.
        """
        found, told = [], as_taught(states)
        with on_threads(1):
            for first in range(0, len(told), self.rows):
                tokens = torch.from_numpy(known_tokens(told[first : first + self.rows]))
                found.append([part.float().cpu() for part in self.network.expect(tokens.to(self.device))])
        mean, spread, make = (torch.cat(column) for column in zip(*found, strict=True))
        scale = POINTS if self.network.config.in_points else 1.0
        return Expectation(mean * scale, spread * POINTS, make)


class TranscriptPlayer(Analyst):
    """A player of one forward pass: the legal tile that Stage 2 expects most of.

    choice  `mean`: of points; `make`: of the chance to make or set the bid

    In the auction, and in nello and sevens, of which Stage 2 knows nothing, rules of thumb decide.
    """

    def __init__(self, loaded: Loaded, choice: str = "mean", device: str = "auto"):
        assert isinstance(loaded.network, Transcript)
        self.judge, self.rule, self.plain = TranscriptJudge(loaded.network, device), choice, HeuristicPlayer()
        if choice == "make" and not loaded.network.config.in_points:
            raise BadInput("choice=make: this network was taught mean logits, and nothing about bids")

    def choose(self, turn: Turn) -> Choice:
        """Play one tile."""
        return self.choose_many([turn])[0]

    def choose_many(self, turns: Sequence[Turn]) -> list[Choice]:
        """Play a tile in each of several games; all are judged together."""
        chosen = {i: self.plain.choose(turn) for i, turn in enumerate(turns) if untaught(turn)}
        playing = [turn for turn in turns if not untaught(turn)]
        played = iter(self.played(playing) if playing else ())
        return [chosen[i] if i in chosen else next(played) for i in range(len(turns))]

    def played(self, turns: Sequence[Turn]) -> list[Choice]:
        """Choose tiles."""
        states = np.concatenate([turn.position.states for turn in turns])
        found, legal = self.judge(states), legal_slots(states)
        declaring = (states["declarer"] & 1) == (states["texas42_mover"] & 1)
        points, logits = found.mean.numpy(), found.make_logit.numpy()
        wanted = points if self.rule == "mean" else np.where(declaring[:, None], logits, -logits)
        return [Choice(line.action, line) for line in map(analysis_of, wanted, self.values_of(wanted, turns), legal)]

    def values_of(self, wanted: np.ndarray, turns: Sequence[Turn]) -> np.ndarray:
        """Return what plays [N, 7] are worth in [-1, 1]: the final difference of points over 42, or the chance wanted.

        Points taken so far count, as everywhere; mean logits are no points, and their values mean little.
        """
        if self.rule == "make":
            return np.asarray(np.tanh(wanted / 2))  # twice the chance, less 1
        leads = np.array([lead_of(turn.position) for turn in turns])
        return np.asarray(np.clip((wanted + leads[:, None]) / POINTS, -1, 1))

    def advice(self, turn: Turn) -> str:
        """Say what it expects of each tile; where rules of thumb decide, which one to play, and why."""
        if why := untaught(turn):
            return f"{super().advice(turn)}, by rules of thumb: it was not taught {why}"
        if not self.judge.network.config.in_points:
            return super().advice(turn)
        return "\n".join(["in one pass of a network:", *play_lines(turn.position, self.expected(turn), rule=self.rule)])

    def expected(self, turn: Turn) -> Expected:
        """Return what it expects of each tile; it looks at no worlds."""
        states = turn.position.states
        found, legal = self.judge(states), legal_slots(states)[0]
        mean, spread, make = (
            np.where(legal, part.numpy()[0], np.nan)
            for part in (found.mean, found.spread, found.make_logit.sigmoid())
        )  # fmt: skip
        declaring = bool((states["declarer"][0] & 1) == (states["texas42_mover"][0] & 1))
        return Expected(legal, mean, spread, make, 0, 0.0, False, declaring)


def untaught(turn: Turn) -> str:
    """Name what Stage 2 was not taught of a turn, in which rules of thumb decide; nothing if it was."""
    state = state_of(turn.position)
    if state["phase"] != PLAYING:
        return "the auction"
    return NAMES[int(state["declaration"])] if state["declaration"] > NOT_NAMED else ""


def analysis_of(wanted: np.ndarray, values: np.ndarray, legal: np.ndarray) -> Analysis:
    """Return the legal slots of a decision, the most wanted first."""
    slots = sorted(np.flatnonzero(legal).tolist(), key=lambda slot: -wanted[slot])
    lines = tuple(Line(slot, float(values[slot]), 1, None, (slot,)) for slot in slots)
    return Analysis(lines[0].action, lines[0].value, lines, 1, 1)


def make_stage2(text: str, choice: str) -> Player:
    """Make a player of the network that a text names."""
    return TranscriptPlayer(load_stage(text, Transcript), choice)
