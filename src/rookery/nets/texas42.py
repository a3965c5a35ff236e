"""The networks of Texas 42: transformers over tokens of small whole numbers.

Stage 1, `Hands`, sees every hand; Stage 2, `Transcript`, what the seat to move knows. Both answer for the seven slots
of the mover's initial hand, from the mover's side: the best action is always the largest.

A token is a row of features, each a small whole number. What a feature's value means to a network is a row of a table;
a token begins as the sum of its rows. The sum is a product of marks and the table: its gradient is a product too, and
needs no sorting of all tokens. A number that a feature does not have, such as -1 for what is not known, adds nothing.

    Stage 1 [N, 32, 12]   context, four hands by absolute seat and slot, up to three tiles of the trick
         or [N, 33, 17]   the trick, 28 tiles by their ids, each in a hand, in the trick or gone, four seats
    Stage 2 [N, 33, 17]   the trick, 28 tiles by their ids, each in the own hand, played or not seen, four seats with
                          bids, points and voids
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from rookery.nets.configs import HandsConfig, TokensConfig, TranscriptConfig
from rookery.nets.network import Answers, Network
from rookery.nets.short_attention import attend

POINTS = 42.0
"""all points of a hand; what a network says is counted in it"""
TEMPERATURE = 3.0
"""points by which the logits of a policy are counted"""
SLOTS, SEATS, TILES = 7, 4, 28

HANDS_TOKENS, HANDS_VALUES = 32, (7, 7, 2, 3, 8, 4, 2, 2, 2, 8, 10, 4)
HANDS_WIDE = (0, 1, 4, 9, 10)
"""features of Stage 1 with many values: a sixth of the width each, the others a twelfth"""
ME, KIND, LEADER = 6, 9, 11  # features of `all`

OPEN_TOKENS, OPEN_FEATURES = 33, 17
OPEN_TRICK_VALUES = (10, 9, 4, 7, 4, 8)
"""of the trick: declaration, suit led, tiles that lie, number, who has the best, counts in fives"""
OPEN_TILE_VALUES = (7, 7, 2, 3, 8, 10, 10, 8, 8, 8, 8, 8, 8, 8, 8, 2, 8)
"""of a tile: its face, declaration, where it is, how many of each hand are above it and of its suit, ...
(`games.texas42_open`)"""
OPEN_SEAT_VALUES = (4, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8)
"""of a seat: which it is, tiles it holds, how many of each suit, counts in fives"""
OWN_GONE, OWN, OWN_LEGAL = 1, 5, 9  # where a tile of the mover's initial hand is
LYING = 2  # the feature of the trick that tells how many tiles lie

TRANSCRIPT_TOKENS, TRANSCRIPT_FEATURES = 33, 17
TRICK_VALUES = (10, 9, 4, 7, 4, 8, 8)
"""of the trick: declaration, suit led, tiles that lie, number, who has the best, counts in fives, called not seen"""
TILE_VALUES = (7, 7, 2, 3, 8, 10, 7, 4, 28, 2, 8, 2, 2, 2, 2, 8, 8)
"""of a tile: its face, declaration, where it is, by whom and when it was played, ... (`games.texas42_known`)"""
SEAT_VALUES = (43, 8, 4, 2, 4, 43, 8, 2, 2, 2, 2, 2, 2, 2, 2)
"""of a seat: points bid, marks, spoken, declarer, seat, points taken, tiles held, and a void or none in each suit"""
WHERE, BY = 6, 7  # features of a tile: where it is, and for Stage 2 the relative seat that played it
EVEN, NO_VALUE = 8, 99


class Judged(NamedTuple):
    """What Stage 1 says of N positions."""

    slots: Tensor
    """[N, 7] points still to come over 42, or logits; of tiles that are played, nothing that means anything"""
    value: Tensor
    """[N] points still to come over 42"""
    choice: Tensor
    """[N, 7] by which a tile is chosen: logits if it tells them, else the slots themselves"""


class Expectation(NamedTuple):
    """What Stage 2 says of N decisions, each [N, 7]."""

    mean: Tensor
    """mean of Q over the possible deals, over 42; or mean logits"""
    spread: Tensor
    """standard deviation of Q over them, over 42"""
    make_logit: Tensor
    """before the sigmoid: the probability that the declaring team makes its bid"""


# ---- layers --------------------------------------------------------------------------------------


Choice = Callable[[Tensor], Tensor]
"""takes some tokens out of a stream: [N, T, width] to [N, R, width]"""


def whole(x: Tensor) -> Tensor:
    """Take all tokens."""
    return x


class Layer(nn.Module):
    """Attention, then hidden units, each with a norm."""

    def __init__(self, config: TokensConfig):
        super().__init__()
        self.heads, self.norm_first = config.heads, config.norm_first
        self.attend_in = nn.Linear(config.width, 3 * config.width)
        self.attend_out = nn.Linear(config.width, config.width)
        self.mlp_in = nn.Linear(config.width, config.mlp)
        self.mlp_out = nn.Linear(config.mlp, config.width)
        self.norm1 = nn.LayerNorm(config.width)
        self.norm2 = nn.LayerNorm(config.width)

    def forward(self, x: Tensor, mask: Tensor | None, read: Choice = whole) -> Tensor:
        """Return the stream behind the layer, [N, T, width], of the tokens that are going to be `read`."""
        if self.norm_first:
            x = read(x) + self.attended(self.norm1(x), mask, read)
            return x + self.units(self.norm2(x))
        x = self.norm1(read(x) + self.attended(x, mask, read))
        normed: Tensor = self.norm2(x + self.units(x))
        return normed

    def attended(self, x: Tensor, mask: Tensor | None, read: Choice) -> Tensor:
        """Return what the heads find; `mask` tells which keys a query sees, in a shape that spreads to [N, h, T, T]."""
        rows, tokens, width = x.shape
        parted = self.attend_in(x).view(rows, tokens, 3, self.heads, width // self.heads)
        found: Tensor = self.attend_out(read(attend(parted, mask).flatten(2)))
        return found

    def units(self, x: Tensor) -> Tensor:
        """Return what the hidden units find."""
        found: Tensor = self.mlp_out(self.mlp_in(x).relu())
        return found


def layers_of(config: TokensConfig) -> nn.ModuleList:
    """Make the layers of a network."""
    return nn.ModuleList(Layer(config) for _ in range(config.layers))


def through(layers: nn.ModuleList, x: Tensor, mask: Tensor | None, read: Choice) -> Tensor:
    """Return the stream behind all layers of the tokens that heads read: the last layer finds no others."""
    last = len(layers) - 1
    for number, layer in enumerate(layers):
        x = layer(x, mask, read if number == last else whole)
    return x if len(layers) else read(x)


def final_norm(config: TokensConfig) -> nn.Module:
    """Make what norms the stream behind the last layer, where it is not normed already."""
    return nn.LayerNorm(config.width) if config.norm_first else nn.Identity()


def marks(tokens: Tensor, features: Tensor, values: Tensor) -> Tensor:
    """Return which values the features of tokens have: [N, T, V] bool, from tokens [N, T, F].

    features, values  [V]  the columns: one for each value of each feature
    """
    return tokens[..., features] == values.to(tokens.dtype)


def read_by(head: nn.Linear, x: Tensor) -> Tensor:
    """Return what a head reads, [...] from [..., width], in single precision: half is a tenth of a point."""
    wide = torch.promote_types(x.dtype, torch.float32)
    return (x.to(wide) * head.weight[0].to(wide)).sum(-1) + head.bias.to(wide)


def keep(network: nn.Module, **constants: Tensor) -> None:
    """Let constants go with a network to its device; they are made on the CPU, also where weights are not made yet."""
    for name, constant in constants.items():
        network.register_buffer(name, constant, persistent=False)


def padded(features: list[int], values: list[int]) -> tuple[list[int], list[int]]:
    """Add columns for a value that no feature has, up to a number of columns that cards multiply fast."""
    spare = -len(features) % EVEN
    return features + [0] * spare, values + [NO_VALUE] * spare


def columns_of(counts: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """List feature and value of each column, for features with so many values."""
    pairs = [(feature, value) for feature, count in enumerate(counts) for value in range(count)]
    return [feature for feature, _ in pairs], [value for _, value in pairs]


class Rows(nn.Module):
    """The beginning of tokens of one sort: the sum of a row for each value of each feature."""

    features: Tensor
    values: Tensor

    def __init__(self, counts: tuple[int, ...], width: int):
        super().__init__()
        features, values = columns_of(counts)
        self.table = nn.Parameter(torch.randn(len(features), width) * 0.3)
        features, values = padded(features, values)
        keep(self, features=torch.tensor(features, device="cpu"), values=torch.tensor(values, device="cpu"))

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the first stream [N, T, width] of tokens [N, T, F]."""
        table = functional.pad(self.table, (0, 0, 0, len(self.features) - len(self.table)))
        return marks(tokens, self.features, self.values).to(table.dtype) @ table


