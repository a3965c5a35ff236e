"""Texas 42 as a picture: a felt table, the viewer's hand below, the trick in the middle, the others around it."""

from __future__ import annotations

from rookery.drawing import circle, rectangle, words
from rookery.games.game import Game
from rookery.games.pictures.scene import Man, Picture, Scene, Spot, Way, symbol
from rookery.games.position import Seat
from rookery.games.rules import State
from rookery.games.texas42 import Texas42, held, points, record, voids
from rookery.games.texas42_auction import BID_TEXTS, DONE, PLAYING
from rookery.games.texas42_tiles import CALLED, COUNTS, HAND, NAMES, PAIRS, SEATS, SEVENS, TILES, tile_text

FELT, TILE, INK, GOLD = "#2F5D50", "#F7F3E8", "#1B1B1B", "#C99A2E"
WIDTH, HEIGHT = 420.0, 400.0
SIDE = 44  # of half a tile
GAP = 54  # between two tiles of the hand
HAND_Y = 340.0
MIDDLE = (210.0, 144.0)
TRICK = ((0.0, 62.0), (-74.0, 0.0), (0.0, -62.0), (74.0, 0.0))
"""where the tile of each chair lies, from the middle: below, left, above, right"""
NAME_PLACES = ((210.0, 270.0), (54.0, 120.0), (166.0, 16.0), (366.0, 120.0))
PIPS = {
    0: (), 1: ((0, 0),), 2: ((-1, -1), (1, 1)), 3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (1, -1), (-1, 1), (1, 1)), 5: ((-1, -1), (1, -1), (0, 0), (-1, 1), (1, 1)),
    6: ((-1, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (1, 1)),
}  # fmt: skip
SUIT_NAMES = ("blanks", "ones", "twos", "threes", "fours", "fives", "sixes", "called suit")


def half(number: int, y: float) -> str:
    """Draw the pips of half a tile around a height."""
    return "".join(circle(11 * x, y + 11 * down, 3.9, INK) for x, down in PIPS[number])


def tile_symbol(tile: int) -> str:
    """Define a tile, upright; those that count have a golden edge."""
    high, low = PAIRS[tile]
    edge = f'stroke="{GOLD}" stroke-width="4"' if (high, low) in COUNTS else 'stroke="#8C8470" stroke-width="1.5"'
    body = rectangle(-SIDE / 2, -SIDE, SIDE, 2 * SIDE, TILE, f'rx="7" {edge}')
    line = '<path d="M-16 0H16" stroke="#8C8470" stroke-width="1.5"/>'
    return symbol(f"texas42-{tile}", body, line, half(high, -SIDE / 2), half(low, SIDE / 2))


SYMBOLS = "".join(
    [
        *(tile_symbol(tile) for tile in range(TILES)),
        symbol(
            "texas42-dim", rectangle(-SIDE / 2 - 2, -SIDE - 2, SIDE + 4, 2 * SIDE + 4, FELT, 'opacity="0.6" rx="7"')
        ),
        symbol("texas42-back", rectangle(-5, -9, 10, 18, "#D8CFB8", 'rx="2" stroke="#8C8470"')),
        symbol("texas42-turn", circle(0, 0, 5, "#FFCA5C")),
        symbol("texas42-lead", '<path d="M-6 0L6 0M2 -4L6 0L2 4" stroke="#FFCA5C" stroke-width="2" fill="none"/>'),
    ]
)


def picture(scene: Scene) -> Picture:
    """Draw a position of Texas 42 as the viewer sees it."""
    position, state, viewer = scene.position, scene.position.state, scene.viewer
    hand = held(position)[viewer] or []
    left = WIDTH / 2 - GAP * (len(hand) - 1) / 2
    places = [(left + GAP * i, HAND_Y) for i in range(len(hand))]
    legal = [int(action) for action in position.legal()] if position.mover == viewer and not position.over else []
    slots = [int(tile) for tile in state["tiles"][viewer]]
    ways, spots, men = [], [], [*around(scene), *trick_men(scene)]
    for i, tile in enumerate(hand):
        x, y = places[i]
        playable = int(state["phase"]) != PLAYING or position.mover != viewer or slots.index(tile) in legal
        spots.append(Spot(x, y, SIDE + 6, 2 * SIDE + 6, tile_text(tile) + ("" if playable else ", may not be played")))
        men.append(Man(f"texas42-{tile}", x, y))
        if not playable:
            men.append(Man("texas42-dim", x, y))
    for action in legal:
        if action >= HAND:
            ways.append(Way(action, (), None, bid_label(position.move_text(action))))
        else:
            tile = slots[action]
            target = (MIDDLE[0] + TRICK[0][0], MIDDLE[1] + TRICK[0][1])
            ways.append(Way(action, (hand.index(tile),), Man(f"texas42-{tile}", *target)))
    return Picture(
        WIDTH, HEIGHT, SYMBOLS, ground(position.game, viewer), tuple(men), tuple(spots), tuple(ways), notes=notes(scene)
    )


