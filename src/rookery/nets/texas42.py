"""The networks of Texas 42: transformers over tokens of small whole numbers.

Stage 1, `Hands`, sees every hand; Stage 2, `Transcript`, what the seat to move knows. Both answer for the seven slots
of the mover's initial hand, from the mover's side: the best action is always the largest.

A token is a row of features, each a small whole number. What a feature's value means to a network is a row of a table;
a token begins as the sum of its rows. The sum is a product of marks and the table: its gradient is a product too, and
needs no sorting of all tokens. A number that a feature does not have, such as -1 for what is not known, adds nothing.

    Stage 1 [N, 32, 12]   context, four hands by absolute seat and slot, up to three tiles of the trick
    Stage 2 [N, 40, 8]    declaration, tiles in hand, plays in order, nothing, four seats with bids and points; the
                          network puts seven tokens behind them, one for each slot of the initial hand
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
ME, KIND = 6, 9  # features of Stage 1

TRANSCRIPT_TOKENS, TRANSCRIPT_FEATURES, RECORD_TOKENS = 40, 8, 36
TILE_VALUES = (7, 7, 2, 3, 4, 2, 10, 5)  # of features 0..7 in tokens of types 0..2 and of the slots, type 4
SEAT_VALUES = (43, 8, 2, 2, 4, 43, 10, 5)  # in tokens of seats: points bid, marks, spoken, declarer, seat, points taken
SHARED = (4, 6, 7)  # features that mean the same in both
IN_HAND, PLAYED, SEAT, SLOT = 1, 2, 3, 4  # types
EVEN, NO_VALUE = 8, 99


class Judged(NamedTuple):
    """What Stage 1 says of N positions."""

    slots: Tensor
    """[N, 7] points still to come over 42, or logits; of tiles that are played, nothing that means anything"""
    value: Tensor
    """[N] points still to come over 42"""


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


# ---- stage 1 -------------------------------------------------------------------------------------


class Hands(Network):
    """Stage 1: a transformer without places or causal mask that sees all four hands.

    A shared linear layer reads the seven tokens of the hand to move, another the value from the context's token.
    """

    config: HandsConfig
    features: Tensor
    values: Tensor

    def __init__(self, config: HandsConfig):
        super().__init__()
        self.config = config
        widths = [config.width // (6 if feature in HANDS_WIDE else 12) for feature in range(len(HANDS_VALUES))]
        self.tables = nn.ModuleList(
            nn.Embedding(count, width) for count, width in zip(HANDS_VALUES, widths, strict=True)
        )
        self.joined = nn.Linear(sum(widths), config.width)
        self.layers = layers_of(config)
        self.norm = final_norm(config)
        self.slot_head = nn.Linear(config.width, 1)
        self.value_head = nn.Linear(config.width, 1)
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

    def judge(self, tokens: Tensor, trick: int | None = None) -> Judged:
        """Judge N positions from their tokens [N, 32, 12], whole numbers of any type.

        trick  tiles of the current trick, if all positions have as many: tokens that stand for nothing are left out
               then instead of masked, which is sooner
        """
        mask = None
        if trick is None:
            there = tokens[:, :, KIND] > 0
            there = torch.cat((torch.ones_like(there[:, :1]), there[:, 1:]), 1)
            mask = there[:, None, None, :]
        else:
            tokens = tokens[:, : 1 + TILES + trick]
        table = self.table()
        x = functional.linear(marks(tokens, self.features, self.values).to(table.dtype), table.T, self.joined.bias)
        moves = tokens[:, 1 : 1 + TILES : SLOTS, ME].to(x.dtype)[:, :, None, None]

        def context_and_hand(x: Tensor) -> Tensor:
            mine = (x[:, 1 : 1 + TILES].view(len(x), SEATS, SLOTS, -1) * moves).sum(1)  # one of four is not nothing
            return torch.cat((x[:, :1], mine), 1)

        x = self.norm(through(self.layers, x, mask, context_and_hand))
        return Judged(read_by(self.slot_head, x[:, 1:]), read_by(self.value_head, x[:, 0]))

    def points(self, tokens: Tensor, trick: int | None = None) -> Tensor:
        """Return the points still to come after playing each slot [N, 7], from the mover's side; or logits."""
        slots = self.judge(tokens, trick).slots
        return slots * POINTS if self.config.answers == "q" else slots

    def forward(self, observations: Tensor) -> Answers:
        """Judge N positions from flat observations `all`; the value is of the points still to come alone."""
        tokens = observations.view(-1, HANDS_TOKENS, len(HANDS_VALUES)).long()
        found = self.judge(tokens)
        logits = found.slots * (POINTS / TEMPERATURE) if self.config.answers == "q" else found.slots
        return logits, found.value.clamp(-1, 1)


# ---- stage 2 -------------------------------------------------------------------------------------