# ---- stage 1 -------------------------------------------------------------------------------------


class Hands(Network):
    """Stage 1: a transformer without places or causal mask that sees all four hands.

    A shared linear layer reads the seven tokens of the mover's initial hand, another the value from the first token.
    """

    config: HandsConfig
    shape: tuple[int, int]
    """tokens of an observation, and features of each"""

    def __init__(self, config: HandsConfig):
        super().__init__()
        self.config = config
        self.prepare()
        self.layers = layers_of(config)
        self.norm = final_norm(config)
        self.slot_head = nn.Linear(config.width, 1)
        self.value_head = nn.Linear(config.width, 1)
        self.choice_head = nn.Linear(config.width, 1) if config.answers == "both" else None

    def prepare(self) -> None:
        """Make what tokens begin as."""
        raise NotImplementedError

    def leads(self, tokens: Tensor) -> Tensor:
        """Tell in which positions the mover leads the trick [N]."""
        raise NotImplementedError

    def judge(self, tokens: Tensor, plays: int | None = None) -> Judged:
        """Judge N positions from their tokens [N, 32, 12] or [N, 33, 17], whole numbers of any type.

        plays  how many tiles were played, if it is the same number in all positions: tokens that stand for nothing are
               left out then instead of masked, which is sooner
        """
        raise NotImplementedError

    def answers(self, x: Tensor, mask: Tensor | None, context_and_hand: Choice) -> Judged:
        """Return what is read behind all layers.

        x                 the first stream
        mask              which keys are seen
        context_and_hand  takes the first token and those of the mover's hand out of a stream
        """
        x = self.norm(through(self.layers, x, mask, context_and_hand))
        slots, value = read_by(self.slot_head, x[:, 1:]), read_by(self.value_head, x[:, 0])
        return Judged(slots, value, slots if self.choice_head is None else read_by(self.choice_head, x[:, 1:]))

    def points(self, tokens: Tensor, plays: int | None = None) -> Tensor:
        """Return the points still to come after playing each slot [N, 7], from the mover's side; or logits."""
        slots = self.judge(tokens, plays).slots
        return slots * POINTS if self.config.in_points else slots

    def forward(self, observations: Tensor) -> Answers:
        """Judge N positions from flat observations; the value is of the points still to come alone."""
        found = self.judge(observations.view(-1, *self.shape).long())
        logits = found.choice * (POINTS / TEMPERATURE) if self.config.answers == "q" else found.choice
        return logits, found.value.clamp(-1, 1)


