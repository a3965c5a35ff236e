"""Positions and moves of Texas 42 as text.

A position is its declaration, the seat that begins, four hands (`?` if hidden) and the plays; with the auction the bids
stand before them.
"""

from __future__ import annotations

from rookery.errors import BadInput
from rookery.games.rules import State
from rookery.games.texas42_auction import BID_TEXTS, DONE, FIRST_JUMP, FIRST_NAME, bid_of
from rookery.games.texas42_house import jump_texts, sits_out
from rookery.games.texas42_setup import Hand, set_up
from rookery.games.texas42_tiles import HAND, NAMES, NO_TILE, SEATS, read_tile, tile_text, tiles_of, tiles_text

SEAT_NAMES = ("South", "West", "North", "East")


# ---- positions -----------------------------------------------------------------------------------


def position_text(state: State, auction: bool) -> str:
    """Write a position, with its bids if the game has an auction."""
    hands = [tiles_text([int(t) for t in hand]) if hand[0] != NO_TILE else "?" for hand in state["tiles"]]
    played = tiles_text([int(tile) for tile in state["history"][: state["plays"]] if tile != NO_TILE])
    words = [NAMES[state["declaration"]], str(state["opener"]), "/".join(hands), played]
    return " ".join([bids_text(state), *words] if auction else words)


def bids_text(state: State) -> str:
    """Write the bids in the order in which they were made."""
    spoken = [(int(state["opener"]) + i) % SEATS for i in range(state["spoken"])]
    return ",".join(BID_TEXTS[state["bids"][seat]] for seat in spoken) or "-"


def parse_position(text: str, state: State, auction: bool, spec: str) -> None:
    """Read what `position_text` wrote into a state that holds the options; `spec` names the game in errors."""
    words = text.split()
    parts = ["declaration", "seat that begins", "four hands joined by '/'", "plays"]
    parts = ["bids", *parts] if auction else parts
    if len(words) != len(parts):
        raise BadInput(f"position {text!r} of {spec} should have {len(parts)} parts: {', '.join(parts)}")
    *bids, named, opener, hands, plays = words
    read_hands: list[Hand] = [None if hand == "?" else hand.split(",") for hand in hands.split("/")]
    read_plays = [] if plays == "-" else plays.split(",")
    read_bids = [] if bids in ([], ["-"]) else bids[0].split(",")
    try:
        set_up(state, read_hands, None if named == "-" else named, opener, read_plays, read_bids)
    except BadInput as error:
        raise BadInput(f"position {text!r} of {spec}: {error}") from None


def drawn(state: State, auction: bool) -> str:
    """Draw a position for a terminal."""
    lines = [f"declaration {NAMES[state['declaration']]}, points {state['points'][0]} to {state['points'][1]}"]
    if auction:
        lines[0] += f", bids {bids_text(state)}"
    begun = int(state["plays"]) & ~3
    if state["phase"] == DONE and begun:
        begun -= SEATS
    trick = {(int(state["leaders"][begun // 4]) + i) % 4: i for i in range(int(state["plays"]) - begun)}
    trick.pop(sits_out(state), None)
    for seat in range(SEATS):
        left = tiles_of(int(state["hands"][seat]) & ~int(state["played"]))
        shown = [tile_text(tile) for tile in left]
        if state["tiles"][seat, 0] == NO_TILE:
            shown = ["?"] * (HAND - begun // 4 - (seat in trick) if seat != sits_out(state) else HAND)
        lying = tile_text(int(state["history"][begun + trick[seat]])) if seat in trick else ""
        turn = ">" if seat == state["texas42_mover"] and state["phase"] != DONE else " "
        lines.append(f"{turn} {SEAT_NAMES[seat]:5s} {lying:3s} | {' '.join(shown)}".rstrip())
    return "\n".join(lines)


# ---- moves ---------------------------------------------------------------------------------------


def move_text(state: State, action: int) -> str:
    """Write an action of a position."""
    if FIRST_NAME <= action < FIRST_JUMP:
        return NAMES[action - FIRST_NAME]
    if action >= HAND:
        return BID_TEXTS[bid_of(action)]
    tile = int(state["tiles"][state["texas42_mover"], action])
    return f"slot{action}" if tile == NO_TILE else tile_text(tile)


def parse_move(state: State, text: str, actions: int) -> int:
    """Read an action of a position, in a game with so many."""
    known = {move_text(state, action): action for action in range(HAND, actions)}
    if text in known and text != "-":
        return known[text]
    name = SEAT_NAMES[state["texas42_mover"]]
    slots = {move_text(state, slot): slot for slot in range(HAND)}
    if text in slots:
        return slots[text]
    try:
        tile = read_tile(text)
    except BadInput:
        others = f", a bid (pass, 30..41, 1m..{state['mark_limit']}m) or a declaration" if actions > HAND else ""
        others += "".join(f", {text}" for text in jump_texts(state))
        raise BadInput(f"{text!r} is no move of texas42; moves are a tile like 6-4{others}") from None
    if tile_text(tile) in slots:
        return slots[tile_text(tile)]
    if state["tiles"][state["texas42_mover"], 0] == NO_TILE:
        raise BadInput(f"move {text!r}: the hand of {name} is hidden; only its played tiles are known here")
    raise BadInput(f"move {text!r}: {name} was not dealt that tile, but {', '.join(slots)}")