class Transcript(Network):
    """Stage 2: a causal transformer over what one seat knows.

    Tokens of the record see themselves and those before them; the seats' tokens come behind the record, and last one
    token for each slot of the initial hand, which see everything and give the answers. Plays know their number.
    """

    config: TranscriptConfig
    features: Tensor
    values: Tensor
    seat_features: Tensor
    seat_values: Tensor
    shared: Tensor
    sees: Tensor
    known: Tensor

    def __init__(self, config: TranscriptConfig):
        super().__init__()
        self.config = config
        features, values = columns_of(TILE_VALUES)
        own = [pair for pair in zip(*columns_of(SEAT_VALUES), strict=True) if pair[0] not in SHARED]
        self.table = nn.Parameter(torch.randn(len(features) + len(own) + TILES, config.width) * 0.3)
        self.layers = layers_of(config)
        self.norm = final_norm(config)
        self.mean_head, self.spread_head, self.make_head = (nn.Linear(config.width, 1) for _ in range(3))
        shared = [feature in SHARED for feature in features]
        columns = {"features": features, "values": values, "shared": shared}
        columns |= {"seat_features": [feature for feature, _ in own], "seat_values": [value for _, value in own]}
        keep(self, **{name: torch.tensor(column, device="cpu") for name, column in columns.items()})
        keep(self, sees=seen_tokens(), known=facts_of_tiles())

    def expect(self, tokens: Tensor) -> Expectation:
        """Judge N decisions from their tokens [N, 40, 8], whole numbers of any type."""
        slots = slot_tokens(tokens, self.known)
        tokens = torch.cat((tokens, slots), 1)
        kinds = tokens[..., 7]
        there = kinds > 0
        there = torch.cat((torch.ones_like(there[:, :1]), there[:, 1:]), 1)
        x = self.embedded(tokens, kinds)
        mask = self.sees & there[:, None, None, :]
        slots = self.norm(through(self.layers, x, mask, lambda x: x[:, -SLOTS:]))
        mean, spread, make = (read_by(head, slots) for head in (self.mean_head, self.spread_head, self.make_head))
        return Expectation(mean, functional.softplus(spread), make)

    def embedded(self, tokens: Tensor, kinds: Tensor) -> Tensor:
        """Return the first stream [N, T, width]."""
        of_seat = (kinds == SEAT)[..., None]
        tile = marks(tokens, self.features, self.values) & (~of_seat | self.shared)
        seat = marks(tokens, self.seat_features, self.seat_values) & of_seat
        played = kinds == PLAYED
        number = (played.cumsum(1) - 1)[..., None]
        spare = -len(self.table) % EVEN
        place = (number == torch.arange(TILES + spare, device=tokens.device)) & played[..., None]
        return torch.cat((tile, seat, place), 2).to(self.table.dtype) @ functional.pad(self.table, (0, 0, 0, spare))

    def points(self, tokens: Tensor) -> Tensor:
        """Return what is said of each slot [N, 7]: the mean of Q in points, from the mover's side; or mean logits."""
        mean = self.expect(tokens).mean
        return mean * POINTS if self.config.answers == "q" else mean

    def forward(self, observations: Tensor) -> Answers:
        """Judge N decisions from flat observations `contract`; the value is the largest mean of a tile in hand."""
        tokens = observations.view(-1, TRANSCRIPT_TOKENS, TRANSCRIPT_FEATURES).long()
        mean = self.expect(tokens).mean
        held = slot_tokens(tokens, self.known)[..., 5] == 1
        value = mean.masked_fill(~held, -1.0).amax(1).clamp(-1, 1)
        return mean * (POINTS / TEMPERATURE) if self.config.answers == "q" else mean, value


def seen_tokens() -> Tensor:
    """Return which keys each query sees [T, T]: itself and what comes before; a slot sees the other slots, too."""
    total = TRANSCRIPT_TOKENS + SLOTS
    sees = torch.ones(total, total, dtype=torch.bool, device="cpu").tril()
    sees[TRANSCRIPT_TOKENS:] = True
    return sees


def slot_tokens(tokens: Tensor, known: Tensor) -> Tensor:
    """Return a token for each slot of the mover's initial hand [N, 7, 8], from the record of tokens [N, 40, 8].

    The initial hand is what is in hand and what the mover has played; slots go by the numbers of tiles, which are
    high * (high + 1) / 2 + low.

    known  [28, 4]  `facts_of_tiles`
    """
    record = tokens[:, :RECORD_TOKENS].long()
    high, low, kinds = record[..., 0], record[..., 1], record[..., 7]
    mine = (kinds == IN_HAND) | ((kinds == PLAYED) & (record[..., 4] == 0))
    tile = torch.where(mine, high * (high + 1) // 2 + low, TILES)
    marked = (tile[..., None] == torch.arange(TILES, device=tokens.device)) & mine[..., None]
    owned, held = marked.any(1), (marked & (kinds == IN_HAND)[..., None]).any(1)
    rank = owned.cumsum(1) - 1
    at = owned[:, None] & (rank[:, None] == torch.arange(SLOTS, device=tokens.device)[:, None])  # [N, 7, 28]
    in_hand = (at & held[:, None]).any(2)
    zeros = torch.zeros_like(in_hand, dtype=torch.int64)
    named = record[:, :1, 6].expand(-1, SLOTS)
    rest = torch.stack((zeros, in_hand.long(), named, zeros + SLOT), 2)
    return torch.cat((known[at.to(torch.uint8).argmax(2)], rest), 2).to(tokens.dtype)


def facts_of_tiles() -> Tensor:
    """Return high pip, low pip, is double and count class of each tile [28, 4]."""
    pairs = [(high, low) for high in range(7) for low in range(high + 1)]
    counts = {(5, 5): 2, (6, 4): 2, (5, 0): 1, (4, 1): 1, (3, 2): 1}
    rows = [(high, low, int(high == low), counts.get((high, low), 0)) for high, low in pairs]
    return torch.tensor(rows, device="cpu")