class PlainHands(Hands):
    """Stage 1 that reads `all`: who holds what, what lies, what is called. It learns the rules by itself."""

    shape = (HANDS_TOKENS, len(HANDS_VALUES))
    features: Tensor
    values: Tensor

    def prepare(self) -> None:
        """Make a table for each feature, and the linear layer behind them."""
        width = self.config.width
        widths = [width // (6 if feature in HANDS_WIDE else 12) for feature in range(len(HANDS_VALUES))]
        self.tables = nn.ModuleList(
            nn.Embedding(count, width) for count, width in zip(HANDS_VALUES, widths, strict=True)
        )
        self.joined = nn.Linear(sum(widths), width)
        features, values = padded(*columns_of(HANDS_VALUES))
        keep(self, features=torch.tensor(features, device="cpu"), values=torch.tensor(values, device="cpu"))

    def table(self) -> Tensor:
        """Return what each value of each feature adds to a token [64, width]: its row, through the linear layer.

        Rows of nothing follow, so that there are as many as cards multiply fastest.
        """
        parts, begin = [], 0
        for rows in self.tables:
            assert isinstance(rows, nn.Embedding)
            width = rows.embedding_dim
            parts.append(rows.weight @ self.joined.weight[:, begin : begin + width].T)
            begin += width
        joined = torch.cat(parts)
        return functional.pad(joined, (0, 0, 0, len(self.features) - len(joined)))

    def judge(self, tokens: Tensor, plays: int | None = None) -> Judged:
        """Judge N positions from their tokens [N, 32, 12]; those that stand for nothing are left out, or masked."""
        mask = None
        if plays is None:
            there = tokens[:, :, KIND] > 0
            there = torch.cat((torch.ones_like(there[:, :1]), there[:, 1:]), 1)
            mask = there[:, None, None, :]
        else:
            tokens = tokens[:, : 1 + TILES + plays % SEATS]
        table = self.table()
        x = functional.linear(marks(tokens, self.features, self.values).to(table.dtype), table.T, self.joined.bias)
        moves = tokens[:, 1 : 1 + TILES : SLOTS, ME].to(x.dtype)[:, :, None, None]

        def context_and_hand(x: Tensor) -> Tensor:
            mine = (x[:, 1 : 1 + TILES].view(len(x), SEATS, SLOTS, -1) * moves).sum(1)  # one of four is not nothing
            return torch.cat((x[:, :1], mine), 1)

        return self.answers(x, mask, context_and_hand)

    def leads(self, tokens: Tensor) -> Tensor:
        """Tell in which positions the mover leads the trick."""
        return tokens[:, 0, LEADER] == 0


class OpenHands(Hands):
    """Stage 1 that reads `open`: it is told tile by tile what the rules make of the hands."""

    shape = (OPEN_TOKENS, OPEN_FEATURES)

    def prepare(self) -> None:
        """Make a table for each sort of tokens."""
        self.trick, self.tiles, self.seats = (
            Rows(counts, self.config.width) for counts in (OPEN_TRICK_VALUES, OPEN_TILE_VALUES, OPEN_SEAT_VALUES)
        )

    def judge(self, tokens: Tensor, plays: int | None = None) -> Judged:
        """Judge N positions from their tokens [N, 33, 17]; nobody sees a tile that is gone.

        These tiles are left out where all positions have as many left. A processor puts those together that have; a
        card, which wants the same work each time, masks them.
        """
        if plays is not None:
            return self.alike(tokens, TILES - plays // SEATS * SEATS)
        if tokens.device.type != "cpu" or torch.compiler.is_compiling() or not len(tokens):
            return self.masked(tokens)
        left = left_tiles(tokens).sum(1)
        counts = torch.unique(left).tolist()
        parts = [(left == count).nonzero().squeeze(1) for count in counts]
        found = [self.alike(tokens[rows], count) for rows, count in zip(parts, counts, strict=True)]
        back = torch.cat(parts).argsort()
        return Judged(*(torch.cat(column)[back] for column in zip(*found, strict=True)))

    def masked(self, tokens: Tensor) -> Judged:
        """Judge positions, with the tiles that are gone masked."""
        seen = functional.pad(left_tiles(tokens), (1, SEATS), value=1)
        return self.told(tokens[:, 1 : 1 + TILES], tokens, seen[:, None, None], own_slots(tokens))

    def alike(self, tokens: Tensor, count: int) -> Judged:
        """Judge positions that have `count` tiles left; the others are left out. No card is waited for."""
        left = left_tiles(tokens)
        order = left.to(torch.uint8).sort(stable=True, dim=1, descending=True).indices[:, :count, None]
        tiles = tokens[:, 1 : 1 + TILES].gather(1, order.expand(-1, -1, OPEN_FEATURES))
        slots = (left.cumsum(1) - 1).clamp_min(0).gather(1, own_slots(tokens))  # of a tile that is gone, any
        return self.told(tiles, tokens, None, slots)

    def told(self, tiles: Tensor, tokens: Tensor, mask: Tensor | None, slots: Tensor) -> Judged:
        """Judge positions of which these tiles are told; `slots` [N, 7] are the mover's places among them."""
        x = torch.cat((self.trick(tokens[:, :1]), self.tiles(tiles), self.seats(tokens[:, 1 + TILES :])), 1)
        places = torch.cat((torch.zeros_like(slots[:, :1]), 1 + slots), 1)[..., None].expand(-1, -1, self.config.width)
        return self.answers(x, mask, lambda x: x.gather(1, places))

    def leads(self, tokens: Tensor) -> Tensor:
        """Tell in which positions the mover leads the trick."""
        return tokens[:, 0, LYING] == 0


def left_tiles(tokens: Tensor) -> Tensor:
    """Return which tiles are in a hand or in the trick [N, 28], from tokens `open`."""
    return tokens[:, 1 : 1 + TILES, WHERE] > OWN_GONE


def own_slots(tokens: Tensor) -> Tensor:
    """Return the tile of each slot of the mover's initial hand [N, 7], from tokens `open`."""
    where = tokens[:, 1 : 1 + TILES, WHERE]
    return slot_tiles((where == OWN_GONE) | (where == OWN) | (where == OWN_LEGAL))


# ---- stage 2 -------------------------------------------------------------------------------------


class Transcript(Network):
    """Stage 2: a transformer over what one seat knows, the record of play told tile by tile.

    Every decision is a pass of its own, so all tokens see each other: a causal order would only keep something from
    them. The tokens of the mover's initial hand give the answers, one for each slot.
    """

    config: TranscriptConfig

    def __init__(self, config: TranscriptConfig):
        super().__init__()
        self.config = config
        self.trick, self.tiles, self.seats = (
            Rows(counts, config.width) for counts in (TRICK_VALUES, TILE_VALUES, SEAT_VALUES)
        )
        self.layers = layers_of(config)
        self.norm = final_norm(config)
        self.mean_head, self.spread_head, self.make_head = (nn.Linear(config.width, 1) for _ in range(3))

    def expect(self, tokens: Tensor) -> Expectation:
        """Judge N decisions from their tokens [N, 33, 17], whole numbers of any type."""
        trick, tiles, seats = tokens[:, :1], tokens[:, 1 : 1 + TILES], tokens[:, 1 + TILES :]
        x = torch.cat((self.trick(trick), self.tiles(tiles), self.seats(seats)), 1)
        places = (1 + slot_tiles(known_hand(tiles)))[..., None].expand(-1, -1, self.config.width)
        slots = self.norm(through(self.layers, x, None, lambda x: x.gather(1, places)))
        mean, spread, make = (read_by(head, slots) for head in (self.mean_head, self.spread_head, self.make_head))
        return Expectation(mean, functional.softplus(spread), make)

    def points(self, tokens: Tensor) -> Tensor:
        """Return what is said of each slot [N, 7]: the mean of Q in points, from the mover's side; or mean logits."""
        mean = self.expect(tokens).mean
        return mean * POINTS if self.config.answers == "q" else mean

    def forward(self, observations: Tensor) -> Answers:
        """Judge N decisions from flat observations `known`; the value is the largest mean of a tile in hand."""
        tokens = observations.view(-1, TRANSCRIPT_TOKENS, TRANSCRIPT_FEATURES).long()
        mean, tiles = self.expect(tokens).mean, tokens[:, 1 : 1 + TILES]
        held = known_in_hand(tiles).gather(1, slot_tiles(known_hand(tiles)))
        value = mean.masked_fill(~held, -1.0).amax(1).clamp(-1, 1)
        return mean * (POINTS / TEMPERATURE) if self.config.answers == "q" else mean, value


def known_in_hand(tiles: Tensor) -> Tensor:
    """Return which tiles the mover holds [N, 28], from the tokens of tiles of `known` [N, 28, 17]."""
    return tiles[..., WHERE] < 2  # there, and there and legal


def known_hand(tiles: Tensor) -> Tensor:
    """Return which tiles the mover was dealt [N, 28], from the same: those it holds or has played."""
    return known_in_hand(tiles) | (tiles[..., BY] == 0)


def slot_tiles(mine: Tensor) -> Tensor:
    """Return the tile of each slot of the mover's initial hand [N, 7], from which tiles these are [N, 28].

    Slots go by the numbers of tiles.
    """
    slot = torch.arange(SLOTS, device=mine.device)[:, None]
    at = mine[:, None] & ((mine.cumsum(1) - 1)[:, None] == slot)  # [N, 7, 28]
    return at.to(torch.uint8).argmax(2)