def bid_label(text: str) -> str:
    """Write a bid or a declaration for a button."""
    return (
        f"{text[:-1]} mark{'s' if text != '1m' else ''}"
        if text[:-1].isdigit() and text[-1] == "m"
        else text.capitalize()
    )


def chair(seat: Seat, viewer: Seat) -> int:
    """Return where a seat sits for the viewer: 0 below, 1 left, 2 above, 3 right."""
    return (seat - viewer) % SEATS


def trick_of(scene: Scene) -> list[tuple[Seat, int]]:
    """Return the tiles on the table: of the trick that is played, or of the last one until the next begins."""
    played = record(scene.position)
    size = SEATS - int(int(scene.position.state["plays"]) != len(played) and bool(played))
    begun = len(played) // size * size
    return played[begun:] or played[max(0, begun - size) :]


def trick_men(scene: Scene) -> list[Man]:
    """Draw the trick."""
    men = []
    for seat, tile in trick_of(scene):
        dx, dy = TRICK[chair(seat, scene.viewer)]
        men.append(Man(f"texas42-{tile}", MIDDLE[0] + dx, MIDDLE[1] + dy))
    return men


def around(scene: Scene) -> list[Man]:
    """Draw the backs of the others' tiles, and who is to move."""
    position, men = scene.position, []
    played = record(position)
    for seat in range(SEATS):
        at = chair(seat, scene.viewer)
        x, y = NAME_PLACES[at]
        left = HAND - sum(player == seat for player, _ in played)
        backs = (x + 34, y) if at == 2 else (x - 36, y + 22)  # above there is room on one line only
        if at:
            men += [Man("texas42-back", backs[0] + 12 * i, backs[1]) for i in range(left)]
        if seat == position.mover and not position.over:
            men.append(Man("texas42-turn", x - 34, y))
    return men


def notes(scene: Scene) -> tuple[str, ...]:
    """Say what the table does not show: trumps, bids, points, and who has shown to hold no more of a suit."""
    position, state = scene.position, scene.position.state
    game = position.game
    assert isinstance(game, Texas42)
    taken = points(position)
    teams = [" and ".join(game.seat_name(seat) for seat in range(SEATS) if game.teams[seat] == team) for team in (0, 1)]
    told = [f"Declaration: {NAMES[int(state['declaration'])]}" if int(state["phase"]) in (PLAYING, DONE) else "Bidding"]
    told += [f"{name}: {number} points" for name, number in zip(teams, taken, strict=True)]
    told += bids_told(game, state)
    if int(state["declaration"]) < SEVENS:
        for seat, suits in enumerate(voids(position)):
            if suits:
                names = ", ".join(SUIT_NAMES[suit] for suit in sorted(suits) if suit <= CALLED)
                told.append(f"{game.seat_name(seat)} has no {names}")
    return tuple(told)


def bids_told(game: Texas42, state: State) -> list[str]:
    """Say who bid what."""
    bids = [(seat, int(bid)) for seat, bid in enumerate(state["bids"]) if int(bid)]
    if game.auction == "none" or not bids:
        return []
    return ["Bids: " + ", ".join(f"{game.seat_name(seat)} {BID_TEXTS[bid]}" for seat, bid in bids)]


def ground(game: Game, viewer: Seat) -> str:
    """Draw the felt and the names of the seats."""
    frame = 'rx="14" stroke="#4B7C6D" stroke-width="1.5"'
    parts = [rectangle(0, 0, WIDTH, HEIGHT, FELT, 'rx="10"')]
    parts.append(rectangle(MIDDLE[0] - 102, MIDDLE[1] - 112, 204, 224, "none", frame))
    for seat in range(SEATS):
        x, y = NAME_PLACES[chair(seat, viewer)]
        parts.append(words(x, y, game.seat_name(seat), 13, fill="#E8F0EC"))
    return "".join(parts)
